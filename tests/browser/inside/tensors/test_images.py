"""The image filters against float64, for floats, halves and bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside.comparison import assert_same_bits
from inside.tensors import reference, tolerances
from inside.tensors.lab import DTYPES, assert_close, on_bench
from inside.tolerances import Tolerance

pytestmark = pytest.mark.native

SHAPES = [(1, 1), (1, 7), (7, 1), (2, 2, 1), (37, 53), (37, 53, 1), (16, 17, 2), (31, 29, 3),
          (13, 11, 4), (1, 300, 3), (300, 1, 4), (1, 1, 4)]  # fmt: skip
DTYPE_PAIRS = [(a, b) for a in ("f32", "f16", "u8") for b in ("f32", "f16", "u8")]

# Arguments of each filter. No byte has the value of a threshold.
FILTERS: dict[str, tuple[float, ...]] = {
    "gaussian_blur": (1.3,),
    "sobel_edges": (0.8123,),
    "grayscale": (),
    "threshold": (0.4321,),
    "brightness": (1.7,),
    "contrast": (2.3,),
    "invert_colors": (),
    "sharpen": (),
}


def picture(shape: tuple[int, ...], dtype: str, seed: int = 1) -> np.ndarray:
    random = np.random.default_rng(seed)
    if dtype == "u8":
        return random.integers(0, 256, shape, np.uint8)
    return random.random(shape).astype(DTYPES[dtype])


def as_floats(image: np.ndarray) -> np.ndarray:
    """Return an image as exact numbers in 0..1."""
    return image / 255.0 if image.dtype == np.uint8 else image.astype(np.float64)


def expected_of(
    op: str, image: np.ndarray, *numbers: float
) -> tuple[np.ndarray, np.ndarray, Tolerance]:
    """Return the result, where float32 determines it (not near a threshold), and the tolerance."""
    certain = np.ones(image.shape, bool)
    if op == "gaussian_blur":
        result = np.clip(reference.blurred(image, *numbers), 0, 1)
        return result, certain, tolerances.blur(*numbers)
    if op == "sobel_edges":
        gradient = reference.gradient(image)
        edges = np.where(gradient > numbers[0], 1.0, 0.0)
        near = np.abs(gradient - numbers[0]) < 1e-5
        near = near[..., None] if image.ndim == 3 else near
        return reference.with_alpha_of(image, edges), certain & ~near, tolerances.IMAGE
    values = {
        "grayscale": lambda: reference.luminance(image),
        "threshold": lambda: np.where(image >= numbers[0], 1.0, 0.0),
        "brightness": lambda: image * numbers[0],
        "contrast": lambda: (image - 0.5) * numbers[0] + 0.5,
        "invert_colors": lambda: 1.0 - image,
        "sharpen": lambda: reference.sharpened(image),
    }[op]()
    if op == "threshold":
        certain = np.abs(image - numbers[0]) > 1e-6
    return reference.with_alpha_of(image, values), certain, tolerances.IMAGE


def assert_picture(
    result: np.ndarray, expected: np.ndarray, certain: np.ndarray, tolerance: Tolerance
) -> None:
    if result.dtype == np.uint8:
        assert result.shape == expected.shape
        error = np.abs(result - 255.0 * expected)
        allowed = 0.5 + 255.0 * (tolerance.atol + 1e-6)
        assert (error <= allowed)[certain].all(), f"off by {error[certain].max()} of 255"
        return
    assert ((result >= 0) & (result <= 1)).all()
    expected = np.where(certain, expected, result)
    assert_close(result, expected, tolerance)


def check(tensors: Any, op: str, image: np.ndarray, out: str, *numbers: float) -> None:
    with on_bench(tensors) as bench:
        result = bench.new(image.shape, out)
        getattr(tensors, op)(bench.up(image), result, *numbers)
        assert_picture(bench.get(result), *expected_of(op, as_floats(image), *numbers))


@pytest.mark.parametrize("op", FILTERS)
def test_shapes(tensors: Any, op: str) -> None:
    for shape in SHAPES:
        check(tensors, op, picture(shape, "f32"), "f32", *FILTERS[op])


@pytest.mark.parametrize(("into", "out"), DTYPE_PAIRS)
@pytest.mark.parametrize("op", FILTERS)
def test_dtypes(tensors: Any, op: str, into: str, out: str) -> None:
    for shape in ((13, 11), (7, 5, 2), (9, 11, 3), (5, 7, 4)):
        check(tensors, op, picture(shape, into), out, *FILTERS[op])


@pytest.mark.parametrize("dtype", ["f32", "f16", "u8"])
@pytest.mark.parametrize("op", FILTERS)
def test_in_place(tensors: Any, op: str, dtype: str) -> None:
    image = picture((23, 19, 4), dtype)
    with on_bench(tensors) as bench:
        handle = bench.up(image)
        getattr(tensors, op)(handle, handle, *FILTERS[op])
        assert_picture(bench.get(handle), *expected_of(op, as_floats(image), *FILTERS[op]))


@pytest.mark.parametrize("channels", [2, 4])
@pytest.mark.parametrize("op", [op for op in FILTERS if op != "gaussian_blur"])
def test_alpha_is_kept(tensors: Any, op: str, channels: int) -> None:
    image = picture((9, 8, channels), "u8")
    with on_bench(tensors) as bench:
        out = bench.new(image.shape, "u8")
        getattr(tensors, op)(bench.up(image), out, *FILTERS[op])
        assert_same_bits(bench.get(out)[..., -1], image[..., -1], "alpha")
        if (op, channels) != ("grayscale", 2):  # a single colour is already grey
            assert (bench.get(out)[..., :-1] != image[..., :-1]).any()


@pytest.mark.parametrize("op", FILTERS)
def test_results_are_clamped(tensors: Any, op: str) -> None:
    image = (np.random.default_rng(1).random((20, 21, 4)) * 8 - 4).astype(np.float32)
    with on_bench(tensors) as bench:
        out = bench.new(image.shape)
        getattr(tensors, op)(bench.up(image), out, *FILTERS[op])
        result = bench.get(out)
        expected, certain, _ = expected_of(op, image.astype(np.float64), *FILTERS[op])
        expected = np.clip(expected, 0, 1)
        tolerance = Tolerance(0.0, 1e-5, "values up to 4")
        assert_picture(result, expected, certain, tolerance)


@pytest.mark.parametrize("op", FILTERS)
@pytest.mark.parametrize("shape", [(0, 5), (5, 0, 3), (0, 0)])
def test_nothing(tensors: Any, op: str, shape: tuple[int, ...]) -> None:
    with on_bench(tensors) as bench:
        getattr(tensors, op)(bench.new(shape), bench.new(shape), *FILTERS[op])


@pytest.mark.parametrize("sigma", [1e-300, 1e-20, 1e-3, 0.2, 0.5, 1.0, 2.5, 20.0, 60.0, 100.0])
@pytest.mark.parametrize("shape", [(7, 9, 3), (1, 5), (40, 300)], ids=str)
def test_blur_of_any_sigma(tensors: Any, shape: tuple[int, ...], sigma: float) -> None:
    with np.errstate(all="ignore"):
        image = picture(shape, "f32")
        if sigma < 1e-3:
            with on_bench(tensors) as bench:
                out = bench.new(shape)
                tensors.gaussian_blur(bench.up(image), out, sigma)
                assert_same_bits(bench.get(out), image, "a blur of nothing")
            return
        check(tensors, "gaussian_blur", image, "f32", sigma)


def test_blur_keeps_a_plain_image(tensors: Any) -> None:
    for value in (0.0, 1.0):
        image = np.full((33, 300, 3), value, np.float32)
        with on_bench(tensors) as bench:
            out = bench.new(image.shape)
            tensors.gaussian_blur(bench.up(image), out, 3.0)
            result = bench.get(out)
        assert np.abs(result - value).max() <= 1e-5
        assert result.max() <= 1.0


def test_blur_of_one_bright_pixel_is_the_gaussian(tensors: Any) -> None:
    image = np.zeros((31, 31), np.float32)
    image[15, 15] = 1.0
    with on_bench(tensors) as bench:
        out = bench.new(image.shape)
        tensors.gaussian_blur(bench.up(image), out, 2.0)
        result = bench.get(out).astype(np.float64)
    t = np.arange(31) - 15.0
    bell = np.where(np.abs(t) <= 6, np.exp(-(t**2) / 8), 0.0)
    bell /= bell.sum()
    assert_close(result.astype(np.float32), np.outer(bell, bell), tolerances.blur(2.0))
    assert (result[:, :9] == 0).all()  # truncated at 3 sigma
    assert (result == result[::-1]).all()


def test_threshold_includes_its_value(tensors: Any) -> None:
    values = np.arange(256, dtype=np.uint8).reshape(16, 16)
    for level in (1, 51, 102, 127, 128, 204, 255):
        with on_bench(tensors) as bench:
            out = bench.new(values.shape, "u8")
            tensors.threshold(bench.up(values), out, level / 255)
            expected = np.where(values >= level, 255, 0).astype(np.uint8)
            assert_same_bits(bench.get(out), expected, f"at {level} of 255")


def test_filters_without_effect_keep_bytes(tensors: Any) -> None:
    values = np.arange(256, dtype=np.uint8).reshape(16, 16)
    for op in (tensors.contrast, tensors.brightness):
        with on_bench(tensors) as bench:
            out = bench.new(values.shape, "u8")
            op(bench.up(values), out, 1.0)
            assert_same_bits(bench.get(out), values, "bytes")


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 1023])
@pytest.mark.parametrize("dtype", ["u8", "f16"])
def test_parts_of_words(tensors: Any, dtype: str, n: int) -> None:
    # Bytes and halves share words with the following memory in a pooled buffer.
    image = picture((1, n), dtype)
    check(tensors, "invert_colors", image, dtype)


@given(data=st.data())
def test_any_image(tensors: Any, data: st.DataObject) -> None:
    shape: tuple[int, ...] = (data.draw(st.integers(1, 30)), data.draw(st.integers(1, 30)))
    channels = data.draw(st.integers(0, 4))
    shape += (channels,) if channels else ()
    into, out = data.draw(st.sampled_from(DTYPE_PAIRS))
    op = data.draw(st.sampled_from(list(FILTERS)))
    numbers = FILTERS[op]
    if op == "gaussian_blur":
        numbers = (data.draw(st.floats(0.05, 12.0)),)
    elif op in ("brightness", "contrast"):
        numbers = (data.draw(st.floats(-2.0, 4.0, width=32)),)
    check(tensors, op, picture(shape, into, data.draw(st.integers(0, 99))), out, *numbers)
