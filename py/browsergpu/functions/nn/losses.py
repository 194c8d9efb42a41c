"""Loss functions."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import TRACKED
from browsergpu.arrays.autograd.precision import is_autocast_enabled, widened
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description
from browsergpu.engine.tensors import nn
from browsergpu.functions import elementwise, manipulation, statistics
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn import losses_gradients as gradients
from browsergpu.functions.nn.activations import log_softmax
from browsergpu.functions.operands import array
from browsergpu.functions.ordering import sorting

_REDUCTIONS = ("mean", "sum", "none")


def check_reduction(op: str, reduction: Any) -> None:
    """Raise InvalidArgument unless a reduction is "mean", "sum" or "none"."""
    if reduction not in _REDUCTIONS:
        raise InvalidArgument(op, "reduction", reduction, "'mean', 'sum' or 'none'")


def reduced(losses: Array, reduction: str) -> Array:
    """Return the mean or the sum of losses, or the losses."""
    if reduction == "none":
        return losses
    return statistics.sum(losses) if reduction == "sum" else statistics.mean(losses)


def _difference(op: str, input: Any, target: Any, reduction: Any) -> Array:
    check_reduction(op, reduction)
    x, y = inputs.floats(op, "input", input), inputs.floats(op, "target", target)
    found: Array = x - inputs.shaped(op, "target", y, x.shape)
    return found


_OF_BOTH = ("input", "target")


@widened("input", "target")
@differentiable(joint=(_OF_BOTH, gradients.of_mse_loss))
def mse_loss(input: Array, target: Array, *, reduction: str = "mean") -> Array:
    """Return the squared error ``(input - target) ** 2``.

    Parameters
    ----------
    input : Array
        float32 or float16, of any shape.
    target : Array
        The shape of ``input``, float32 or float16.
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all elements.

    Returns
    -------
    Array
        Shape [], or the shape of ``input`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes differ, or ``reduction`` has another value.
    InvalidType
        If an operand does not consist of floats.
    """
    return reduced(elementwise.square(_difference("mse_loss", input, target, reduction)), reduction)


@widened("input", "target")
@differentiable(joint=(_OF_BOTH, gradients.of_l1_loss))
def l1_loss(input: Array, target: Array, *, reduction: str = "mean") -> Array:
    """Return the absolute error ``abs(input - target)``.

    Parameters
    ----------
    input : Array
        float32 or float16, of any shape.
    target : Array
        The shape of ``input``, float32 or float16.
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all elements.

    Returns
    -------
    Array
        Shape [], or the shape of ``input`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes differ, or ``reduction`` has another value.
    InvalidType
        If an operand does not consist of floats.
    """
    return reduced(elementwise.abs(_difference("l1_loss", input, target, reduction)), reduction)


@widened("input", "target")
@differentiable(joint=(_OF_BOTH, gradients.of_huber_loss))
def huber_loss(
    input: Array, target: Array, *, reduction: str = "mean", delta: float = 1.0
) -> Array:
    """Return the Huber loss.

    With ``d = abs(input - target)``, the loss is ``d**2 / 2`` where ``d < delta``, and ``delta * (d
    - delta / 2)`` elsewhere.

    Parameters
    ----------
    input : Array
        float32 or float16, of any shape.
    target : Array
        The shape of ``input``, float32 or float16.
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all elements.
    delta : float, optional
        A positive number.

    Returns
    -------
    Array
        Shape [], or the shape of ``input`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes differ, or ``reduction`` or ``delta`` is invalid.
    InvalidType
        If an operand does not consist of floats.
    """
    op = "huber_loss"
    size = elementwise.abs(_difference(op, input, target, reduction))
    edge = checks.positive(op, "delta", delta)
    losses = elementwise.where(size < edge, size * size * 0.5, (size - edge / 2) * edge)
    return reduced(losses, reduction)


@widened("input", "target")
@differentiable(joint=(_OF_BOTH, gradients.of_smooth_l1_loss))
def smooth_l1_loss(
    input: Array, target: Array, *, reduction: str = "mean", beta: float = 1.0
) -> Array:
    """Return the smooth L1 loss.

    With ``d = abs(input - target)``, the loss is ``d**2 / (2 * beta)`` where ``d < beta``, and ``d
    - beta / 2`` elsewhere.

    Parameters
    ----------
    input : Array
        float32 or float16, of any shape.
    target : Array
        The shape of ``input``, float32 or float16.
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all elements.
    beta : float, optional
        A number of at least 0. 0 gives :func:`l1_loss`.

    Returns
    -------
    Array
        Shape [], or the shape of ``input`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes differ, or ``reduction`` or ``beta`` is invalid.
    InvalidType
        If an operand does not consist of floats.
    """
    op = "smooth_l1_loss"
    size = elementwise.abs(_difference(op, input, target, reduction))
    edge = checks.nonnegative(op, "beta", beta)
    if edge == 0:
        return reduced(size, reduction)
    losses = elementwise.where(size < edge, size * size * (0.5 / edge), size - edge / 2)
    return reduced(losses, reduction)


@widened("input", "target")
@differentiable(joint=((*_OF_BOTH, "weight", "pos_weight"), gradients.of_logits))
def binary_cross_entropy_with_logits(
    input: Array,
    target: Array,
    weight: Array | None = None,
    *,
    reduction: str = "mean",
    pos_weight: Array | None = None,
) -> Array:
    """Return the binary cross entropy of logits.

    With the sigmoid function σ, the loss is ``-(pos_weight * target * log(σ(input)) + (1 - target)
    * log(1 - σ(input)))``, times ``weight``.

    Parameters
    ----------
    input : Array
        Logits, float32 or float16, of any shape.
    target : Array
        Probabilities of the shape of ``input``, float32 or float16.
    weight : Array, optional
        Factors of the losses. Floats that broadcast to the shape of ``input``.
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all elements.
    pos_weight : Array, optional
        Factors of the positive term. Floats that broadcast to the shape of ``input``.

    Returns
    -------
    Array
        Shape [], or the shape of ``input`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes do not fit, or ``reduction`` has another value.
    InvalidType
        If an operand does not consist of floats.
    """
    op = "binary_cross_entropy_with_logits"
    check_reduction(op, reduction)
    x = inputs.floats(op, "input", input)
    t = inputs.shaped(op, "target", inputs.floats(op, "target", target), x.shape)
    losses: Array = elementwise.logaddexp(-x, 0.0)  # -log σ(x)
    if pos_weight is not None:
        losses = losses * ((broadcast_factor(op, "pos_weight", pos_weight, x) - 1) * t + 1)
    losses = losses + x * (1 - t)
    if weight is not None:
        losses = losses * broadcast_factor(op, "weight", weight, x)
    return reduced(losses, reduction)


def broadcast_factor(op: str, name: str, weight: Any, x: Array) -> Array:
    """Return factors, broadcast to the shape of ``x``."""
    own = inputs.floats(op, name, weight)
    try:
        return manipulation.broadcast_to(own, x.shape)
    except InvalidArgument:
        raise InvalidArgument(op, name, own, f"an array that broadcasts to {x.shape}") from None


@widened("input")
@differentiable(joint=(("input", "weight"), gradients.of_logarithms))
def nll_loss(
    input: Array,
    target: Array,
    weight: Array | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Array:
    """Return the negative log-likelihood, ``-input[n, target[n]]``.

    Parameters
    ----------
    input : Array
        Log-probabilities of shape [N, C], [N, C, ...] or [C]. float32 or float16.
    target : Array
        Classes, as integers of shape [N], [N, ...] or [].
    weight : Array, optional
        A factor for each class, of shape [C].
    ignore_index : int, optional
        Targets with this value do not count.
    reduction : {"mean", "sum", "none"}, optional
        "mean" divides by the sum of the targets' factors. "none" returns the losses of all targets.

    Returns
    -------
    Array
        Shape [], or the shape of ``target`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes do not fit, or ``reduction`` has another value.
    InvalidType
        If ``input`` does not consist of floats, or ``target`` of integers.

    Notes
    -----
    Targets out of range give a loss and gradients of NaN. PyTorch raises, but a check would have to
    wait for the GPU.
    """
    op = "nll_loss"
    check_reduction(op, reduction)
    x, t, axis = _classes(op, input, target)
    ignored = t == checks.integer(op, "ignore_index", ignore_index, -checks.LARGEST)
    goals = elementwise.where(ignored, 0, t)
    picked = sorting.take_along_axis(x, manipulation.expand_dims(goals, axis=axis), axis=axis)
    is_known = elementwise.logical_and(goals >= 0, goals < x.shape[axis])
    losses = elementwise.where(is_known, -manipulation.squeeze(picked, axis), float("nan"))
    factors = _weights(op, weight, x.shape[axis], goals)
    return _weighted(losses, factors, ignored, reduction)


def _kept_cross_entropy(
    input: Array,
    target: Array,
    weight: Array | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> tuple[Array, dict[str, Any]]:
    """Return the result of :func:`cross_entropy`, and ``sums``.

    For classes without smoothing, ``sums`` has the largest logit of each sample, and the logarithm
    of the sum of exp(logits - largest). Otherwise it is None.
    """
    op = "cross_entropy"
    check_reduction(op, reduction)
    smoothing = checks.fraction(op, "label_smoothing", label_smoothing)
    if array(op, "target", target).node.kind.kind == "f":
        if ignore_index != -100:
            expected = "the default if target has probabilities"
            raise InvalidArgument(op, "ignore_index", ignore_index, expected)
        found = _of_probabilities(op, input, target, weight, reduction, smoothing)
        return found, {"sums": None}
    x, t, axis = _classes(op, input, target)
    ignored = t == checks.integer(op, "ignore_index", ignore_index, -checks.LARGEST)
    goals = elementwise.where(ignored, 0, t)
    classes = x.shape[axis]
    factors = _weights(op, weight, classes, goals)
    losses, sums = _losses(op, manipulation.moveaxis(x, axis, -1), goals)
    if smoothing:
        logs = log_softmax(x, axis)
        if weight is not None:
            logs = logs * _by_class(weight, axis, x.ndim)
        smooth = statistics.sum(logs, axis=axis) * (-smoothing / classes)
        own = losses if factors is None else losses * factors
        found = _weighted(own * (1 - smoothing) + smooth, factors, ignored, reduction, done=True)
        return found, {"sums": None}
    return _weighted(losses, factors, ignored, reduction), {"sums": sums}


def _reads_float16(*args: Any, **options: Any) -> bool:
    """Return whether the kernel of :func:`cross_entropy` takes these logits in float16."""
    x, target = (
        options.get(name, args[n] if n < len(args) else None) for n, name in enumerate(_OF_BOTH)
    )
    is_plain = type(x) is Array or type(x) in TRACKED
    of_classes = isinstance(target, Array) and target.dtype.kind in "iu"
    return is_plain and of_classes and not options.get("label_smoothing")


@widened("input", "target", unless=_reads_float16)
@differentiable(
    joint=((*_OF_BOTH, "weight"), gradients.of_cross_entropy), keeping=_kept_cross_entropy
)
def cross_entropy(
    input: Array,
    target: Array,
    weight: Array | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Array:
    """Return the cross entropy of logits, ``-log_softmax(input)[n, target[n]]``.

    Parameters
    ----------
    input : Array
        Logits of shape [N, C], [N, C, ...] or [C]. float32 or float16.
    target : Array
        Classes, as integers of shape [N], [N, ...] or []. Or probabilities, as floats of the shape
        of ``input``.
    weight : Array, optional
        A factor for each class, of shape [C].
    ignore_index : int, optional
        Targets with this value do not count. Not allowed for probabilities.
    reduction : {"mean", "sum", "none"}, optional
        "mean" divides by the sum of the targets' factors, or by the number of samples if targets
        are probabilities. "none" returns the losses of all samples.
    label_smoothing : float, optional
        From 0 to 1. Targets are mixed with this share of the uniform distribution.

    Returns
    -------
    Array
        Shape [], or the shape of ``input`` without the axis of classes for "none".

    Raises
    ------
    InvalidArgument
        If the shapes do not fit, or an option is invalid.
    InvalidType
        If ``input`` does not consist of floats, or ``target`` of integers or floats.

    Notes
    -----
    Targets out of range give a loss and gradients of NaN, as in :func:`nll_loss`.
    """
    return _kept_cross_entropy(
        input, target, weight, ignore_index=ignore_index, reduction=reduction,
        label_smoothing=label_smoothing,
    )[0]  # fmt: skip


def _classes(op: str, input: Any, target: Any) -> tuple[Array, Array, int]:
    """Return scores, class indices as int32, and the axis of the classes."""
    x, t = inputs.floats(op, "input", input), inputs.whole(op, "target", target)
    axis = _class_axis(op, x)
    inputs.shaped(op, "target", t, (*x.shape[:axis], *x.shape[axis + 1 :]))
    if not x.shape[axis]:
        raise InvalidArgument(op, "input", x, "have classes along axis 1")
    return x, t, axis


def _class_axis(op: str, x: Array) -> int:
    if x.ndim == 0:
        raise InvalidArgument(
            op,
            "input",
            Description("an array of shape ()"),
            "have shape [C], [N, C] or [N, C, ...]",
        )
    return min(x.ndim - 1, 1)


def _losses(op: str, logits: Array, goals: Array) -> tuple[Array, Array]:
    """Return ``-log_softmax(logits)[goals]`` along the last axis, and the sums of the samples."""
    own, places = apply.packed(logits), apply.packed(goals)
    kind = FLOAT32 if is_autocast_enabled() else own.node.kind
    losses = inputs.room(op, own, kind, goals.shape)
    sums = inputs.room(op, own, FLOAT32, (*goals.shape, 2))
    x, t, y, more = (inputs.memory(one) for one in (own, places, losses, sums))
    nn.cross_entropy(own.device, op, x, t, y, None, more)
    return losses, sums


def _weights(op: str, weight: Any, classes: int, goals: Array) -> Array | None:
    """Return the factor of each target's class."""
    factors = inputs.vector(op, "weight", weight, classes)
    return None if factors is None else factors[goals]


