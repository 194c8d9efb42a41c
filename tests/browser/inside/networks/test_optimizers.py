"""Optimizers beside the published rules in float64, 20 steps each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native

Rule = Callable[[np.ndarray, np.ndarray, dict[str, Any], int], np.ndarray]


def _sgd(lr: float, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
         nesterov: bool = False) -> Rule:  # fmt: skip
    def rule(x: np.ndarray, g: np.ndarray, s: dict[str, Any], t: int) -> np.ndarray:
        g = g + weight_decay * x
        if momentum:
            s["b"] = g if t == 1 else momentum * s["b"] + (1 - dampening) * g
            g = g + momentum * s["b"] if nesterov else s["b"]
        return x - lr * g

    return rule


def _adam(
    lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
    weight_decay: float = 0, amsgrad: bool = False, decoupled: bool = False,
) -> Rule:  # fmt: skip
    def rule(x: np.ndarray, g: np.ndarray, s: dict[str, Any], t: int) -> np.ndarray:
        if decoupled:
            x = x - lr * weight_decay * x
        else:
            g = g + weight_decay * x
        s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
        s["v"] = betas[1] * s.get("v", 0) + (1 - betas[1]) * g * g
        v = s["v"]
        if amsgrad:
            v = s["most"] = np.maximum(s.get("most", 0), v)
        unbiased = np.sqrt(v / (1 - betas[1] ** t))
        return x - lr * s["m"] / (1 - betas[0] ** t) / (unbiased + eps)

    return rule


def _rmsprop(lr: float, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
             momentum: float = 0, centered: bool = False) -> Rule:  # fmt: skip
    def rule(x: np.ndarray, g: np.ndarray, s: dict[str, Any], t: int) -> np.ndarray:
        g = g + weight_decay * x
        s["v"] = alpha * s.get("v", 0) + (1 - alpha) * g * g
        v = s["v"]
        if centered:
            s["m"] = alpha * s.get("m", 0) + (1 - alpha) * g
            v = v - s["m"] ** 2
        change = g / (np.sqrt(v) + eps)
        s["b"] = momentum * s.get("b", 0) + change
        return x - lr * s["b"]

    return rule


def _adagrad(lr: float, lr_decay: float = 0, weight_decay: float = 0,
             initial_accumulator_value: float = 0, eps: float = 1e-10) -> Rule:  # fmt: skip
    def rule(x: np.ndarray, g: np.ndarray, s: dict[str, Any], t: int) -> np.ndarray:
        g = g + weight_decay * x
        s["s"] = s.get("s", initial_accumulator_value) + g * g
        return x - lr / (1 + (t - 1) * lr_decay) * g / (np.sqrt(s["s"]) + eps)

    return rule


def _lion(lr: float, betas: tuple[float, float] = (0.9, 0.99), weight_decay: float = 0) -> Rule:
    def rule(x: np.ndarray, g: np.ndarray, s: dict[str, Any], t: int) -> np.ndarray:
        m = s.get("m", 0)
        direction = np.sign(betas[0] * m + (1 - betas[0]) * g)
        s["m"] = betas[1] * m + (1 - betas[1]) * g
        return x - lr * (direction + weight_decay * x)

    return rule


CASES: list[tuple[str, Callable[..., Rule], dict[str, Any]]] = [
    ("SGD", _sgd, {"lr": 0.05}),
    ("SGD", _sgd, {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}),
    ("SGD", _sgd, {"lr": 0.05, "momentum": 0.9, "dampening": 0.5}),
    ("SGD", _sgd, {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    ("Adam", _adam, {"lr": 0.05}),
    ("Adam", _adam, {"lr": 0.05, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", _adam, {"lr": 0.05, "amsgrad": True}),
    ("AdamW", _adam, {"lr": 0.05, "weight_decay": 0.1}),
    ("RMSprop", _rmsprop, {"lr": 0.02, "weight_decay": 0.1}),
    ("RMSprop", _rmsprop, {"lr": 0.02, "alpha": 0.9, "momentum": 0.5, "centered": True,
                           "eps": 1e-2}),
    ("Adagrad", _adagrad, {"lr": 0.1}),
    ("Adagrad", _adagrad, {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1,
                           "initial_accumulator_value": 0.2}),
    ("Lion", _lion, {"lr": 0.01, "weight_decay": 0.1}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rule", "options"), CASES)
def test_twenty_steps(bg: Any, name: str, rule: Any, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    goals = [rng.normal(size=shape) for shape in ((3, 2), (4,))]
    values = [rng.normal(size=goal.shape).astype(np.float32) for goal in goals]
    params = [bg.nn.Parameter(x) for x in values]
    own = [bg.asarray(goal.astype(np.float32)) for goal in goals]
    optimizer = getattr(bg.optim, name)(params, **options)
    decoupled = {"decoupled": True} if name == "AdamW" else {}
    change = rule(**options, **decoupled)
    expected = [x.astype(float) for x in values]
    states: list[dict[str, Any]] = [{} for _ in goals]
    for t in range(1, 21):
        optimizer.zero_grad()
        loss = sum(((p - goal) ** 2).sum() for p, goal in zip(params, own, strict=True))
        loss.backward()
        optimizer.step()
        for n, goal in enumerate(goals):
            expected[n] = change(expected[n], 2 * (expected[n] - goal), states[n], t)
    for p, x in zip(params, expected, strict=True):
        np.testing.assert_allclose(p.detach().numpy(), x, atol=2e-5, rtol=2e-5)
        assert isinstance(p, bg.nn.Parameter)
        assert p.is_leaf


def test_groups_and_what_has_no_gradient(bg: Any) -> None:
    a, b, c = (bg.nn.Parameter(np.ones(2, np.float32)) for _ in range(3))
    optimizer = bg.optim.SGD([{"params": [a]}, {"params": b, "lr": 1.0}], lr=0.5)
    optimizer.add_param_group({"params": [c]})
    (a.sum() + b.sum()).backward()
    optimizer.step()
    assert [x.tolist() for x in (a, b, c)] == [[0.5, 0.5], [0, 0], [1, 1]]
    optimizer.param_groups[0]["lr"] = 0.25
    optimizer.step()
    assert a.tolist() == [0.25, 0.25]
    optimizer.zero_grad()
    assert a.grad is None
    up = bg.optim.SGD([c], lr=1.0, maximize=True)
    c.sum().backward()
    up.step()
    assert c.tolist() == [2, 2]


def test_closure(bg: Any) -> None:
    a = bg.nn.Parameter(np.ones(2, np.float32))
    optimizer = bg.optim.SGD([a], lr=0.5)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (a * a).sum()
        loss.backward()
        return loss

    with bg.no_grad():
        assert optimizer.step(closure).item() == 2
    assert a.tolist() == [0, 0]


def test_half_precision(bg: Any) -> None:
    a = bg.nn.Parameter(np.ones(3, np.float16))
    optimizer = bg.optim.Adam([a], lr=0.1)
    (a * 1e-4).sum().backward()
    optimizer.step()
    assert a.dtype == np.float16
    assert optimizer.state[0]["exp_avg_sq"].dtype == np.float32
    np.testing.assert_allclose(a.detach().numpy(), 0.9, rtol=1e-3)


def test_what_was_asked_of_gradients_before_stays(bg: Any) -> None:
    """A step changes values that were noted by nobody else's place."""
    a = bg.nn.Parameter(np.ones(2, np.float32))
    loss = (a * a).sum()
    optimizer = bg.optim.SGD([a], lr=1.0)
    a.grad = bg.ones(2)
    optimizer.step()
    assert a.tolist() == [0, 0]
    optimizer.zero_grad()
    loss.backward()
    assert a.grad.tolist() == [2, 2]


