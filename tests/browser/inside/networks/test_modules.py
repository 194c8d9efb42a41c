"""Modules: attributes, state and copies."""

from __future__ import annotations

from collections import OrderedDict
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


def _net(bg: Any) -> Any:
    nn = bg.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(2, 3)
            self.rest = nn.Sequential(nn.ReLU(), nn.Linear(3, 1, bias=False))
            self.scale = nn.Parameter(np.ones(1, np.float32))
            self.register_buffer("seen", bg.zeros(2))
            self.register_buffer("passing", bg.zeros(2), persistent=False)

        def forward(self, x: Any) -> Any:
            return self.rest(self.first(x)) * self.scale

    return Net()


def test_names_in_pytorchs_order(bg: Any) -> None:
    net = _net(bg)
    names = ["scale", "first.weight", "first.bias", "rest.1.weight"]
    assert [name for name, _ in net.named_parameters()] == names
    assert [p.shape for p in net.parameters()] == [(1,), (3, 2), (3,), (1, 3)]
    assert list(net.state_dict()) == ["scale", "seen", *names[1:]]
    assert [name for name, _ in net.named_buffers()] == ["seen", "passing"]
    assert [name for name, _ in net.named_modules()] == ["", "first", "rest", "rest.0", "rest.1"]
    assert [name for name, _ in net.named_children()] == ["first", "rest"]
    assert net.get_submodule("rest.1") is net.rest[1]
    assert list(net.parameters(recurse=False)) == [net.scale]
    with pytest.raises(bg.errors.InvalidArgument, match="module"):
        net.get_submodule("rest.7")


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_the_state_shares_memory_with_the_module(bg: Any, name: str) -> None:
    net = bg.nn.Linear(2, 2)
    state = net.state_dict()
    state["weight"][0] = 7
    np.testing.assert_array_equal(net.weight.detach()[0], [7, 7])
    optimizer = getattr(bg.optim, name)(net.parameters(), lr=0.1)
    bg.sum(net(bg.ones((3, 2)))).backward()
    optimizer.step()
    assert float(state["weight"][0, 0]) < 7
    np.testing.assert_array_equal(state["weight"], net.weight.detach())
    net.load_state_dict({"weight": np.zeros((2, 2)), "bias": np.ones(2)})
    assert not bg.any(state["weight"])


