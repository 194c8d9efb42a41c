"""Arrays in .npy and .npz files, against NumPy's reader and writer."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import DTYPES, assert_same, by_default, sample

pytestmark = pytest.mark.firefox


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_array(bg: Any, tmp_path: Path, dtype: str) -> None:
    for shape in ((), (0, 3), (5, 3)):
        x = sample(dtype, shape)
        bg.save(tmp_path / "x.npy", bg.asarray(x))
        np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), x, strict=True)
        assert_same(bg.load(tmp_path / "x.npy"), x)
    np.save(tmp_path / "numpys.npy", bg.asarray(x))
    assert_same(bg.load(tmp_path / "numpys.npy"), x)
    np.save(tmp_path / "f.npy", np.asfortranarray(x.astype(x.dtype.newbyteorder(">"))))
    assert_same(bg.load(str(tmp_path / "f.npy")), x)


def test_open_files(bg: Any, tmp_path: Path) -> None:
    from pyodide.ffi import run_sync

    x = sample("float32", (4, 3))
    file = io.BytesIO()
    run_sync(bg.save_async(file, bg.asarray(x).T))
    bg.save(file, bg.asarray([1, 2, 3]))
    file.seek(0)
    assert_same(bg.load(file), x.T)
    assert_same(bg.load(file), by_default([1, 2, 3]))
    bg.save(str(tmp_path / "named"), bg.asarray(x))
    assert_same(bg.load(tmp_path / "named.npy"), x)


def test_many_arrays(bg: Any, tmp_path: Path) -> None:
    from pyodide.ffi import run_sync

    x, y = sample("float32", (4, 3)), sample("uint8", 7)
    a, b = bg.asarray(x), bg.asarray(y)
    bg.savez(tmp_path / "plain.npz", a, second=b)
    bg.savez_compressed(tmp_path / "small.npz", a * 0, second=b)
    run_sync(bg.savez_async(tmp_path / "plain.npz", a, second=b))
    run_sync(bg.savez_compressed_async(tmp_path / "small.npz", a * 0, second=b))
    assert (tmp_path / "small.npz").stat().st_size < (tmp_path / "plain.npz").stat().st_size + 100
    with np.load(tmp_path / "plain.npz") as found:
        np.testing.assert_array_equal(found["arr_0"], x, strict=True)
    with bg.load(tmp_path / "plain.npz") as saved:
        assert isinstance(saved, bg.SavedArrays)
        assert list(saved) == ["arr_0", "second"]
        assert (len(saved), "second" in saved, "third" in saved) == (2, True, False)
        assert_same(saved["arr_0"], x)
        assert_same(saved["second"], y)
        with pytest.raises(KeyError):
            saved["third"]
    for call, error in (
        (lambda: bg.savez(tmp_path / "no.npz", a, arr_0=b), ValueError),
        (lambda: bg.savez(tmp_path / "no.npz", a, second=y), TypeError),
        (lambda: bg.save(tmp_path / "no.npy", x), TypeError),
        (lambda: bg.save(3, a), TypeError),
        (lambda: bg.load(None), TypeError),
    ):
        with pytest.raises(error):
            call()
    assert not list(tmp_path.glob("no.*"))


def test_files_that_cannot_be_loaded(bg: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.npy"
    for content in (b"", b"PK no archive", b"\x93NUMPY\x01\x00"):
        path.write_bytes(content)
        with pytest.raises((ValueError, OSError)):
            bg.load(path)
    np.save(path, np.array([{}], object), allow_pickle=True)
    with pytest.raises(ValueError, match="Object arrays"):
        bg.load(path)
    np.save(path, np.array(["text"]))
    with pytest.raises(TypeError):
        bg.load(path)
    with pytest.raises(FileNotFoundError):
        bg.load(tmp_path / "none.npy")
