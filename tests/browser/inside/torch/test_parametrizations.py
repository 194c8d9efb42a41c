"""``torch.nn.utils.parametrizations`` and ``parametrize``."""

from __future__ import annotations

import numpy as np
import pytest

import browsergpu.torch as torch
from browsergpu.torch import nn
from browsergpu.torch.nn.utils import parametrizations, parametrize

pytestmark = pytest.mark.native


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).T


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x

    def right_inverse(self, x):
        return x / 2


@pytest.mark.fast
def test_weight_norm_learns_lengths_and_directions() -> None:
    layer = nn.Linear(2, 3)
    before = layer.weight.detach().clone()
    assert parametrizations.weight_norm(layer) is layer
    names = ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]
    assert list(layer.state_dict()) == names
    assert isinstance(layer, nn.Linear)
    assert torch.allclose(layer.weight, before, atol=1e-6)
    lengths = layer.parametrizations.weight.original0
    np.testing.assert_allclose(
        lengths.detach().numpy(), np.linalg.norm(before.numpy(), axis=1, keepdims=True), rtol=1e-6
    )
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(torch.ones(1, 2)).sum().backward()
    direction = before / before.norm(dim=1, keepdim=True)
    np.testing.assert_allclose(
        lengths.grad.numpy(), direction.sum(1, keepdim=True).numpy(), rtol=1e-5, atol=1e-6
    )
    optimizer.step()
    assert not torch.allclose(layer.weight, before)
    whole = parametrizations.weight_norm(nn.Linear(2, 3), dim=None)
    assert whole.parametrizations.weight.original0.shape == ()


def test_spectral_norm_divides_by_the_largest_singular_value() -> None:
    torch.manual_seed(0)
    layer = parametrizations.spectral_norm(nn.Linear(4, 3), n_power_iterations=20)
    found = np.linalg.svd(layer.weight.detach().numpy(), compute_uv=False)
    assert found[0] == pytest.approx(1, abs=1e-3)
    buffers = [name for name, _ in layer.named_buffers()]
    assert buffers == ["parametrizations.weight.0._u", "parametrizations.weight.0._v"]
    layer(torch.ones(1, 4)).sum().backward()
    assert layer.parametrizations.weight.original.grad is not None


def test_parametrizations_are_registered_set_and_removed() -> None:
    layer = nn.Linear(3, 3)
    own = layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert layer.parametrizations.weight.original is own
    assert torch.equal(layer.weight, layer.weight.T)
    assert type(layer).__name__ == "ParametrizedLinear"
    parametrize.register_parametrization(layer, "weight", Doubled())
    values = torch.arange(9.0).reshape(3, 3)
    with torch.no_grad():
        layer.weight = values
    assert torch.equal(layer.weight, values.triu() + values.triu(1).T)
    assert parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias")
    with parametrize.cached():
        assert layer.weight is layer.weight
    kept = layer.weight.detach()
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear
    assert torch.equal(layer.weight, kept)
    assert isinstance(layer.weight, nn.Parameter)
    assert list(layer.state_dict()) == ["bias", "weight"]


def test_wrong_parametrizations_are_refused() -> None:
    layer = nn.Linear(2, 3)
    with pytest.raises(ValueError, match="compute shape"):
        parametrize.register_parametrization(layer, "weight", nn.Flatten(0))
    with pytest.raises(ValueError, match="tensor_name"):
        parametrize.register_parametrization(layer, "scale", Doubled())
    with pytest.raises(ValueError, match="computed attribute"):
        parametrize.remove_parametrizations(layer, "weight")
    assert list(layer.state_dict()) == ["weight", "bias"]
    with pytest.raises(AttributeError, match="weight_norm"):
        _ = parametrizations.orthogonal
    old = nn.utils.weight_norm(nn.Linear(2, 3))
    assert old.weight_g.shape == (3, 1)
