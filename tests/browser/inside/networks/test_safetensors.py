"""safetensors files: written files are read back, and malformed files are refused."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.native

DTYPES = ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32",
          "complex64")  # fmt: skip


def _file(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def _entry(dtype: str, shape: list[int], begin: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def test_round_trip(bg: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = {f"a.{name}": (rng.normal(size=(3, 5)) * 4).astype(name) for name in DTYPES}
    arrays |= {"empty": np.zeros((0, 3), np.float32), "number": np.float32(7).reshape(())}
    own = {name: bg.asarray(x) for name, x in arrays.items()}
    path = tmp_path / "x.safetensors"
    written = io.BytesIO()
    bg.io.save_safetensors(path, own, metadata={"by": "tests", "ü": "ß"})
    bg.io.save_safetensors(written, own, metadata={"by": "tests", "ü": "ß"})
    assert path.read_bytes() == written.getvalue()
    assert [one.name for one in tmp_path.iterdir()] == ["x.safetensors"]
    written.seek(0)
    for file in (path, str(path), written, written.getvalue(), memoryview(written.getvalue())):
        found = bg.io.load_safetensors(file)
        assert found.keys() == arrays.keys()
        for name, x in arrays.items():
            assert found[name].dtype == x.dtype
            assert found[name].shape == x.shape
            np.testing.assert_array_equal(found[name].numpy(), x)
    assert bg.io.Safetensors(path).metadata == {"by": "tests", "ü": "ß"}


def test_layout(bg: Any) -> None:
    """Wide elements come first, and the header's size is a multiple of eight bytes."""
    file = io.BytesIO()
    bg.io.save_safetensors(file, {"a": bg.asarray(np.uint8([1, 2, 3])), "b": bg.ones(2)})
    data = file.getvalue()
    length = int.from_bytes(data[:8], "little")
    assert length % 8 == 0
    header = json.loads(data[8 : 8 + length])
    assert header == {"b": _entry("F32", [2], 0, 8), "a": _entry("U8", [3], 8, 11)}
    assert data[8 + length :] == np.ones(2, "<f4").tobytes() + bytes([1, 2, 3])


