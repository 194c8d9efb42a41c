"""conv2d_forward against float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from browsergpu.engine.kernels.variants import VARIANTS
from inside import reference, tolerances
from inside.comparison import assert_matches, assert_same_bits
from inside.gpu import SENTINEL, on_gpu, only_variant, random_array, whole_array

pytestmark = [pytest.mark.native, pytest.mark.firefox]

Pair = tuple[int, int]


def run_conv2d(
    backend: Any, images: np.ndarray, filters: np.ndarray, stride: Pair, padding: Pair
) -> np.ndarray:
    shape = reference.conv2d_shape(images.shape, filters.shape, stride, padding)
    count = int(np.prod(shape))
    with on_gpu(backend) as gpu:
        x, w = gpu.upload(images), gpu.upload(filters)
        y = gpu.upload(np.append(np.full(count, np.nan, np.float32), np.float32(SENTINEL)))
        backend.conv2d_forward(
            x, images.shape, w, filters.shape, y, shape, list(stride), list(padding)
        )
        result = gpu.download(y, count + 1)
    assert_same_bits(result[-1:], np.full(1, SENTINEL, np.float32), "element behind the output")
    return result[:-1].reshape(shape)


def check(
    backend: Any, images: np.ndarray, filters: np.ndarray, stride: Pair, padding: Pair
) -> None:
    magnitude = reference.conv2d(np.abs(images), np.abs(filters), stride, padding)
    tolerance = tolerances.conv2d(magnitude, int(np.prod(filters.shape[1:])))
    assert_matches(
        run_conv2d(backend, images, filters, stride, padding),
        reference.conv2d(images, filters, stride, padding),
        **tolerance._asdict(),
    )


# images, filters, stride, padding
CASES = {
    "one pixel": ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1), (0, 0)),
    "1x1": ((2, 5, 7, 9), (3, 5, 1, 1), (1, 1), (0, 0)),
    "1x1 strided": ((2, 5, 7, 9), (3, 5, 1, 1), (2, 3), (0, 0)),
    "1x1, one column of two": ((2, 2, 4, 2), (3, 2, 1, 1), (1, 2), (0, 0)),
    "1x1 padded": ((1, 2, 3, 4), (2, 2, 1, 1), (1, 1), (2, 1)),
    "3x3": ((1, 3, 11, 13), (4, 3, 3, 3), (1, 1), (0, 0)),
    "3x3 same": ((2, 3, 11, 13), (5, 3, 3, 3), (1, 1), (1, 1)),
    "tall filter": ((1, 2, 17, 7), (3, 2, 5, 1), (1, 1), (2, 0)),
    "wide filter": ((1, 2, 7, 17), (3, 2, 1, 5), (1, 1), (0, 2)),
    "asymmetric padding": ((1, 2, 8, 6), (3, 2, 3, 2), (1, 1), (3, 1)),
    "asymmetric stride": ((1, 2, 19, 23), (3, 2, 3, 3), (3, 2), (1, 1)),
    "stride past the filter": ((1, 1, 23, 19), (2, 1, 2, 2), (5, 4), (0, 0)),
    "stride that leaves a rest": ((1, 1, 10, 10), (1, 1, 3, 3), (4, 4), (0, 0)),
    "filter as large as the image": ((2, 3, 7, 5), (4, 3, 7, 5), (1, 1), (0, 0)),
    "filter larger than the image": ((1, 2, 3, 3), (2, 2, 5, 5), (1, 1), (1, 1)),
    "padding past the filter": ((1, 1, 3, 3), (1, 1, 2, 2), (1, 1), (4, 3)),
    "batch": ((7, 2, 5, 6), (3, 2, 3, 3), (1, 1), (1, 1)),
    "primes": ((3, 7, 13, 17), (11, 7, 5, 3), (2, 1), (2, 1)),
    "many filters": ((1, 3, 9, 9), (131, 3, 3, 3), (1, 1), (1, 1)),
    "many channels": ((1, 67, 5, 5), (3, 67, 3, 3), (1, 1), (1, 1)),
    "many pixels": ((1, 1, 67, 71), (1, 1, 3, 3), (1, 1), (1, 1)),
    "one row": ((1, 3, 1, 131), (2, 3, 1, 7), (1, 2), (0, 3)),
    "one column": ((1, 3, 131, 1), (2, 3, 7, 1), (2, 1), (3, 0)),
}


@pytest.mark.fast
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_cases(backend: Any, case: Any) -> None:
    image_shape, filter_shape, stride, padding = case
    check(backend, random_array(1, *image_shape), random_array(2, *filter_shape), stride, padding)


@pytest.mark.fast
def test_integer_values_are_exact(backend: Any) -> None:
    images, filters = whole_array(1, 2, 17, 20, 19), whole_array(2, 70, 17, 3, 3)
    assert_matches(
        run_conv2d(backend, images, filters, (1, 1), (1, 1)),
        reference.conv2d(images, filters, (1, 1), (1, 1)),
        rtol=0.0, atol=0.0, why="sums of whole numbers below 2^24 are exact",
    )  # fmt: skip


@pytest.mark.fast
def test_it_is_correlation_and_not_flipped(backend: Any) -> None:
    images = np.zeros((1, 1, 5, 5), np.float32)
    images[0, 0, 2, 2] = 1.0
    filters = np.arange(1.0, 10.0, dtype=np.float32).reshape(1, 1, 3, 3)
    result = run_conv2d(backend, images, filters, (1, 1), (0, 0))
    assert_same_bits(result, filters[:, :, ::-1, ::-1].copy(), "an impulse gives the turned filter")


@pytest.mark.fast
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_special_values_reach_their_window_only(backend: Any, value: float) -> None:
    images, filters = random_array(1, 2, 3, 9, 9), random_array(2, 66, 3, 3, 3)
    images[1, 2, 4, 5] = value
    clean = np.nan_to_num(images, nan=0.0, posinf=0.0)
    magnitude = reference.conv2d(np.abs(clean), np.abs(filters), (1, 1), (1, 1))
    assert_matches(
        run_conv2d(backend, images, filters, (1, 1), (1, 1)),
        reference.conv2d(images, filters, (1, 1), (1, 1)),
        **tolerances.conv2d(magnitude, 27)._asdict(),
    )


@pytest.mark.parametrize(
    ("image_shape", "filter_shape"),
    [((0, 2, 5, 5), (3, 2, 3, 3)), ((2, 2, 5, 5), (0, 2, 3, 3))],
)
def test_empty_outputs(
    backend: Any, image_shape: tuple[int, ...], filter_shape: tuple[int, ...]
) -> None:
    images, filters = np.zeros(image_shape, np.float32), np.zeros(filter_shape, np.float32)
    assert run_conv2d(backend, images, filters, (1, 1), (0, 0)).size == 0


def test_no_channels_give_zeros(backend: Any) -> None:
    images, filters = np.zeros((2, 0, 5, 5), np.float32), np.zeros((3, 0, 3, 3), np.float32)
    result = run_conv2d(backend, images, filters, (1, 1), (0, 0))
    assert_same_bits(result, np.zeros((2, 3, 3, 3), np.float32), "an empty sum")


@given(data=st.data())
def test_any_shapes(backend: Any, data: st.DataObject) -> None:
    draw = data.draw
    channels = draw(st.integers(1, 5), "channels")
    filters = (draw(st.integers(1, 6), "filters"), channels, *draw(_pair(1, 5), "filter size"))
    images = (draw(st.integers(1, 3), "images"), channels, *draw(_pair(1, 14), "image size"))
    stride, padding = draw(_pair(1, 4), "stride"), draw(_pair(0, 4), "padding")
    assume(min(reference.conv2d_shape(images, filters, stride, padding)) > 0)
    seed = draw(st.integers(0, 99), "seed")
    check(backend, random_array(seed, *images), random_array(seed + 1, *filters), stride, padding)


def _pair(low: int, high: int) -> st.SearchStrategy[Pair]:
    return st.tuples(st.integers(low, high), st.integers(low, high))


# ---- variants -----------------------------------------------------------------------------------


@pytest.fixture(params=[v.name for v in VARIANTS["conv2d"]])
def forced(request: pytest.FixtureRequest, backend: Any) -> Iterator[Any]:
    """Use one variant after another for a test's convolutions, where it applies."""
    with only_variant(backend.device, "conv2d", request.param) as forced:
        yield forced


