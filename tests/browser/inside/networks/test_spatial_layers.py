"""Layers that resample, pad, pool and normalize, against the functions that they call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


def _values(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


ROW, PICTURE, SOLID = _values(2, 4, 6), _values(2, 4, 6, 6), _values(1, 4, 4, 4, 4)

#: Layers, their arguments, an input, and equivalent function calls.
LAYERS: list[tuple[str, tuple[Any, ...], np.ndarray, Any]] = [
    ("PixelShuffle", (2,), PICTURE, lambda nn, x: nn.pixel_shuffle(x, 2)),
    ("PixelUnshuffle", (3,), PICTURE, lambda nn, x: nn.pixel_unshuffle(x, 3)),
    ("ChannelShuffle", (2,), PICTURE, lambda nn, x: nn.channel_shuffle(x, 2)),
    (
        "Upsample",
        (None, 2.0, "bilinear", True),
        PICTURE,
        lambda nn, x: nn.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
    ),
    ("Upsample", ((5, 4),), PICTURE, lambda nn, x: nn.interpolate(x, (5, 4))),
    ("UpsamplingNearest2d", (None, 2), PICTURE, lambda nn, x: nn.interpolate(x, scale_factor=2)),
    (
        "UpsamplingBilinear2d",
        (8,),
        PICTURE,
        lambda nn, x: nn.interpolate(x, 8, mode="bilinear", align_corners=True),
    ),
    ("Unfold", (2, 1, 1, 2), PICTURE, lambda nn, x: nn.unfold(x, 2, 1, 1, 2)),
    ("Fold", (3, 2), ROW[:, :, :4], lambda nn, x: nn.fold(x, 3, 2)),
    ("AdaptiveAvgPool1d", (4,), ROW, lambda nn, x: nn.adaptive_avg_pool1d(x, 4)),
    ("AdaptiveAvgPool3d", (3,), SOLID, lambda nn, x: nn.adaptive_avg_pool3d(x, 3)),
    ("AdaptiveMaxPool1d", (4,), ROW, lambda nn, x: nn.adaptive_max_pool1d(x, 4)),
    ("AdaptiveMaxPool2d", ((4, None),), PICTURE, lambda nn, x: nn.adaptive_max_pool2d(x, (4, 6))),
    ("AdaptiveMaxPool3d", (3,), SOLID, lambda nn, x: nn.adaptive_max_pool3d(x, 3)),
    ("LPPool1d", (2, 3, 1), ROW, lambda nn, x: nn.lp_pool1d(x, 2, 3, 1)),
    ("LPPool2d", (2, 3), PICTURE, lambda nn, x: nn.lp_pool2d(x, 2, 3)),
    (
        "LocalResponseNorm",
        (3, 0.5, 0.6, 2),
        ROW,
        lambda nn, x: nn.local_response_norm(x, 3, 0.5, 0.6, 2),
    ),
    ("InstanceNorm1d", (4,), ROW, lambda nn, x: nn.instance_norm(x)),
    ("InstanceNorm2d", (4, 0.1), PICTURE, lambda nn, x: nn.instance_norm(x, eps=0.1)),
    ("InstanceNorm3d", (4,), SOLID, lambda nn, x: nn.instance_norm(x)),
]


@pytest.mark.parametrize("at", range(len(LAYERS)), ids=[f"{n}-{row[0]}" for n, row in
                                                      enumerate(LAYERS)])  # fmt: skip
def test_layers(bg: Any, at: int) -> None:
    name, given, values, call = LAYERS[at]
    layer, x = getattr(bg.nn, name)(*given), bg.asarray(values)
    found = layer(x).detach().numpy()
    np.testing.assert_array_equal(found, call(bg.nn, x).numpy())
    assert name in repr(layer)


_MODES = {"ConstantPad": "constant", "ZeroPad": "constant", "ReflectionPad": "reflect",
          "ReplicationPad": "edge", "CircularPad": "wrap"}  # fmt: skip


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", _MODES)
def test_padding(bg: Any, kind: str, rank: int) -> None:
    values = {1: ROW, 2: PICTURE, 3: SOLID}[rank]
    given = (1, 2, 3, 0, 2, 1)[: 2 * rank]
    more = (1.5,) if kind == "ConstantPad" else ()
    layer = getattr(bg.nn, f"{kind}{rank}d")(given, *more)
    pairs = [(0, 0), (0, 0), *[given[n : n + 2] for n in range(2 * rank - 2, -1, -2)]]
    by = {"constant_values": 1.5} if more else {}
    expected = np.pad(values, pairs, _MODES[kind], **by)
    np.testing.assert_array_equal(layer(bg.asarray(values)).numpy(), expected)
    alone = layer(bg.asarray(values[0])).numpy()
    np.testing.assert_array_equal(alone, expected[0])
    same = getattr(bg.nn, f"{kind}{rank}d")(1, *more)(bg.asarray(values))
    assert same.shape == (*values.shape[:2], *(n + 2 for n in values.shape[2:]))
    with pytest.raises(ValueError, match="axes"):
        layer(bg.ones(2))


def test_indices_of_maxima(bg: Any) -> None:
    """Indices refer to the input, and unpooling accepts them."""
    x = bg.asarray(PICTURE)
    for call in (
        lambda: bg.nn.adaptive_max_pool2d(x, (4, 3), return_indices=True),
        lambda: bg.nn.AdaptiveMaxPool2d((4, 3), return_indices=True)(x),
        lambda: bg.nn.MaxPool2d(2, return_indices=True)(x),
    ):
        found, places = call()
        assert places.dtype == np.int32
        flat = PICTURE.reshape(2, 4, 36)
        picked = np.take_along_axis(flat, places.numpy().reshape(2, 4, -1), 2)
        np.testing.assert_array_equal(picked.reshape(found.shape), found.numpy())
    whole = bg.nn.MaxUnpool2d(2)(found, places).numpy()
    expected = np.zeros((2, 4, 36), np.float32)
    np.put_along_axis(expected, places.numpy().reshape(2, 4, -1), picked, 2)
    np.testing.assert_array_equal(whole.reshape(2, 4, 36), expected)
    row, at = bg.nn.MaxPool1d(2, return_indices=True)(bg.asarray(ROW))
    back = bg.nn.MaxUnpool1d(2)(row, at, output_size=(2, 4, 8))
    assert back.shape == (2, 4, 8)
    np.testing.assert_array_equal(back.numpy().max(-1), np.maximum(ROW.max(-1), 0))
    _, deep = bg.nn.adaptive_max_pool3d(bg.asarray(SOLID), 1, return_indices=True)
    np.testing.assert_array_equal(deep.numpy()[0, :, 0, 0, 0], SOLID.reshape(4, -1).argmax(1))
    with pytest.raises(ValueError, match="return_indices"):
        bg.nn.MaxPool3d(2, return_indices=True)


def test_nearest_with_integer_factors_repeats_elements(bg: Any) -> None:
    x = bg.asarray(PICTURE)
    expected = PICTURE.repeat(2, 2).repeat(3, 3)
    for mode in ("nearest", "nearest-exact"):
        np.testing.assert_array_equal(bg.nn.interpolate(x, (12, 18), mode=mode).numpy(), expected)
    same = bg.nn.interpolate(x, scale_factor=1)
    same += 1
    np.testing.assert_array_equal(x.numpy(), PICTURE)


def test_interpolation_against_the_images_own(bg: Any) -> None:
    """With antialias, the result equals bg.image.resize, which is tested against Pillow."""
    picture = PICTURE[0, 0]
    for mode in ("bilinear", "bicubic"):
        expected = bg.image.resize(bg.asarray(picture), (3, 4), mode, antialias=True).numpy()
        found = bg.nn.interpolate(
            bg.asarray(picture)[None, None], (3, 4), mode=mode, antialias=True
        )
        np.testing.assert_allclose(found.numpy()[0, 0], expected, atol=1e-6)


def test_running_statistics_of_instances(bg: Any) -> None:
    layer = bg.nn.InstanceNorm2d(4, momentum=0.25, affine=True, track_running_stats=True)
    assert list(layer.state_dict()) == [
        "weight", "bias", "running_mean", "running_var", "num_batches_tracked"
    ]  # fmt: skip
    layer(bg.asarray(PICTURE))
    means = PICTURE.mean((2, 3)).mean(0) * 0.25
    spread = PICTURE.var((2, 3), ddof=1).mean(0) * 0.25 + 0.75
    np.testing.assert_allclose(layer.running_mean.numpy(), means, atol=1e-6)
    np.testing.assert_allclose(layer.running_var.numpy(), spread, rtol=1e-5)
    assert layer.num_batches_tracked.item() == 1
    found = layer.eval()(bg.asarray(PICTURE[0])).detach().numpy()
    shape = (4, 1, 1)
    expected = (PICTURE[0] - means.reshape(shape)) / np.sqrt(spread.reshape(shape) + 1e-5)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    layer.reset_running_stats()
    assert layer.running_var.tolist() == [1] * 4
    with pytest.raises(ValueError, match="channels"):
        layer(bg.ones((2, 3, 2, 2)))
    with pytest.raises(ValueError, match="axes"):
        layer(bg.ones((2, 4)))


def test_embedding_bags(bg: Any) -> None:
    layer = bg.nn.EmbeddingBag(5, 3, mode="sum", padding_idx=-1)
    assert layer.padding_idx == 4
    weight = layer.weight.detach().numpy()
    assert weight[4].tolist() == [0, 0, 0]
    rows = bg.asarray(np.int64([1, 2, 4, 0]))
    found = layer(rows, [0, 2]).detach().numpy()
    np.testing.assert_allclose(found, [weight[1] + weight[2], weight[0]], rtol=1e-6)
    own = bg.asarray(_values(5, 3))
    fixed = bg.nn.EmbeddingBag.from_pretrained(own, mode="max")
    assert not fixed.weight.requires_grad
    pairs = bg.asarray(np.int64([[0, 1]]))
    np.testing.assert_array_equal(fixed(pairs).numpy()[0], own.numpy()[:2].max(0))
    assert "mode='max'" in repr(fixed)


def test_rows_are_limited_when_they_are_looked_up(bg: Any) -> None:
    values = np.float32([[3, 4], [0.3, 0.4], [6, 8]])
    for make in (
        lambda **more: bg.nn.Embedding(3, 2, max_norm=1.0, **more),
        lambda **more: bg.nn.EmbeddingBag(3, 2, max_norm=1.0, mode="sum", **more),
    ):
        layer = make()
        layer.load_state_dict({"weight": values})
        layer(bg.asarray(np.int64([[0], [1], [0]])))
        np.testing.assert_allclose(
            layer.weight.tolist(), [[0.6, 0.8], [0.3, 0.4], [6, 8]], rtol=1e-5
        )
        other = make(norm_type=1.0)
        other.load_state_dict({"weight": values})
        other(bg.asarray(np.int64([[2]])))
        np.testing.assert_allclose(other.weight.tolist()[2], [3 / 7, 4 / 7], rtol=1e-5)


def test_gradients_of_rows_by_their_number(bg: Any) -> None:
    rows = bg.asarray(np.int32([[1, 2, 2], [0, 2, 1]]))
    table = bg.ones((4, 1))
    plain, shared = (
        bg.grad(lambda w, f=freq: (bg.nn.embedding(rows, w, scale_grad_by_freq=f) * 6).sum())(table)
        for freq in (False, True)
    )
    assert plain.tolist() == [[6], [12], [18], [0]]
    assert shared.tolist() == [[6], [6], [6], [0]]
    padded = bg.grad(lambda w: bg.nn.embedding(rows, w, -2).sum())(table)
    assert padded.tolist() == [[1], [2], [0], [0]]


def test_lists_and_dicts_of_parameters(bg: Any) -> None:
    nn = bg.nn
    row = nn.ParameterList([nn.Parameter(bg.ones(2)), bg.zeros((1, 3))])
    row.append(nn.Parameter(bg.ones(1)))
    assert [(name, x.shape) for name, x in row.named_parameters()] == [
        ("0", (2,)), ("1", (1, 3)), ("2", (1,))
    ]  # fmt: skip
    assert isinstance(row[1], nn.Parameter)
    assert row[-1] is row[2]
    assert len(row[:2]) == 2
    row[0] = bg.zeros(5)
    assert [x.shape for x in row] == [(5,), (1, 3), (1,)]
    assert "(1, 3)" in repr(row)
    named = nn.ParameterDict({"a": bg.ones(2), "b": nn.Parameter(bg.ones(3))})
    named["c"] = bg.zeros(1)
    named["a"] = bg.zeros(4)
    assert {name: x.shape for name, x in named.items()} == {"a": (4,), "b": (3,), "c": (1,)}
    assert list(named.state_dict()) == ["a", "b", "c"]
    assert named.pop("b").shape == (3,)
    assert "b" not in named
    assert named.get("b", 3) == 3
    assert list(named) == ["a", "c"]
    for call in (lambda: row.append(3), lambda: row.extend(bg.ones(2)),
                 lambda: named.update({"x": 1})):  # fmt: skip
        with pytest.raises(TypeError, match=r"ParameterList|ParameterDict"):
            call()


def test_invalid_arguments_are_refused(bg: Any) -> None:
    nn = bg.nn
    x, row = bg.asarray(PICTURE), bg.asarray(ROW)
    rows, table = bg.asarray(np.int32([1, 0])), bg.ones((2, 2))
    for call, name in (
        (lambda: nn.pixel_shuffle(x, 3), "input"), (lambda: nn.pixel_unshuffle(x, 4), "input"),
        (lambda: nn.channel_shuffle(x, 3), "input"), (lambda: nn.unfold(x, 7), "kernel_size"),
        (lambda: nn.fold(row, 3, 2), "input"), (lambda: nn.interpolate(x), "size"),
        (lambda: nn.interpolate(x, 2, 2), "size"),
        (lambda: nn.interpolate(x, 2, mode="linear"), "axes"),
        (lambda: nn.interpolate(x, 2, mode="cubic"), "mode"),
        (lambda: nn.interpolate(x, 2, align_corners=True), "align_corners"),
        (lambda: nn.interpolate(row, 2, mode="linear", antialias=True), "antialias"),
        (lambda: nn.interpolate(x, 2, recompute_scale_factor=True), "recompute_scale_factor"),
        (lambda: nn.interpolate(x, scale_factor=0.1), "scale_factor"),
        (lambda: nn.interpolate(x, scale_factor=(2, 2, 2)), "scale_factor"),
        (lambda: nn.adaptive_max_pool2d(x, (2, 2, 2)), "output_size"),
        (lambda: nn.max_unpool2d(x, rows, 2), "indices"),
        (lambda: nn.lp_pool2d(x, 0, 2), "norm_type"),
        (lambda: nn.instance_norm(bg.ones((2, 3, 1))), "input"),
        (lambda: nn.local_response_norm(bg.ones((2, 3)), 2), "input"),
        (lambda: nn.affine_grid(bg.ones((1, 2, 2)), (1, 1, 2, 2)), "theta"),
        (lambda: nn.grid_sample(x, bg.ones((1, 2, 2, 2))), "grid"),
        (lambda: nn.grid_sample(x, bg.ones((2, 2, 2, 2)), "cubic"), "mode"),
        (lambda: nn.grid_sample(bg.asarray(SOLID), bg.ones((1, 1, 1, 1, 3)), "bicubic"), "mode"),
        (lambda: nn.grid_sample(x, bg.ones((2, 2, 2, 2)), padding_mode="edge"), "padding_mode"),
        (lambda: nn.embedding(rows, table, sparse=True), "sparse"),
        (lambda: nn.embedding(rows, table, 2), "padding_idx"),
        (lambda: nn.embedding_bag(rows, table), "input"),
        (lambda: nn.embedding_bag(rows, table, [0], mode="min"), "mode"),
        (lambda: nn.embedding_bag(rows, table, [1], mode="max"), "offsets"),
        (lambda: nn.embedding_bag(rows, table, [0], per_sample_weights=bg.ones(2)),
         "per_sample_weights"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=name):
            call()