def test_one_at_a_time(bg: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    bg.io.save_safetensors(path, {"a": np.arange(4, dtype=np.float32), "b": bg.zeros((2, 2))})
    saved = bg.io.Safetensors(path)
    assert len(saved) == 2
    assert "a" in saved
    assert saved.entries["b"].shape == (2, 2)
    assert saved["a"].tolist() == [0, 1, 2, 3]
    assert np.shares_memory(saved.numpy("a"), saved._bytes)
    with pytest.raises(KeyError):
        saved["c"]


def test_dtypes_that_the_gpu_lacks(bg: Any) -> None:
    wide = (
        np.float64([1 / 3, 2]).tobytes() + np.int64([-5]).tobytes() + np.uint16([0x3FC0]).tobytes()
    )
    header = {
        "a": _entry("F64", [2], 0, 16), "b": _entry("I64", [1], 16, 24),
        "c": _entry("BF16", [1], 24, 26),
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bg.io.load_safetensors(_file(header, wide))
        large = _file({"a": _entry("I64", [1], 0, 8)}, np.int64([2**40]).tobytes())
        assert bg.io.load_safetensors(large)["a"].tolist() == [2**40]
    np.testing.assert_array_equal(found["a"].numpy(), np.float32([1 / 3, 2]))
    assert found["b"].tolist() == [-5]
    assert found["b"].dtype == np.int64
    assert found["c"].tolist() == [1.5]
    assert found["c"].dtype == np.float32


F = _entry("F32", [2], 0, 8)
MALFORMED: dict[str, bytes] = {
    "nothing": b"",
    "too short": b"\x01\x00",
    "a header beyond the end": (100).to_bytes(8, "little") + b"{}",
    "an enormous header": (2**63).to_bytes(8, "little") + b"{}",
    "no JSON": _file(b"{abc}"),
    "no object": _file(b"[1]"),
    "spaces first": _file(b" {}"),
    "no UTF-8": _file(b'{"\xff": 1}'),
    "deep": _file(b'{"a":' + b"[" * 100000 + b"]" * 100000 + b"}"),
    "a name twice": _file(b'{"a":%s,"a":%s}' % ((json.dumps(F).encode(),) * 2), bytes(8)),
    "a key twice": _file(
        b'{"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}', bytes(8)
    ),
    "an unknown dtype": _file({"a": _entry("F8_E5M2", [8], 0, 8)}, bytes(8)),
    "a dtype that is none": _file({"a": _entry(7, [2], 0, 8)}, bytes(8)),  # type: ignore[arg-type]
    "a key less": _file({"a": {"dtype": "F32", "shape": [2]}}, bytes(8)),
    "a key more": _file({"a": F | {"more": 1}}, bytes(8)),
    "no dict": _file({"a": 5}),
    "an extent below 0": _file({"a": _entry("F32", [-2], 0, 8)}, bytes(8)),
    "an extent that is a bool": _file({"a": _entry("F32", [True, 2], 0, 8)}, bytes(8)),
    "an extent that is no whole number": _file({"a": _entry("F32", [2.0], 0, 8)}, bytes(8)),  # type: ignore[list-item]
    "one offset": _file({"a": F | {"data_offsets": [8]}}, bytes(8)),
    "offsets outside": _file({"a": _entry("F32", [4], 0, 16)}, bytes(8)),
    "offsets the other way": _file({"a": _entry("F32", [2], 8, 0)}, bytes(8)),
    "a size that is another": _file({"a": _entry("F32", [3], 0, 8)}, bytes(8)),
    "a shape beyond all": _file({"a": _entry("F32", [2**62, 2**62], 0, 8)}, bytes(8)),
    "overlapping": _file({"a": F, "b": _entry("F32", [1], 4, 8)}, bytes(8)),
    "a hole": _file({"a": F, "b": _entry("F32", [1], 12, 16)}, bytes(16)),
    "bytes at the end": _file({"a": F}, bytes(9)),
    "metadata of numbers": _file({"__metadata__": {"a": 1}}),
    "metadata that is no dict": _file({"__metadata__": [1]}),
    "no bool": _file({"a": _entry("BOOL", [1], 0, 1)}, b"\x02"),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(bg: Any, name: str, tmp_path: Path) -> None:
    with pytest.raises(bg.errors.InvalidArgument, match="malformed"):
        bg.io.load_safetensors(MALFORMED[name])
    path = tmp_path / "x"
    path.write_bytes(MALFORMED[name])
    with pytest.raises(bg.errors.InvalidArgument, match="malformed"):
        bg.io.load_safetensors(path)


GOOD = _file({"a": F, "b": _entry("U8", [2], 8, 10)}, bytes(range(10)))


@given(data=st.data())
def test_damaged_files(bg: Any, data: Any) -> None:
    """A changed file is read, or refused with a clear error."""
    changed = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, len(GOOD) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(changed[: data.draw(st.integers(0, len(GOOD)))])
    for file in (bytes(changed), cut):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                bg.io.Safetensors(file)
        except bg.errors.InvalidArgument:
            pass


def test_arrays_that_cannot_be_written(bg: Any, tmp_path: Path) -> None:
    save = bg.io.save_safetensors
    path = tmp_path / "x"
    with pytest.raises(TypeError, match="dtype"):
        save(path, {"a": np.zeros(2)})
    with pytest.raises(TypeError, match="strings"):
        save(path, {"a": bg.zeros(1)}, metadata={"a": 1})
    with pytest.raises(ValueError, match="names"):
        save(path, {"__metadata__": bg.zeros(1)})
    with pytest.raises(TypeError, match="file"):
        save(5, {"a": bg.zeros(1)})
    with pytest.raises(TypeError, match="file"):
        bg.io.load_safetensors(5)
    assert not list(tmp_path.iterdir())


def test_models(bg: Any) -> None:
    one, other = bg.nn.Linear(3, 2), bg.nn.Linear(3, 2)
    file = io.BytesIO()
    bg.io.save_safetensors(file, one.state_dict())
    other.load_state_dict(bg.io.load_safetensors(file.getvalue()))
    np.testing.assert_array_equal(one.weight.detach().numpy(), other.weight.detach().numpy())
