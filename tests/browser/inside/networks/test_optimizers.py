"""Optimizers compared with the published rules in float64, for 20 steps."""

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


def _adadelta(lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6,
              weight_decay: float = 0) -> Rule:  # fmt: skip
    def rule(x: np.ndarray, g: np.ndarray, s: dict[str, Any], t: int) -> np.ndarray:
        g = g + weight_decay * x
        s["v"] = rho * s.get("v", 0) + (1 - rho) * g * g
        d = np.sqrt(s.get("u", 0) + eps) / np.sqrt(s["v"] + eps) * g
        s["u"] = rho * s.get("u", 0) + (1 - rho) * d * d
        return x - lr * d

    return rule


def _adamax(lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
            weight_decay: float = 0) -> Rule:  # fmt: skip
    def rule(x: np.ndarray, g: np.ndarray, s: dict[str, Any], t: int) -> np.ndarray:
        g = g + weight_decay * x
        s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
        s["u"] = np.maximum(betas[1] * s.get("u", 0), np.abs(g) + eps)
        return x - lr / (1 - betas[0] ** t) * s["m"] / s["u"]

    return rule


def _decay(x: np.ndarray, g: np.ndarray, lr: float, share: float, apart: bool) -> Any:
    return (x - lr * share * x, g) if apart else (x, g + share * x)


def _nadam(
    lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
    weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False,
) -> Rule:  # fmt: skip
    def momentum(t: int) -> float:
        return betas[0] * (1 - 0.5 * 0.96 ** (t * momentum_decay))

    def rule(x: np.ndarray, g: np.ndarray, s: dict[str, Any], t: int) -> np.ndarray:
        x, g = _decay(x, g, lr, weight_decay, decoupled_weight_decay)
        s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
        s["v"] = betas[1] * s.get("v", 0) + (1 - betas[1]) * g * g
        now, after = (np.prod([momentum(n) for n in range(1, t + more)]) for more in (1, 2))
        step = g * (1 - momentum(t)) / (1 - now) + s["m"] * momentum(t + 1) / (1 - after)
        return x - lr * step / (np.sqrt(s["v"] / (1 - betas[1] ** t)) + eps)

    return rule


def _radam(
    lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
    weight_decay: float = 0, decoupled_weight_decay: bool = False,
) -> Rule:  # fmt: skip
    def rule(x: np.ndarray, g: np.ndarray, s: dict[str, Any], t: int) -> np.ndarray:
        x, g = _decay(x, g, lr, weight_decay, decoupled_weight_decay)
        s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
        s["v"] = betas[1] * s.get("v", 0) + (1 - betas[1]) * g * g
        m, power = s["m"] / (1 - betas[0] ** t), betas[1] ** t
        whole = 2 / (1 - betas[1]) - 1
        rho = whole - 2 * t * power / (1 - power)
        if rho <= 5:
            return x - lr * m
        r = np.sqrt((rho - 4) * (rho - 2) * whole / ((whole - 4) * (whole - 2) * rho))
        return x - lr * m * r * np.sqrt(1 - power) / (np.sqrt(s["v"]) + eps)

    return rule


def _rprop(lr: float = 0.01, etas: tuple[float, float] = (0.5, 1.2),
           step_sizes: tuple[float, float] = (1e-6, 50)) -> Rule:  # fmt: skip
    def rule(x: np.ndarray, g: np.ndarray, s: dict[str, Any], t: int) -> np.ndarray:
        turn = np.sign(g * s.get("g", 0))
        factor = np.where(turn > 0, etas[1], np.where(turn < 0, etas[0], 1))
        s["s"] = np.clip(s.get("s", lr) * factor, *step_sizes)
        s["g"] = np.where(turn < 0, 0, g)
        return x - np.sign(s["g"]) * s["s"]

    return rule


