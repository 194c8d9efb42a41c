"""Distances and similarities of vectors, and losses that compare them."""

from __future__ import annotations

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.precision import widened
from browsergpu.arrays.autograd.rules import composed
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import elementwise, statistics
from browsergpu.functions.linalg import norms
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn.activations import relu
from browsergpu.functions.nn.losses import check_reduction, reduced
from browsergpu.functions.operands import array


@widened("x1", "x2")
@composed("x1", "x2")
def cosine_similarity(x1: Array, x2: Array, dim: int = 1, eps: float = 1e-8) -> Array:
    """Return the cosine of the angle between vectors along an axis.

    Parameters
    ----------
    x1, x2 : Array
        float32 or float16, of shapes that broadcast to each other.
    dim : int, optional
        The axis of the vectors.
    eps : float, optional
        The least norm of a vector in the divisor.

    Returns
    -------
    Array
        The shape of the operands without the axis.

    Raises
    ------
    InvalidArgument
        If the shapes do not fit, or ``dim`` is out of range.
    InvalidType
        If an operand does not consist of floats.
    """
    op = "cosine_similarity"
    a, b = inputs.floats(op, "x1", x1), inputs.floats(op, "x2", x2)
    products = elementwise.multiply(a, b)
    axis = shapes.axis(op, "dim", dim, products.ndim) - products.ndim
    least = checks.real(op, "eps", eps)
    lengths = [
        elementwise.maximum(norms.vector_norm(x, axis=axis, keepdims=True), least) for x in (a, b)
    ]
    return statistics.sum(products / (lengths[0] * lengths[1]), axis=axis)


@widened("x1", "x2")
@composed("x1", "x2")
def pairwise_distance(
    x1: Array, x2: Array, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Array:
    """Return the norm of ``x1 - x2 + eps`` along the last axis.

    Parameters
    ----------
    x1, x2 : Array
        Shape [..., D], float32 or float16. The shapes broadcast to each other.
    p : float, optional
        Order of the norm.
    eps : float, optional
        Added to the difference, so that the gradient is finite for equal vectors.
    keepdim : bool, optional
        Whether to keep the last axis with one element.

    Returns
    -------
    Array
        Shape [...], or [..., 1] with ``keepdim``.

    Raises
    ------
    InvalidArgument
        If the shapes do not fit.
    InvalidType
        If an operand does not consist of floats.
    """
    op = "pairwise_distance"
    a, b = inputs.floats(op, "x1", x1), inputs.floats(op, "x2", x2)
    difference = elementwise.add(elementwise.subtract(a, b), checks.real(op, "eps", eps))
    keepdims = checks.flag(op, "keepdim", keepdim)
    return norms.vector_norm(difference, axis=-1, keepdims=keepdims, ord=p)


@widened("input1", "input2")
@composed("input1", "input2")
def cosine_embedding_loss(
    input1: Array, input2: Array, target: Array, margin: float = 0.0, *, reduction: str = "mean"
) -> Array:
    """Return ``1 - cos`` for targets of 1, and ``max(0, cos - margin)`` for targets of -1.

    ``cos`` is the cosine similarity of a pair of vectors.

    Parameters
    ----------
    input1, input2 : Array
        Shape [N, D] or [D], float32 or float16.
    target : Array
        1 or -1 for each pair, of shape [N] or [].
    margin : float, optional
        From -1 to 1.
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all pairs.

    Returns
    -------
    Array
        Shape [], or the shape of ``target`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes do not fit, or ``reduction`` has another value.
    InvalidType
        If an operand does not consist of floats.
    """
    op = "cosine_embedding_loss"
    check_reduction(op, reduction)
    a, b = inputs.floats(op, "input1", input1), inputs.floats(op, "input2", input2)
    if a.ndim not in (1, 2) or a.shape != b.shape:
        raise InvalidArgument(op, "input2", b, f"have shape {a.shape}, with one or two axes")
    sign = inputs.shaped(op, "target", array(op, "target", target), a.shape[:-1])
    small = 1e-12  # PyTorch's
    squares = [statistics.sum(elementwise.square(x), axis=-1) + small for x in (a, b)]
    product = statistics.sum(elementwise.multiply(a, b), axis=-1)
    cosine = product / elementwise.sqrt(squares[0] * squares[1])
    bound = checks.real(op, "margin", margin)
    apart = elementwise.where(elementwise.equal(sign, -1), relu(cosine - bound), 0.0)
    return reduced(elementwise.where(elementwise.equal(sign, 1), 1 - cosine, apart), reduction)


@widened("anchor", "positive", "negative")
@composed("anchor", "positive", "negative")
def triplet_margin_loss(
    anchor: Array, positive: Array, negative: Array, margin: float = 1.0, p: float = 2.0,
    eps: float = 1e-6, swap: bool = False, *, reduction: str = "mean",
) -> Array:  # fmt: skip
    """Return ``max(0, d(anchor, positive) - d(anchor, negative) + margin)``.

    d is :func:`pairwise_distance`.

    Parameters
    ----------
    anchor, positive, negative : Array
        Shape [N, D] or [D], float32 or float16.
    margin : float, optional
        A number above 0.
    p : float, optional
        Order of the norm.
    eps : float, optional
        Added to differences.
    swap : bool, optional
        Whether to use the distance of positive and negative if it is less than that of anchor and
        negative.
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all triplets.

    Returns
    -------
    Array
        Shape [], or [N] for "none".

    Raises
    ------
    InvalidArgument
        If the shapes differ, or an option is invalid.
    InvalidType
        If an operand does not consist of floats.

    Notes
    -----
    Source: Balntas et al., "Learning local feature descriptors with triplets and shallow
    convolutional neural networks", 2016.
    """
    op = "triplet_margin_loss"
    check_reduction(op, reduction)
    bound = checks.positive(op, "margin", margin)
    a = inputs.floats(op, "anchor", anchor)
    for name, x in (("positive", positive), ("negative", negative)):
        inputs.shaped(op, name, inputs.floats(op, name, x), a.shape)
    near, far = (pairwise_distance(a, x, p, eps) for x in (positive, negative))
    if checks.flag(op, "swap", swap):
        far = elementwise.minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced(relu(near - far + bound), reduction)
