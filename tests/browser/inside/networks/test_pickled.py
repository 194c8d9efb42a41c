"""Pickled and copied arrays keep requires_grad, as in PyTorch."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


def _again(x: Any) -> Any:
    return pickle.loads(pickle.dumps(x))


def _net(bg: Any) -> Any:
    bg.nn.init.seed(1)
    return bg.nn.Sequential(bg.nn.Linear(3, 8), bg.nn.BatchNorm1d(8), bg.nn.Linear(8, 2))


def _loss(bg: Any, net: Any) -> Any:
    x = bg.asarray(np.linspace(-1, 1, 12).astype(np.float32).reshape(4, 3))
    return (net(x) ** 2).sum()


@pytest.mark.parametrize("copy", [_again, deepcopy])
def test_a_module_has_its_parameters(bg: Any, copy: Any) -> None:
    net = _net(bg)
    net[0].bias.requires_grad_(False)
    net.tied = net[0].weight
    net.listed = [net[2].bias]
    _loss(bg, net).backward()
    made = copy(net)
    assert [p.requires_grad for p in made.parameters()] == [
        p.requires_grad for p in net.parameters()
    ]
    assert all(isinstance(p, bg.nn.Parameter) and p.is_leaf for p in made.parameters())
    assert all(p.grad is None for p in made.parameters())
    assert made.tied is made[0].weight
    assert made.listed[0] is made[2].bias
    assert not any(x.requires_grad for x in made.buffers())
    for one in (net, made):
        one.zero_grad()
        _loss(bg, one).backward()
    for own, other in zip(made.parameters(), net.parameters(), strict=True):
        assert (own.grad is None) == (other.grad is None)
        if own.grad is not None:
            np.testing.assert_array_equal(own.grad.numpy(), other.grad.numpy())
    with bg.no_grad():
        made[0].weight += 1
    assert not np.array_equal(made[0].weight.detach().numpy(), net[0].weight.detach().numpy())


@pytest.mark.parametrize("copy", [_again, deepcopy])
def test_a_pickled_optimizer_continues(bg: Any, copy: Any) -> None:
    net = _net(bg)
    optimizer = bg.optim.Adam(net.parameters(), lr=0.05)
    schedule = bg.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    for _ in range(2):
        optimizer.zero_grad()
        _loss(bg, net).backward()
        optimizer.step()
        schedule.step()
    made, own, rates = copy((net, optimizer, schedule))
    assert own.param_groups[0]["params"][0] is made[0].weight
    assert rates.optimizer is own
    for module, one, rate in ((net, optimizer, schedule), (made, own, rates)):
        for _ in range(2):
            one.zero_grad()
            _loss(bg, module).backward()
            one.step()
            rate.step()
    assert next(iter(own.state.values()))["step"] == 4
    for found, expected in zip(made.parameters(), net.parameters(), strict=True):
        np.testing.assert_array_equal(found.detach().numpy(), expected.detach().numpy())


@pytest.mark.parametrize("copy", [_again, deepcopy])
def test_leaves_stay_leaves(bg: Any, copy: Any) -> None:
    x = bg.asarray(np.float32([1, 2])).requires_grad_()
    (x * x).sum().backward()
    made = copy(x)
    assert made.requires_grad
    assert made.is_leaf
    assert not isinstance(made, bg.nn.Parameter)
    # PyTorch copies a tensor's gradient but does not pickle it.
    assert (made.grad is None) == (copy is _again)
    (made * 3).sum().backward()
    assert made.grad.tolist() == ([3, 3] if copy is _again else [5, 7])
    assert x.grad.tolist() == [2, 4]
    frozen = copy(bg.nn.Parameter(bg.ones(2), requires_grad=False))
    assert isinstance(frozen, bg.nn.Parameter)
    assert not frozen.requires_grad
    assert not copy(bg.ones(2)).requires_grad
    assert not isinstance(copy(bg.ones(2)), bg.nn.Parameter)


@pytest.mark.parametrize("copy", [_again, deepcopy])
def test_results_of_operations_are_refused(bg: Any, copy: Any) -> None:
    x = bg.ones(2).requires_grad_()
    with pytest.raises(RuntimeError, match="detach"):
        copy(x * 2)
    assert copy((x * 2).detach()).tolist() == [2, 2]


def test_pickling_warns_about_hooks(bg: Any) -> None:
    x = bg.ones(2).requires_grad_()
    handle = x.register_hook(lambda g: g * 2)
    with pytest.warns(UserWarning, match="hooks"):
        _again(x)
    handle.remove()
    assert _again(x).requires_grad


@pytest.mark.parametrize("copy", [_again, deepcopy])
def test_generators_go_on_where_they_were(bg: Any, copy: Any) -> None:
    rng = bg.random.default_rng(4)
    rng.random(5)
    drop = bg.nn.Dropout(0.5, generator=rng)
    made = copy(drop)
    assert made(bg.ones(32)).tolist() == drop(bg.ones(32)).tolist()
    assert made.generator.random(3).tolist() == rng.random(3).tolist()


def test_a_scaler_is_refused_within_a_step(bg: Any) -> None:
    w = bg.nn.Parameter(bg.ones(1))
    optimizer, scaler = bg.optim.SGD([w], lr=0.0), bg.amp.GradScaler(4.0, growth_interval=1)
    scaler.scale(w.sum()).backward()
    scaler.step(optimizer)
    with pytest.raises(ValueError, match="update"):
        pickle.dumps(scaler)
    scaler.update()
    assert _again(scaler).get_scale() == 8.0