def _asgd(lr: float, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
          weight_decay: float = 0) -> Rule:  # fmt: skip
    def rule(x: np.ndarray, g: np.ndarray, s: dict[str, Any], t: int) -> np.ndarray:
        g = g + weight_decay * x
        rate = lr / (1 + lambd * lr * (t - 1)) ** alpha
        return x * (1 - lambd * rate) - rate * g

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
    ("Adadelta", _adadelta, {}),
    ("Adadelta", _adadelta, {"lr": 0.5, "rho": 0.8, "eps": 1e-3, "weight_decay": 0.1}),
    ("Adamax", _adamax, {"lr": 0.05}),
    ("Adamax", _adamax, {"lr": 0.05, "betas": (0.8, 0.9), "eps": 1e-2, "weight_decay": 0.1}),
    ("NAdam", _nadam, {"lr": 0.05}),
    ("NAdam", _nadam, {"lr": 0.05, "weight_decay": 0.1, "momentum_decay": 0.1, "eps": 1e-2}),
    ("NAdam", _nadam, {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", _radam, {"lr": 0.05}),
    ("RAdam", _radam, {"lr": 0.05, "betas": (0.8, 0.9), "weight_decay": 0.1, "eps": 1e-2}),
    ("RAdam", _radam, {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Rprop", _rprop, {}),
    ("Rprop", _rprop, {"lr": 0.1, "etas": (0.4, 1.5), "step_sizes": (0.01, 0.2)}),
    ("ASGD", _asgd, {"lr": 0.05}),
    ("ASGD", _asgd, {"lr": 0.05, "lambd": 0.1, "alpha": 0.5, "weight_decay": 0.1}),
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


def test_groups_and_parameters_without_gradients(bg: Any) -> None:
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


@pytest.mark.parametrize("kind", ["NAdam", "RAdam", "Adamax", "Adadelta", "Rprop", "ASGD"])
def test_skipped_steps_change_nothing(bg: Any, kind: str) -> None:
    """The GPU counts the same steps as the host."""
    one, other = (bg.nn.Parameter(np.float32([2, -1, 0.5])) for _ in range(2))
    plain, guarded = (getattr(bg.optim, kind)([x], lr=0.1) for x in (one, other))
    for n in range(12):
        is_skipped = n in (0, 4)
        if not is_skipped:
            plain.zero_grad()
            (one**2).sum().backward()
            plain.step()
        guarded.zero_grad()
        (other**2).sum().backward()
        guarded.step_unless(bg.asarray(is_skipped))
        # The GPU computes powers of the betas in float32.
        np.testing.assert_allclose(other.tolist(), one.tolist(), rtol=3e-4)


def test_averaged_parameters(bg: Any) -> None:
    x = bg.nn.Parameter(np.float32([1.0]))
    optimizer = bg.optim.ASGD([x], lr=0.1, lambd=0, t0=2)
    values, mean = [], 0.0
    for t in range(1, 8):
        optimizer.zero_grad()
        x.sum().backward()
        optimizer.step()
        values.append(x.item())
        mean += (values[-1] - mean) / max(1, t - 3)
        assert next(iter(optimizer.state.values()))["ax"].item() == pytest.approx(mean, rel=1e-5)
    assert values[-1] == pytest.approx(0.3, rel=1e-5)
    assert mean > values[-1]


def test_options_that_select_an_implementation(bg: Any) -> None:
    params = [bg.nn.Parameter(bg.ones(2))]
    for kind in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam",
                 "RAdam", "ASGD", "Rprop"):  # fmt: skip
        make = getattr(bg.optim, kind)
        made = make(params, foreach=True, fused=None, capturable=True, differentiable=False)
        assert "foreach" not in made.defaults
        with pytest.raises(ValueError, match="differentiable"):
            make(params, differentiable=True)
        with pytest.raises(TypeError, match="unknown"):
            make(params, unknown=1)


def test_bad_settings_of_the_others(bg: Any) -> None:
    params, optim = [bg.nn.Parameter(bg.ones(2))], bg.optim
    for call, name in (
        (lambda: optim.Adadelta(params, rho=2), "rho"),
        (lambda: optim.Rprop(params, etas=(1.1, 2)), "etas"),
        (lambda: optim.Rprop(params, step_sizes=(2, 1)), "step_sizes"),
        (lambda: optim.NAdam(params, momentum_decay=-1), "momentum_decay"),
        (lambda: optim.RAdam(params, betas=(0.9, 1)), "betas"),
        (lambda: optim.Adamax(params, eps=-1), "eps"),
        (lambda: optim.ASGD(params, t0=-1), "t0"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=name):
            call()


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
    assert next(iter(optimizer.state.values()))["exp_avg_sq"].dtype == np.float32
    np.testing.assert_allclose(a.detach().numpy(), 0.9, rtol=1e-3)


def test_requires_grad_set_before_is_kept(bg: Any) -> None:
    """A graph recorded before a step uses the values from before the step."""
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


def test_states_are_by_parameter(bg: Any) -> None:
    a, b = (bg.nn.Parameter(bg.ones(2)) for _ in range(2))
    optimizer = bg.optim.Adam([a, b], lr=0.1)
    assert len(optimizer.state) == 0
    assert optimizer.state[a] == {}
    a.grad = bg.ones(2)
    optimizer.step()
    assert [one is a for one in optimizer.state] == [True]
    assert optimizer.state[a]["step"] == 1
    assert optimizer.state.get(b) is None
    assert a in optimizer.state
    assert "exp_avg" in repr(optimizer.state)
    with pytest.raises(ValueError, match="param must be a parameter of the optimizer"):
        optimizer.state[bg.ones(2)]