# Sizes at the tiles' edges: filters, pixels and channels that fill tiles, or are one more or less.
VARIED = {
    "3x3 whole tiles": ((1, 16, 16, 16), (64, 16, 3, 3), (1, 1), (1, 1)),
    "3x3 and a rest": ((2, 20, 17, 15), (37, 20, 3, 3), (1, 1), (1, 1)),
    "3x3, odd channels": ((1, 19, 9, 33), (18, 19, 3, 3), (1, 1), (1, 1)),
    "3x3, one channel less": ((1, 15, 7, 7), (31, 15, 3, 3), (1, 1), (1, 1)),
    "3x3 without padding": ((1, 8, 6, 11), (33, 8, 3, 3), (1, 1), (0, 0)),
    "3x3, wide padding": ((2, 3, 4, 5), (17, 3, 3, 3), (1, 1), (3, 2)),
    "3x3 / 2": ((2, 20, 15, 14), (37, 20, 3, 3), (2, 2), (1, 1)),
    "3x3 / 2, one filter": ((1, 33, 9, 9), (1, 33, 3, 3), (2, 2), (1, 1)),
    "3x3 / (1, 2)": ((1, 6, 9, 13), (5, 6, 3, 3), (1, 2), (1, 1)),
    "7x7 / 2": ((1, 3, 37, 35), (33, 3, 7, 7), (2, 2), (3, 3)),
    "1x1 whole tiles": ((1, 64, 8, 8), (64, 64, 1, 1), (1, 1), (0, 0)),
    "1x1 and a rest": ((3, 65, 5, 7), (67, 65, 1, 1), (1, 1), (0, 0)),
    "1x1, many channels": ((1, 1030, 3, 3), (40, 1030, 1, 1), (1, 1), (0, 0)),
    "1x1, channels for two rounds": ((2, 136, 3, 3), (18, 136, 1, 1), (1, 1), (0, 0)),
    "1x1, in vectors": ((1, 200, 4, 5), (20, 200, 1, 1), (1, 1), (0, 0)),
    "1x1, two pixels": ((1, 8, 1, 2), (3, 8, 1, 1), (1, 1), (0, 0)),
    "1x1 / 2": ((2, 36, 9, 8), (66, 36, 1, 1), (2, 2), (0, 0)),
    "1x1, one column of two": ((2, 4, 4, 2), (3, 4, 1, 1), (1, 2), (0, 0)),
    "1x1, one row of three": ((2, 4, 3, 8), (3, 4, 1, 1), (3, 1), (0, 0)),
    "3x3, one column of two": ((1, 3, 6, 4), (5, 3, 3, 3), (1, 2), (0, 0)),
    "one pixel, many channels": ((1, 300, 3, 3), (5, 300, 3, 3), (1, 1), (0, 0)),
    "3x3, one channel": ((2, 1, 9, 11), (5, 1, 3, 3), (1, 1), (1, 1)),
    "3x2 / (2, 3), one channel": ((1, 1, 9, 11), (19, 1, 3, 2), (2, 3), (1, 1)),
}


