"""Network functions, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside import reference as plain
from inside.arrays import nn_reference as reference
from inside.arrays.data import assert_same, by_default, sample

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def test_activations(bg: Any) -> None:
    edges = [0.0, -0.0, 1e-4, -90.0, 90.0, 25.0, -3.0, 3.0]
    x = np.concatenate([3 * sample("float32", 56), np.float32(edges)])
    a = bg.asarray(x)
    with np.errstate(over="ignore"):
        for name, expected in reference.ACTIVATIONS.items():
            function = getattr(bg.nn, name)
            want = expected(x.astype(np.float64))
            np.testing.assert_allclose(function(a).numpy(), want, 2e-6, 2e-6, err_msg=name)
    half = bg.nn.silu(bg.asarray(x.astype("float16")))
    assert_same(
        half, reference.ACTIVATIONS["silu"](x.astype("float64")).astype("float16"), rtol=2e-3
    )
    near = bg.nn.gelu(a, approximate="tanh").numpy()
    np.testing.assert_allclose(near, reference.gelu(x.astype(np.float64)), atol=2e-3)
    assert (near != bg.nn.gelu(a).numpy()).any()
    assert_same(bg.nn.leaky_relu(a, 0.5), np.where(x > 0, x, x / 2))
    assert_same(bg.nn.softplus(a, 2.0, 1.0), np.where(2 * x > 1, x, np.logaddexp(2 * x, 0) / 2),
                rtol=1e-6)  # fmt: skip
    assert_same(bg.nn.relu(bg.asarray([1, -2])), by_default([1, 0]))


def test_gelu_keeps_its_digits_far_below_zero(bg: Any) -> None:
    x = np.linspace(-13, 13, 1001, dtype=np.float32)
    wide = x.astype(np.float64)
    tanh = plain.UNARY["gelu"](wide)
    assert_same(bg.nn.gelu(bg.asarray([-6.0])), reference.gelu(np.array([-6.0])), rtol=2e-6)
    for approximate, expected in (("none", reference.gelu(wide)), ("tanh", tanh)):
        got = bg.nn.gelu(bg.asarray(x), approximate).numpy()
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-37)
    # The slope of x Φ(x) is Φ(x) + x φ(x).
    slope = bg.grad(lambda v: bg.nn.gelu(v).sum())(bg.asarray([-6.0]))
    np.testing.assert_allclose(slope.numpy(), -3.5468709e-08, rtol=1e-3)


def test_softmax(bg: Any) -> None:
    x = sample("float32", (3, 5, 4)) * 30
    a = bg.asarray(x)
    for axis in (1, -1):
        logs = reference.log_softmax(x, axis)
        assert_same(bg.nn.softmax(a, axis), np.exp(logs), rtol=1e-5)
        assert_same(bg.nn.log_softmax(a, dim=axis), logs, rtol=1e-6)
    assert bg.nn.softmax(bg.asarray([1, 2]), dtype="float16").dtype == np.float16


def test_losses(bg: Any) -> None:
    nn = bg.nn
    x, y = sample("float32", (4, 6)), sample("float32", (4, 6), 1)
    a, b = bg.asarray(x), bg.asarray(y)
    d = np.abs(x.astype(np.float64) - y)
    for got, expected in (
        (nn.mse_loss(a, b), (d * d).mean()), (nn.l1_loss(a, b, reduction="sum"), d.sum()),
        (nn.huber_loss(a, b, delta=0.5), np.where(d < 0.5, d * d / 2, 0.5 * (d - 0.25)).mean()),
        (nn.smooth_l1_loss(a, b, beta=0.5, reduction="none"),
         np.where(d < 0.5, d * d, d - 0.25)),
    ):  # fmt: skip
        assert_same(got, expected, rtol=1e-5)
    t, weight = (y > 0).astype("float32"), np.float32([1, 2, 0.5, 3, 1, 1])
    p = 1 / (1 + np.exp(-x.astype(np.float64) * 30))
    with np.errstate(divide="ignore"):
        want = -(weight * t * np.log(p) + (1 - t) * np.log1p(-p))
    got = nn.binary_cross_entropy_with_logits(
        a * 30, bg.asarray(t), pos_weight=bg.asarray(weight), reduction="none"
    ).numpy()
    np.testing.assert_allclose(got[np.isfinite(want)], want[np.isfinite(want)], 1e-3, 1e-6)
    assert np.isfinite(got).all()


def test_cross_entropy(bg: Any) -> None:
    nn = bg.nn
    x = sample("float32", (5, 7, 3))
    target = np.random.default_rng(2).integers(0, 7, (5, 3))
    weight = np.linspace(0.5, 2, 7).astype("float32")
    target[0, 1] = -100
    kept = target >= 0
    goals = np.where(kept, target, 0)
    logs = reference.log_softmax(x, 1)
    each = np.where(kept, -np.take_along_axis(logs, goals[:, None], 1)[:, 0], 0)
    factors = weight[goals] * kept
    smooth = np.where(kept, -(logs * weight[:, None]).sum(1), 0) / 7
    a, t, w = bg.asarray(x), bg.asarray(target), bg.asarray(weight)
    probs = np.exp(reference.log_softmax(sample("float32", (5, 7, 3), 3), 1)).astype("float32")
    for got, expected in (
        (nn.cross_entropy(a, t, reduction="none"), each),
        (nn.cross_entropy(a, t), each.sum() / kept.sum()),
        (nn.cross_entropy(a, t, w), (each * factors).sum() / factors.sum()),
        (nn.cross_entropy(a, t, w, label_smoothing=0.1),
         (0.9 * each * factors + 0.1 * smooth).sum() / factors.sum()),
        (nn.nll_loss(nn.log_softmax(a, 1), t, w), (each * factors).sum() / factors.sum()),
        (nn.cross_entropy(a, bg.asarray(probs)), -(probs * logs).sum(1).mean()),
        (nn.cross_entropy(a[0, :, 0], t[0, 0]), each[0, 0]),
        (nn.cross_entropy(a[:, :, 2], t[:, 2], ignore_index=-1), each[:, 2].mean()),
    ):  # fmt: skip
        assert_same(got, expected, rtol=2e-6)


def test_normalisation(bg: Any) -> None:
    nn = bg.nn
    x = sample("float32", (3, 6, 4, 5)) * 3 + 1
    gamma, beta = sample("float32", (4, 5)), sample("float32", (4, 5), 1)
    a = bg.asarray(x)
    got = nn.layer_norm(a, (4, 5), bg.asarray(gamma), bg.asarray(beta), eps=1e-3)
    assert_same(got, reference.normalised(x, (2, 3), 1e-3) * gamma + beta, rtol=1e-5)
    root = np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-6)
    assert_same(nn.rms_norm(a, 5, bg.asarray(gamma[0]), 1e-6), x / root * gamma[0], rtol=1e-5)
    w, b = np.float32(range(1, 7)), np.float32(range(6))
    own = reference.normalised(x.reshape(3, 3, -1), -1, 1e-5).reshape(x.shape)
    expected = own * w[:, None, None] + b[:, None, None]
    assert_same(nn.group_norm(a, 3, bg.asarray(w), bg.asarray(b)), expected, rtol=1e-5)
    mean, variance = bg.zeros(6), bg.ones(6)
    before, view = mean.copy(), mean[:]
    got = nn.batch_norm(a, mean, variance, bg.asarray(w), bg.asarray(b), training=True)
    expected = reference.normalised(x, (0, 2, 3), 1e-5) * w[:, None, None] + b[:, None, None]
    assert_same(got, expected, rtol=1e-5)
    assert_same(mean, 0.1 * x.mean((0, 2, 3)), rtol=1e-5)
    assert_same(variance, 0.9 + 0.1 * x.var((0, 2, 3), ddof=1), rtol=1e-5)
    assert_same(before, np.zeros(6))
    assert_same(view, mean.numpy())
    m, v = (s.numpy()[:, None, None] for s in (mean, variance))
    assert_same(nn.batch_norm(a, mean, variance), (x - m) / np.sqrt(v + 1e-5), rtol=1e-5)


SETTINGS: dict[int, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    1: ((2, 4, 9), (6, 2, 3), {"stride": (2,), "padding": (1,), "dilation": (2,), "groups": 2}),
    2: ((2, 4, 7, 6), (6, 2, 3, 2),
        {"stride": (2, 1), "padding": (1, 2), "dilation": (1, 2), "groups": 2}),
    3: ((2, 4, 6, 5, 7), (6, 2, 3, 2, 3),
        {"stride": (2, 1, 2), "padding": (1, 0, 2), "dilation": (2, 1, 1), "groups": 2}),
}  # fmt: skip


@pytest.mark.parametrize("rank", SETTINGS)
def test_convolutions(bg: Any, rank: int) -> None:
    shape, filters, settings = SETTINGS[rank]
    x, w, bias = sample("float32", shape), sample("float32", filters, 1), sample("float32", 6, 2)
    a, kernel = bg.asarray(x), bg.asarray(w)
    spread = bias.reshape(-1, *(1,) * rank)
    function = getattr(bg.nn, f"conv{rank}d")
    expected = reference.convolved(x, w, **settings) + spread
    assert_same(function(a, kernel, bg.asarray(bias), **settings), expected, rtol=1e-5)
    assert_same(function(a[1], kernel, bg.asarray(bias), **settings), expected[1], rtol=1e-5)
    # The same filters in the other direction: 4 -> 6 becomes 6 -> 4.
    y = sample("float32", (2, 6, *shape[2:]), 3)
    more = tuple(int(s > 1) for s in settings["stride"])
    back = getattr(bg.nn, f"conv_transpose{rank}d")
    expected = reference.transposed(y, w, output_padding=more, **settings) + spread[:4]
    got = back(bg.asarray(y), kernel, bg.asarray(bias[:4]), output_padding=more, **settings)
    assert_same(got, expected, rtol=1e-5)


def test_convolutions_check_each_call(bg: Any) -> None:
    """Equal settings of other types, and other weights, are refused after calls that succeed."""
    from browsergpu.errors import InvalidArgument

    x, w = bg.asarray(sample("float32", (1, 4, 6, 5))), bg.asarray(sample("float32", (6, 2, 3, 3)))
    for _ in range(2):
        found = bg.nn.conv2d(x, w, stride=1, groups=2)
    for name, value in (
        ("stride", True),
        ("stride", 1.0),
        ("groups", 2.0),
        ("dilation", (1, True)),
    ):
        with pytest.raises(InvalidArgument) as raised:
            bg.nn.conv2d(x, w, **{"stride": 1, "groups": 2, name: value})
        assert raised.value.argument == name
        assert raised.value.value is value
    for given, groups in ((w, 1), (w[0], 2), (bg.zeros((6, 2, 7, 7)), 2)):
        for padding in (0, "valid"):
            with pytest.raises(InvalidArgument) as raised:
                bg.nn.conv2d(x, given, None, 1, padding, 1, groups)
            assert raised.value.argument == "weight"
            assert raised.value.value is given
            assert str(given.shape) in str(raised.value)
    again = bg.nn.conv2d(x, w, stride=[1, 1], padding=np.array([0, 0]), groups=np.int32(2))
    np.testing.assert_array_equal(again.numpy(), found.numpy())


#: Input extents, kernel, stride, padding and output padding.
TRANSPOSED = [
    ((4, 3), (3, 3), (2, 2), (1, 1), (1, 1)),
    ((4, 3), (3, 5), (2, 2), (1, 2), (0, 1)),
    ((4, 3), (4, 4), (2, 2), (1, 1), (0, 0)),
    ((3, 3), (2, 2), (2, 2), (0, 0), (1, 0)),
    ((4, 3), (1, 1), (2, 2), (0, 0), (1, 0)),  # results without any product
    ((2, 5), (2, 3), (3, 1), (0, 2), (2, 0)),
    ((3, 4), (2, 3), (4, 2), (1, 1), (3, 1)),
    ((5, 1), (1, 2), (2, 2), (2, 0), (0, 0)),  # inputs that no result sees
    ((4, 6), (5, 4), (4, 3), (3, 3), (0, 2)),
]


@pytest.mark.parametrize("case", TRANSPOSED)
@pytest.mark.parametrize("groups", [1, 2])
def test_transposed_convolutions_with_strides(bg: Any, case: Any, groups: int) -> None:
    extents, kernel, stride, padding, more = case
    x, w = sample("float32", (2, 4, *extents)), sample("float32", (4, 3, *kernel), 1)
    bias = sample("float32", (3 * groups,), 2)
    own = [bg.asarray(v) for v in (x, w, bias)]
    settings = {"stride": stride, "padding": padding, "output_padding": more, "groups": groups}
    expected = reference.transposed(x, w, stride, padding, more, (1, 1), groups)
    function = bg.nn.conv_transpose2d
    # Sums of up to 80 products that cancel have an absolute error.
    close = {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(function(*own[:2], **settings).numpy(), expected, **close)
    expected = expected + bias[:, None, None]
    np.testing.assert_allclose(function(*own, **settings).numpy(), expected, **close)
    halves = [v.astype("float16") for v in own[:2]]
    found = function(*halves, own[2], **settings)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-2, atol=3e-2)


def test_padding_by_name_and_cut_off(bg: Any) -> None:
    x, w = sample("float32", (1, 2, 6, 5)), sample("float32", (3, 2, 2, 3), 1)
    a, kernel = bg.asarray(x), bg.asarray(w)
    around = np.pad(x, ((0, 0), (0, 0), (0, 1), (1, 1)))
    plain = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1}
    expected = reference.convolved(around, w, **plain)
    assert_same(bg.nn.conv2d(a, kernel, padding="same"), expected, rtol=1e-5)
    expected = reference.transposed(x, w.swapaxes(0, 1)[..., :1], (2, 2), (1, 2), (0, 0), (1, 1), 1)
    back = bg.asarray(np.ascontiguousarray(w.swapaxes(0, 1)[..., :1]))
    assert_same(bg.nn.conv_transpose2d(a, back, None, 2, (1, 2)), expected, rtol=1e-5)


#: Extents, kernel, stride, dilation, groups, and the zeros (before, after) of each axis.
UNEVEN: list[Any] = [
    ((9,), (2,), (1,), (1,), 1, [(0, 1)]),
    ((7, 9), (2, 2), (1, 1), (1, 1), 1, [(0, 1), (0, 1)]),
    ((8, 10), (3, 3), (2, 2), (1, 1), 1, [(0, 1), (0, 1)]),
    ((8, 10), (3, 3), (1, 1), (1, 1), 2, [(2, 0), (0, 3)]),
    ((8, 10), (3, 2), (2, 3), (2, 1), 4, [(3, 1), (2, 0)]),
    ((5, 6), (1, 1), (2, 1), (1, 1), 1, [(1, 0), (0, 2)]),
    ((4, 5, 6), (2, 3, 2), (1, 2, 1), (1, 1, 2), 2, [(0, 1), (2, 1), (1, 0)]),
]


@pytest.mark.parametrize("case", UNEVEN)
def test_padding_before_and_after(bg: Any, case: Any) -> None:
    extents, kernel, stride, dilation, groups, pairs = case
    rank = len(extents)
    x, w = sample("float32", (2, 4, *extents)), sample("float32", (8, 4 // groups, *kernel), 1)
    function = getattr(bg.nn, f"conv{rank}d")
    settings = {"stride": stride, "dilation": dilation, "groups": groups}
    whole = np.pad(x, [(0, 0), (0, 0), *pairs])
    expected = reference.convolved(whole, w, padding=(0,) * rank, **settings)
    a, filters = bg.asarray(x), bg.asarray(w)
    assert_same(function(a, filters, padding=pairs, **settings), expected, rtol=1e-5)
    one = function(a[1], filters, padding=tuple(map(list, pairs)), **settings)
    assert_same(one, expected[1], rtol=1e-5)
    each = bg.vmap(lambda x, w: function(x, w, padding=pairs, **settings), (0, None))
    assert_same(each(a[:, None], filters)[:, 0], expected, rtol=1e-5)
    spread = bg.asarray(sample("float32", expected.shape, 3))
    flat = [n for pair in reversed(pairs) for n in pair]

    def padded(x: Any, w: Any) -> Any:
        return bg.sum(function(bg.nn.pad(x, flat), w, **settings) * spread)

    def direct(x: Any, w: Any) -> Any:
        return bg.sum(function(x, w, padding=pairs, **settings) * spread)

    slopes, wanted = (bg.grad(one, (0, 1))(a, filters) for one in (direct, padded))
    for found, want in zip(slopes, wanted, strict=True):
        np.testing.assert_allclose(found.numpy(), want.numpy(), rtol=1e-4, atol=1e-4)


def test_pairs_of_padding_that_are_refused(bg: Any) -> None:
    x, w = bg.ones((1, 1, 4, 4)), bg.ones((1, 1, 2, 2))
    for padding in ([(0, 1)], [(0, 1), 1], [(0, -1), (0, 0)], [(0, 1, 2), (0, 0)], (1, 2, 3, 4)):
        with pytest.raises(ValueError, match="padding must be"):
            bg.nn.conv2d(x, w, padding=padding)


def test_pooling(bg: Any) -> None:
    nn = bg.nn
    x = sample("float32", (2, 3, 7, 6, 5))
    a = bg.asarray(x)
    kernel, stride, padding = (3, 2, 2), (2, 2, 1), (1, 1, 0)
    for rank in (1, 2, 3):
        data, array = x.reshape(2, 3, -1, *x.shape[6 - rank :]), None
        array = a.reshape(data.shape)
        own = [setting[3 - rank :] for setting in (kernel, stride, padding)]
        expected = reference.pooled("max", data, *own, ceil_mode=True)
        got = getattr(nn, f"max_pool{rank}d")(array, *own, ceil_mode=True)
        assert_same(got, expected, f"max {rank}")
        for counted in (True, False):
            expected = reference.pooled("mean", data, *own, True, counted)
            got = getattr(nn, f"avg_pool{rank}d")(array, *own, True, counted)
            assert_same(got, expected, f"mean {rank}", rtol=1e-6)
    values, places = nn.max_pool1d(a[0, 0, 0], 2, return_indices=True)
    pairs = x[0, 0, 0, :, :4].reshape(6, 2, 2)
    assert_same(values, pairs.max(-1))
    assert_same(places, (pairs.argmax(-1) + np.array([0, 2])).astype("i4"))
    picture = x[:, :, 0]
    assert_same(nn.adaptive_avg_pool2d(a[:, :, 0], (3, None)),
                picture.reshape(2, 3, 3, 2, 5).mean(3), rtol=1e-6)  # fmt: skip
    rows = [picture[:, :, i * 6 // 4 : -(-(i + 1) * 6 // 4)].mean(2) for i in range(4)]
    both = [np.stack(rows, 2)[..., i * 5 // 2 : -(-(i + 1) * 5 // 2)].mean(-1) for i in range(2)]
    got = nn.adaptive_avg_pool2d(a[0, :, 0], (4, 2))
    assert_same(got, np.stack(both, -1)[0], rtol=1e-6)
    # The product of both lengths exceeds 32 bits, the size of indices in a page.
    line = np.arange(60_000, dtype=np.float32)
    first = np.arange(50_000, dtype=np.int64) * 60_000 // 50_000
    end = -(-np.arange(1, 50_001, dtype=np.int64) * 60_000 // 50_000)
    got = nn.adaptive_avg_pool2d(bg.asarray(line.reshape(1, 1, -1)), (1, 50_000))
    assert_same(got.reshape(-1), (first + end - 1) / 2, rtol=1e-6)


def test_attention(bg: Any) -> None:
    function = bg.nn.scaled_dot_product_attention
    q, k = sample("float32", (2, 4, 5, 8)), sample("float32", (2, 4, 7, 8), 1)
    v = sample("float32", (2, 4, 7, 8), 2)
    bools, floats = sample("bool", (2, 1, 5, 7), 3), sample("float32", (7,), 4)
    bools[..., 0] = True
    given = [bg.asarray(x) for x in (q, k, v)]
    for got, expected in (
        (function(*given), reference.attention(q, k, v)),
        (function(*given, is_causal=True, scale=0.5),
         reference.attention(q, k, v, causal=True, scale=0.5)),
        (function(*given, bg.asarray(bools)), reference.attention(q, k, v, bools)),
        (function(*given, bg.asarray(floats)), reference.attention(q, k, v, floats)),
        (function(given[0], given[1][:, :2], given[2][:, :2, :, :3], enable_gqa=True),
         reference.attention(q, k[:, :2].repeat(2, 1), v[:, :2, :, :3].repeat(2, 1))),
    ):  # fmt: skip
        assert_same(got, expected, rtol=1e-5)


def test_queries_that_see_no_key_become_zero(bg: Any) -> None:
    q, k, v = (sample("float32", (2, 5, 8), seed) for seed in range(3))
    seen = np.ones((5, 5), bool)
    seen[1] = seen[3, :4] = False
    seen[0, 0] = False  # the only key that the first query sees with is_causal
    added = np.where(seen, 0.5, -np.inf).astype("float32")
    for mask in (seen, added):
        for causal in (False, True):
            got = bg.nn.scaled_dot_product_attention(
                bg.asarray(q), bg.asarray(k), bg.asarray(v), bg.asarray(mask), is_causal=causal
            )
            expected = reference.attention(q, k, v, mask, causal=causal)
            assert (expected[:, 1] == 0).all()
            assert (expected[:, 0] == 0).all() == causal
            assert_same(got, expected, rtol=1e-5)


def test_tables(bg: Any) -> None:
    nn = bg.nn
    x, w, b = sample("float32", (2, 3, 5)), sample("float32", (4, 5), 1), sample("float32", 4, 2)
    got = nn.linear(bg.asarray(x), bg.asarray(w), bg.asarray(b))
    assert_same(got, x @ w.T + b, rtol=1e-5)
    got = nn.linear(bg.asarray(x[0, 0]), bg.asarray(w.T.copy()).T)
    assert_same(got, w @ x[0, 0], rtol=1e-5)
    places = np.array([[0, 3], [2, 2]])
    half = w.astype("float16")
    assert_same(nn.embedding(bg.asarray(places), bg.asarray(half)), half[places])
    assert_same(nn.one_hot(bg.asarray(places)), np.eye(4, dtype="i8")[places])
    assert_same(nn.one_hot(bg.asarray(np.uint8([1])), 3), np.int64([[0, 1, 0]]))


def test_pad(bg: Any) -> None:
    x = sample("float32", (2, 4, 5))
    a = bg.asarray(x)
    for mode, numpys in (("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")):
        expected = np.pad(x, ((0, 0), (2, 0), (1, 3)), numpys)
        assert_same(bg.nn.pad(a, (1, 3, 2, 0), mode), expected, mode)
    expected = np.pad(x[:, 1:, :-2], ((0, 0), (0, 2), (1, 0)), constant_values=7)
    assert_same(bg.nn.pad(a, (1, -2, -1, 2), value=7), expected)


def test_float16(bg: Any) -> None:
    nn = bg.nn
    x, w = sample("float16", (1, 4, 6, 6)), sample("float16", (4, 4, 3, 3), 1) / np.float16(6)
    table = sample("float16", (8, 9), 2) / np.float16(3)
    y = nn.conv2d(bg.asarray(x), bg.asarray(w), padding=1)
    y = nn.avg_pool2d(nn.group_norm(y, 2), 2).reshape((1, 4, 9))
    y = nn.linear(y, bg.asarray(table))
    y = nn.layer_norm(nn.scaled_dot_product_attention(y, y, y), 8)
    z = reference.convolved(x, w, (1, 1), (1, 1), (1, 1), 1)
    z = reference.normalised(z.reshape(1, 2, -1), -1, 1e-5).reshape(z.shape)
    z = reference.pooled("mean", z, (2, 2), (2, 2), (0, 0)).reshape(1, 4, 9) @ table.T
    z = reference.normalised(reference.attention(z, z, z), -1, 1e-5)
    assert_same(y, z.astype("float16"), rtol=3e-2)
    logs = nn.log_softmax(y)
    assert_same(logs, reference.log_softmax(z, -1).astype("float16"), rtol=3e-2)
    assert nn.cross_entropy(y[0], bg.asarray([0, 1, 2, 3])).dtype == np.float16


def test_dropout(bg: Any) -> None:
    a = bg.ones(4000)
    rng = bg.random.default_rng(3)
    got = bg.nn.dropout(a, 0.25, generator=rng).numpy()
    assert set(got.tolist()) == {0.0, float(np.float32(1 / 0.75))}
    assert 0.2 < (got == 0).mean() < 0.3
    for same in (bg.nn.dropout(a, 0.25, False), bg.nn.dropout(a, 0)):
        assert_same(same, np.ones(4000))
    assert_same(bg.nn.dropout(a, 1, generator=rng), np.zeros(4000))


def test_invalid_arguments_are_refused(bg: Any) -> None:
    from browsergpu.errors import InvalidArgument

    nn = bg.nn
    x, pictures, whole = bg.zeros((2, 4)), bg.zeros((1, 4, 5, 5)), bg.asarray([1, 2])
    filters, t = bg.zeros((6, 2, 3, 3)), bg.asarray([0, 1])
    for name, call in (
        ("input", lambda: nn.sigmoid(whole)),
        ("input", lambda: nn.relu([1.0])),
        ("dim", lambda: nn.softmax(x, 2)),
        ("approximate", lambda: nn.gelu(x, "fast")),
        ("generator", lambda: nn.dropout(x)),
        ("p", lambda: nn.dropout(x, 2)),
        ("target", lambda: nn.mse_loss(x, x[0])),
        ("reduction", lambda: nn.l1_loss(x, x, reduction=1)),
        ("target", lambda: nn.cross_entropy(x, t[:1])),
        ("weight", lambda: nn.nll_loss(x, t, x[0, :3])),
        ("normalized_shape", lambda: nn.layer_norm(x, 3)),
        ("running_var", lambda: nn.batch_norm(x, x[0], None)),
        ("num_groups", lambda: nn.group_norm(x, 3)),
        ("weight", lambda: nn.conv2d(pictures, filters)),
        ("groups", lambda: nn.conv2d(pictures, filters, groups=4)),
        ("input", lambda: nn.conv2d(x, filters)),
        ("stride", lambda: nn.conv2d(pictures, filters, groups=2, stride=0)),
        ("padding", lambda: nn.conv2d(pictures, filters, groups=2, stride=2, padding="same")),
        (
            "output_padding",
            lambda: nn.conv_transpose2d(pictures, bg.zeros((4, 2, 2, 2)), output_padding=1),
        ),
        ("weight", lambda: nn.conv2d(pictures, bg.zeros((6, 4, 6, 6)))),
        ("padding", lambda: nn.max_pool2d(pictures, 2, padding=2)),
        ("kernel_size", lambda: nn.avg_pool2d(pictures, 6)),
        ("scale", lambda: nn.scaled_dot_product_attention(x, x, x, scale=0.0)),
        ("key", lambda: nn.scaled_dot_product_attention(x, x[:, :3], x)),
        ("attn_mask", lambda: nn.scaled_dot_product_attention(x, x, x, x)),
        ("input", lambda: nn.linear(x, x[:, :3])),
        ("input", lambda: nn.embedding(x, x)),
        ("pad", lambda: nn.pad(x, (4, 0), "reflect")),
        ("mode", lambda: nn.pad(x, (1, 1), "edge")),
        ("pad", lambda: nn.pad(x, (-5, 0))),
    ):
        with pytest.raises(InvalidArgument) as raised:
            call()
        assert raised.value.argument == name, raised.value


@pytest.mark.parametrize("shape", [(2, 5, 4, 4), (3, 6, 7, 5), (1, 3, 1, 1), (4, 8, 8)])
def test_batch_norm_of_halves(bg: Any, shape: tuple[int, ...]) -> None:
    """A single kernel computes it in float32."""
    x = sample("float32", shape).astype("float16")
    vectors = [sample("float32", (shape[1],), n).astype("float16") for n in range(1, 5)]
    vectors[1] = np.abs(vectors[1])
    got = bg.nn.batch_norm(*map(bg.asarray, (x, *vectors)))
    mean, variance, weight, bias = (
        v.astype(np.float64).reshape((-1, *(1,) * (len(shape) - 2))) for v in vectors
    )
    want = (x - mean) / np.sqrt(variance + 1e-5) * weight + bias
    assert got.dtype == np.float16
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-3, atol=1e-3 * np.abs(want).max())


@pytest.mark.parametrize("length", [4, 60, 768, 1000, 4100, 7])
def test_layer_norm_of_halves(bg: Any, length: int) -> None:
    x = (3 + sample("float32", (5, length))).astype("float16")
    weight, bias = (sample("float32", (length,), n).astype("float16") for n in (1, 2))
    got = bg.nn.layer_norm(bg.asarray(x), (length,), bg.asarray(weight), bg.asarray(bias))
    wide = x.astype(np.float64)
    off = wide - wide.mean(1, keepdims=True)
    want = off / np.sqrt((off * off).mean(1, keepdims=True) + 1e-5) * weight + bias
    assert got.dtype == np.float16
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-3, atol=2e-3)


def test_axes_of_one_element_are_packed(bg: Any) -> None:
    """Arrays that are packed except for axes of extent 1 are not copied, whatever their strides."""
    x = bg.asarray(sample("float32", (1, 4, 8, 8)))
    seen: list[str] = []
    observer = lambda pipeline, fields: seen.append(pipeline.label)  # noqa: E731
    x.device.recorder.observers.append(observer)
    try:
        bg.eval(bg.nn.scaled_dot_product_attention(x, x, x))
    finally:
        x.device.recorder.observers.remove(observer)
    assert len(seen) == 1
