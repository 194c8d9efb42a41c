"""nn.utils: weights that are computed before each call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


def _values(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize(("dim", "axes"), [(0, (1, 2)), (1, (0, 2)), (None, (0, 1, 2))])
def test_weight_norm(bg: Any, dim: Any, axes: Any) -> None:
    layer, x = bg.nn.Conv1d(2, 3, 2), bg.asarray(_values(1, 2, 5))
    before, weight = layer(x).tolist(), np.array(layer.weight.tolist())
    assert bg.nn.utils.weight_norm(layer, dim=dim) is layer
    assert sorted(layer.state_dict()) == ["bias", "weight_g", "weight_v"]
    norm = np.sqrt((weight**2).sum(axes, keepdims=True))
    np.testing.assert_allclose(layer.weight_g.tolist(), norm, rtol=1e-5)
    np.testing.assert_allclose(layer(x).tolist(), before, atol=1e-5)
    with bg.no_grad():
        layer.weight_g *= 2
        layer.weight_v *= 3
    doubled = 2 * np.array(before) - np.array(layer.bias.tolist())[:, None]
    np.testing.assert_allclose(layer(x).tolist(), doubled, atol=1e-5)
    layer(x).sum().backward()
    # The gradient of the direction is perpendicular to it.
    turned = (layer.weight_v.grad.numpy() * layer.weight_v.detach().numpy()).sum(axes)
    np.testing.assert_allclose(turned, 0, atol=1e-4)
    assert (layer.weight_g.grad.numpy() != 0).all()
    after = layer(x).tolist()
    bg.nn.utils.remove_weight_norm(layer)
    assert sorted(layer.state_dict()) == ["bias", "weight"]
    np.testing.assert_allclose(layer(x).tolist(), after, atol=1e-5)
    with pytest.raises(ValueError, match="name"):
        bg.nn.utils.remove_weight_norm(layer)


@pytest.mark.parametrize("kind", ["Linear", "Conv2d", "ConvTranspose2d"])
def test_spectral_norm(bg: Any, kind: str) -> None:
    options = (4, 3) if kind == "Linear" else (4, 3, 2)
    layer = getattr(bg.nn, kind)(*options)
    weight = np.array(layer.weight.tolist())
    rows = weight.swapaxes(0, 1) if kind == "ConvTranspose2d" else weight
    largest = np.linalg.svd(rows.reshape(rows.shape[0], -1), compute_uv=False)[0]
    bg.nn.utils.spectral_norm(layer)
    assert sorted(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    x = bg.asarray(_values(2, 4) if kind == "Linear" else _values(2, 4, 3, 3))
    for _ in range(30):
        layer(x)
    np.testing.assert_allclose(layer.weight.detach().numpy(), weight / largest, rtol=1e-3)
    layer.eval()
    before = layer.weight_u.tolist()
    found = layer(x)
    assert layer.weight_u.tolist() == before
    found.sum().backward()
    # The result does not depend on the weight's norm, so the gradient is perpendicular to it.
    part = (layer.weight_orig.grad.numpy() * weight).sum()
    assert abs(part) < 1e-3 * np.abs(layer.weight_orig.grad.numpy()).sum()
    bg.nn.utils.remove_spectral_norm(layer)
    assert sorted(layer.state_dict()) == ["bias", "weight"]
    np.testing.assert_allclose(layer(x).tolist(), found.tolist(), atol=1e-5)


def test_invalid_arguments_are_refused(bg: Any) -> None:
    utils, layer = bg.nn.utils, bg.nn.Linear(2, 2, bias=False)
    for call, name in (
        (lambda: utils.weight_norm(layer, "bias"), "name"),
        (lambda: utils.weight_norm(layer, dim=2), "dim"),
        (lambda: utils.spectral_norm(layer, n_power_iterations=0), "n_power_iterations"),
        (lambda: utils.remove_spectral_norm(layer), "name"),
    ):
        with pytest.raises(ValueError, match=name):
            call()
    with pytest.raises(TypeError, match="module"):
        utils.weight_norm(3)