def test_each_variant(backend: Any, forced: Any) -> None:
    for image_shape, filter_shape, stride, padding in VARIED.values():
        images, filters = random_array(1, *image_shape), random_array(2, *filter_shape)
        check(backend, images, filters, stride, padding)
    assert forced.was_used


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_each_variant_keeps_special_values_in_their_windows(
    backend: Any, forced: Any, value: float
) -> None:
    for size, padding in ((3, 1), (1, 0)):
        images, filters = random_array(1, 2, 8, 9, 9), random_array(2, 66, 8, size, size)
        images[1, 2, 4, 8] = value
        images[0, 7, 0, 0] = value
        clean = np.nan_to_num(images, nan=0.0, posinf=0.0)
        spread = (padding, padding)
        magnitude = reference.conv2d(np.abs(clean), np.abs(filters), (1, 1), spread)
        assert_matches(
            run_conv2d(backend, images, filters, (1, 1), spread),
            reference.conv2d(images, filters, (1, 1), spread),
            **tolerances.conv2d(magnitude, 8 * size * size)._asdict(),
        )


def test_each_variant_without_outputs_or_channels(backend: Any, forced: Any) -> None:
    for images, channels, filters in ((0, 4, 8), (2, 4, 0), (2, 0, 8)):
        x = np.zeros((images, channels, 6, 6), np.float32)
        w = np.zeros((filters, channels, 3, 3), np.float32)
        result = run_conv2d(backend, x, w, (1, 1), (1, 1))
        assert_same_bits(result, np.zeros((images, filters, 6, 6), np.float32), "an empty sum")