def _by_class(weight: Array, axis: int, rank: int) -> Array:
    return weight.reshape((weight.size, *(1,) * (rank - axis - 1)))


def _weighted(
    losses: Array, factors: Array | None, ignored: Array, reduction: str, *, done: bool = False
) -> Array:
    """Reduce the losses of targets that may not count.

    They are multiplied by the factors of their classes first, unless ``done``.
    """
    if factors is not None and not done:
        losses = losses * factors
    losses = elementwise.where(ignored, 0.0, losses)
    if reduction != "mean":
        return reduced(losses, reduction)
    counted = elementwise.where(ignored, 0.0, 1.0 if factors is None else factors)
    found: Array = statistics.sum(losses) / statistics.sum(counted)
    return apply.cast_to("loss", found, losses.node.kind, copy=False)


def _of_probabilities(
    op: str, input: Any, target: Any, weight: Any, reduction: str, smoothing: float
) -> Array:
    x, t = inputs.floats(op, "input", input), inputs.floats(op, "target", target)
    axis = _class_axis(op, x)
    inputs.shaped(op, "target", t, x.shape)
    classes = x.shape[axis]
    factors = inputs.vector(op, "weight", weight, classes)
    logs = log_softmax(x, axis)
    if smoothing:
        t = t * (1 - smoothing) + smoothing / classes
    if factors is not None:
        logs = logs * _by_class(factors, axis, x.ndim)
    losses = -statistics.sum(logs * t, axis=axis)
    if reduction != "mean":
        return reduced(losses, reduction)
    found: Array = statistics.sum(losses) / product(losses.shape)
    return found
