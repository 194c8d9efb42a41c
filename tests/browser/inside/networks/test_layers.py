"""Layers: the names and shapes of their states, as in PyTorch, and their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native

Shapes = dict[str, tuple[int, ...]]

#: Each layer's state in PyTorch 2.
STATES: dict[str, tuple[Callable[[Any], Any], Shapes]] = {
    "linear": (lambda nn: nn.Linear(3, 4), {"weight": (4, 3), "bias": (4,)}),
    "linear without bias": (lambda nn: nn.Linear(3, 4, bias=False), {"weight": (4, 3)}),
    "bilinear": (lambda nn: nn.Bilinear(2, 3, 4), {"weight": (4, 2, 3), "bias": (4,)}),
    "conv1d": (lambda nn: nn.Conv1d(4, 6, 3, groups=2), {"weight": (6, 2, 3), "bias": (6,)}),
    "conv2d": (lambda nn: nn.Conv2d(2, 6, (3, 5)), {"weight": (6, 2, 3, 5), "bias": (6,)}),
    "conv3d": (lambda nn: nn.Conv3d(2, 3, 2), {"weight": (3, 2, 2, 2, 2), "bias": (3,)}),
    "conv_transpose1d": (
        lambda nn: nn.ConvTranspose1d(4, 6, 3, groups=2), {"weight": (4, 3, 3), "bias": (6,)}
    ),
    "conv_transpose2d": (
        lambda nn: nn.ConvTranspose2d(2, 3, 4, bias=False), {"weight": (2, 3, 4, 4)}
    ),
    "conv_transpose3d": (
        lambda nn: nn.ConvTranspose3d(2, 3, 2), {"weight": (2, 3, 2, 2, 2), "bias": (3,)}
    ),
    "embedding": (lambda nn: nn.Embedding(5, 3), {"weight": (5, 3)}),
    "layer_norm": (lambda nn: nn.LayerNorm([2, 3]), {"weight": (2, 3), "bias": (2, 3)}),
    "layer_norm without bias": (lambda nn: nn.LayerNorm(3, bias=False), {"weight": (3,)}),
    "layer_norm alone": (lambda nn: nn.LayerNorm(3, elementwise_affine=False), {}),
    "rms_norm": (lambda nn: nn.RMSNorm(3), {"weight": (3,)}),
    "group_norm": (lambda nn: nn.GroupNorm(2, 4), {"weight": (4,), "bias": (4,)}),
    "batch_norm": (
        lambda nn: nn.BatchNorm2d(3),
        {"weight": (3,), "bias": (3,), "running_mean": (3,), "running_var": (3,),
         "num_batches_tracked": ()},
    ),
    "batch_norm without statistics": (
        lambda nn: nn.BatchNorm1d(3, affine=False, track_running_stats=False), {}
    ),
    "prelu": (lambda nn: nn.PReLU(4), {"weight": (4,)}),
    "attention": (
        lambda nn: nn.MultiheadAttention(4, 2),
        {"in_proj_weight": (12, 4), "in_proj_bias": (12,), "out_proj.weight": (4, 4),
         "out_proj.bias": (4,)},
    ),
    "attention of other widths": (
        lambda nn: nn.MultiheadAttention(4, 2, bias=False, kdim=3, vdim=5),
        {"q_proj_weight": (4, 4), "k_proj_weight": (4, 3), "v_proj_weight": (4, 5),
         "out_proj.weight": (4, 4)},
    ),
    "encoder layer": (
        lambda nn: nn.TransformerEncoderLayer(4, 2, 8),
        {"self_attn.in_proj_weight": (12, 4), "self_attn.in_proj_bias": (12,),
         "self_attn.out_proj.weight": (4, 4), "self_attn.out_proj.bias": (4,),
         "linear1.weight": (8, 4), "linear1.bias": (8,), "linear2.weight": (4, 8),
         "linear2.bias": (4,), "norm1.weight": (4,), "norm1.bias": (4,), "norm2.weight": (4,),
         "norm2.bias": (4,)},
    ),
    "encoder": (
        lambda nn: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(2, 1, 2, bias=False), 1, nn.LayerNorm(2)
        ),
        {"layers.0.self_attn.in_proj_weight": (6, 2), "layers.0.self_attn.out_proj.weight": (2, 2),
         "layers.0.linear1.weight": (2, 2), "layers.0.linear2.weight": (2, 2),
         "layers.0.norm1.weight": (2,), "layers.0.norm2.weight": (2,), "norm.weight": (2,),
         "norm.bias": (2,)},
    ),
    "rnn": (
        lambda nn: nn.RNN(3, 2, bias=False), {"weight_ih_l0": (2, 3), "weight_hh_l0": (2, 2)}
    ),
    "lstm": (
        lambda nn: nn.LSTM(3, 2, num_layers=2),
        {"weight_ih_l0": (8, 3), "weight_hh_l0": (8, 2), "bias_ih_l0": (8,), "bias_hh_l0": (8,),
         "weight_ih_l1": (8, 2), "weight_hh_l1": (8, 2), "bias_ih_l1": (8,), "bias_hh_l1": (8,)},
    ),
    "gru": (
        lambda nn: nn.GRU(3, 2, bidirectional=True),
        {"weight_ih_l0": (6, 3), "weight_hh_l0": (6, 2), "bias_ih_l0": (6,), "bias_hh_l0": (6,),
         "weight_ih_l0_reverse": (6, 3), "weight_hh_l0_reverse": (6, 2),
         "bias_ih_l0_reverse": (6,), "bias_hh_l0_reverse": (6,)},
    ),
    "cross entropy": (lambda nn: nn.CrossEntropyLoss(), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_states(bg: Any, name: str) -> None:
    make, expected = STATES[name]
    found = make(bg.nn).state_dict()
    assert {key: x.shape for key, x in found.items()} == expected
    assert list(found) == list(expected)
    for key, x in found.items():
        assert x.dtype == (np.int32 if key == "num_batches_tracked" else np.float32)


def _values(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _agree(found: Any, expected: np.ndarray, tolerance: float = 1e-5) -> None:
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.detach().numpy(), expected, atol=tolerance, rtol=tolerance)


def test_linear(bg: Any) -> None:
    layer, x = bg.nn.Linear(3, 4), _values(2, 5, 3)
    w, b = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    assert np.abs(w).max() <= 3**-0.5
    assert np.abs(b).max() <= 3**-0.5
    _agree(layer(bg.asarray(x)), x @ w.T + b)


def test_bilinear(bg: Any) -> None:
    layer, x, y = bg.nn.Bilinear(2, 3, 4), _values(5, 2), _values(5, 3, seed=1)
    expected = (
        np.einsum("ni,oij,nj->no", x, layer.weight.detach().numpy(), y)
        + layer.bias.detach().numpy()
    )
    _agree(layer(bg.asarray(x), bg.asarray(y)), expected)
    with pytest.raises(ValueError, match="last axes"):
        layer(bg.asarray(x), bg.asarray(x))


def _functions(layer: Any, inputs: Any, function: Any, *rest: Any) -> None:
    """Assert that a layer and its function give the same bits."""
    found = layer(inputs).detach().numpy()
    own = [x.detach() if x is not None else None for x in (layer.weight, layer.bias)]
    np.testing.assert_array_equal(found, function(inputs, *own, *rest).numpy())


def test_convolutions(bg: Any) -> None:
    nn = bg.nn
    one, two, three = (bg.asarray(_values(2, 4, *(6,) * n)) for n in (1, 2, 3))
    _functions(nn.Conv1d(4, 6, 3, 2, 1, 1, 2), one, nn.conv1d, 2, 1, 1, 2)
    _functions(nn.Conv2d(4, 6, 3, padding="same"), two, nn.conv2d, 1, "same")
    _functions(nn.Conv3d(4, 2, 2), three, nn.conv3d)
    _functions(nn.ConvTranspose1d(4, 6, 3, 2, 1, 1, 2), one, nn.conv_transpose1d, 2, 1, 1, 2)
    _functions(nn.ConvTranspose2d(4, 2, 3, 2), two, nn.conv_transpose2d, 2)
    _functions(nn.ConvTranspose3d(4, 2, 2), three, nn.conv_transpose3d)
    x = _values(1, 1, 4, 5)
    for mode, theirs in (("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")):
        layer = nn.Conv2d(1, 2, 3, padding=1, padding_mode=mode)
        around = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], mode=theirs)
        expected = nn.conv2d(bg.asarray(around), layer.weight.detach(), layer.bias.detach())
        _agree(layer(bg.asarray(x)), expected.numpy())
        same = nn.Conv2d(1, 1, (3, 2), padding="same", padding_mode=mode)
        assert same(bg.asarray(x)).shape == (1, 1, 4, 5)
    with pytest.raises(ValueError, match="groups"):
        nn.Conv2d(3, 4, 1, groups=2)
    with pytest.raises(ValueError, match="padding_mode"):
        nn.Conv2d(3, 4, 1, padding_mode="mirror")


def test_norms(bg: Any) -> None:
    nn, x = bg.nn, _values(2, 4, 3)
    layer = nn.LayerNorm(3)
    with bg.no_grad():
        layer.weight *= 2
        layer.bias += 1
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    _agree(layer(bg.asarray(x)), (x - mean) / np.sqrt(var + 1e-5) * 2 + 1)
    expected = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    _agree(nn.RMSNorm(3, eps=1e-6)(bg.asarray(x)), expected)
    groups = x.reshape(2, 2, -1)
    mean, var = groups.mean(-1, keepdims=True), groups.var(-1, keepdims=True)
    _agree(
        nn.GroupNorm(2, 4)(bg.asarray(x)), ((groups - mean) / np.sqrt(var + 1e-5)).reshape(x.shape)
    )


def test_batch_norm(bg: Any) -> None:
    layer, x = bg.nn.BatchNorm1d(4), _values(2, 4, 3)
    mean, var = x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)
    _agree(layer(bg.asarray(x)), (x - mean) / np.sqrt(var + 1e-5))
    running = 0.1 * mean.ravel(), 0.9 + 0.1 * x.var((0, 2), ddof=1)
    _agree(layer.running_mean, running[0])
    _agree(layer.running_var, running[1])
    assert layer.num_batches_tracked.item() == 1
    layer.eval()
    apart = [v[:, None] for v in running]
    _agree(layer(bg.asarray(x)), (x - apart[0]) / np.sqrt(apart[1] + 1e-5))
    assert layer.num_batches_tracked.item() == 1
    layer.reset_running_stats()
    assert layer.running_var.tolist() == [1] * 4
    with pytest.raises(ValueError, match="axes"):
        bg.nn.BatchNorm2d(4)(bg.asarray(x))


def test_embedding(bg: Any) -> None:
    layer = bg.nn.Embedding(5, 3, padding_idx=-2)
    assert layer.padding_idx == 3
    table = layer.weight.detach().numpy()
    assert not table[3].any()
    places = np.array([[1, 3], [4, 0]])
    _agree(layer(bg.asarray(places.astype(np.int32))), table[places])
    own = bg.nn.Embedding.from_pretrained(bg.asarray(_values(2, 3)))
    assert not own.weight.requires_grad
    _agree(own(bg.asarray([1])), _values(2, 3)[[1]])
    with pytest.raises(ValueError, match="padding_idx"):
        bg.nn.Embedding(5, 3, padding_idx=5)


def test_embedding_gives_padding_no_gradient(bg: Any) -> None:
    layer = bg.nn.Embedding(4, 2, padding_idx=0)
    layer(bg.asarray([0, 1, 1, 0, 3])).sum().backward()
    assert layer.weight.grad.tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]


def test_activations(bg: Any) -> None:
    nn, x = bg.nn, _values(2, 3)
    own = bg.asarray(x)
    for name, options in (
        ("ReLU", {}), ("LeakyReLU", {"negative_slope": 0.2}), ("ELU", {"alpha": 2.0}),
        ("Sigmoid", {}), ("SiLU", {}), ("Tanh", {}), ("Softplus", {"beta": 2.0}), ("GELU", {}),
        ("GELU", {"approximate": "tanh"}), ("Hardswish", {}), ("Softmax", {"dim": 0}),
        ("LogSoftmax", {"dim": 1}),
    ):  # fmt: skip
        function = {
            "ReLU": "relu", "LeakyReLU": "leaky_relu", "ELU": "elu", "SiLU": "silu",
            "GELU": "gelu", "LogSoftmax": "log_softmax",
        }.get(name, name.lower())  # fmt: skip
        expected = getattr(nn, function)(own, **options).numpy()
        np.testing.assert_array_equal(getattr(nn, name)(**options)(own).numpy(), expected)
    _agree(nn.PReLU()(own), np.where(x > 0, x, 0.25 * x))
    _agree(nn.PReLU(3)(bg.asarray(_values(2, 3, 4))), np.where(
        _values(2, 3, 4) > 0, _values(2, 3, 4), 0.25 * _values(2, 3, 4)
    ))  # fmt: skip
    assert repr(nn.ReLU(inplace=True)) == "ReLU(inplace=True)"


def test_layers_in_place(bg: Any) -> None:
    nn, x = bg.nn, _values(2, 3)
    for name in ("ReLU", "LeakyReLU", "ELU", "SiLU", "Hardswish", "Dropout"):
        options = {"p": 1.0} if name == "Dropout" else {}
        layer, plain = getattr(nn, name)(inplace=True, **options), getattr(nn, name)(**options)
        own = bg.asarray(x)
        view = own[0]
        expected = plain(bg.asarray(x)).numpy()
        assert layer(own) is own
        np.testing.assert_array_equal(own.numpy(), expected)
        np.testing.assert_array_equal(view.numpy(), expected[0])

        def total(v: Any, layer: Any = layer) -> Any:
            return (layer(v * 2.0) * 3.0).sum()

        def usual(v: Any, plain: Any = plain) -> Any:
            return (plain(v * 2.0) * 3.0).sum()

        slopes, wanted = (bg.grad(f)(bg.asarray(x)).numpy() for f in (total, usual))
        np.testing.assert_array_equal(slopes, wanted)
    leaf = bg.asarray(x)
    leaf.requires_grad = True
    with pytest.raises(ValueError, match="leaf"):
        nn.ReLU(inplace=True)(leaf)


def test_shapes(bg: Any) -> None:
    nn, x = bg.nn, bg.zeros((2, 3, 4, 5))
    assert nn.Flatten()(x).shape == (2, 60)
    assert nn.Flatten(0, 1)(x).shape == (6, 4, 5)
    assert nn.Flatten(1, 2)(bg.zeros((0, 3, 4))).shape == (0, 12)
    assert nn.Unflatten(1, (3, -1))(bg.zeros((2, 6))).shape == (2, 3, 2)
    assert nn.Identity(5, mode=1)(x) is x
    with pytest.raises(ValueError, match="end_dim"):
        nn.Flatten(2, 1)(x)


def test_pooling(bg: Any) -> None:
    nn, x = bg.nn, _values(2, 3, 6)
    own = bg.asarray(x)
    _agree(nn.MaxPool1d(2)(own), x.reshape(2, 3, 3, 2).max(-1))
    _agree(nn.AvgPool1d(3)(own), x.reshape(2, 3, 2, 3).mean(-1))
    _agree(nn.AdaptiveAvgPool1d(2)(own), x.reshape(2, 3, 2, 3).mean(-1))
    y = _values(1, 4, 6)
    assert nn.MaxPool2d(2, stride=1, padding=1)(bg.asarray(y)).shape == (1, 5, 7)
    assert nn.MaxPool3d(2)(bg.zeros((1, 2, 4, 4, 4))).shape == (1, 2, 2, 2, 2)
    assert nn.AvgPool3d(2)(bg.zeros((1, 2, 4, 4, 4))).shape == (1, 2, 2, 2, 2)
    _agree(nn.AvgPool2d(2)(bg.asarray(y)), y.reshape(1, 2, 2, 3, 2).mean((2, 4)))
    _agree(nn.AdaptiveAvgPool2d((2, None))(bg.asarray(y)), y.reshape(1, 2, 2, 6).mean(2))


def test_dropout(bg: Any) -> None:
    nn, x = bg.nn, bg.ones(1000)
    layer = nn.Dropout(0.25)
    nn.init.seed(5)
    found = layer(x).numpy()
    assert set(np.unique(found)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs((found == 0).mean() - 0.25) < 0.06
    nn.init.seed(5)
    np.testing.assert_array_equal(layer(x).numpy(), found)
    assert not np.array_equal(layer(x).numpy(), found)
    assert layer.eval()(x) is x
    own = nn.Dropout(0.5, generator=bg.random.default_rng(1))
    other = nn.Dropout(0.5, generator=bg.random.default_rng(1))
    np.testing.assert_array_equal(own(x).numpy(), other(x).numpy())
    with pytest.raises(ValueError, match="p"):
        nn.Dropout(1.5)


def test_losses(bg: Any) -> None:
    nn = bg.nn
    x, y = (bg.asarray(_values(4, 3, seed=n)) for n in range(2))
    classes = bg.asarray([0, 2, 1, 1])
    shares = bg.asarray(np.random.default_rng(2).uniform(0.1, 0.9, (4, 3)).astype(np.float32))
    weight = bg.asarray(np.float32([1, 2, 3]))
    pairs = [
        (nn.MSELoss(), nn.mse_loss, y, {}), (nn.L1Loss(reduction="sum"), nn.l1_loss, y, {}),
        (nn.SmoothL1Loss(beta=0.5), nn.smooth_l1_loss, y, {"beta": 0.5}),
        (nn.HuberLoss(delta=0.5), nn.huber_loss, y, {"delta": 0.5}),
        (nn.CrossEntropyLoss(weight, label_smoothing=0.1), nn.cross_entropy, classes,
         {"weight": weight, "label_smoothing": 0.1}),
        (nn.NLLLoss(ignore_index=1), nn.nll_loss, classes, {"ignore_index": 1}),
        (nn.BCEWithLogitsLoss(pos_weight=weight), nn.binary_cross_entropy_with_logits, shares,
         {"pos_weight": weight}),
    ]  # fmt: skip
    for layer, function, target, options in pairs:
        reduction = layer.reduction
        expected = function(x, target, reduction=reduction, **options).numpy()
        np.testing.assert_array_equal(layer(x, target).numpy(), expected)
    assert list(nn.CrossEntropyLoss(weight).state_dict()) == ["weight"]
    p, t = shares.numpy().astype(float), (y.numpy() > 0).astype(float)
    _agree(nn.BCELoss()(shares, bg.asarray(t.astype(np.float32))),
           np.asarray(-(t * np.log(p) + (1 - t) * np.log(1 - p)).mean()))  # fmt: skip
    assert nn.BCELoss()(bg.zeros(1), bg.ones(1)).item() == 100
    with pytest.raises(ValueError, match="reduction"):
        nn.MSELoss(reduction="middle")


def test_dtypes(bg: Any) -> None:
    layer = bg.nn.Linear(2, 2, dtype="float16")
    assert {p.dtype for p in layer.parameters()} == {np.dtype(np.float16)}
    assert layer(bg.zeros((1, 2), dtype="float16")).dtype == np.float16


def test_normalization_without_bias(bg: Any) -> None:
    nn = bg.nn
    for layer in (nn.BatchNorm2d(4, bias=False), nn.GroupNorm(2, 4, bias=False),
                  nn.InstanceNorm2d(4, affine=True, bias=False)):  # fmt: skip
        assert layer.bias is None
        assert layer.weight.shape == (4,)
        assert layer(bg.asarray(_values(2, 4, 3, 3))).shape == (2, 4, 3, 3)
    with pytest.raises(ValueError, match="add_zero_attn"):
        nn.MultiheadAttention(4, 2, add_zero_attn=True)
    part = nn.TransformerEncoderLayer(4, 2, 8)
    nn.TransformerEncoder(part, 1, enable_nested_tensor=False, mask_check=False)
    with pytest.raises(ValueError, match="mask_check"):
        nn.TransformerEncoder(part, 1, mask_check=3)
