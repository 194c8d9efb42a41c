"""Neural network operations on checked tensors: floats, unless otherwise noted.

Outputs may be inputs, unless otherwise noted.
"""

from __future__ import annotations

from math import nan
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.convolution import conv2d as conv2d_kernel
from browsergpu.engine.kernels.convolution import conv2d_filters, conv2d_products
from browsergpu.engine.kernels.convolution import pool as pool_kernel
from browsergpu.engine.kernels.convolution.conv2d import Conv2dPlan
from browsergpu.engine.kernels.convolution.pool import PoolPlan
from browsergpu.engine.kernels.elements.fill import fill
from browsergpu.engine.kernels.networks import adam as adam_kernel
from browsergpu.engine.kernels.networks import excitation as excitation_kernel
from browsergpu.engine.kernels.networks.embedding import look_up
from browsergpu.engine.kernels.networks.excitation import Excitation
from browsergpu.engine.kernels.reductions import batch_norm as batch_norm_kernel
from browsergpu.engine.kernels.reductions import norm_sums as norm_sums_kernel
from browsergpu.engine.kernels.reductions import rows
from browsergpu.engine.tensors.operand_checks import has_axes, has_shape
from browsergpu.engine.tensors.reductions import fold
from browsergpu.engine.tensors.staging import Operand, Staging, launch, of_operands
from browsergpu.engine.tensors.view import View


def around(shape: Shape, axis: int) -> tuple[int, int, int]:
    """Return the number of elements before, along and after an axis."""
    return product(shape[:axis]), shape[axis], product(shape[axis + 1 :])


def check_layer_norm(
    op: str, name: str, x: View, gamma: View | None, beta: View | None, eps: Any
) -> float:
    """Return eps as a float. Raise InvalidArgument for operands that :func:`layer_norm` refuses."""
    has_axes(op, name, x, 1, "at least 1 axis")
    _check_vectors(op, x.shape[-1], {"gamma": gamma, "beta": beta})
    return checks.nonnegative(op, "eps", eps)


def check_batch_norm(
    op: str,
    channels: int,
    mean: View | None,
    variance: View | None,
    gamma: View | None,
    beta: View | None,
    eps: Any,
) -> float:
    """Return eps as a float. Raise InvalidArgument for operands without one number per channel."""
    given = {"running_mean": mean, "running_variance": variance, "gamma": gamma, "beta": beta}
    _check_vectors(op, channels, given)
    return checks.nonnegative(op, "eps", eps)


def _check_vectors(op: str, length: int, vectors: dict[str, View | None]) -> None:
    for name, vector in vectors.items():
        if vector is not None:
            has_shape(op, name, vector, (length,))


def softmax(device: Device, op: str, x: View, y: View, axis: int) -> None:
    """Compute the softmax along an axis of nonempty x."""
    launch(device, op, _softmax, (x, y), axis)


@of_operands
def _softmax(build: Build, x: Operand, y: Operand, axis: int) -> None:
    staging = Staging(build)
    target = staging.write(y, x)
    rows.softmax(build, staging.read(x), target, *around(x.shape, axis))
    staging.deliver()


def layer_norm(
    device: Device,
    op: str,
    x: View,
    y: View,
    gamma: View | None,
    beta: View | None,
    eps: float,
    residual: View | None = None,
    summed: View | None = None,
) -> None:
    """Normalize along the last axis of v, where v is x or x + residual.

    y = (v - mean) / sqrt(variance + eps) * gamma + beta, with the biased variance. v is not empty.
    ``summed``, which is not y, receives v. gamma is 1 and beta 0 by default.
    """
    launch(device, op, _layer_norm, (x, y, gamma, beta, residual, summed), eps)


