"""Phases of transposed convolutions against the definition, along one axis."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from browsergpu.engine.kernels.convolution.phases import phases_of

pytestmark = pytest.mark.fast


def _transposed(x: np.ndarray, w: np.ndarray, stride: int, more: int) -> np.ndarray:
    made = np.zeros((len(x) - 1) * stride + len(w) + more)
    for n, value in enumerate(x):
        made[n * stride : n * stride + len(w)] += value * w
    return made


def _by_phases(
    x: np.ndarray, w: np.ndarray, stride: int, padding: int, result: int, is_one: bool
) -> np.ndarray:
    phases = phases_of(len(x), len(w), stride, padding, result, is_one=is_one)
    made = np.zeros((phases.results, stride))
    for group in phases.groups:
        around = np.pad(x, (max(group.before, 0), max(group.behind, 0)))
        around = around[max(-group.before, 0) : len(around) - max(-group.behind, 0)]
        for n in range(group.count):
            places = [group.start + stride * tap + n for tap in range(group.taps)]
            taps = [w[at] if 0 <= at < len(w) else 0.0 for at in places]
            made[:, group.first + n] = np.correlate(around, taps[::-1], "valid")
    if is_one:
        assert len(phases.groups) == 1
    return made.reshape(-1)[phases.shift : phases.shift + result]


@pytest.mark.parametrize("is_one", [False, True])
def test_phases_are_the_transposed_convolution(is_one: bool) -> None:
    rng = np.random.default_rng(0)
    settings = (range(1, 6), range(1, 8), range(1, 5), range(6), range(4))
    for extent, kernel, stride, padding, more in product(*settings):
        result = (extent - 1) * stride - 2 * padding + kernel + more
        if more >= stride or result < 1:
            continue
        x, w = rng.standard_normal(extent), rng.standard_normal(kernel)
        expected = _transposed(x, w, stride, more)[padding : padding + result]
        found = _by_phases(x, w, stride, padding, result, is_one)
        case = f"{extent=} {kernel=} {stride=} {padding=} {more=}"
        np.testing.assert_allclose(found, expected, atol=1e-12, err_msg=case)


def test_kernels_of_few_zeros_take_one_convolution() -> None:
    for kernel, stride in ((2, 2), (4, 2), (5, 2), (1, 2), (16, 16), (3, 1)):
        assert len(phases_of(8, kernel, stride, 0, (8 - 1) * stride + kernel).groups) == 1
    assert len(phases_of(8, 3, 2, 1, 16).groups) == 2
