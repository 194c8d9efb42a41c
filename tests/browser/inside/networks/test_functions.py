"""Functions of networks and their gradients, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.gradients.checking import gradients_agree
from inside.networks.known import gather

pytestmark = pytest.mark.native

CASES = gather()


@pytest.mark.parametrize("name", CASES)
def test_values(bg: Any, name: str) -> None:
    for one in CASES[name]:
        expected = np.asarray(one.theirs(*[x.astype(float) for x in one.arrays]))
        found = one.ours(bg, *map(bg.asarray, one.arrays))
        assert found.shape == expected.shape
        assert found.dtype == np.float32
        # A few float32 roundings, and sums of up to a hundred terms.
        np.testing.assert_allclose(found.numpy(), expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", CASES)
def test_gradients(bg: Any, name: str) -> None:
    for one in CASES[name]:
        gradients_agree(bg, lambda *x, f=one.ours: f(bg, *x), one.theirs, one.arrays)


def test_slopes_of_activations_are_finite_far_out(bg: Any) -> None:
    from inside.networks.known import activations

    far = bg.asarray(np.float32([-200, 200]))
    for name in activations.CASES.keys() - {"prelu", "threshold"}:
        slope = bg.grad(lambda x, f=activations.CASES[name][0].ours: f(bg, x).sum())
        assert np.isfinite(slope(far).numpy()).all(), name
        second = bg.grad(lambda x, slope=slope: slope(x).sum())
        assert np.isfinite(second(far).numpy()).all(), name


@pytest.mark.fast
def test_random_slopes(bg: Any) -> None:
    """Each element below 0 has its own slope, uniform between the bounds."""
    x = bg.full((4000,), -2.0)
    found = bg.nn.rrelu(x, 0.25, 0.75, True, generator=bg.random.default_rng(1)).numpy() / -2
    assert 0.25 <= found.min() < 0.27
    assert 0.73 < found.max() <= 0.75
    assert abs(found.mean() - 0.5) < 0.02  # 9 standard deviations
    with pytest.raises(TypeError, match="generator"):
        bg.nn.rrelu(x, training=True)


def test_gumbel_softmax(bg: Any) -> None:
    logits = bg.log(bg.asarray(np.float32([0.5, 0.3, 0.2]))) + bg.zeros((4000, 1))
    logits = logits.requires_grad_()
    found = bg.nn.gumbel_softmax(logits, 0.7, hard=True, generator=bg.random.default_rng(5))
    values = found.detach().numpy()
    assert np.isin(values, (0, 1)).all()
    assert (values.sum(1) == 1).all()
    # The frequencies of the classes, within 5 standard deviations.
    np.testing.assert_allclose(values.mean(0), (0.5, 0.3, 0.2), atol=0.04)
    weights = bg.asarray(np.float32([1, 2, 3]))
    (found * weights).sum().backward()
    hard, logits.grad = logits.grad.numpy(), None
    soft = bg.nn.gumbel_softmax(logits, 0.7, generator=bg.random.default_rng(5))
    (soft * weights).sum().backward()
    np.testing.assert_allclose(hard, logits.grad.numpy(), atol=1e-6)
    np.testing.assert_array_equal(values.argmax(1), soft.detach().numpy().argmax(1))
    assert np.abs(hard).max() > 0.1


@pytest.mark.parametrize(
    ("name", "shape", "channels"),
    [("dropout1d", (8, 50, 3), (8, 50, 1)), ("dropout1d", (400, 3), (400, 1)),
     ("dropout2d", (8, 50, 2, 3), (8, 50, 1, 1)), ("dropout2d", (8, 50, 3), (8, 50, 1)),
     ("dropout3d", (8, 50, 2, 1, 2), (8, 50, 1, 1, 1)),
     ("dropout3d", (400, 2, 1, 2), (400, 1, 1, 1))],
)  # fmt: skip
def test_dropout_of_channels(bg: Any, name: str, shape: Any, channels: Any) -> None:
    function = getattr(bg.nn, name)
    x = bg.asarray(np.random.default_rng(0).uniform(1, 2, shape).astype(np.float32))
    found = function(x, 0.25, generator=bg.random.default_rng(2)).numpy()
    factors = found / x.numpy()
    whole = factors.reshape(channels[0] * (channels[1] if len(channels) == len(shape) and
                                           channels[1] > 1 else 1), -1)  # fmt: skip
    np.testing.assert_allclose(whole, whole[:, :1] + np.zeros_like(whole), rtol=1e-6)
    assert set(np.round(whole[:, 0], 4)) == {0, np.float32(1.3333)}
    assert 0.1 < (whole[:, 0] == 0).mean() < 0.4  # 7 standard deviations for 400 channels
    slope = bg.grad(lambda v: function(v, 0.25, generator=bg.random.default_rng(2)).sum())(x)
    np.testing.assert_allclose(slope.numpy(), factors, rtol=1e-5)
    assert function(x, 0.25, False).numpy().tolist() == x.numpy().tolist()
    with pytest.raises(ValueError, match="axes"):
        function(x[None, None, None], generator=bg.random.default_rng(0))


@pytest.mark.parametrize("name", ["alpha_dropout", "feature_alpha_dropout"])
def test_alpha_dropout(bg: Any, name: str) -> None:
    function = getattr(bg.nn, name)
    values = np.random.default_rng(0).normal(size=(200, 100, 2)).astype(np.float32)
    x = bg.asarray(values)
    found = function(x, 0.2, True, generator=bg.random.default_rng(2)).numpy()
    # Mean and variance are unchanged, within 5 standard deviations.
    assert abs(found.mean()) < 0.06
    assert abs(found.var() - 1) < 0.08
    scale = ((1.7580993408473766**2 * 0.2 + 1) * 0.8) ** -0.5
    low = -1.7580993408473766 * scale * 0.8
    dropped = np.abs(found - low) < 1e-5
    assert abs(dropped.mean() - 0.2) < 0.02
    kept = values * scale + 1.7580993408473766 * scale * 0.2
    np.testing.assert_allclose(found[~dropped], kept[~dropped], atol=1e-5)
    if name == "feature_alpha_dropout":
        assert (dropped[..., 0] == dropped[..., 1]).all()
    slope = bg.grad(lambda v: function(v, 0.2, True, generator=bg.random.default_rng(2)).sum())(x)
    np.testing.assert_allclose(slope.numpy(), np.where(dropped, 0, scale), atol=1e-6)
    assert (function(x, 1.0, True, generator=bg.random.default_rng(2)).numpy() == 0).all()
    assert function(x, 0.2).numpy().tolist() == values.tolist()


#: Layers, their arguments, and equivalent function calls.
LAYERS: dict[str, tuple[tuple[Any, ...], Any]] = {
    "ReLU6": ((), lambda nn, x: nn.relu6(x)),
    "Hardtanh": ((-0.5, 2), lambda nn, x: nn.hardtanh(x, -0.5, 2)),
    "Hardsigmoid": ((), lambda nn, x: nn.hardsigmoid(x)),
    "SELU": ((), lambda nn, x: nn.selu(x)), "Mish": ((), lambda nn, x: nn.mish(x)),
    "CELU": ((0.5,), lambda nn, x: nn.celu(x, 0.5)),
    "Threshold": ((0.5, 9), lambda nn, x: nn.threshold(x, 0.5, 9)),
    "Hardshrink": ((2,), lambda nn, x: nn.hardshrink(x, 2)),
    "Softshrink": ((2,), lambda nn, x: nn.softshrink(x, 2)),
    "Tanhshrink": ((), lambda nn, x: nn.tanhshrink(x)),
    "Softsign": ((), lambda nn, x: nn.softsign(x)),
    "LogSigmoid": ((), lambda nn, x: nn.logsigmoid(x)),
    "GLU": ((0,), lambda nn, x: nn.glu(x, 0)), "Softmin": ((0,), lambda nn, x: nn.softmin(x, 0)),
    "Softmax2d": ((), lambda nn, x: nn.softmax(x, -3)),
    "PReLU": ((2, 0.3), lambda nn, x: nn.leaky_relu(x, 0.3)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers_of_activations(bg: Any, name: str) -> None:
    given, call = LAYERS[name]
    values = np.random.default_rng(1).normal(size=(4, 2, 3)).astype(np.float32) * 4
    layer = getattr(bg.nn, name)(*given)
    expected = call(bg.nn, bg.asarray(values)).numpy()
    np.testing.assert_allclose(layer(bg.asarray(values)).detach().numpy(), expected, atol=1e-6)
    assert name in repr(layer)
    if hasattr(layer, "inplace"):
        x = bg.asarray(values)
        made = getattr(bg.nn, name)(*given, inplace=True)
        assert made(x) is x
        np.testing.assert_allclose(x.numpy(), expected, atol=1e-6)
        assert "inplace=True" in repr(made)


@pytest.mark.parametrize(
    "name", ["Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout", "RReLU"]
)
def test_random_layers(bg: Any, name: str) -> None:
    """They are random in training, and use their own generator if they have one."""
    shape = (3, 4, 2, 2, 2)[: 3 if name in ("Dropout1d", "Dropout2d") else 5]
    x = bg.asarray(np.random.default_rng(0).normal(size=shape).astype(np.float32))
    layer = getattr(bg.nn, name)
    first, second = (layer(generator=bg.random.default_rng(4))(x).numpy() for _ in range(2))
    assert first.tolist() == second.tolist()
    assert (first != x.numpy()).any()
    still = layer().eval()(x).numpy()
    expected = x.numpy()
    if name == "RReLU":
        expected = np.where(expected > 0, expected, expected * (1 / 8 + 1 / 3) / 2)
    np.testing.assert_allclose(still, expected, rtol=1e-6)
    bg.nn.init.seed(3)
    drawn = layer()(x).numpy()
    bg.nn.init.seed(3)
    assert layer()(x).numpy().tolist() == drawn.tolist()


def test_bad_arguments_of_activations(bg: Any) -> None:
    x, nn = bg.ones((2, 3)), bg.nn
    for call, name in (
        (lambda: nn.hardtanh(x, 2, 1), "min_val"), (lambda: nn.softshrink(x, -1), "lambd"),
        (lambda: nn.celu(x, 0), "alpha"), (lambda: nn.glu(x), "input"),
        (lambda: nn.prelu(x, bg.ones(2)), "weight"), (lambda: nn.rrelu(x, 2, 1), "lower"),
        (lambda: nn.Hardtanh(1, 1), "min_val"), (lambda: nn.Softmax2d()(x), "input"),
        (lambda: nn.gumbel_softmax(x, 0, generator=bg.random.default_rng(0)), "tau"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=name):
            call()
    for function in (nn.relu6, nn.hardsigmoid, nn.selu, nn.mish, nn.logsigmoid, nn.softsign,
                     nn.tanhshrink, nn.hardshrink, nn.softshrink, nn.celu, nn.glu, nn.softmin,
                     nn.alpha_dropout, nn.dropout1d):  # fmt: skip
        with pytest.raises(TypeError, match="input"):
            function(bg.ones((2, 4), dtype="int32"))