def test_shared_modules_count_once(bg: Any) -> None:
    one = bg.nn.Linear(2, 2)
    both = bg.nn.Sequential(one, one)
    assert len(list(both.parameters())) == 2
    assert len(list(both.modules())) == 2
    assert list(both.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    copied = deepcopy(both)
    assert copied[0] is copied[1]


def test_parameters_are_arrays(bg: Any) -> None:
    p = bg.nn.Parameter(bg.asarray(np.float32([1, 2])))
    assert isinstance(p, bg.nn.Parameter)
    assert isinstance(p, bg.Array)
    assert p.requires_grad
    assert p.is_leaf
    assert not isinstance(p + 1, bg.nn.Parameter)
    with bg.no_grad():
        same = p
        p += 1
        p[0] = 7
    assert p is same
    assert isinstance(p, bg.nn.Parameter)
    assert p.is_leaf
    bg.eval(p)
    assert "in memory" in bg.explain(p)
    assert p.tolist() == [7, 3]
    (p * p).sum().backward()
    assert p.grad.tolist() == [14, 6]
    p.requires_grad_(False)
    assert isinstance(p, bg.nn.Parameter)
    assert not p.requires_grad
    with pytest.raises(TypeError, match="floats"):
        bg.nn.Parameter(bg.arange(3))
    assert not bg.nn.Parameter(bg.arange(3), requires_grad=False).requires_grad


def test_a_parameter_is_a_view_of_its_array(bg: Any) -> None:
    x = bg.asarray(np.float32([1, 2]))
    p = bg.nn.Parameter(x)
    with bg.no_grad():
        p *= 2
    assert x.tolist() == [2, 4]
    assert not x.requires_grad


def test_attributes(bg: Any) -> None:
    net = _net(bg)
    net.scale = bg.nn.Parameter(np.zeros(1, np.float32))
    assert dict(net.named_parameters())["scale"] is net.scale
    assert next(net.parameters()) is net.scale  # in the place of the previous one
    with bg.no_grad():
        net.scale += 1
    assert next(net.parameters()) is net.scale
    assert net.scale.tolist() == [1]
    net.scale = None
    assert "scale" not in dict(net.named_parameters())
    net.seen = bg.ones(2)
    assert dict(net.named_buffers())["seen"].tolist() == [1, 1]
    for name, wrong in (("first", 5), ("seen", 5), ("scale", bg.ones(1))):
        with pytest.raises(TypeError, match=name):
            setattr(net, name, wrong)
    net.first = bg.nn.Identity()
    assert "first.weight" not in net.state_dict()
    del net.rest
    with pytest.raises(AttributeError, match="rest"):
        net.rest  # noqa: B018
    with pytest.raises(ValueError, match="dot"):
        net.register_buffer("a.b", bg.zeros(1))
    with pytest.raises(ValueError, match="not an attribute yet"):
        net.register_buffer("forward", bg.zeros(1))
    assert {"first", "seen"} <= set(dir(net))


def test_attributes_before_init(bg: Any) -> None:
    class Early(bg.nn.Module):
        def __init__(self) -> None:
            self.layer = bg.nn.Identity()
            super().__init__()

    with pytest.raises(ValueError, match=r"super\(\)"):
        Early()


def test_state_is_loaded_and_kept(bg: Any) -> None:
    one, other = _net(bg), _net(bg)
    state = one.state_dict()
    parameters = list(other.parameters())
    assert other.load_state_dict(state) == ([], [])
    assert all(a is b for a, b in zip(other.parameters(), parameters, strict=True))
    for name, x in other.state_dict().items():
        np.testing.assert_array_equal(x.numpy(), state[name].numpy())
    assert all(p.requires_grad and p.is_leaf for p in other.parameters())
    with bg.no_grad():
        one.scale += 5
    assert state["scale"].tolist() == [6]
    assert other.scale.tolist() == [1]
    state["scale"][...] = 2
    assert one.scale.tolist() == [2]
    host = {name: x.numpy().astype(np.float64) for name, x in state.items()}
    other.load_state_dict(host)
    np.testing.assert_array_equal(
        other.first.weight.detach().numpy(), state["first.weight"].detach().numpy()
    )


def test_state_that_does_not_fit(bg: Any) -> None:
    net = _net(bg)
    before = net.scale.detach().numpy()
    wrong = net.state_dict() | {"more": bg.zeros(1), "first.bias": bg.zeros(4)}
    wrong["scale"] = bg.zeros(1)
    del wrong["seen"]
    with pytest.raises(ValueError, match="missing: seen") as caught:
        net.load_state_dict(wrong)
    assert "unexpected: more" in str(caught.value)
    assert "first.bias has shape (4,), not (3,)" in str(caught.value)
    np.testing.assert_array_equal(net.scale.detach().numpy(), before)  # nothing was loaded
    wrong["first.bias"] = bg.zeros(3)
    found = net.load_state_dict(wrong, strict=False)
    assert found == (["seen"], ["more"])
    assert found.missing_keys == ["seen"]
    for state in ([1], {"scale": 3.0}):
        with pytest.raises(TypeError):
            net.load_state_dict(state)


def test_training_and_freezing(bg: Any) -> None:
    net = _net(bg)
    assert net.training
    assert not any(one.training for one in net.eval().modules())
    assert all(one.training for one in net.train().modules())
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())
    assert len(list(net.parameters())) == 4
    net.requires_grad_()
    (net.scale * 2).sum().backward()
    assert net.scale.grad.tolist() == [2]
    net.zero_grad(set_to_none=False)
    assert net.scale.grad.tolist() == [0]
    net.zero_grad()
    assert net.scale.grad is None


