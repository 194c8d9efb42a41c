"""Comparison of gradients with central differences of the same function in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

#: Relative to the largest expected value; the precision of slopes in float32.
TOLERANCE = 2e-3


def gradients_agree(
    bg: Any,
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    arrays: Sequence[np.ndarray],
    *,
    tolerance: float = TOLERANCE,
    step: float = 1e-6,
) -> None:
    """Compare gradients with central differences, for each array.

    The function is the sum of all results of ``ours``, times random weights. The differences are of
    ``theirs``, which takes float64 arrays.
    """
    doubles = [_double(x) for x in arrays]
    expected_results = _results(theirs(*doubles))
    weights = [_weights(np.asarray(y).shape, n) for n, y in enumerate(expected_results)]

    def loss_of_ours(*given: Any) -> Any:
        terms = [
            (y * bg.asarray(w)).sum() for y, w in zip(_results(ours(*given)), weights, strict=True)
        ]
        return _real(sum(terms[1:], terms[0]))

    def loss_of_theirs(given: Sequence[np.ndarray]) -> float:
        terms = [
            np.sum(y * w.astype(float))
            for y, w in zip(_results(theirs(*given)), weights, strict=True)
        ]
        return float(np.real(sum(terms)))

    own = [bg.asarray(np.asarray(x)) for x in arrays]
    found = bg.grad(loss_of_ours, argnums=tuple(range(len(own))))(*own)
    for n, (gradient, array) in enumerate(zip(found, arrays, strict=True)):
        expected = _differences(loss_of_theirs, doubles, n, step)
        assert gradient.shape == np.shape(array), f"argument {n}: shape {gradient.shape}"
        assert gradient.dtype == own[n].dtype, f"argument {n}: dtype {gradient.dtype}"
        _close(gradient.detach().numpy(), expected, tolerance, f"the gradient of argument {n}")


def second_gradients_agree(
    bg: Any,
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    arrays: Sequence[np.ndarray],
    *,
    tolerance: float = 2e-2,
    step: float = 1e-4,
) -> None:
    """Compare second gradients by the first array, weighted and summed, in the same way."""
    doubles = [_double(x) for x in arrays]
    direction = _weights(np.shape(arrays[0]), 7)
    weights = _weights(np.asarray(theirs(*doubles)).shape, 0)

    def loss_of_ours(*given: Any) -> Any:
        return (ours(*given) * bg.asarray(weights)).sum()

    def slope_of_ours(*given: Any) -> Any:
        return (bg.grad(loss_of_ours)(*given) * bg.asarray(direction)).sum()

    def slope_of_theirs(given: Sequence[np.ndarray]) -> float:
        ahead, behind = (given[0] + sign * step * direction.astype(float) for sign in (1, -1))
        values = [np.sum(theirs(x, *given[1:]) * weights.astype(float)) for x in (ahead, behind)]
        return float((values[0] - values[1]) / (2 * step))

    own = [bg.asarray(np.asarray(x)) for x in arrays]
    found = bg.grad(slope_of_ours, argnums=tuple(range(len(own))))(*own)
    for n, gradient in enumerate(found):
        expected = _differences(slope_of_theirs, doubles, n, step)
        _close(gradient.numpy(), expected, tolerance, f"the second gradient of argument {n}")


def _double(x: Any) -> np.ndarray:
    x = np.asarray(x)
    return x.astype(complex if x.dtype.kind == "c" else float)


def _results(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple | list) else [found]


def _real(x: Any) -> Any:
    return x.real if x.dtype.kind == "c" else x


def _weights(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape).astype(np.float32)


def _differences(
    loss: Callable[[Sequence[np.ndarray]], float], arrays: Sequence[np.ndarray], n: int, step: float
) -> np.ndarray:
    """Return central differences; for complex arrays, dL/dre + i dL/dim."""
    found = np.zeros(arrays[n].shape, arrays[n].dtype)
    units = (1, 1j) if found.dtype.kind == "c" else (1,)
    for place in np.ndindex(found.shape):
        for unit in units:
            values = []
            for sign in (1, -1):
                moved = [x.copy() for x in arrays]
                moved[n][place] += sign * step * unit
                values.append(loss(moved))
            found[place] += unit * (values[0] - values[1]) / (2 * step)
    return found


def _close(found: np.ndarray, expected: np.ndarray, tolerance: float, what: str) -> None:
    if not expected.size:
        return
    scale = max(1.0, float(np.abs(expected).max()))
    error = float(np.abs(found - expected).max())
    assert error <= tolerance * scale, f"{what} is off by {error / scale}:\n{found}\n{expected}"
