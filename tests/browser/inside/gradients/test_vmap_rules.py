"""vmap of every function with a gradient rule equals calls with one example at a time."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from inside.gradients.cases import CASES, Case

pytestmark = [pytest.mark.native]

#: Functions that vmap computes for one example at a time.
BY_EXAMPLE = {"unique_all", "batch_norm"}
#: Factors of the examples, which keep positive definite matrices positive definite.
FACTORS = np.float32([1, 1.25, 0.75])
#: Batched kernels sum in a different order.
TOLERANCE = 2e-5


def _leaves(bg: Any, found: Any) -> list[np.ndarray]:
    return [np.asarray(x) for x in (found if isinstance(found, tuple | list) else [found])]


def _close(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    assert found.dtype == expected.dtype, what
    assert found.shape == expected.shape, what
    size = max(float(np.abs(expected).max(initial=0)), 1.0)
    np.testing.assert_allclose(found, expected, atol=TOLERANCE * size, err_msg=what)


def _check(bg: Any, function: Any, arrays: list[np.ndarray], axes: list[int | None]) -> None:
    stacks = [
        bg.asarray(x if axis is None else np.stack([x * f for f in FACTORS], axis=axis))
        for x, axis in zip(arrays, axes, strict=True)
    ]
    found = _leaves(bg, bg.vmap(function, in_axes=tuple(axes))(*stacks))
    for n, factor in enumerate(FACTORS):
        own = [x if axis is None else x * factor for x, axis in zip(arrays, axes, strict=True)]
        expected = _leaves(bg, function(*[bg.asarray(x) for x in own]))
        assert len(found) == len(expected)
        for x, y in zip(found, expected, strict=True):
            _close(x[n], y, f"example {n}")


def _loss(bg: Any, ours: Any) -> Any:
    def call(*arrays: Any) -> Any:
        found = ours(bg, *arrays)
        results = found if isinstance(found, tuple | list) else [found]
        total = 0.0
        for x in results:
            if x.dtype.kind in "fc":
                total = total + bg.sum(bg.real(x) * bg.cos(bg.arange(x.size).reshape(x.shape)))
        return total

    return call


@pytest.mark.parametrize("name", sorted(CASES))
def test_vmap_equals_a_loop(bg: Any, name: str) -> None:
    with warnings.catch_warnings():
        if name.rpartition(".")[2] not in BY_EXAMPLE:
            warnings.simplefilter("error", bg.VmapWarning)
        for ours, _, arrays, _ in CASES[name]:
            function = lambda *given, f=ours: f(bg, *given)  # noqa: E731
            given = [np.asarray(x) for x in arrays]
            _check(bg, function, given, [0] * len(given))
            if len(given) > 1:
                _check(bg, function, given, [-1, *[None] * (len(given) - 1)])
                _check(bg, function, given, [*[None] * (len(given) - 1), 0])


@pytest.mark.all
@pytest.mark.parametrize("name", sorted(CASES))
def test_gradients_of_examples(bg: Any, name: str) -> None:
    case: Case = CASES[name][0]
    arrays = [np.asarray(x) for x in case.arrays]
    slope = bg.grad(_loss(bg, case.ours), argnums=tuple(range(len(arrays))))
    stacks = [bg.asarray(np.stack([x * f for f in FACTORS])) for x in arrays]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bg.VmapWarning)
        found = bg.vmap(slope)(*stacks)
        whole = bg.grad(
            lambda *given: bg.vmap(_loss(bg, case.ours))(*given).sum(), tuple(range(len(arrays)))
        )(*stacks)
    for n, factor in enumerate(FACTORS):
        expected = slope(*[bg.asarray(x * factor) for x in arrays])
        for x, other, y in zip(found, whole, expected, strict=True):
            if y is not None:
                _close(np.asarray(x)[n], np.asarray(y), f"vmap of grad, example {n}")
                _close(np.asarray(other)[n], np.asarray(y), f"grad of vmap, example {n}")