def test_other_dtypes(bg: Any) -> None:
    net = bg.nn.Sequential(bg.nn.BatchNorm1d(2))
    weight = net[0].weight
    (weight * bg.ones(2)).sum().backward()
    optimizer = bg.optim.SGD(net.parameters(), lr=0.5)
    net.half()
    assert net[0].weight is weight
    assert isinstance(weight, bg.nn.Parameter)
    assert weight.dtype == weight.grad.dtype == np.float16
    assert net[0].running_mean.dtype == np.float16
    assert net[0].num_batches_tracked.dtype == np.int32
    optimizer.step()
    assert weight.tolist() == [0.5, 0.5]
    net.float().zero_grad()
    (weight * 2).sum().backward()
    assert weight.grad.dtype == np.float32
    assert weight.grad.tolist() == [2, 2]
    assert net.to(bg.default_device()) is net
    with pytest.raises(TypeError, match="dtype"):
        net.to(dtype="int32")


def test_apply_and_hooks(bg: Any) -> None:
    nn = bg.nn
    seen: list[str] = []
    net = nn.Sequential(nn.Identity(), nn.Identity())
    net.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Identity", "Identity", "Sequential"]
    before = net[0].register_forward_pre_hook(lambda module, args: args[0] + 1)
    after = net[1].register_forward_hook(lambda module, args, output: output * 10)
    assert net(bg.asarray(1)).item() == 20
    before.remove()
    assert net(bg.asarray(1)).item() == 10
    after.remove()
    assert net(bg.asarray(1)).item() == 1
    with pytest.raises(NotImplementedError, match="forward"):
        nn.Module()(1)


def test_text(bg: Any) -> None:
    nn = bg.nn
    net = nn.Sequential(
        OrderedDict([("a", nn.Linear(2, 3)), ("b", nn.Sequential(nn.ReLU(), nn.Dropout(0.1)))])
    )
    assert repr(net) == (
        "Sequential(\n"
        "  (a): Linear(in_features=2, out_features=3, bias=True)\n"
        "  (b): Sequential(\n"
        "    (0): ReLU()\n"
        "    (1): Dropout(p=0.1, inplace=False)\n"
        "  )\n"
        ")"
    )
    assert repr(nn.Conv2d(2, 4, 3, padding=1, bias=False)) == (
        "Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)"
    )
    assert repr(nn.LSTM(3, 4, batch_first=True)) == "LSTM(3, 4, batch_first=True)"
    assert repr(nn.ModuleList()) == "ModuleList()"


def test_copies(bg: Any) -> None:
    net = _net(bg)
    net.scale.requires_grad_(False)
    copied = deepcopy(net)
    assert list(copied.state_dict()) == list(net.state_dict())
    assert all(isinstance(p, bg.nn.Parameter) and p.is_leaf for p in copied.parameters())
    assert not copied.scale.requires_grad
    with bg.no_grad():
        net.first.bias += 1
    assert not np.array_equal(copied.first.bias.detach().numpy(), net.first.bias.detach().numpy())


def test_containers(bg: Any) -> None:
    nn = bg.nn
    row = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    assert len(row) == 3
    assert isinstance(row[-1], nn.Sigmoid)
    assert [type(one).__name__ for one in row[1:]] == ["Tanh", "Sigmoid"]
    del row[0]
    row.append(nn.Identity())
    row.insert(0, nn.SiLU())
    row[1] = nn.GELU()
    names = [(name, type(one).__name__) for name, one in row.named_children()]
    assert names == [("0", "SiLU"), ("1", "GELU"), ("2", "Sigmoid"), ("3", "Identity")]
    with pytest.raises(IndexError):
        row[4]
    with pytest.raises(TypeError):
        row.append(5)
    listed = nn.ModuleList([nn.Linear(1, 1)]).extend([nn.Linear(1, 1)])
    assert list(listed.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    named = nn.ModuleDict({"a": nn.ReLU()})
    named["b"] = nn.Linear(1, 1)
    assert list(named) == ["a", "b"]
    assert "b" in named
    del named["a"]
    assert list(named.state_dict()) == ["b.weight", "b.bias"]
