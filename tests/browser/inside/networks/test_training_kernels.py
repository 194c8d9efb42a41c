"""The kernels of training steps, by name and number."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from inside.spies import dispatched

pytestmark = [pytest.mark.native, pytest.mark.fast]


def data(bg: Any, *shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    values = np.random.default_rng([seed, *shape]).standard_normal(shape)
    return bg.asarray(values.astype(dtype))


def numbers_of(bg: Any, f: Any, *args: Any) -> Counter[str]:
    """Return how often each kernel family runs in a replay of a compiled function."""
    compiled = bg.jit(f)
    for _ in range(3):
        compiled(*args)
    counts: Counter[str] = Counter()
    for label, times in compiled.explain().variants[0]["labels"].items():
        counts[label.split(".")[0].split(":")[0]] += times
    return counts


def test_the_gradient_of_overlapping_maxima_is_one_kernel(bg: Any) -> None:
    x, g = data(bg, 2, 3, 9, 10), data(bg, 2, 3, 5, 5, seed=1)

    def step(x: Any, g: Any) -> Any:
        pool = lambda x: (bg.nn.max_pool2d(x, 3, 2, 1) * g).sum()  # noqa: E731
        return bg.grad(pool)(x)

    counts = numbers_of(bg, step, x, g)
    del counts["fused"]  # the gradient of the sum
    assert counts == {"pool_indices": 1, "pool_gradient": 1}


def test_batch_norm_reads_its_input_once_for_statistics(bg: Any) -> None:
    """The forward pass and the activation take one kernel after the statistics and 1 / sqrt.

    The backward pass takes both sums in one pass of two kernels, their parts, and the gradient for
    the input. The fused kernels are these six and the gradient of the sum. Devices with few buffers
    for a kernel take up to two more.
    """
    x, w, b, g = (data(bg, *shape) for shape in ((4, 3, 5, 6), (3,), (3,), (4, 3, 5, 6)))

    def step(x: Any, w: Any, b: Any, g: Any) -> Any:
        def norm(x: Any, w: Any, b: Any) -> Any:
            found = bg.nn.batch_norm(x, None, None, w, b, training=True)
            return (bg.nn.relu(found) * g).sum()

        return bg.grad(norm, argnums=(0, 1, 2))(x, w, b)

    statistics = {"moments_rows": 1, "moments_statistics": 1}
    counts = numbers_of(bg, step, x, w, b, g)
    assert 7 <= counts.pop("fused") <= 9
    assert counts == statistics


@pytest.mark.parametrize(
    ("shape", "kernels"),
    [
        ((4, 3, 5, 6), ["moments_rows", "moments_statistics"]),
        ((1, 3, 5, 6), ["moments_rows", "batch_norm_statistics"]),
        ((7, 5), ["moments_columns", "batch_norm_statistics"]),
        ((3, 1, 300, 301), ["moments_rows", "moments_statistics"]),
        ((70, 70, 3), ["moments_rows", "moments_statistics"]),
    ],
)
def test_the_last_pass_over_moments_writes_the_statistics(
    bg: Any, shape: tuple[int, ...], kernels: list[str]
) -> None:
    """Mean, biased variance and running statistics are those of NumPy in float64."""
    x = data(bg, *shape) * 2 + 50
    own = [bg.asarray(np.full(shape[1], start, np.float32)) for start in (4.0, 9.0)]
    bg.eval(x, *own)
    with dispatched(x.device) as found:
        y = bg.nn.batch_norm(x, *own, training=True, momentum=0.25)
        bg.eval(y)
    statistics = ("moments", "batch_norm_statistics")
    assert [name for name in found if name.startswith(statistics)] == kernels
    values = x.numpy().astype(np.float64)
    axes = tuple(n for n in range(len(shape)) if n != 1)
    mean, variance = values.mean(axes), values.var(axes)
    by_channel = (-1, *(1,) * (len(shape) - 2))
    expected = (values - mean.reshape(by_channel)) / np.sqrt(variance + 1e-5).reshape(by_channel)
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(own[0].numpy(), 3 + mean / 4, rtol=1e-6)
    count = values.size // shape[1]
    unbiased = variance * count / (count - 1)
    np.testing.assert_allclose(own[1].numpy(), 6.75 + unbiased / 4, rtol=1e-5)


def test_the_input_gradient_of_a_convolution_pads_in_its_kernel(bg: Any) -> None:
    w, g = data(bg, 4, 3, 3, 3), data(bg, 2, 4, 6, 7, seed=1)
    counts = numbers_of(bg, lambda g, w: bg.nn.conv_transpose2d(g, w, padding=1), g, w)
    assert counts == {"conv2d": 1, "fused": 1}


@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
def test_transposed_convolutions_with_strides_multiply_by_few_zeros(bg: Any, kernel: int) -> None:
    """Zeros between the input's elements would take four times as many multiplications."""
    x, w = data(bg, 2, 8, 30, 30), data(bg, 8, 8, kernel, kernel)
    bg.eval(x, w)
    with bg.profile(timestamps=False) as profile:
        bg.eval(bg.nn.conv_transpose2d(x, w, stride=2, padding=kernel // 3))
    least = 2 * x.size * 8 * kernel**2
    flops = sum(event.flops for event in profile.events if event.name.startswith("conv2d"))
    assert flops <= 1.1 * least  # some results beyond the edges are left out


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_pooling_of_float16_casts_nothing(bg: Any, kind: str) -> None:
    x = data(bg, 2, 3, 7, 9, dtype="float16")
    pool = getattr(bg.nn, f"{kind}_pool2d")
    with dispatched(x.device) as kernels:
        found = pool(x, 3, 2, 1)
    assert kernels == ["pool_halves"]
    wanted = np.asarray(pool(bg.asarray(np.asarray(x).astype("float32")), 3, 2, 1))
    assert found.dtype == np.float16
    np.testing.assert_array_equal(np.asarray(found), wanted.astype("float16"))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_losses_of_many_classes_store_no_probabilities(bg: Any, dtype: str) -> None:
    """Of logits in rows too long for registers, there is one pass and a kernel for each loss."""
    x = data(bg, 3, 16_397, dtype=dtype)
    targets = bg.asarray(np.array([0, 16_396, 77], np.int32))
    x.numpy()
    with dispatched(x.device) as kernels:
        found = bg.nn.cross_entropy(x, targets, reduction="none").numpy()
    of_halves = "_halves" if dtype == "float16" else ""
    assert f"softmax_parts{of_halves}" in kernels
    assert "softmax_apply" not in kernels
    assert kernels.count("cast") == (dtype == "float16")  # of the losses
    values = x.numpy().astype(np.float64)
    expected = np.log(np.exp(values).sum(-1)) - values[np.arange(3), targets.numpy()]
    np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == "float32" else 2e-3)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("classes", [1, 3, 12, 300, 5001, 16_384, 16_385, 40_001])
def test_losses_are_those_of_the_kernel_with_probabilities(
    bg: Any, classes: int, dtype: str
) -> None:
    """No kernel writes probabilities or casts logits, and rows may start within a word."""
    rng = np.random.default_rng(classes)
    values = (rng.standard_normal((5, classes)) * 4).astype(dtype)
    values[0, rng.integers(classes)] = -np.inf
    values[3, classes // 2] = np.nan
    values[4, 0] = np.inf
    goals = rng.integers(0, classes, 5).astype(np.int32)
    goals[1] = classes  # outside
    x, targets = bg.asarray(values), bg.asarray(goals)
    bg.eval(x, targets)
    with dispatched(x.device) as kernels, bg.autocast():
        found = bg.nn.cross_entropy(x, targets, reduction="none")
        bg.eval(found)
    assert {k for k in kernels if k.startswith(("cross", "softmax", "cast"))} <= {
        *(f"cross_entropy_{name}" for name in ("losses", "losses_aligned", "losses_halves")),
        *("cross_entropy_long", "cross_entropy_long_halves"),
        *("softmax_parts", "softmax_parts_halves"),
    }
    assert found.dtype == np.float32
    exact = values.astype(np.float64)
    with np.errstate(all="ignore"):
        largest = exact.max(-1, keepdims=True)
        sums = np.log(np.exp(exact - largest).sum(-1)) + largest[:, 0]
        expected = sums - exact[np.arange(5), np.minimum(goals, classes - 1)]
    expected[[1, 3, 4]] = np.nan
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("reduction", ["mean", "none"])
@pytest.mark.parametrize("shape", [(6, 10), (3, 16_397), (2, 5, 3)])
def test_autocast_reads_float16_logits_in_the_kernels_of_the_loss(
    bg: Any, shape: tuple[int, ...], reduction: str
) -> None:
    """Loss and gradient are those of the logits cast to float32, without that cast."""
    x = data(bg, *shape, dtype="float16")
    goals = np.random.default_rng(2).integers(0, shape[1], (shape[0], *shape[2:]))
    goals.flat[0] = -100  # ignored
    targets = bg.asarray(goals.astype(np.int32))

    def step(x: Any, targets: Any) -> Any:
        with bg.autocast():
            return bg.nn.cross_entropy(x, targets, reduction=reduction)

    def gradient(x: Any, targets: Any) -> Any:
        return bg.value_and_grad(lambda x: step(x, targets).sum())(x)

    assert "cast" not in numbers_of(bg, gradient, x, targets)
    wide = gradient(x.astype("float32"), targets)
    for f in (gradient, bg.jit(gradient), bg.jit(gradient, optimize=False)):
        for _ in range(3):
            loss, slope = f(x, targets)
        assert loss.dtype == np.float32
        assert slope.dtype == np.float16
        np.testing.assert_allclose(loss.numpy(), wide[0].numpy(), rtol=1e-6)
        expected = wide[1].numpy().astype("float16")
        np.testing.assert_allclose(slope.numpy(), expected, rtol=2e-3, atol=1e-7)


def test_second_derivatives_of_float16_logits_are_computed_in_float32(bg: Any) -> None:
    x, targets = data(bg, 4, 7, dtype="float16"), bg.asarray(np.array([0, 6, 2, 2], np.int32))

    def squared(x: Any) -> Any:
        with bg.autocast():
            slope = bg.grad(lambda x: bg.nn.cross_entropy(x, targets))(x)
        return (slope.astype("float32") ** 2).sum()

    found, expected = bg.grad(squared)(x), bg.grad(squared)(x.astype("float32"))
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=2e-3, atol=1e-4)


def test_the_gradient_of_cross_entropy_reads_the_logits_once(bg: Any) -> None:
    """The kernels are the number of targets, g, the quotient, factors, and the gradient."""
    x = data(bg, 5, 16_397).requires_grad_()
    targets = bg.asarray(np.array([0, 16_396, 77, -100, 3], np.int32))
    loss = bg.nn.cross_entropy(x, targets)
    bg.eval(loss, x)
    with dispatched(x.device) as kernels:
        loss.backward()
        bg.eval(x.grad)
    assert len(kernels) <= 5
    assert "softmax_parts" not in kernels


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(
    ("shape", "weighted"),
    [((5, 7), False), ((5, 8), True), ((7,), False), ((2, 6, 3, 2), True), ((3, 16_397), False)],
)
def test_the_gradient_of_cross_entropy(
    bg: Any, shape: tuple[int, ...], weighted: bool, reduction: str
) -> None:
    """Against the closed form in float64, for large logits of which some are -inf."""
    rng = np.random.default_rng([3, *shape])
    axis = min(len(shape) - 1, 1)
    x = (rng.standard_normal(shape) * 3 + 1000).astype(np.float32)
    t = rng.integers(0, shape[axis], (*shape[:axis], *shape[axis + 1 :])).astype(np.int32)
    w = rng.uniform(0.5, 2, shape[axis]).astype(np.float32)
    rows = np.moveaxis(x, axis, -1).reshape(-1, shape[axis])  # a copy, unless axis is the last
    flat, rows = t.reshape(-1).copy(), rows.copy()
    if len(flat) > 1:
        flat[1] = -100  # ignored
        rows[0, flat[0]] = -np.inf  # a loss of infinity has a gradient
    rows[-1, (flat[-1] + 1) % shape[axis]] = -np.inf
    moved = (*shape[:axis], *shape[axis + 1 :], shape[axis])
    x = np.moveaxis(rows.reshape(moved), -1, axis)
    own = bg.asarray(np.ascontiguousarray(x)).requires_grad_()
    target, factors = bg.asarray(flat.reshape(t.shape)), bg.asarray(w) if weighted else None
    loss = bg.nn.cross_entropy(own, target, factors, reduction=reduction)
    g = rng.standard_normal(loss.shape).astype(np.float32)
    loss.backward(bg.asarray(g))
    shares = np.exp(rows.astype(float) - rows.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    counts = flat >= 0
    scale = counts * (w[np.where(counts, flat, 0)] if weighted else 1.0)
    shares[np.arange(len(flat))[counts], flat[counts]] -= 1
    scale = scale * g.reshape(-1) / (scale.sum() if reduction == "mean" else 1)
    wanted = np.moveaxis((shares * scale[:, None]).reshape(moved), -1, axis)
    # exp of a float32 difference of numbers near 1000 is exact to about 1e-6.
    np.testing.assert_allclose(own.grad.numpy(), wanted, rtol=1e-5, atol=2e-6)


def test_targets_outside_the_classes_have_gradients_of_nan(bg: Any) -> None:
    x = data(bg, 3, 5).requires_grad_()
    loss = bg.nn.cross_entropy(x, bg.asarray(np.array([1, 5, -1], np.int32)), reduction="sum")
    loss.backward()
    assert np.isnan(x.grad.numpy()).all(1).tolist() == [False, True, True]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_gradient_of_an_embedding_clears_the_table_once(bg: Any, dtype: str) -> None:
    """No kernel fills or copies the table: its memory is cleared, and rows are added to it."""
    weight = data(bg, 5000, 4, dtype=dtype).requires_grad_()
    indices = np.array([[3, 4999, 3], [0, 7000, -1]], np.int32)  # the last two are outside
    given = np.random.default_rng(1).standard_normal((2, 3, 4)).astype(dtype)
    g, at = bg.asarray(given), bg.asarray(indices)
    y = bg.nn.embedding(at, weight, padding_idx=0)
    bg.eval(y, g, at)
    with bg.profile(timestamps=False) as profile:
        y.backward(g)
        bg.eval(weight.grad)
    table = 5000 * 4 * weight.dtype.itemsize
    # The cast of a float16 gradient reads float32 and writes float16.
    large = [event.nbytes for event in profile.events if event.nbytes >= table]
    assert len(large) == (0 if dtype == "float32" else 1)
    wanted = np.zeros((5000, 4))
    wanted[3] = given[0, 0].astype(float) + given[0, 2]
    wanted[4999] = given[0, 1]
    np.testing.assert_allclose(
        weight.grad.numpy(), wanted, rtol=1e-6 if dtype == "float32" else 1e-3
    )
    assert weight.grad.dtype == weight.dtype


def test_the_gradient_of_an_embedding_without_indices_is_zero(bg: Any) -> None:
    weight = data(bg, 6, 4).requires_grad_()
    bg.nn.embedding(bg.zeros((0,), dtype="int32"), weight).sum().backward()
    np.testing.assert_array_equal(weight.grad.numpy(), np.zeros((6, 4)))


def test_gradients_of_float16_biases_are_cast_together(bg: Any) -> None:
    """The sums are float32. One kernel casts those of several arrays."""
    x, g, h = (data(bg, 6, 8, dtype="float16", seed=n) for n in range(3))
    biases = [data(bg, 8, dtype="float16", seed=n).requires_grad_() for n in (3, 4)]
    sums = [x + bias for bias in biases]
    bg.eval(g, h, *sums)
    with dispatched(x.device) as kernels:
        for y, one in zip(sums, (g, h), strict=True):
            y.backward(one)
        bg.eval(*[bias.grad for bias in biases])
    assert kernels == ["fused"] * 3
    for bias, one in zip(biases, (g, h), strict=True):
        wanted = one.numpy().astype(float).sum(0)
        np.testing.assert_allclose(bias.grad.numpy(), wanted, rtol=1e-3, atol=1e-3)
