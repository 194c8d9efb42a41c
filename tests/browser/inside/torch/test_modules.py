"""Modules whose methods and hooks programs define, as in PyTorch."""

from __future__ import annotations

import copy
import io
from collections import OrderedDict

import pytest

import browsergpu.torch as torch
from browsergpu.torch import nn

pytestmark = [pytest.mark.native, pytest.mark.fast]


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.t = torch.ones(2)
        self.count = 3

    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()
        return self

    def _apply(self, fn, recurse=True):
        super()._apply(fn)
        self.t = fn(self.t)
        return self

    def get_extra_state(self):
        return {"count": self.count}

    def set_extra_state(self, state):
        self.count = state["count"] + 1

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *lists):
        self.version = local_metadata.get("version")
        if prefix + "old" in state_dict:
            state_dict[prefix + "norm.weight"] = state_dict.pop(prefix + "old")
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *lists)


def test_methods_that_submodules_define_are_called() -> None:
    model = nn.Sequential(Frozen(), nn.ReLU())
    assert [one.training for one in model.train().modules()] == [True, True, False, True]
    model.half()
    assert model[0].t.dtype == model[0].norm.weight.dtype == torch.float16

    state = model.state_dict()
    assert state["0._extra_state"] == {"count": 3}
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    found = torch.load(file)
    found["0.old"] = found.pop("0.norm.weight") + 4
    assert str(model.load_state_dict(found, strict=False)) == "<All keys matched successfully>"
    assert model[0].count == 4
    assert model[0].version == 1


def test_a_state_is_loaded_whole_or_not_at_all() -> None:
    model = nn.Sequential(nn.Linear(1, 2), nn.BatchNorm1d(2))
    before = copy.deepcopy(model.state_dict())
    state = {name: x + 1 for name, x in before.items()}
    for wrong in ({**state, "2.weight": state["0.weight"]}, {**state, "1.bias": torch.ones(5)}):
        with pytest.raises(RuntimeError, match="state of Sequential"):
            model.load_state_dict(wrong)
    assert all(torch.equal(x, before[name]) for name, x in model.state_dict().items())
    del state["1.num_batches_tracked"]  # a dict without versions is an old one
    state["2.weight"], state["0.bias.x"] = state["0.weight"], state["0.bias"]
    assert model.load_state_dict(state, strict=False) == ([], ["2.weight", "0.bias.x"])
    assert torch.equal(model[1].weight, before["1.weight"] + 1)


def test_hooks_of_states_are_called_in_order() -> None:
    calls = []
    model = nn.Sequential(nn.Linear(1, 1))
    model[0].register_state_dict_pre_hook(lambda *args: calls.append(args[1]))
    model.register_state_dict_post_hook(lambda module, state, *_: state.update(extra=1))
    model[0].register_load_state_dict_pre_hook(lambda module, state, *_: calls.append("before"))
    handle = model.register_load_state_dict_post_hook(
        lambda module, keys: keys.unexpected_keys.clear() or calls.append("after")
    )
    state = model.state_dict()
    assert state["extra"] == 1
    model.load_state_dict(state, strict=False)
    handle.remove()
    assert calls == ["0.", "before", "after"]


def test_slices_of_a_sequential_keep_names() -> None:
    model = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
    assert list(model[1:].state_dict()) == ["2.weight", "2.bias"]
    assert model[1:](torch.ones(1, 2)).shape == (1, 1)
    named = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
    assert list(named[1:]._modules) == ["b"]
    assert list((named + nn.Sequential(nn.ReLU()))._modules) == ["0", "1", "2"]
    assert len(nn.ModuleList([nn.ReLU()]) + nn.ModuleList([nn.Tanh()])) == 2
    assert type(named.pop(0)) is nn.ReLU
    assert len(named) == 1


def test_hooks_get_options_and_gradients() -> None:
    calls = []

    class Scale(nn.Module):
        def forward(self, x, by=1):
            return x * by

    model = Scale()
    model.register_forward_pre_hook(
        lambda module, args, options: (args, {"by": options["by"] * 3}), with_kwargs=True
    )
    model.register_forward_hook(lambda *args: calls.append("second"))
    model.register_forward_hook(
        lambda module, args, options, y: calls.append(options["by"]), prepend=True, with_kwargs=True
    )
    model.register_full_backward_hook(
        lambda module, inputs, outputs: calls.append((inputs, outputs)) or (inputs[0] * 10,)
    )
    handle = model.register_full_backward_pre_hook(lambda module, outputs: (outputs[0] * 2,))
    x = torch.ones(2, requires_grad=True)
    model(x, by=2).sum().backward()
    assert calls[:2] == [6, "second"]
    ((inputs,), (outputs,)) = calls[2]
    assert outputs.tolist() == [2, 2]
    assert inputs.tolist() == [12, 12]
    assert x.grad.tolist() == [120, 120]
    handle.remove()

    layer = nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda module, inputs, outputs: calls.append(inputs))
    layer(torch.ones(1, 2)).sum().backward()  # no input requires a gradient
    assert calls[-1] == (None,)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_a_function_may_change_its_arguments() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    part = y[:2]
    assert Doubled.apply(y) is y
    assert part.tolist() == [2, 2]
    (y * y).sum().backward()
    assert x.grad.tolist() == [8, 8, 8]
    with pytest.raises(RuntimeError):
        Doubled.apply(x)


def test_a_function_keeps_the_values_that_it_saved() -> None:
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x

    x = torch.ones(3, requires_grad=True)
    doubled, y = x * 2, torch.ones(3)
    parts = doubled[:2], y[:2]
    z = Times.apply(doubled, y)
    with torch.no_grad():
        for one in (doubled, y, *parts):
            one += 7
    z.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_a_function_chooses_its_gradients() -> None:
    calls = []

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, xs, x):
            ctx.set_materialize_grads(False)
            steps = x * 0 + xs[0]
            ctx.mark_non_differentiable(steps)
            return x * 2, x * 3, steps

        @staticmethod
        def backward(ctx, *g):
            calls.append([one is None for one in g])
            return None, g[1] * 3, None

    x = torch.ones(2, requires_grad=True)
    first, second, steps = Both.apply([5, 6], x)
    assert not steps.requires_grad
    (second * steps).sum().backward()
    assert x.grad.tolist() == [15, 15]
    assert calls == [[True, False, True]]
    assert first.grad_fn.name().startswith("BothBackward")


def test_second_derivatives_use_results_that_a_function_saved() -> None:
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    class Same(Exp):
        pass

    class Once(Same):
        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = torch.zeros(2, requires_grad=True)
    for _ in range(2):
        (g,) = torch.autograd.grad(Same.apply(x).sum(), x, create_graph=True)
        (g,) = torch.autograd.grad(g.sum(), x, create_graph=True)
        assert torch.autograd.grad(g.sum(), x)[0].tolist() == [1, 1]
    y = Once.apply(x).sum() * x.sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()
