"""Arguments and values that must not be ignored, cut or changed silently, against NumPy."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, by_default

pytestmark = pytest.mark.firefox

INFINITY = np.inf


def test_clip_promotes_with_its_bounds(bg: Any) -> None:
    x = np.array([-3, 1, 5], np.int32)
    for low, high in ((0.5, 2.5), (None, 1.5), (np.float32(-0.5), None), (0, np.int64(2))):
        assert_same(bg.clip(bg.asarray(x), low, high), np.clip(x, low, high))
        assert_same(np.clip(bg.asarray(x), low, high), np.clip(x, low, high))
    small = x.astype(np.int8)
    assert_same(bg.clip(bg.asarray(small), -1000, 1000), small)
    with pytest.raises(OverflowError):
        bg.clip(bg.asarray(small), 1000, None)


def test_numpys_numbers_are_typed(bg: Any) -> None:
    numbers = (np.int64(3), np.uint64(3), np.float64(1.5), np.float32(1.5), np.int8(2), np.True_)
    for dtype in ("int8", "uint8", "int32", "float16", "float32"):
        x = np.array([1, 2], dtype)
        for number in numbers:
            what = f"{dtype} {number!r}"
            assert_same(bg.asarray(x) + number, x + number, what)
            assert_same(number * bg.asarray(x), number * x, what)
            chosen = bg.where(bg.asarray([True, False]), bg.asarray(x), number)
            assert_same(chosen, np.where([True, False], x, number), what)
            assert bg.result_type(bg.asarray(x), number) == (bg.asarray(x) + number).dtype
    y = bg.asarray(np.array([1, 2], np.int8))
    y += np.int64(3)
    assert_same(y, np.array([4, 5], np.int8))
    assert bg.full(2, np.int8(3)).dtype == np.int8


def test_overflow_of_floats_warns(bg: Any) -> None:
    calls = (
        lambda: bg.asarray(1e300), lambda: bg.asarray([1.0, -1e300]), lambda: bg.full(2, 1e300),
        lambda: bg.asarray(np.array([1e300], np.float64)), lambda: bg.ones(2) * 1e300,
        lambda: bg.ones(2) * np.float64(1e300),
        lambda: bg.asarray(np.array([1e6], np.float32), dtype="float16"),
    )  # fmt: skip
    before = bg.set_x64("demote")
    try:
        for call in calls:
            bg.set_x64("demote")
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call()
                call()
            told = [w for w in caught if "overflows" in str(w.message)]
            assert len(told) == 1
            assert Path(told[0].filename).name == Path(__file__).name
        bg.set_x64("raise")
        for call in calls:
            with pytest.raises(ValueError, match="float"):
                call()
        bg.set_x64("quiet")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isinf(bg.asarray(1e300).numpy())
            assert (bg.asarray([INFINITY, 3.4e38]) * INFINITY).numpy().tolist() == [INFINITY] * 2
    finally:
        bg.set_x64(before)


def test_masks_take_one_value_for_each_true_element(bg: Any) -> None:
    mask = np.array([True, False, True, True])
    for key in (mask, bg.asarray(mask)):
        for n in (0, 2, 4):
            x = bg.zeros(4)
            with pytest.raises(ValueError, match="3 values"):
                x[key] = np.ones(n, np.float32)
        x = bg.zeros(4)
        x[key] = np.array([1, 2, 3], np.float32)
        assert_same(x, np.array([1, 0, 2, 3], np.float32))
        x[key] = [7.0]
        assert_same(x, np.array([7, 0, 7, 7], np.float32))
        leaf = bg.ones(2)
        leaf.requires_grad = True
        with pytest.raises(ValueError, match="3 values"):
            x[key] = leaf * 2.0
    x, values = bg.zeros(4), bg.asarray(np.array([1, 2, 3], np.float32))
    with bg.capture() as graph:
        x[mask] = values + 1.0  # a NumPy mask is counted on the host, without a wait
    graph.replay()
    assert_same(x, np.array([2, 0, 3, 4], np.float32))


def test_arange_beyond_2_to_the_31(bg: Any) -> None:
    for given in ((3_000_000_000, 3_000_000_005), (4_294_967_295, 4_294_967_290, -2)):
        assert_same(bg.arange(*given, dtype="uint32"), np.arange(*given).astype(np.uint32))
    assert_same(bg.arange(5, -5, -3), by_default(np.arange(5, -5, -3)))
    for wrong in ((-1, 3, 1, "uint32"), (0, 300, 1, "int8")):
        with pytest.raises(OverflowError):
            bg.arange(*wrong[:3], dtype=wrong[3])


def test_labels_outside_of_the_classes_give_nan(bg: Any) -> None:
    scores = bg.asarray(np.log(np.float32([[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]])))
    labels = bg.asarray(np.array([1, 2, -1], np.int32))
    weight = bg.asarray(np.float32([1, 2]))
    for loss, options in (
        (bg.nn.nll_loss, {}), (bg.nn.nll_loss, {"weight": weight}), (bg.nn.cross_entropy, {}),
        (bg.nn.cross_entropy, {"weight": weight, "label_smoothing": 0.1}),
    ):  # fmt: skip
        got = loss(scores, labels, reduction="none", **options).numpy()
        assert np.isfinite(got).tolist() == [True, False, False]
        assert np.isnan(float(loss(scores, labels, **options)))

        def total(x: Any, loss: Any = loss, options: Any = options) -> Any:
            return loss(x, labels, reduction="sum", **options)

        slopes = np.isfinite(bg.grad(total)(scores).numpy())
        assert slopes.tolist() == [[True] * 2, [False] * 2, [False] * 2]
        ignored = loss(scores, labels, ignore_index=-1, reduction="none", **options).numpy()
        assert np.isfinite(ignored).tolist() == [True, False, True]
    with pytest.raises(ValueError, match="ignore_index"):
        bg.nn.cross_entropy(scores, bg.ones((3, 2)), ignore_index=1)
