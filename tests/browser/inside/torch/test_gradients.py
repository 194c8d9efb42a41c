"""``torch.autograd`` and ``torch.func``: Jacobians, Hessians and vmap."""

from __future__ import annotations

import numpy as np
import pytest

import browsergpu.torch as torch
import browsergpu.torch.nn.functional as F
from browsergpu.torch.autograd.functional import hessian, jacobian

pytestmark = pytest.mark.native


@pytest.mark.fast
def test_jacobians_have_the_structure_of_the_arguments() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for strategy in ("reverse-mode", "forward-mode"):
        found = jacobian(lambda v: v**2, x, strategy=strategy)
        assert isinstance(found, torch.Tensor)
        assert found.tolist() == [[2, 0], [0, 4]]
        assert not found.requires_grad
    a, b = jacobian(lambda v, w: (v * w).sum(), (x, torch.tensor([3.0, 5.0])))
    assert (a.tolist(), b.tolist()) == ([3, 5], [1, 2])
    second = hessian(lambda v, w: (v * v * w).sum(), (x, x))
    assert [[part.tolist() for part in row] for row in second] == [
        [[[2, 0], [0, 4]], [[2, 0], [0, 4]]], [[[2, 0], [0, 4]], [[0, 0], [0, 0]]],
    ]  # fmt: skip


def test_jacobians_can_be_differentiated() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    jacobian(lambda v: v**3, x, create_graph=True).sum().backward()
    assert x.grad.tolist() == [6, 12]


def test_options_of_jacobians_are_used_or_refused() -> None:
    x = torch.ones(2)
    for options in ({"strict": True}, {"strategy": "sideways"}):
        with pytest.raises(ValueError, match="jacobian"):
            jacobian(lambda v: v, x, **options)
    with pytest.raises(ValueError, match="strict"):
        hessian(lambda v: v.sum(), x, strict=True)
    with pytest.raises(TypeError):
        jacobian(lambda v: v, x, unknown=1)


def test_vmap_takes_random_numbers_only_if_they_are_wanted() -> None:
    rows = torch.zeros(3, 2)
    for function in (lambda v: v + torch.randn(2), lambda v: F.dropout(v + 1)):
        with pytest.raises(ValueError, match="randomness"):
            torch.func.vmap(function)(rows)
        found = torch.func.vmap(function, randomness="same")(rows).numpy()
        np.testing.assert_array_equal(found, np.stack([found[0]] * 3))
    for options in ({"randomness": "different"}, {"chunk_size": 2}):
        with pytest.raises(ValueError, match=next(iter(options))):
            torch.func.vmap(lambda v: v, **options)
    assert torch.func.vmap(lambda v: v * 2)(rows + 1).tolist() == [[2, 2]] * 3
    assert torch.randn(2).shape == (2,)


def test_gradients_of_special_functions_and_steps() -> None:
    x = torch.tensor([0.5, 1.5], requires_grad=True)
    for name, expected in (
        ("erf", 2 / np.sqrt(np.pi) * np.exp([-0.25, -2.25])), ("lgamma", [-1.9635100, 0.0364900]),
        ("digamma", [4.9348022, 0.9348022]), ("floor", [0, 0]), ("round", [0, 0]),
        ("sign", [0, 0]),
    ):  # fmt: skip
        (found,) = torch.autograd.grad(getattr(x, name)().sum(), x)
        np.testing.assert_allclose(found.numpy(), expected, rtol=3e-6, atol=1e-6)
    assert torch.polygamma(1, x.detach()).shape == (2,)
    rest = x - x.floor()
    rest.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_tensors_of_vmap_have_pytorchs_methods() -> None:
    x = torch.arange(12.0).reshape(2, 2, 3)
    w = torch.ones(3, 2)
    for function in (
        lambda v: v.relu(), lambda v: v.transpose(0, 1), lambda v: v.sum(dim=1), lambda v: v @ w,
        lambda v: v.max(1).values, lambda v: v.std(), lambda v: v.view(-1),
        lambda v: v.repeat(2, 1), lambda v: v.permute(1, 0), lambda v: v.chunk(3, 1)[1],
        lambda v: v / v.size(0),
        lambda v: v[:, 1:] + v[..., :2], lambda v: v.diagonal(), lambda v: (v.long() + v).sum(),
        lambda v: torch.where(v > 3, v, torch.zeros_like(v)), lambda v: v.clone().add_(1),
        lambda v: sum(row.sum() for row in v), lambda v: torch.einsum("ij,jk->ik", v, w),
    ):  # fmt: skip
        expected = np.stack([function(one).numpy() for one in x])
        found = torch.func.vmap(function)(x)
        assert type(found) is torch.Tensor
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    assert torch.func.vmap(lambda v: (v * 2, repr(v))[0])(x).shape == x.shape


def test_gradients_for_each_example() -> None:
    layer = torch.nn.Linear(3, 1)
    params = {name: x.detach() for name, x in layer.named_parameters()}
    x, y = torch.rand(5, 3), torch.rand(5, 1)

    def loss(params, x, y):
        return ((torch.func.functional_call(layer, params, (x,)) - y) ** 2).sum()

    found = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)
    for n in range(5):
        layer.zero_grad()
        loss(dict(layer.named_parameters()), x[n], y[n]).backward()
        assert torch.allclose(found["weight"][n], layer.weight.grad, atol=1e-6)
