"""Optimizers update many parameters in place with one kernel, and change no other array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native

SHAPES = [(), (70, 36), (0, 3), (3, 2), (5, 3, 3, 3), (1030,), (40, 33)]
OPTIMIZERS: dict[str, tuple[str, dict[str, Any], int]] = {  # the number of arrays per parameter
    "sgd": ("SGD", {"lr": 0.05, "maximize": True}, 2),
    "momentum": ("SGD", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}, 3),
    "adam": ("Adam", {"lr": 0.05, "weight_decay": 0.1}, 4),
    "amsgrad": ("AdamW", {"lr": 0.05, "amsgrad": True}, 5),
    "rmsprop": ("RMSprop", {"lr": 0.02, "momentum": 0.5, "centered": True}, 5),
    "adagrad": ("Adagrad", {"lr": 0.1, "initial_accumulator_value": 0.2}, 3),
    "lion": ("Lion", {"lr": 0.01, "weight_decay": 0.1}, 3),
}


def optimizer_of(bg: Any, name: str, params: Any) -> Any:
    cls, options, _ = OPTIMIZERS[name]
    return getattr(bg.optim, cls)(params, **options)


def values(shapes: Any, dtype: Any = np.float32, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.normal(size=shape)).astype(dtype) for shape in shapes]


def lying(bg: Any, g: np.ndarray, way: int) -> Any:
    """Return a gradient with these values and one of several memory layouts."""
    if way == 1 and g.ndim:  # transposed
        return bg.asarray(np.ascontiguousarray(g.T)).T
    if way == 2:  # pending
        return bg.asarray(g / 2) * 2
    if way == 3 and g.size:  # within a larger array
        apart = np.concatenate([np.zeros(4, g.dtype), g.ravel(), np.zeros(4, g.dtype)])
        return bg.asarray(apart)[4 : 4 + g.size].reshape(g.shape)
    if way == 4 and g.size:  # strided
        return bg.asarray(np.stack([g, g], axis=-1))[..., 1]
    return bg.asarray(g)


def told(optimizer: Any) -> dict[str, Any]:
    """Return the parameters and the optimizer's state, on the host."""
    found = {}
    for n, param in enumerate(optimizer._all()):
        found[f"{n}"] = param.detach().numpy()
        found |= {f"{n}.{name}": np.asarray(x) for name, x in optimizer.state[param].items()}
    return found


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Assert that both have the same bits."""
    assert one.keys() == other.keys()
    for key, x in other.items():
        np.testing.assert_array_equal(one[key], x, err_msg=key)
        assert one[key].dtype == x.dtype


@pytest.mark.parametrize("most", [None, 8])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_many_parameters_update_as_separate_ones(
    bg: Any, backend: Any, monkeypatch: Any, name: str, most: int | None
) -> None:
    """All shapes and two dtypes, with gradients of any layout, some of them missing.

    Runs with the device's number of buffers per kernel, and with eight, which all GPUs have.
    """
    from browsergpu.arrays.lazy.trace import tracer_of

    if most is not None:
        monkeypatch.setattr(tracer_of(backend.device).kernels, "most_leaves", most - 1)
    begin = [*values(SHAPES), *values([(3, 2), (7,)], np.float16)]
    many = [bg.nn.Parameter(x) for x in begin]
    single = [bg.nn.Parameter(x) for x in begin]
    optimizer = optimizer_of(bg, name, many)
    others = [optimizer_of(bg, name, [p]) for p in single]
    for step in range(2):
        for n, (p, q) in enumerate(zip(many, single, strict=True)):
            p.grad = q.grad = None
            if n > 0 or step == 0:
                g = values([p.shape], p.dtype, seed=100 * step + n)[0]
                p.grad, q.grad = lying(bg, g, n % 5), bg.asarray(g)
        optimizer.step()
        for one in others:
            one.step()
    for n, one in enumerate(others):
        expected = {key.replace("0", f"{n}", 1): x for key, x in told(one).items()}
        found = {key: x for key, x in told(optimizer).items() if key.split(".")[0] == f"{n}"}
        same(found, expected)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_kernels_of_a_step(bg: Any, backend: Any, name: str) -> None:
    """As few kernels as the buffers allow; a captured step copies nothing to original buffers."""
    most = backend.device.limits["maxStorageBuffersPerShaderStage"]
    params = [bg.nn.Parameter(x) for x in values([(4, 3), (5,)] * 20)]
    optimizer = optimizer_of(bg, name, params)
    for p in params:
        p.grad = bg.asarray(np.ones(p.shape, np.float32))
    optimizer.step()
    with bg.capture() as graph:
        optimizer.step()
    each = min(8, (most - 1) // OPTIMIZERS[name][2])  # one buffer for the step's numbers
    assert len(graph._captured.dispatches) == -(-len(params) // each)
    expected = optimizer_of(bg, name, [bg.nn.Parameter(x) for x in values([(4, 3), (5,)] * 20)])
    for p in expected._all():
        p.grad = bg.asarray(np.ones(p.shape, np.float32))
    for _ in range(4):
        expected.step()
    graph.replay()
    optimizer.step()
    one, other = told(optimizer), told(expected)
    assert one.keys() == other.keys()
    for key, x in other.items():
        np.testing.assert_allclose(one[key], x, rtol=2e-6, atol=1e-7, err_msg=key)


def test_values_of_other_arrays_stay(bg: Any) -> None:
    """Copies and pending operations keep the values of a parameter and its state; views change."""
    begin = values([(6, 4), (6, 4), (6, 4), (6, 4)])
    a, b, c, d = params = [bg.nn.Parameter(x) for x in begin]
    optimizer = bg.optim.Adam(params, lr=0.1)
    for p in params:
        p.grad = bg.ones((6, 4))
    optimizer.step()
    before = [p.detach().numpy() for p in params]
    momentum = optimizer.state[optimizer._all()[3]]["exp_avg"].numpy()
    whole, part, later = a.detach(), b.detach()[1:3], c.detach() * 2
    kept = a.detach().copy()
    state = optimizer.state_dict()["state"][3]["exp_avg"]
    for n in range(2):
        optimizer.step()
        if n == 0:
            d.grad = d.detach() * 1  # recorded, reads the array that the step writes
    np.testing.assert_array_equal(kept.numpy(), before[0])
    np.testing.assert_array_equal(whole.detach().numpy(), a.detach().numpy())
    np.testing.assert_array_equal(part.detach().numpy(), b.detach().numpy()[1:3])
    np.testing.assert_array_equal(later.numpy(), before[2] * 2)
    np.testing.assert_array_equal(state.numpy(), momentum)
    again = [bg.nn.Parameter(x) for x in begin]
    expected = bg.optim.Adam(again, lr=0.1)
    for n in range(3):
        for p in again:
            p.grad = bg.ones((6, 4))
        if n == 2:
            again[3].grad = bg.asarray(again[3].detach().numpy())
        expected.step()
    same(told(optimizer), told(expected))
    assert optimizer.state[optimizer._all()[3]]["exp_avg"].numpy().tolist() != momentum.tolist()


def test_parameters_of_copies_are_changed_apart(bg: Any) -> None:
    x = bg.asarray(np.float32([1, 2, 3]))
    a, b = bg.nn.Parameter(x.copy()), bg.nn.Parameter(x.copy())
    gradient = bg.ones(3)
    a.grad, b.grad = gradient, gradient * 2
    bg.optim.SGD([a, b], lr=0.5).step()
    assert a.tolist() == [0.5, 1.5, 2.5]
    assert b.tolist() == [0, 1, 2]
    assert x.tolist() == [1, 2, 3]
    c = bg.nn.Parameter(x)
    c.grad = gradient
    bg.optim.SGD([c], lr=0.5).step()
    assert x.tolist() == c.tolist() == [0.5, 1.5, 2.5]  # they share memory


def test_a_parameter_that_is_a_part_of_something(bg: Any) -> None:
    whole, other = (bg.asarray(np.arange(12, dtype=np.float32).reshape(4, 3)) for _ in range(2))
    a, b = bg.nn.Parameter(whole[1:3]), bg.nn.Parameter(other.T)
    a.grad, b.grad = bg.ones((2, 3)), bg.ones((3, 4))
    optimizer = bg.optim.SGD([a, b], lr=1.0)
    with bg.capture() as graph:
        optimizer.step()
    graph.replay()
    optimizer.step()
    graph.replay()
    np.testing.assert_array_equal(a.detach().numpy(), np.arange(3, 9).reshape(2, 3) - 4)
    np.testing.assert_array_equal(b.detach().numpy(), np.arange(12).reshape(4, 3).T - 4)
    expected = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(other.numpy(), expected - 4)
    expected[1:3] -= 4
    np.testing.assert_array_equal(whole.numpy(), expected)


def test_replays_leave_copies_and_change_views(bg: Any) -> None:
    a, b = (bg.nn.Parameter(x) for x in values([(5,), (3, 4)]))
    begin = a.detach().numpy()
    a.grad, b.grad = bg.ones(5), bg.ones((3, 4))
    optimizer = bg.optim.SGD([a, b], lr=1.0)
    view, before = a.detach(), a.detach().copy()
    with bg.capture() as graph:
        optimizer.step()
    graph.replay()
    between = a.detach().copy()
    graph.replay()
    optimizer.step()
    np.testing.assert_array_equal(before.numpy(), begin)
    np.testing.assert_allclose(between.numpy(), begin - 2, atol=1e-6)
    np.testing.assert_allclose(a.detach().numpy(), begin - 4, atol=1e-6)
    np.testing.assert_array_equal(view.detach().numpy(), a.detach().numpy())


def test_some_have_come_further(bg: Any) -> None:
    """Groups, and parameters added later, have their own step counts and settings."""
    first, second = values([(3,), (3,)])
    a, b = bg.nn.Parameter(first), bg.nn.Parameter(second)
    optimizer = bg.optim.Adam([a], lr=0.1)
    a.grad = bg.ones(3)
    optimizer.step()
    optimizer.add_param_group({"params": [b], "lr": 0.2, "betas": (0.5, 0.75)})
    b.grad = bg.ones(3)
    for _ in range(2):
        optimizer.step()
    assert [state["step"] for state in optimizer.state.values()] == [3, 2]
    # With a constant gradient, each step is lr.
    np.testing.assert_allclose(a.detach().numpy(), first - 0.3, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(b.detach().numpy(), second - 0.4, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_going_on_from_a_state(bg: Any, name: str) -> None:
    """The bits are equal, for state of GPU arrays and of NumPy arrays of any float dtype."""

    def go(optimizer: Any, seed: int) -> None:
        for n, p in enumerate(optimizer._all()):
            p.grad = bg.asarray(values([p.shape], seed=seed + n)[0])
        optimizer.step()

    begin = values(SHAPES)
    optimizer = optimizer_of(bg, name, [bg.nn.Parameter(x) for x in begin])
    go(optimizer, 10)
    for exact in (True, False):
        again = optimizer_of(
            bg, name, [bg.nn.Parameter(p.detach().numpy()) for p in optimizer._all()]
        )
        state = optimizer.state_dict()
        if not exact:
            state["state"] = {
                n: {key: np.asarray(x) if key != "step" else x for key, x in own.items()}
                for n, own in state["state"].items()
            }
        again.load_state_dict(state)
        go(optimizer, 20)
        go(again, 20)
        same(told(again), told(optimizer))


def test_states_of_other_dtypes_and_none(bg: Any) -> None:
    a = bg.nn.Parameter(np.zeros(3, np.float32))
    optimizer = bg.optim.SGD([a], lr=1.0, momentum=0.5)
    groups = optimizer.state_dict()["param_groups"]
    a.grad = bg.ones(3)
    optimizer.load_state_dict({"state": {0: {"momentum_buffer": None}}, "param_groups": groups})
    optimizer.step()
    assert a.tolist() == [-1, -1, -1]
    half = np.full(3, 2, np.float16)
    optimizer.load_state_dict({"state": {0: {"momentum_buffer": half}}, "param_groups": groups})
    optimizer.step()
    assert a.tolist() == [-3, -3, -3]
    assert optimizer.state[optimizer._all()[0]]["momentum_buffer"].dtype == np.float32


def test_nan_is_reported_after_all_updates() -> None:
    import browsergpu as bg
    from browsergpu import BackendConfig, WasmBackend
    from browsergpu.errors import ValidationError

    with WasmBackend(BackendConfig(debug_mode=True, check_nan=True)) as backend:
        backend.init()
        bg.use(backend)
        params = [bg.nn.Parameter(np.ones((n,), np.float32)) for n in range(1, 20)]
        for p in params:
            p.grad = bg.ones(p.shape)
        params[0].grad = bg.asarray(np.float32([np.nan]))
        optimizer = bg.optim.SGD(params, lr=0.5)
        with pytest.raises(ValidationError, match="1 of 1 elements of 'a0_0' are NaN"):
            optimizer.step()
        assert all(p.detach().numpy().tolist() == [0.5] * p.size for p in params[1:])
        optimizer.zero_grad()
        for p in params[1:]:
            p.grad = bg.ones(p.shape)
        optimizer.step()
        assert params[-1].detach().numpy().tolist() == [0] * 19
        del p, params, optimizer
