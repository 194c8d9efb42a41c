"""``jit`` of modules and training steps, and gradients through it."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


def near(x: Any, y: Any) -> None:
    np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=2e-5, atol=1e-6)


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """Turn the warning about a function that cannot be captured into a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


def network(bg: Any) -> Any:
    """Return a small network with the same parameters each time.

    A bias before batch norm has a gradient of rounding errors, which Adam makes steps of lr.
    """
    nn = bg.nn
    made = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(),
        nn.Linear(64, 8), nn.Tanh(), nn.LayerNorm(8), nn.Linear(8, 3),
    )  # fmt: skip
    rng = np.random.default_rng(1)
    with bg.no_grad():
        for one in made.parameters():
            one[...] = bg.asarray(rng.normal(0, 0.3, one.shape).astype(np.float32))
    return made


def batches(bg: Any, count: int) -> list[tuple[Any, Any]]:
    rng = np.random.default_rng(2)
    return [
        (bg.asarray(rng.random((5, 1, 4, 4), np.float32)), bg.asarray(rng.integers(0, 3, 5)))
        for _ in range(count)
    ]


def optimizers(bg: Any) -> dict[str, Any]:
    optim = bg.optim
    return {
        "sgd": lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
        "adam": lambda p: optim.Adam(p, lr=0.01),
        "rmsprop": lambda p: optim.RMSprop(p, lr=0.01),
    }


@pytest.mark.parametrize("name", ["sgd", "adam", "rmsprop"])
@pytest.mark.parametrize("what", ["step", "module"])
def test_training(bg: Any, name: str, what: str) -> None:
    def losses(is_compiled: bool) -> tuple[list[float], Any]:
        model = network(bg)
        forward = bg.jit(model) if is_compiled and what == "module" else model
        optimizer = optimizers(bg)[name](model.parameters())
        schedule = bg.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad()
            loss = bg.nn.cross_entropy(forward(x), y)
            loss.backward()
            optimizer.step()
            schedule.step()
            return loss.detach()

        run = bg.jit(step) if is_compiled and what == "step" else step
        found = [float(run(x, y)) for x, y in batches(bg, 7)]
        if is_compiled:
            made = run if what == "step" else forward
            assert [one["calls"] for one in made.explain().variants] == [5]
        return found, model

    plain, theirs = losses(False)
    compiled, own = losses(True)
    near(compiled, plain)
    for one, other in zip(own.state_dict().values(), theirs.state_dict().values(), strict=True):
        near(one, other)


def test_a_compiled_module_is_the_module(bg: Any) -> None:
    model = network(bg)
    compiled = bg.jit(model)
    assert isinstance(compiled, type(model))
    assert list(compiled.state_dict()) == list(model.state_dict())
    compiled.eval()
    assert not model[1].training
    outer = bg.nn.Sequential(compiled, bg.nn.ReLU())
    assert [one.shape for one in outer.parameters()] == [one.shape for one in model.parameters()]
    with bg.no_grad():
        for x, _ in batches(bg, 4):
            near(outer(x), bg.nn.relu(model(x)))
    assert [one["calls"] for one in compiled.explain().variants] == [2]


def test_copies_and_pickles_are_compiled_modules_of_their_own(bg: Any) -> None:
    x = bg.ones((1, 3))
    model = bg.jit(bg.nn.Linear(3, 2))
    with bg.no_grad():
        for _ in range(3):
            expected = model(x)
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            for n in range(4):
                near(other(x), np.asarray(expected) + n)
                other.bias += 1
            near(model(x), expected)
            assert [one["calls"] for one in other.explain().variants] == [2]
    function = pickle.loads(pickle.dumps(bg.jit(bg.tanh)))
    for _ in range(3):
        near(function(x), bg.tanh(x))


def test_train_and_eval_and_new_parameters(bg: Any) -> None:
    model, theirs = network(bg), network(bg)
    compiled = bg.jit(model)
    with bg.no_grad():
        for n, (x, _) in enumerate(batches(bg, 12)):
            for one in (model, theirs):
                one.train(n % 3 == 0)
                if n == 6:
                    one[7].weight = bg.nn.Parameter(bg.ones((3, 8)))
                if n == 9:
                    one[4].bias *= 2
            near(compiled(x), theirs(x))
    for one, other in zip(model.buffers(), theirs.buffers(), strict=True):
        near(one, other)


@pytest.mark.parametrize("what", ["vmap", "vmap of jit", "grad"])
def test_transforms_of_modules(bg: Any, what: str) -> None:
    layer = bg.nn.Sequential(bg.nn.Linear(4, 3), bg.nn.Dropout(0.5)).eval().requires_grad_(False)
    plain = bg.vmap(layer)
    given = bg.jit(layer) if what == "vmap of jit" else layer
    made = bg.vmap(given)
    if what == "grad":
        plain, made = (bg.grad(lambda x, f=f: f(x).sum()) for f in (plain, made))
    compiled = bg.jit(made)
    x = bg.asarray(np.random.default_rng(3).random((5, 4), np.float32))
    for n in range(10):
        if n == 3:
            layer[0].bias *= 2
            layer[0].weight *= 3
        if n == 6:
            layer[0].weight = bg.nn.Parameter(bg.ones((3, 4)), requires_grad=False)
        near(compiled(x), plain(x))
    assert [one["calls"] for one in compiled.explain().variants] == [4, 3]
    if what != "grad":
        layer.train()
        values = {np.asarray(compiled(x)).tobytes() for _ in range(5)}
        assert len(values) > 1  # dropout