@of_operands
def _layer_norm(
    build: Build,
    x: Operand,
    y: Operand,
    gamma: Operand | None,
    beta: Operand | None,
    residual: Operand | None,
    summed: Operand | None,
    eps: float,
) -> None:
    length = x.shape[-1]
    staging = Staging(build)
    if residual is None and summed is None and gamma is not None and beta is not None:
        of_halves = _are_halves(x, y, gamma, beta)
        if of_halves and rows.layer_norm_takes_halves(length):
            result = staging.write(y, x, gamma, beta, dtype=DType.F16)
            slots = x.slot, gamma.slot, beta.slot, result
            rows.layer_norm_of_halves(build, *slots, x.size // length, length, eps)
            staging.deliver()
            return
    target = staging.write(y, x, gamma, beta, residual)
    total = None if summed is None else staging.write(summed, x, gamma, beta, residual)
    scale, shift = _factors(build, staging, gamma, beta, length)
    rows.layer_norm(
        build, staging.read(x), scale, shift, target, x.size // length, length, eps,
        None if residual is None else staging.read(residual), total,
    )  # fmt: skip
    staging.deliver()


def _are_halves(*operands: Operand) -> bool:
    return all(x.dtype is DType.F16 for x in operands)


def _factors(
    build: Build, staging: Staging, gamma: Operand | None, beta: Operand | None, length: int
) -> tuple[Slot, Slot]:
    """Return gamma and beta, by default ones and zeros."""
    made = []
    for operand, neutral in ((gamma, 1.0), (beta, 0.0)):
        if operand is None:
            slot = staging.temporary(DType.F32, length)
            fill(build, slot, neutral, length)
        else:
            slot = staging.read(operand)
        made.append(slot)
    return made[0], made[1]


def norm_sums(device: Device, op: str, sums: View, of_weight: View, of_bias: View) -> None:
    """Add up float32 sums of shape [groups, 2, length] over the groups.

    ``of_weight`` gets the first row and ``of_bias`` the second, both new float32. ``length`` is a
    multiple of 4.
    """
    launch(device, op, _norm_sums, (sums, of_weight, of_bias))


@of_operands
def _norm_sums(build: Build, sums: Operand, of_weight: Operand, of_bias: Operand) -> None:
    groups, _, length = sums.shape
    norm_sums_kernel.norm_sums(build, sums.slot, of_weight.slot, of_bias.slot, groups, length)


def batch_norm(
    device: Device,
    op: str,
    x: View,
    y: View,
    mean: View,
    variance: View,
    gamma: View | None,
    beta: View | None,
    shape: tuple[int, int, int],
    eps: float,
) -> None:
    """Normalize each channel of nonempty x, as [N, C, inner], by given statistics.

    y = (x - mean) / sqrt(variance + eps) * gamma + beta. gamma is 1 and beta 0 by default.
    """
    launch(device, op, _batch_norm, (x, y, mean, variance, gamma, beta), shape, eps)


@of_operands
def _batch_norm(
    build: Build,
    x: Operand,
    y: Operand,
    mean: Operand,
    variance: Operand,
    gamma: Operand | None,
    beta: Operand | None,
    shape: tuple[int, int, int],
    eps: float,
) -> None:
    staging = Staging(build)
    if gamma is not None and beta is not None and _are_halves(x, y, mean, variance, gamma, beta):
        result = staging.write(y, x, mean, variance, gamma, beta, dtype=DType.F16)
        slots = x.slot, mean.slot, variance.slot, gamma.slot, beta.slot, result
        batch_norm_kernel.normalise(build, *slots, shape, eps, halves=True)
        staging.deliver()
        return
    target = staging.write(y, x, mean, variance, gamma, beta)
    scale, shift = _factors(build, staging, gamma, beta, shape[1])
    batch_norm_kernel.normalise(
        build, staging.read(x), staging.read(mean), staging.read(variance), scale, shift, target,
        shape, eps,
    )  # fmt: skip
    staging.deliver()


def batch_statistics(
    device: Device,
    op: str,
    x: View,
    mean: View,
    variance: View,
    running_mean: View | None,
    running_variance: View | None,
    shape: tuple[int, int, int],
    momentum: float,
) -> None:
    """Compute the mean and biased variance of each channel of x, as [N, C, inner].

    x has at least two elements. Both results are new float32. The running statistics, float32 and
    none of the others, move towards them by ``momentum``, with the unbiased variance.
    """
    tensors = (x, mean, variance, running_mean, running_variance)
    launch(device, op, _batch_statistics, tensors, shape, momentum)


@of_operands
def _batch_statistics(
    build: Build,
    x: Operand,
    mean: Operand,
    variance: Operand,
    running_mean: Operand | None,
    running_variance: Operand | None,
    shape: tuple[int, int, int],
    momentum: float,
) -> None:
    staging = Staging(build)
    moved = [
        staging.temporary(DType.F32, shape[1]) if running is None else running.slot
        for running in (running_mean, running_variance)
    ]
    batch_norm_kernel.statistics(
        build, staging.read(x), mean.slot, variance.slot, moved[0], moved[1], shape, momentum
    )


def conv2d(
    device: Device,
    op: str,
    plan: Conv2dPlan,
    x: View,
    w: View,
    y: View,
    bias: View | None = None,
    scale: View | None = None,
    residual: View | None = None,
    activation: str | None = None,
    last: str | None = None,
    totals: View | None = None,
) -> None:
    """Compute y = last(activation(scale * cross-correlation of x with w + bias) + residual).

    y is not empty. ``scale`` and ``bias`` have one number for each filter, and ``residual`` has the
    shape of y. ``activation`` and ``last`` are names of ``products.ACTIVATIONS``. ``totals`` are
    float32 and get sums of the planes of y, if x is float32 and ``totals_of_planes`` is not 0.
    """
    views = x, w, y, bias, scale, residual, totals
    launch(device, op, _conv2d, views, plan, activation, last)


@of_operands
def _conv2d(
    build: Build,
    x: Operand,
    w: Operand,
    y: Operand,
    bias: Operand | None,
    scale: Operand | None,
    residual: Operand | None,
    totals: Operand | None,
    plan: Conv2dPlan,
    activation: str | None,
    last: str | None,
) -> None:
    staging = Staging(build)
    are_halves = _are_halves(x, w, y, *(() if residual is None else (residual,)))
    is_one_function = activation is None or (residual is None and last is None)
    if are_halves and is_one_function and conv2d_products.is_by_product(build.facts, plan):
        result = staging.write(y, x, w, bias, scale, residual, dtype=DType.F16)
        added, factor = (None if one is None else staging.read(one) for one in (bias, scale))
        conv2d_products.conv2d_by_product(
            build, x.slot, w.slot, result, plan, added, factor,
            None if residual is None else residual.slot, activation or last,
        )  # fmt: skip
        staging.deliver()
        return
    if are_halves and conv2d_kernel.is_depthwise(build.facts, plan):
        result = staging.write(y, x, w, bias, scale, residual, dtype=DType.F16)
        added, factor = (None if one is None else staging.read(one) for one in (bias, scale))
        conv2d_kernel.depthwise_of_halves(
            build, x.slot, w.slot, result, plan, added, factor,
            None if residual is None else residual.slot, activation, last,
        )  # fmt: skip
        staging.deliver()
        return
    target = staging.write(y, x, w, bias, scale, residual)
    added, factor, summed = (
        None if one is None else staging.read(one) for one in (bias, scale, residual)
    )
    conv2d_kernel.conv2d(
        build, staging.read(x), staging.read(w), target, plan, added, factor, summed, activation,
        last, None if totals is None else totals.slot,
    )  # fmt: skip
    staging.deliver()


def conv2d_filter_gradient(
    device: Device, op: str, plan: Conv2dPlan, x: View, g: View, y: View
) -> None:
    """Compute the gradient for the filters of the convolution of x. g is that for its result."""
    launch(device, op, _conv2d_filter_gradient, (x, g, y), plan)


@of_operands
def _conv2d_filter_gradient(
    build: Build, x: Operand, g: Operand, y: Operand, plan: Conv2dPlan
) -> None:
    staging = Staging(build)
    target = staging.write(y, x, g)
    conv2d_filters.filter_gradient(build, staging.read(x), staging.read(g), target, plan)
    staging.deliver()


def pool(
    device: Device,
    op: str,
    function: str,
    plan: PoolPlan,
    x: View,
    y: View,
    indices: View | None = None,
) -> None:
    """Pool x by max, mean_padded or mean. New i32 ``indices`` receive the place of each maximum."""
    if plan.outputs:
        launch(device, op, _pool, (x, y, indices), function, plan)


@of_operands
def _pool(
    build: Build, x: Operand, y: Operand, indices: Operand | None, function: str, plan: PoolPlan
) -> None:
    staging = Staging(build)
    if indices is None and _are_halves(x, y):
        result = staging.write(y, x, dtype=DType.F16)
        pool_kernel.pool(build, x.slot, result, function, plan, halves=True)
        staging.deliver()
        return
    target = staging.write(y, x)
    places = None if indices is None else indices.slot
    pool_kernel.pool(build, staging.read(x), target, function, plan, places)
    staging.deliver()


def max_pool_gradient(
    device: Device, op: str, plan: PoolPlan, g: View, indices: View, y: View
) -> None:
    """Compute the gradient for the input of maxima, which ``plan`` describes.

    ``indices`` are those of :func:`pool`. y has the shape of the input.
    """
    launch(device, op, _max_pool_gradient, (g, indices, y), plan)


@of_operands
def _max_pool_gradient(
    build: Build, g: Operand, indices: Operand, y: Operand, plan: PoolPlan
) -> None:
    staging = Staging(build)
    target = staging.write(y, g)
    pool_kernel.max_gradient(build, staging.read(g), indices.slot, target, plan)
    staging.deliver()


def cross_entropy(
    device: Device,
    op: str,
    logits: View,
    targets: View,
    loss: View,
    probs: View | None,
    sums: View | None = None,
) -> None:
    """Compute -log softmax(logits)[targets] of each sample, and if wanted probs = softmax(logits).

    A scalar ``loss`` is the mean. Targets are i32. New float32 ``sums``, two for each sample, get
    the largest logit, and the logarithm of the sum of exp(logits - largest).
    """
    if targets.size or loss.size:
        launch(device, op, _cross_entropy, (logits, targets, loss, probs, sums))


@of_operands
def _cross_entropy(
    build: Build,
    logits: Operand,
    targets: Operand,
    loss: Operand,
    probs: Operand | None,
    sums: Operand | None,
) -> None:
    samples = targets.size
    staging = Staging(build)
    y = staging.write(loss, logits, targets)
    if samples == 0:  # the mean of no samples
        fill(build, y, nan, 1)
    else:
        p = None if probs is None else staging.write(probs, logits, targets)
        mean = loss.shape == () and targets.shape != ()
        each = staging.temporary(DType.F32, samples) if mean else y
        classes = logits.shape[-1]
        of_halves = probs is None and _are_halves(logits)
        source = logits.slot if of_halves else staging.read(logits)
        own = None if sums is None else sums.slot
        rows.cross_entropy(build, source, targets.slot, each, p, samples, classes, own, of_halves)
        if mean:
            fold(build, "mean", each, FLOAT32, y, (1, samples, 1))
    staging.deliver()


def adam(
    device: Device,
    op: str,
    param: View,
    grad: View,
    m: View,
    v: View,
    factors: tuple[int, ...],
) -> None:
    """Update param, m and v in place by one step of Adam.

    All four tensors differ and are not empty.

    See ``factors`` in ``engine/kernels/networks/adam.py``.
    """
    launch(device, op, _adam, (param, grad, m, v), late=factors)


@of_operands
def _adam(build: Build, param: Operand, grad: Operand, m: Operand, v: Operand) -> None:
    staging = Staging(build)
    adam_kernel.adam(
        build, staging.update(param), staging.read(grad), staging.update(m), staging.update(v),
        param.size,
    )  # fmt: skip
    staging.deliver()


def embedding(device: Device, op: str, indices: View, weight: View, y: View) -> None:
    """Look up the rows of weight, [V, D], by i32 indices. y is not empty.

    Indices out of bounds give NaN, or 0 in integers. All tensors are floats, or y has the dtype of
    weight.
    """
    launch(device, op, _embedding, (indices, weight, y))


@of_operands
def _embedding(build: Build, indices: Operand, weight: Operand, y: Operand) -> None:
    entries, length = weight.shape
    dtype, words = weight.dtype, length
    if dtype is DType.F16:  # rows of whole words are copied directly
        dtype, words = (DType.F32, length) if length % 2 else (DType.F16, length // 2)
    staging = Staging(build)
    target = staging.write(y, indices, weight, dtype=dtype)
    table = staging.read(weight, dtype)
    look_up(build, indices.slot, table, target, indices.size, words, entries, dtype)
    staging.deliver()


def excite(
    device: Device, op: str, problem: Excitation, source: View, image: View | None, w1: View,
    b1: View | None, w2: View, b2: View | None, y: View, hard: tuple[float, float] | None,
) -> None:  # fmt: skip
    """Compute the gates of squeeze-and-excite, or their product with the image, in float32.

    All are packed. See ``engine/kernels/networks/excitation.py``. ``takes`` holds there, and y is
    another buffer than the others.
    """
    launch(device, op, _excite, (source, image, w1, b1, w2, b2, y), hard, problem)


@of_operands
def _excite(
    build: Build, source: Operand, image: Operand | None, w1: Operand, b1: Operand | None,
    w2: Operand, b2: Operand | None, y: Operand, hard: tuple[float, float] | None,
    problem: Excitation,
) -> None:  # fmt: skip
    own = [None if one is None else one.slot for one in (image, b1, b2)]
    excitation_kernel.excite(
        build, problem, source.slot, own[0], w1.slot, own[1], w2.slot, own[2], y.slot, hard
    )