def test_states(bg: Any) -> None:
    def made() -> tuple[Any, Any]:
        a = bg.nn.Parameter(np.float32([1, 2, 3]))
        return a, bg.optim.Adam([a], lr=0.1, weight_decay=0.01)

    def go(a: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        (a * a).sum().backward()
        optimizer.step()

    a, first = made()
    go(a, first)
    b, second = made()
    with bg.no_grad():
        b[...] = a.detach()
    state = first.state_dict()
    assert state["state"][0]["step"] == 1
    assert state["param_groups"][0]["params"] == [0]
    second.load_state_dict(state)
    for _ in range(3):
        go(a, first)
        go(b, second)
    np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())
    assert state["state"][0]["step"] == 1
    with pytest.raises(ValueError, match="groups"):
        bg.optim.Adam([a, b]).load_state_dict(state)
    with pytest.raises(ValueError, match="shape"):
        bg.optim.Adam([bg.nn.Parameter(bg.zeros(2))]).load_state_dict(state)


def test_errors(bg: Any) -> None:
    a = bg.nn.Parameter(bg.zeros(2))
    optim = bg.optim
    for wrong in ([], [a, a]):
        with pytest.raises(ValueError, match="params"):
            optim.SGD(wrong)
    for wrong in (a, [3], [bg.arange(3)]):
        with pytest.raises(TypeError, match="params"):
            optim.SGD(wrong)
    with pytest.raises(ValueError, match="result"):
        optim.SGD([a * 2])
    with pytest.raises(ValueError, match="settings"):
        optim.SGD([{"params": [a], "beta": 3}])
    for options in ({"lr": -1}, {"nesterov": True}, {"weight_decay": -1}):
        with pytest.raises(ValueError, match=next(iter(options))):
            optim.SGD([a], **options)
    with pytest.raises(ValueError, match="betas"):
        optim.Adam([a], betas=(0.9, 1.0))


def test_clipping(bg: Any) -> None:
    a, b, c = (bg.nn.Parameter(bg.zeros(2)) for _ in range(3))
    a.grad, b.grad = bg.asarray(np.float32([3, 0])), bg.asarray(np.float32([0, -4]))
    norm = bg.optim.clip_grad_norm_([a, b, c], 10.0)
    assert norm.item() == 5
    assert a.grad.tolist() == [3, 0]
    assert bg.optim.clip_grad_norm_([a, b], 1.0).item() == 5
    np.testing.assert_allclose(b.grad.numpy(), [0, -0.8], rtol=1e-5)
    np.testing.assert_allclose(
        bg.optim.clip_grad_norm_([a, b], 9, float("inf")).item(), 0.8, rtol=1e-5
    )
    np.testing.assert_allclose(bg.optim.clip_grad_norm_([a, b], 9, 1).item(), 1.4, rtol=1e-5)
    bg.optim.clip_grad_value_([a, b, c], 0.7)
    np.testing.assert_allclose(a.grad.numpy(), [0.6, 0], rtol=1e-5)
    np.testing.assert_allclose(b.grad.numpy(), [0, -0.7], rtol=1e-5)
    assert bg.optim.clip_grad_norm_([c], 1.0).item() == 0
    with pytest.raises(ValueError, match="max_norm"):
        bg.optim.clip_grad_norm_([a], -1.0)