def test_hooks_are_noticed(bg: Any) -> None:
    model = bg.nn.Linear(3, 2)
    compiled = bg.jit(model)
    x = bg.ones((1, 3))
    with bg.no_grad():
        expected = np.asarray(model(x))
        for _ in range(3):
            near(compiled(x), expected)
        handle = model.register_forward_hook(lambda _, __, y: y * 2)
        for _ in range(3):
            near(compiled(x), 2 * expected)
        handle.remove()
        for _ in range(3):
            near(compiled(x), expected)


def test_gradients_of_arguments_and_of_closed_over_arrays(bg: Any) -> None:
    w = bg.asarray([1.0, 2.0, 3.0]).requires_grad_()
    f = bg.jit(lambda x, y: (bg.sin(x * w) * y, (x * w).sum()))
    for n in range(5):
        x, y = (bg.asarray(np.array(one, np.float32)) for one in ([n, 1, 2], [3, n, 1]))
        x.requires_grad_()
        w.grad = None
        first, second = f(x, y)
        assert first.requires_grad
        (first.sum() * 2 + second).backward()
        xs, ys, ws = (np.asarray(one.detach()) for one in (x, y, w))
        near(x.grad, 2 * np.cos(xs * ws) * ws * ys + ws)
        near(w.grad, 2 * np.cos(xs * ws) * xs * ys + xs)


def test_several_calls_before_the_backward_pass(bg: Any) -> None:
    f = bg.jit(lambda x: bg.tanh(x) * x)
    for n in range(4):
        xs = [bg.full(3, 0.1 * (n + k)).requires_grad_() for k in range(3)]
        total = sum((f(x).sum() for x in xs), bg.asarray(0.0))
        total.backward()
        for x in xs:
            v = np.asarray(x.detach())
            near(x.grad, np.tanh(v) + v * (1 - np.tanh(v) ** 2))


def test_only_some_results_lead_to_the_loss(bg: Any) -> None:
    f = bg.jit(lambda x: (x * 2, x * 3))
    for n in range(6):
        x = bg.ones(2).requires_grad_()
        results = f(x)
        results[n % 2].sum().backward()
        near(x.grad, [2 + n % 2] * 2)


def test_a_second_backward_pass(bg: Any) -> None:
    f = bg.jit(lambda x: bg.exp(x))
    for _ in range(4):
        x = bg.ones(2).requires_grad_()
        y = f(x).sum()
        y.backward(retain_graph=True)
        y.backward()
        near(x.grad, 2 * np.exp(np.ones(2)))


def test_grad_of_a_compiled_function_and_inside_of_one(bg: Any) -> None:
    f = bg.jit(lambda x: (bg.sin(x) * x).sum())
    outside = bg.grad(f)
    inside = bg.jit(bg.grad(lambda x: (bg.sin(x) * x).sum()))
    for n in range(5):
        x = bg.asarray([0.5, 1.0 + n])
        v = np.asarray(x)
        near(outside(x), np.cos(v) * v + np.sin(v))
        near(inside(x), np.cos(v) * v + np.sin(v))
    second = bg.grad(lambda x: bg.grad(f)(x).sum())
    with pytest.raises(NotImplementedError, match="gradients of gradients"):
        second(bg.asarray([0.5]) * 1 + bg.zeros(2))


def test_a_change_between_the_call_and_the_backward_pass_raises(bg: Any) -> None:
    model = bg.nn.Linear(3, 2)
    compiled = bg.jit(model)
    optimizer = bg.optim.SGD(model.parameters(), lr=0.1)
    x = bg.ones((1, 3))
    for n in range(5):
        found = compiled(x).sum()
        if n > 2:
            with bg.no_grad():
                model.weight += 1
            with pytest.raises(ValueError, match="unchanged"):
                found.backward()
        else:
            found.backward()
            optimizer.step()


def test_no_grad_and_grad_are_two_graphs(bg: Any) -> None:
    model = bg.nn.Linear(3, 2)
    compiled = bg.jit(model)
    x = bg.ones((1, 3))
    for _ in range(4):
        with bg.no_grad():
            assert not compiled(x).requires_grad
        assert compiled(x).requires_grad


def test_mixed_precision_follows_the_parameters(bg: Any) -> None:
    model = bg.nn.Linear(16, 16, bias=False)
    compiled = bg.jit(model)
    x = bg.ones((16, 16))
    with bg.no_grad():
        for n in range(5):
            model.weight[...] = float(n)
            with bg.autocast():
                found = compiled(x)
            assert found.dtype == np.float16
            near(found.astype("float32"), np.full((16, 16), 16.0 * n))


def test_dropout_draws_new_numbers(bg: Any) -> None:
    layer = bg.nn.Dropout(0.5)
    compiled = bg.jit(layer)
    found = [np.asarray(compiled(bg.ones(64))) for _ in range(6)]
    assert len({one.tobytes() for one in found}) == 6
    assert all(set(np.unique(one)) <= {0.0, 2.0} for one in found)
