"""L-BFGS: minima, PyTorch's steps, and refused arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


def _problem(bg: Any, **options: Any) -> tuple[Any, Any, list[float]]:
    """Rosenbrock's function of four numbers in two parameters, from a fixed start."""
    a, b = (bg.nn.Parameter(bg.asarray(np.float32(x))) for x in ([-1.2, 1.0], [[0.5], [-0.7]]))
    optimizer = bg.optim.LBFGS([a, b], **options)
    losses: list[float] = []

    def closure() -> Any:
        optimizer.zero_grad()
        x = bg.concat([a, b.reshape(2)])
        loss = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        loss.backward()
        losses.append(float(loss))
        return loss

    closure.values = lambda: np.concatenate([a.tolist(), np.ravel(b.tolist())])  # type: ignore
    return optimizer, closure, losses


def test_a_minimum(bg: Any) -> None:
    optimizer, closure, losses = _problem(bg, line_search_fn="strong_wolfe", max_iter=100)
    first = optimizer.step(closure)
    assert first.item() == losses[0]
    # The local minimum for four numbers: Shang and Qiu, "A note on the extended Rosenbrock
    # function", 2006.
    expected = -0.775659, 0.613093, 0.382063, 0.145972
    np.testing.assert_allclose(closure.values(), expected, atol=2e-3)
    assert len(losses) < 100


#: PyTorch 2.13's losses for the same problem.
PYTORCH = {
    "fixed": ({"lr": 0.5, "max_iter": 6, "history_size": 2}, 2),
    "wolfe": ({"line_search_fn": "strong_wolfe", "max_iter": 5, "history_size": 3}, 2),
}
LOSSES: dict[str, list[float]] = {
    "fixed": [
        139.7,
        74.7172,
        31.7487,
        12.5079,
        5.81318,
        4.17401,
        3.79168,
        3.72142,
        3.70609,
        3.70257,
        3.7021,
        3.70201,
    ],
    "wolfe": [
        139.7,
        40.774,
        8.26978,
        4.02926,
        3.7501,
        3.71169,
        3.71169,
        3.70681,
        3.70669,
        3.70669,
        3.70668,
        3.70666,
    ],
}


@pytest.mark.parametrize("name", PYTORCH)
def test_steps_are_pytorchs(bg: Any, name: str) -> None:
    options, steps = PYTORCH[name]
    optimizer, closure, losses = _problem(bg, **options)
    for _ in range(steps):
        optimizer.step(closure)
    # Rounding errors grow with the steps: float32 losses agree to 1e-3.
    np.testing.assert_allclose(losses, LOSSES[name], rtol=1e-3)


def test_states_continue(bg: Any) -> None:
    options = {"line_search_fn": "strong_wolfe", "max_iter": 4}
    one, closure, losses = _problem(bg, **options)
    one.step(closure)
    kept = one.state_dict()
    values = closure.values()
    one.step(closure)
    other, again, repeated = _problem(bg, max_iter=9)
    with bg.no_grad():
        a, b = other.param_groups[0]["params"]
        a[...] = bg.asarray(values[:2].astype(np.float32))
        b[...] = bg.asarray(values[2:].astype(np.float32).reshape(2, 1))
    other.load_state_dict(kept)
    assert other.param_groups[0]["max_iter"] == 4
    other.step(again)
    np.testing.assert_allclose(repeated, losses[-len(repeated) :], rtol=1e-5)
    with pytest.raises(ValueError, match="param_groups"):
        other.load_state_dict({"state": {}, "param_groups": [{"params": [0]}]})


def test_bounds_of_a_step(bg: Any) -> None:
    optimizer, closure, losses = _problem(bg, lr=0.1, max_iter=3)
    optimizer.step(closure)
    assert len(losses) == 3  # no evaluation after the last iteration
    optimizer, closure, losses = _problem(bg, lr=0.1, max_eval=2)
    optimizer.step(closure)
    assert len(losses) == 2
    optimizer, closure, losses = _problem(bg, tolerance_grad=1e9)
    optimizer.step(closure)
    assert len(losses) == 1
    optimizer, closure, losses = _problem(bg, lr=0.1, tolerance_change=1e9)
    optimizer.step(closure)
    assert len(losses) == 1


@pytest.mark.fast
def test_invalid_arguments_are_refused(bg: Any) -> None:
    x = bg.nn.Parameter(bg.ones(2))
    optimizer = bg.optim.LBFGS([x])
    for call, kind, name in (
        (lambda: optimizer.step(), TypeError, "closure"),
        (lambda: optimizer.step_unless(bg.asarray(False)), TypeError, "closure"),
        (lambda: bg.optim.LBFGS([x], line_search_fn="armijo"), ValueError, "line_search_fn"),
        (lambda: bg.optim.LBFGS([x], max_iter=0), ValueError, "max_iter"),
        (lambda: bg.optim.LBFGS([{"params": [x]}, {"params": [bg.nn.Parameter(bg.ones(1))]}]),
         ValueError, "params"),
    ):  # fmt: skip
        with pytest.raises(kind, match=name):
            call()
