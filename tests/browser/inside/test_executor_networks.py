"""KernelExecutor's layers, against float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsergpu.engine.kernels.variants import VARIANTS
from inside import executor_reference as expected
from inside import reference, tolerances
from inside.comparison import assert_matches, assert_same_bits
from inside.gpu import only_variant, random_array
from inside.spies import dispatched
from inside.tolerances import SUBNORMAL, ULP, U

pytestmark = pytest.mark.native


@pytest.fixture
def executor(backend: Any) -> Any:
    from browsergpu import KernelExecutor

    return KernelExecutor(backend.device)


# -- convolution -----------------------------------------------------------------------------------

# x, w, stride, padding, dilation, groups
CONVOLUTIONS = {
    "plain": ((2, 3, 9, 8), (4, 3, 3, 3), (1, 1), (0, 0), (1, 1), 1),
    "dilation": ((1, 2, 11, 12), (3, 2, 3, 3), (1, 1), (2, 2), (2, 2), 1),
    "uneven dilation": ((2, 2, 13, 9), (3, 2, 3, 2), (2, 1), (3, 0), (3, 1), 1),
    "dilation as far as it goes": ((1, 1, 9, 7), (2, 1, 3, 3), (1, 1), (0, 0), (4, 3), 1),
    "dilation of a 1x1": ((1, 2, 5, 5), (2, 2, 1, 1), (1, 1), (0, 0), (7, 9), 1),
    "groups": ((2, 6, 7, 7), (4, 3, 3, 3), (1, 1), (1, 1), (1, 1), 2),
    "three groups": ((3, 6, 5, 9), (9, 2, 2, 3), (1, 2), (0, 1), (1, 1), 3),
    "depthwise": ((2, 5, 8, 8), (5, 1, 3, 3), (1, 1), (1, 1), (1, 1), 5),
    "depthwise, more filters": ((2, 3, 8, 8), (6, 1, 3, 3), (2, 2), (1, 1), (1, 1), 3),
    "depthwise, one column": ((3, 7, 9, 1), (7, 1, 3, 1), (1, 1), (1, 0), (1, 1), 7),
    "depthwise, strided": ((2, 9, 13, 11), (9, 1, 5, 3), (3, 2), (2, 0), (1, 1), 9),
    "depthwise, dilated": ((1, 3, 14, 17), (9, 1, 3, 3), (1, 2), (4, 1), (3, 2), 3),
    "depthwise, too many filters for it": ((1, 2, 7, 6), (18, 1, 3, 3), (1, 1), (1, 1), (1, 1), 2),
    "all at once": ((2, 4, 15, 17), (6, 2, 3, 2), (2, 3), (2, 1), (2, 3), 2),
    "many filters in groups": ((1, 4, 6, 6), (140, 2, 3, 3), (1, 1), (1, 1), (1, 1), 2),
}


def check_conv2d(executor: Any, case: Any, bias: bool) -> None:
    x_shape, w_shape, *options = case
    x, w = random_array(1, *x_shape), random_array(2, *w_shape)
    added = random_array(3, w_shape[0]) if bias else np.zeros(w_shape[0], np.float32)
    names = ("stride", "padding", "dilation", "groups")
    result = executor.conv2d(
        executor.from_numpy(x),
        executor.from_numpy(w),
        executor.from_numpy(added) if bias else None,
        **dict(zip(names, options, strict=True)),
    )
    terms = int(np.prod(w_shape[1:])) + bias
    column = added.astype(np.float64)[:, None, None]
    magnitude = expected.conv2d(np.abs(x), np.abs(w), *options) + np.abs(column)
    assert_matches(
        result.numpy(),
        expected.conv2d(x, w, *options) + column,
        **tolerances.conv2d(magnitude, terms)._asdict(),
    )


@pytest.mark.parametrize("bias", [False, True], ids=["", "bias"])
@pytest.mark.parametrize("case", CONVOLUTIONS.values(), ids=CONVOLUTIONS.keys())
def test_conv2d(executor: Any, case: Any, bias: bool) -> None:
    check_conv2d(executor, case, bias)


@pytest.mark.parametrize("name", [v.name for v in VARIANTS["conv2d"]])
def test_conv2d_in_each_variant(executor: Any, name: str) -> None:
    grouped = ((2, 24, 9, 10), (40, 12, 3, 3), (1, 1), (1, 1), (1, 1), 2)
    pointwise = ((2, 24, 5, 7), (40, 12, 1, 1), (1, 1), (0, 0), (1, 1), 2)
    with only_variant(executor.device, "conv2d", name):
        for case in (*CONVOLUTIONS.values(), grouped, pointwise):
            check_conv2d(executor, case, bias=True)


#: One filter per channel: conv2d can use the depthwise kernels.
SEPARATE = ((2, 5, 8, 8), (5, 1, 3, 3), (1, 1), (1, 1), (1, 1), 5)


@pytest.mark.parametrize("bias", [False, True], ids=["", "bias"])
def test_a_forced_variant_is_the_kernel_that_runs(executor: Any, bias: bool) -> None:
    device = executor.device
    used = set()
    for variant in device.variants.available("conv2d"):
        with device.variants.only("conv2d", variant.name) as forced, dispatched(device) as kernels:
            check_conv2d(executor, SEPARATE, bias)
        assert forced.was_used == (variant.kernel in kernels), (variant.name, kernels)
        if forced.was_used:
            assert set(kernels) <= {variant.kernel, "conv2d_sum"}
            used.add(variant.name)
    assert used >= {"window", "window8", "depthwise", "tile64"}


def test_depthwise_convolutions_use_their_kernel(executor: Any) -> None:
    with dispatched(executor.device) as kernels:
        check_conv2d(executor, SEPARATE, bias=True)
    assert kernels == ["conv2d_depthwise"]


@pytest.mark.parametrize("bias", [False, True], ids=["", "bias"])
@pytest.mark.parametrize(
    "case",
    [
        *(case for name, case in CONVOLUTIONS.items() if name.startswith("depthwise")),
        ((1, 3, 7, 7), (3, 1, 3, 3), (1, 1), (1, 1), (1, 1), 3),  # planes of an odd size
    ],
)
def test_depthwise_float16_is_computed_in_float32(executor: Any, case: Any, bias: bool) -> None:
    x_shape, w_shape, *options = case
    x = random_array(1, *x_shape, dtype=np.float16)
    w = random_array(2, *w_shape, dtype=np.float16)
    b = random_array(3, w_shape[0]) if bias else np.zeros(w_shape[0], np.float32)
    own = (executor.from_numpy(x), executor.from_numpy(w), executor.from_numpy(b) if bias else None)
    names = ("stride", "padding", "dilation", "groups")
    with dispatched(executor.device) as kernels:
        found = executor.conv2d(*own, **dict(zip(names, options, strict=True))).numpy()
    assert found.dtype == np.float16
    assert (kernels == ["conv2d_depthwise_halves"]) == (w_shape[0] // options[3] <= 8)
    column = b.astype(np.float64)[:, None, None]
    magnitude = expected.conv2d(np.abs(x), np.abs(w), *options) + np.abs(column)
    assert_matches(
        found.astype(np.float32),
        expected.conv2d(x, w, *options) + column,
        rtol=1.1 * tolerances.F16_U,
        atol=magnitude * (w_shape[2] * w_shape[3] + 2) * U + 2.0**-25,
        why="one rounding to float16",
    )


def test_depthwise_special_values_stay_in_their_channel_and_window(executor: Any) -> None:
    x, w = random_array(1, 2, 3, 9, 9), random_array(2, 6, 1, 3, 3)
    x[1, 2, 0, 8] = np.nan
    result = executor.conv2d(
        executor.from_numpy(x), executor.from_numpy(w), padding=1, groups=3
    ).numpy()
    where = np.zeros(result.shape, bool)
    where[1, 4:6, :2, 7:] = True
    assert np.array_equal(np.isnan(result), where)


def test_conv2d_that_is_refused(executor: Any) -> None:
    from browsergpu.errors import InvalidArgument

    x, w = executor.empty((1, 4, 5, 5)), executor.empty((6, 2, 3, 3))
    for options, words in (
        ({}, "conv2d: filter_shape must .*4 channels"),
        ({"groups": 3}, "conv2d: groups must .*, got 3"),
        ({"groups": 0}, "conv2d: groups must .*, got 0"),
        ({"groups": 2, "dilation": 3}, "conv2d: filter_shape must .*fits"),
        ({"groups": 2, "dilation": 0}, "conv2d: dilation must .*, got 0"),
        ({"groups": 2, "stride": (1, 0)}, "conv2d: stride must "),
        ({"groups": 2, "padding": -1}, "conv2d: padding must .*, got -1"),
        ({"groups": 2, "bias": executor.empty((5,))}, r"conv2d: bias must .*\(6,\)"),
        ({"groups": 2, "out": executor.empty((1, 6, 3, 4))}, r"out must .*\(1, 6, 3, 3\)"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            executor.conv2d(x, w, **options)
    with pytest.raises(InvalidArgument, match="input_shape"):
        executor.conv2d(executor.empty((4, 5, 5)), w)


# -- activations and softmax -----------------------------------------------------------------------


@pytest.mark.parametrize("op", ["relu", "sigmoid", "tanh"])
def test_activations(executor: Any, op: str) -> None:
    for shape in ((), (0,), (7,), (3, 341)):
        x = (6 * random_array(1, *shape)).astype(np.float32)
        tolerance = tolerances.unary(op, x)
        array = executor.from_numpy(x)
        assert_matches(
            getattr(executor, op)(array).numpy(), reference.unary(op, x), **tolerance._asdict()
        )
        assert getattr(executor, op)(array, array) is array
        assert_matches(array.numpy(), reference.unary(op, x), **tolerance._asdict())


@pytest.mark.parametrize("op", ["relu", "sigmoid", "tanh"])
def test_activations_in_half_precision(executor: Any, op: str) -> None:
    x = random_array(1, 5, 7, dtype=np.float16)
    result = getattr(executor, op)(executor.from_numpy(x)).numpy()
    assert_matches(
        result, reference.unary(op, x), rtol=1.1 * tolerances.F16_U, atol=2.0**-24,
        why="one rounding to float16", dtype=np.float16,
    )  # fmt: skip


@pytest.mark.fast
@pytest.mark.parametrize("shape", [(1,), (5,), (3, 300), (2, 7, 5), (0, 4), (4, 0)], ids=str)
def test_softmax(executor: Any, shape: tuple[int, ...]) -> None:
    x = (20 * random_array(1, *shape)).astype(np.float32)
    for axis in range(-len(shape), len(shape)):
        result = executor.softmax(executor.from_numpy(x), axis).numpy()
        if x.size == 0:
            assert result.shape == shape
            continue
        # exp of a difference of up to 80: 3 + 2 × 80 ULP, in the numerator and the denominator.
        assert_matches(
            result, expected.softmax(x, axis), rtol=350 * ULP, atol=SUBNORMAL, why="exp twice"
        )


# -- normalisation ---------------------------------------------------------------------------------


def norm_allowed(x: np.ndarray, gamma: np.ndarray, eps: float) -> dict[str, Any]:
    """Return the tolerance: (x - mean) has an error of a few u, which the factor magnifies."""
    wide = x.astype(np.float64)
    factor = np.abs(gamma).max() / np.sqrt(eps + 1e-3)
    atol = 64 * U * np.abs(wide).max(initial=0.0) * factor
    return {"rtol": 64 * ULP, "atol": atol, "why": "differences from a rounded mean"}


@pytest.mark.fast
@pytest.mark.parametrize("shape", [(1, 5), (3, 300), (2, 3, 17), (0, 4), (7,)], ids=str)
def test_layer_norm(executor: Any, shape: tuple[int, ...]) -> None:
    x, gamma, beta = random_array(1, *shape), random_array(2, shape[-1]), random_array(3, shape[-1])
    array = executor.from_numpy(x)
    result = executor.layer_norm(
        array, executor.from_numpy(gamma), executor.from_numpy(beta), eps=0.01
    )
    assert_matches(
        result.numpy(), expected.layer_norm(x, gamma, beta, 0.01), **norm_allowed(x, gamma, 0.01)
    )
    ones, zeros = np.ones(shape[-1]), np.zeros(shape[-1])
    assert_matches(
        executor.layer_norm(array, eps=0.01).numpy(),
        expected.layer_norm(x, ones, zeros, 0.01),
        **norm_allowed(x, ones, 0.01),
    )


@pytest.mark.parametrize("keeps", [False, True], ids=["", "sum"])
@pytest.mark.parametrize(
    "shape", [(1, 5), (3, 300), (2, 3, 17), (0, 4), (7,), (3, 4096), (2, 5001), (2, 17_000)],
    ids=str,
)  # fmt: skip
def test_add_layer_norm(executor: Any, shape: tuple[int, ...], keeps: bool) -> None:
    x, residual = random_array(1, *shape), random_array(4, *shape)
    gamma, beta = random_array(2, shape[-1]), random_array(3, shape[-1])
    total = executor.empty(shape) if keeps else None
    result = executor.add_layer_norm(
        executor.from_numpy(x), executor.from_numpy(residual), executor.from_numpy(gamma),
        executor.from_numpy(beta), eps=0.01, summed=total,
    )  # fmt: skip
    assert_matches(
        result.numpy(),
        expected.layer_norm(x + residual, gamma, beta, 0.01),
        **norm_allowed(x + residual, gamma, 0.01),
    )
    if total is not None:
        assert_same_bits(total.numpy(), x + residual, "the sum")


@pytest.mark.parametrize("out", ["x", "residual", "gamma", "new"])
@pytest.mark.parametrize("summed", ["x", "residual", "none"])
def test_add_layer_norm_in_place(executor: Any, out: str, summed: str) -> None:
    x, residual, gamma = (random_array(seed, 300) for seed in (1, 2, 3))
    arrays = {"x": executor.from_numpy(x), "residual": executor.from_numpy(residual)}
    arrays["gamma"] = executor.from_numpy(gamma)
    if out == summed:
        return
    total = arrays.get(summed)
    result = executor.add_layer_norm(
        arrays["x"], arrays["residual"], arrays["gamma"], eps=0.01, out=arrays.get(out),
        summed=total,
    )  # fmt: skip
    wide = x + residual
    assert_matches(
        result.numpy(), expected.layer_norm(wide, gamma, np.zeros(300), 0.01),
        **norm_allowed(wide, gamma, 0.01),
    )  # fmt: skip
    if total is not None:
        assert_same_bits(total.numpy(), wide, "the sum")


@pytest.mark.parametrize("kinds", ["f16 f16 f16", "f16 f32 f32", "f32 f16 f32"])
def test_add_layer_norm_in_half_precision(executor: Any, kinds: str) -> None:
    kind, other, result_kind = kinds.split()
    x = executor.cast(executor.from_numpy(random_array(1, 5, 77)), kind)
    residual = executor.cast(executor.from_numpy(random_array(2, 5, 77)), other)
    result = executor.add_layer_norm(x, residual)
    assert result.dtype == result_kind
    wide = x.numpy().astype(np.float32) + residual.numpy().astype(np.float32)
    assert_matches(
        result.numpy().astype(np.float32),
        expected.layer_norm(wide, np.ones(77), np.zeros(77), 1e-5),
        rtol=1.1 * tolerances.F16_U, atol=1e-4, why="one rounding to float16",
    )  # fmt: skip


def test_add_layer_norm_that_is_refused(executor: Any) -> None:
    from browsergpu.errors import InvalidArgument

    x, other = executor.empty((2, 3)), executor.empty((3,))
    whole = executor.empty((2, 3), "i32")
    cases: list[Any] = [
        (lambda: executor.add_layer_norm(x, other), r"residual must .*\(2, 3\)"),
        (lambda: executor.add_layer_norm(x, whole), "residual must "),
        (lambda: executor.add_layer_norm(x, x, summed=other), r"summed must .*\(2, 3\)"),
        (lambda: executor.add_layer_norm(x, x, summed=whole), "summed must "),
        (lambda: executor.add_layer_norm(x, x, out=x, summed=x), "summed must .*out"),
    ]
    for call, words in cases:
        with pytest.raises(InvalidArgument, match=f"add_layer_norm: {words}"):
            call()


BATCHES = [(5, 3), (2, 1, 7), (3, 4, 9, 8), (1, 5, 40), (300, 2), (2, 3, 2, 3, 4), (1, 2, 20_000),
           (64, 3, 3, 3), (0, 3, 4)]  # fmt: skip


@pytest.mark.parametrize("shape", BATCHES, ids=str)
def test_batch_norm_by_running_statistics(executor: Any, shape: tuple[int, ...]) -> None:
    channels = shape[1]
    x, gamma, beta, mean = (
        random_array(1, *shape), *(random_array(seed, channels) for seed in (2, 3, 4))
    )  # fmt: skip
    variance = np.abs(random_array(5, channels))
    array, *arrays = map(executor.from_numpy, (x, mean, variance, gamma, beta))
    result = executor.batch_norm(array, *arrays, eps=0.01)
    assert_matches(
        result.numpy(),
        expected.normalised(x, mean, variance, gamma, beta, 0.01),
        **norm_allowed(x - 2, gamma, 0.01),
    )
    plain = executor.batch_norm(array, *arrays[:2], eps=0.01, out=array)
    assert plain is array
    ones, zeros = np.ones(channels), np.zeros(channels)
    assert_matches(
        plain.numpy(),
        expected.normalised(x, mean, variance, ones, zeros, 0.01),
        **norm_allowed(x - 2, ones, 0.01),
    )
    for statistics, before in zip(arrays, (mean, variance), strict=False):
        assert_same_bits(statistics.numpy(), before, "running statistics")


@pytest.mark.parametrize("momentum", [0.1, 0.0, 1.0])
@pytest.mark.parametrize("shape", BATCHES, ids=str)
def test_batch_norm_in_training(executor: Any, shape: tuple[int, ...], momentum: float) -> None:
    channels = shape[1]
    x = (3.0 + random_array(1, *shape)).astype(np.float32)
    gamma, beta = random_array(2, channels), random_array(3, channels)
    old_mean, old_variance = random_array(4, channels), np.abs(random_array(5, channels))
    array, mean, variance, *factors = map(
        executor.from_numpy, (x, old_mean, old_variance, gamma, beta)
    )
    result = executor.batch_norm_training(
        array, mean, variance, *factors, momentum=momentum, eps=0.01
    )
    if x.size == 0:
        assert result.output.shape == shape
        assert np.isnan(result.mean.numpy()).all()
        assert_same_bits(mean.numpy(), old_mean, "running mean")
        return
    per_channel = np.moveaxis(x.astype(np.float64), 1, 0).reshape(channels, -1)
    batch_mean, batch_variance = per_channel.mean(axis=1), per_channel.var(axis=1)
    close = {"rtol": 200 * ULP, "atol": 100 * U, "why": "merged moments"}
    assert_matches(result.mean.numpy(), batch_mean, **close)
    assert_matches(result.variance.numpy(), batch_variance, **close)
    assert_matches(
        result.output.numpy(),
        expected.normalised(x, batch_mean, batch_variance, gamma, beta, 0.01),
        **norm_allowed(x, gamma, 0.01),
    )
    unbiased = per_channel.var(axis=1, ddof=1)
    for running, old, new in ((mean, old_mean, batch_mean), (variance, old_variance, unbiased)):
        assert_matches(running.numpy(), (1 - momentum) * old + momentum * new, **close)
    # The same through a single call, without running statistics.
    again = executor.batch_norm(array, None, None, *factors, training=True, eps=0.01)
    assert_same_bits(again.numpy(), result.output.numpy(), "batch_norm(training=True)")


@pytest.mark.parametrize("shape", [(5, 3), (1, 2, 5), (20, 3, 5), (50, 2, 700)], ids=str)
def test_batch_statistics_do_not_cancel(executor: Any, shape: tuple[int, ...]) -> None:
    x = (10_000.0 + random_array(1, *shape)).astype(np.float32)
    result = executor.batch_norm_training(executor.from_numpy(x))
    wide = np.moveaxis(x.astype(np.float64), 1, 0).reshape(shape[1], -1)
    mean, variance = wide.mean(axis=1), wide.var(axis=1)
    assert_matches(
        result.variance.numpy(), variance, rtol=16 * ULP, atol=0.0, why="10⁴ times the spread"
    )
    assert_matches(result.mean.numpy(), mean, rtol=ULP, atol=0.0, why="rounded to float32")
    ones, zeros = np.ones(shape[1]), np.zeros(shape[1])
    # As in NumPy's float32, the subtracted mean is rounded, with an error of up to 2^-11.
    assert_matches(
        result.output.numpy(),
        expected.normalised(x, mean, variance, ones, zeros, 1e-5),
        rtol=32 * ULP, atol=float(2.0**-11 / np.sqrt(variance).min()), why="a rounded mean",
    )  # fmt: skip


@pytest.mark.parametrize("length", [5, 100, 3001, 4096, 16_388, 20_001])
def test_layer_norm_does_not_cancel(executor: Any, length: int) -> None:
    x = (10_000.0 + random_array(1, 3, length)).astype(np.float32)
    ones, zeros = np.ones(length), np.zeros(length)
    near = {"rtol": 32 * ULP, "atol": 8 * ULP, "why": "differences from one value are exact"}
    array = executor.from_numpy(x)
    assert_matches(
        executor.layer_norm(array).numpy(), expected.layer_norm(x, ones, zeros, 1e-5), **near
    )
    half = executor.from_numpy(x / 2)  # x / 2 + x / 2 is x
    for summed in (None, executor.empty(x.shape)):
        result = executor.add_layer_norm(half, half, summed=summed).numpy()
        assert_matches(result, expected.layer_norm(x, ones, zeros, 1e-5), **near)


def test_batch_norm_in_half_precision(executor: Any) -> None:
    x = random_array(1, 4, 3, 10, dtype=np.float16)
    mean, variance = executor.full((3,), 0.0), executor.full((3,), 1.0)
    result = executor.batch_norm(executor.from_numpy(x), mean, variance, training=True, eps=0.01)
    wide = x.astype(np.float64)
    statistics = wide.mean(axis=(0, 2)), wide.var(axis=(0, 2))
    assert_matches(
        result.numpy(),
        expected.normalised(x, *statistics, np.ones(3), np.zeros(3), 0.01),
        rtol=2.0**-10, atol=1e-5, why="one rounding to float16", dtype=np.float16,
    )  # fmt: skip
    assert_matches(mean.numpy(), 0.1 * statistics[0], rtol=1e-5, atol=1e-6, why="float32")


def test_normalisation_that_is_refused(executor: Any) -> None:
    from browsergpu.errors import InvalidArgument

    x, three = executor.full((2, 3, 4), 1.0), executor.full((3,), 1.0)
    other, half = executor.full((4,), 1.0), executor.full((3,), 1.0, "f16")
    train = executor.batch_norm_training
    for call, words in (
        (lambda: executor.batch_norm(x), "batch_norm: running_mean must .*, got None"),
        (lambda: executor.batch_norm(x, three), "batch_norm: running_variance must .*, got None"),
        (lambda: executor.batch_norm(x, other, three), r"running_mean must .*\(3,\)"),
        (lambda: executor.batch_norm(x, three, three, gamma=other), r"gamma must .*\(3,\)"),
        (lambda: executor.batch_norm(x, three, three, training=1), "training must .*, got 1"),
        (lambda: executor.batch_norm(x, three, three, eps=-1.0), "eps must .*, got -1.0"),
        (lambda: executor.batch_norm(three, three, three), r"x must .*\[N, C"),
        (lambda: train(x, three, three), "running_variance must .*memory of its own"),
        (lambda: train(x, half), "running_mean must .*f32"),
        (lambda: train(x, three, gamma=three), "running_mean must .*memory of its own"),
        (lambda: train(x, momentum=1.5), "momentum must .*, got 1.5"),
        (lambda: train(executor.full((1, 3), 1.0)), "x must .*at least 2 elements"),
        (lambda: executor.layer_norm(x, three), r"layer_norm: gamma must .*\(4,\)"),
        (lambda: executor.layer_norm(x, eps=float("nan")), "layer_norm: eps must .*, got nan"),
        (lambda: executor.layer_norm(executor.full((), 1.0)), "layer_norm: x must "),
        (lambda: executor.softmax(executor.full((), 1.0)), "softmax: axis must .*, got -1"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            call()


# -- pooling ---------------------------------------------------------------------------------------

# x, kernel, stride, padding, dilation
POOLS = {
    "2x2": ((2, 3, 8, 6), (2, 2), (2, 2), (0, 0), (1, 1)),
    "overlapping": ((1, 2, 9, 11), (3, 3), (1, 2), (1, 1), (1, 1)),
    "leaves a rest": ((2, 1, 10, 11), (3, 2), (4, 3), (0, 0), (1, 1)),
    "tall and padded": ((1, 3, 7, 5), (4, 1), (3, 1), (2, 0), (1, 1)),
    "dilated": ((2, 2, 11, 12), (3, 2), (2, 1), (1, 1), (2, 3), ),
    "one pixel": ((1, 1, 1, 1), (1, 1), (1, 1), (0, 0), (1, 1)),
    "whole image": ((3, 2, 5, 7), (5, 7), (5, 7), (0, 0), (1, 1)),
    "stride past the window": ((1, 1, 13, 13), (2, 2), (5, 4), (1, 0), (1, 1)),
    "hangs over": ((1, 2, 6, 6), (3, 3), (2, 2), (1, 1), (1, 1)),
    "no images": ((0, 2, 6, 6), (3, 3), (2, 2), (1, 1), (1, 1)),
}  # fmt: skip


def check_pools(executor: Any, x: np.ndarray, *arguments: Any, ceil_mode: bool) -> None:
    array = executor.from_numpy(x)
    values, indices = expected.pool("max", x, *arguments, ceil_mode)
    result = executor.max_pool2d(array, *arguments, ceil_mode)
    assert_same_bits(result.numpy(), values.astype(np.float32), "max_pool2d")
    both = executor.max_pool2d_with_indices(array, *arguments, ceil_mode)
    assert_same_bits(both[0].numpy(), values.astype(np.float32), "values")
    assert_same_bits(both[1].numpy(), indices, "indices")
    terms = int(np.prod(arguments[0]))
    magnitude = np.abs(x).max(initial=0.0)
    for padded in (True, False):
        average, _ = expected.pool("mean", x, *arguments, ceil_mode, padded)
        assert_matches(
            executor.avg_pool2d(array, *arguments, ceil_mode, padded).numpy(),
            average,
            rtol=3 * ULP,
            atol=terms * U * magnitude,
            why=f"mean of {terms}",
        )


@pytest.mark.parametrize("ceil_mode", [False, True], ids=["floor", "ceil"])
@pytest.mark.parametrize("case", POOLS.values(), ids=POOLS.keys())
def test_pools(executor: Any, case: Any, ceil_mode: bool) -> None:
    shape, *arguments = case
    check_pools(executor, random_array(1, *shape), *arguments, ceil_mode=ceil_mode)


@given(data=st.data())
def test_any_pool(executor: Any, data: st.DataObject) -> None:
    ceil_mode = data.draw(st.booleans(), "ceil_mode")

    def along_an_axis() -> tuple[int, ...]:
        kernel = data.draw(st.integers(1, 4), "kernel")
        stride = data.draw(st.integers(1, 4), "stride")
        # Dilated windows may lie in the padding altogether; another test sees to them.
        dilation = 1 if ceil_mode else data.draw(st.integers(1, 3), "dilation")
        padding = 0 if dilation > 1 else data.draw(st.integers(0, kernel // 2), "padding")
        smallest = max(dilation * (kernel - 1) + 1 - 2 * padding, 1)
        return data.draw(st.integers(smallest, 12), "size"), kernel, stride, padding, dilation

    size, kernel, stride, padding, dilation = zip(along_an_axis(), along_an_axis(), strict=True)
    x = random_array(1, 2, 1, *size)
    check_pools(executor, x, kernel, stride, padding, dilation, ceil_mode=ceil_mode)


def test_pools_of_special_values(executor: Any) -> None:
    x = random_array(1, 1, 1, 4, 8)
    x[0, 0, 0, 1] = x[0, 0, 1, 0] = np.nan
    x[0, 0, :2, 2:4] = -np.inf
    x[0, 0, 0, 5] = np.inf
    x[0, 0, 2:, :2] = 3.0  # equal maxima: the first one counts
    values, indices = executor.max_pool2d_with_indices(executor.from_numpy(x), 2)
    wanted, places = expected.pool("max", x, (2, 2), (2, 2))
    assert_matches(values.numpy(), wanted, rtol=0.0, atol=0.0, why="chooses an element")
    assert_same_bits(indices.numpy(), places, "indices")
    assert indices.numpy()[0, 0].ravel()[:2].tolist() == [1, 2]
    mean = executor.avg_pool2d(executor.from_numpy(x), 2).numpy()[0, 0, 0]
    assert np.isnan(mean[0])
    assert mean[1] == -np.inf
    assert mean[2] == np.inf


def test_windows_entirely_in_the_padding(executor: Any) -> None:
    x = executor.full((1, 1, 1, 1), 5.0)
    values, indices = executor.max_pool2d_with_indices(x, 2, 1, 1, 2)
    assert values.numpy().tolist() == [[[[-np.inf]]]]
    assert indices.numpy().tolist() == [[[[-1]]]]
    assert np.isnan(executor.avg_pool2d(x, 2, 1, 1, 2, count_include_pad=False).numpy()).all()
    assert executor.avg_pool2d(x, 2, 1, 1, 2).numpy().tolist() == [[[[0.0]]]]


def test_windows_lie_side_by_side_without_a_stride(executor: Any) -> None:
    x = random_array(1, 1, 2, 9, 8)
    array = executor.from_numpy(x)
    for kernel in (3, (3, 2), [2, 4]):
        pair = (kernel, kernel) if isinstance(kernel, int) else tuple(kernel)
        values, _ = expected.pool("max", x, pair, pair)
        assert_same_bits(
            executor.max_pool2d(array, kernel).numpy(), values.astype(np.float32), str(kernel)
        )


def test_pools_in_half_precision(executor: Any) -> None:
    x = random_array(1, 2, 2, 6, 6, dtype=np.float16)
    array = executor.from_numpy(x)
    values, _ = expected.pool("max", x, (2, 2), (2, 2))
    assert_same_bits(executor.max_pool2d(array, 2).numpy(), values.astype(np.float16), "max")
    mean, _ = expected.pool("mean", x, (2, 2), (2, 2))
    assert_matches(
        executor.avg_pool2d(array, 2).numpy(), mean, rtol=1.1 * tolerances.F16_U, atol=1e-6,
        why="one rounding to float16", dtype=np.float16,
    )  # fmt: skip


def test_pools_that_are_refused(executor: Any) -> None:
    from browsergpu.errors import InvalidArgument

    x = executor.full((1, 2, 6, 6), 1.0)
    for arguments, words in (
        ((0,), "kernel must .*, got 0"),
        (((2, 2, 2),), "kernel must "),
        ((7,), "kernel must .*, got 7"),
        ((2, 0), "stride must .*, got 0"),
        ((2, 2, 2), "padding must .*, got 2"),
        ((2, 2, -1), "padding must .*, got -1"),
        ((2, 2, 0, 0), "dilation must .*, got 0"),
        ((2, 2, 0, 6), "kernel must .*, got 2"),
        ((2, 2, 0, 1, 1), "ceil_mode must .*, got 1"),
    ):
        for op in ("max_pool2d", "max_pool2d_with_indices", "avg_pool2d"):
            with pytest.raises(InvalidArgument, match=f"{op}: {words}"):
                getattr(executor, op)(x, *arguments)
    with pytest.raises(InvalidArgument, match=r"max_pool2d: x must .*\[N, C, H, W\]"):
        executor.max_pool2d(executor.empty((2, 6, 6)), 2)
    with pytest.raises(
        InvalidArgument, match="avg_pool2d: count_include_pad must be True or False, got 1"
    ):
        executor.avg_pool2d(x, 2, count_include_pad=1)
    with pytest.raises(InvalidArgument, match=r"avg_pool2d: out must .*\(1, 2, 3, 3\)"):
        executor.avg_pool2d(x, 2, out=executor.empty((1, 2, 3, 2)))
