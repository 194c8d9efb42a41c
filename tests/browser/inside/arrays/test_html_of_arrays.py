"""The HTML of arrays in notebooks: facts, statistics, pictures and histograms."""

from __future__ import annotations

import base64
import re
import struct
import zlib

import numpy as np
import pytest

import browsergpu as bg

pytestmark = pytest.mark.native


def html(x: bg.Array) -> str:
    found = x._repr_html_()
    assert found is not None
    return found


def pixels(text: str) -> np.ndarray:
    """Decode the picture in HTML, whose rows have the filter 0."""
    match = re.search(r"data:image/png;base64,([^\"]+)", text)
    assert match
    data = base64.b64decode(match[1])
    width, height = struct.unpack(">II", data[16:24])
    length = struct.unpack(">I", data[33:37])[0]
    rows = np.frombuffer(zlib.decompress(data[41 : 41 + length]), np.uint8)
    return rows.reshape(height, 1 + 4 * width)[:, 1:].reshape(height, width, 4)


def bars(text: str) -> dict[int, float]:
    """The heights of a histogram's bars, by bin."""
    found = re.findall(r'<rect x="(\d+)" y="[\d.]+" width="4" height="([\d.]+)"', text)
    return {int(x) // 5: float(height) for x, height in found}


@pytest.mark.fast
def test_a_matrix_shows_its_facts_and_its_picture() -> None:
    values = np.linspace(-2, 6, 20 * 30, dtype=np.float32).reshape(20, 30)
    shown = html(bg.asarray(values))
    for fact in ("20 × 30", "float32", "2.4 kB", bg.init().name, "min -2 · mean 2 · max 6"):
        assert fact in shown
    levels = np.round((values + 2) / 8 * 255)
    image = pixels(shown)
    # The GPU's scaling and NumPy's may round to neighbours.
    assert np.abs(image[..., :3].astype(int) - levels[..., None]).max() <= 1
    assert (image[..., 3] == 255).all()


def test_the_html_shows_whether_the_array_is_computed() -> None:
    x = bg.ones((16, 16)) * 3
    assert "not computed yet" in html(x)
    assert "not computed yet" not in html(x)


def test_arrays_that_cannot_be_stored_launch_nothing() -> None:
    x = bg.ones((10**6, 10**6)) * 2
    with bg.profile() as launched, pytest.raises(bg.errors.OutOfMemory, match=r"3\.6 TiB"):
        html(x)
    assert not launched.events


def test_large_matrices_are_reduced_by_means_of_blocks() -> None:
    x = np.zeros((400, 600), np.float32)
    x[:, ::4] = 1  # a block of 4 x 4 has the mean 1/4
    image = pixels(html(bg.asarray(x)))
    assert image.shape == (100, 150, 4)
    assert (image[..., 0] == 64).all()


def test_images_have_their_colours() -> None:
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (12, 9, 3), np.uint8)
    assert (pixels(html(bg.asarray(image)))[..., :3] == image).all()
    floats = rng.random((12, 9, 4), np.float32)
    shown = pixels(html(bg.asarray(floats)))
    assert np.abs(shown - np.round(floats * 255)).max() <= 1


def test_nonfinite_elements_are_counted_and_transparent() -> None:
    x = np.ones((10, 10), np.float32)
    x[2, 3], x[4, 5], x[6, 7] = np.nan, np.inf, 3
    shown = html(bg.asarray(x))
    assert "min 1" in shown
    assert "max 3" in shown
    assert "2 not finite" in shown
    alpha = pixels(shown)[..., 3]
    assert (alpha == 0).sum() == 2
    assert alpha[2, 3] == alpha[4, 5] == 0
    assert "no finite values" in html(bg.full((9, 9), np.nan))


def test_nonfinite_elements_of_large_arrays_are_counted() -> None:
    x = bg.zeros((4100, 4100))  # more than 2**24
    assert "not finite" not in html(x)
    x[5] = np.nan
    assert "4,100 not finite" in html(x)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "int8", "uint8", "bool"])
def test_others_have_a_histogram(dtype: str) -> None:
    values = np.zeros(2000, dtype)
    values[500:] = 1
    shown = bars(html(bg.asarray(values)))
    assert sorted(shown) == [0, 47]
    assert shown[47] == 48
    assert shown[0] == pytest.approx(16, abs=0.06)  # 500 of 1500; heights have one digit


def test_a_single_value_has_one_bar() -> None:
    assert len(bars(html(bg.full((3000,), 7)))) == 1


def test_small_and_complex_arrays_are_shown_as_text() -> None:
    for x in (bg.arange(20), bg.zeros((0, 20)), bg.ones(2000) * 1j):
        assert x._repr_html_() is None
        assert x._repr_mimebundle_() == {"text/plain": repr(x)}


def test_an_array_that_requires_a_gradient_is_shown() -> None:
    x = bg.ones((9, 9)).requires_grad_()
    y = x * 2
    assert "9 × 9" in html(y)
    bg.sum(y).backward()
    assert float(bg.sum(x.grad)) == 162.0


def test_in_a_captured_block_only_facts_are_shown() -> None:
    x = bg.ones((9, 9))
    with bg.capture():
        y = x + 1
        shown = html(y)
    assert "9 × 9" in shown
    assert "<img" not in shown
