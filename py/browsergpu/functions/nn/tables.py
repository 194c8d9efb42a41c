"""Linear layers, embeddings and one-hot encodings."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import INTERCEPTED
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.precision import narrowed
from browsergpu.arrays.autograd.rules import composed, constant, differentiable
from browsergpu.arrays.autograd.variable import plain
from browsergpu.arrays.indexing import scatter_add
from browsergpu.arrays.reduce import memory_view
from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import DEFAULTS, FLOAT32, INT32, UINT32
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.tensors import nn
from browsergpu.engine.tensors.matmul import planned
from browsergpu.functions import creation, data_types, elementwise, manipulation, statistics
from browsergpu.functions.language import quantized
from browsergpu.functions.language.quantized import QuantizedArray
from browsergpu.functions.linalg import norms
from browsergpu.functions.linalg.linear import matmul
from browsergpu.functions.nn import inputs
from browsergpu.functions.operands import array
from browsergpu.functions.parts import added_at
from browsergpu.functions.products.matrices import multiplied


def _linear_weight_gradient(g: Array, input: Array) -> Any:
    if input.ndim != 2:
        rows, columns = input.shape[-1], g.shape[-1]
        number = product(input.shape[:-1])
        g = manipulation.reshape(g, (number, columns))
        input = manipulation.reshape(input, (number, rows))
    return matmul(manipulation.matrix_transpose(g), input)


def _embedding_gradient(
    g: Array, input: Array, weight_like: Like, padding_idx: int | None, scale_grad_by_freq: bool
) -> Array:
    """Return the gradient for the table: the sum for each row.

    Indices out of range and the padding are skipped.
    """
    count = weight_like.shape[0]
    inside = elementwise.logical_and(input >= 0, input < count)
    rows = elementwise.where(inside, input, 0)
    if scale_grad_by_freq:
        zeros = creation.zeros((count,), dtype="float32", device=g.device)
        times = added_at(zeros, rows, data_types.astype(inside, "float32"))
        g = g / manipulation.expand_dims(elementwise.maximum(times, 1.0)[rows], axis=-1)
    if padding_idx is not None:
        inside = elementwise.logical_and(inside, elementwise.not_equal(input, padding_idx))
    own = elementwise.where(manipulation.expand_dims(inside, axis=-1), g, 0.0)
    if type(own) not in INTERCEPTED and product(weight_like.shape):
        return _summed(own, rows, weight_like.shape)
    table = creation.zeros(weight_like.shape, dtype=g.dtype, device=g.device)
    return added_at(table, rows, own)


@exclusive
def _summed(values: Array, rows: Array, shape: Shape) -> Array:
    """Return the sums of rows of a table of this shape, from valid indices."""
    op, width = "embedding", product(shape[1:])
    own = apply.cast_to(op, values, FLOAT32, copy=False).reshape((rows.size, width))
    places = apply.cast_to(op, rows, UINT32, copy=False).reshape((rows.size,))
    found: Array = scatter_add.sums_of_rows(op, shape[0], places, own).reshape(shape)
    return apply.cast_to(op, found, values.node.kind, copy=False)


@composed("input", "weight", "bias")
def linear(input: Array, weight: Array | QuantizedArray, bias: Array | None = None) -> Array:
    """Return ``input @ weight.T + bias``, computed by one kernel.

    Parameters
    ----------
    input : Array
        Shape [..., I], float32 or float16.
    weight : Array or QuantizedArray
        Shape [O, I], float32, float16 or quantized. A quantized weight gets no gradient.
    bias : Array, optional
        Shape [O], float32 or float16.

    Returns
    -------
    Array
        Shape [..., O], of the promoted dtype, or float32 for a quantized weight. Sums are computed
        in float32.

    Raises
    ------
    InvalidArgument
        If the shapes do not fit.
    InvalidType
        If an operand does not consist of floats.
    """
    if isinstance(weight, QuantizedArray):
        return quantized.linear(input, weight, bias=bias)
    return _linear(input, weight, bias)


@narrowed("input", "weight", "bias")
@differentiable(
    input=lambda g, weight: matmul(g, weight), weight=_linear_weight_gradient, bias=lambda g: g
)
def _linear(input: Array, weight: Array, bias: Array | None) -> Array:
    """Return ``input @ weight.T + bias`` of floats."""
    op = "linear"
    x, w = inputs.floats(op, "input", input), inputs.floats(op, "weight", weight)
    shape, own = x.node.shape, w.node.shape  # the shapes of tensors take longer
    if len(own) != 2:
        raise InvalidArgument(op, "weight", w, "have shape [O, I]")
    columns, inner = own
    if not shape or shape[-1] != inner:
        expected = f"have {inner} elements on the last axis, as weight has"
        raise InvalidArgument(op, "input", x, expected)
    b = None if bias is None else inputs.floats(op, "bias", bias)
    if b is not None and b.node.shape != (columns,):
        raise InvalidArgument(op, "bias", b, f"have shape {(columns,)}")
    whole = (*shape[:-1], columns)
    made = inputs.room(op, x, inputs.common(x, w, b), whole)
    if 0 in whole:
        return made
    if not inner:
        zeros = creation.zeros_like(made)
        return zeros if b is None else zeros + b
    rows = x if len(shape) == 2 else manipulation.reshape(x, (product(shape[:-1]), inner))
    left, right = rows.node, w.node
    if left.trace is not None:
        left.in_memory()
    if right.trace is not None:
        right.in_memory()
    added = None if b is None else apply.packed(b).node
    ready = planned(op, memory_view(left), memory_view(right), flip_b=True)
    found = multiplied(x.tracer, op, left, right, made.node, ready, added, flip_b=True)
    return made if found is made.node else x.like(found)


@composed("weight")
def embedding(
    input: Array, weight: Array | QuantizedArray, padding_idx: int | None = None,
    max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:  # fmt: skip
    """Return the rows of a table at indices.

    Parameters
    ----------
    input : Array
        Integers of shape [...].
    weight : Array or QuantizedArray
        Shape [V, D]. float32, float16, int32, uint32 or quantized.
    padding_idx : int, optional
        Index of a row that gets no gradient. Negative indices count from the end.
    max_norm : float, optional
        The largest norm of a row. Larger rows at the indices are scaled in place first.
    norm_type : float, optional
        Order of the norm.
    scale_grad_by_freq : bool, optional
        Whether to divide the gradient of a row by the number of its indices.
    sparse : bool, optional
        False. Gradients are not sparse.

    Returns
    -------
    Array
        Shape [..., D], of the dtype of ``weight``, or float32 if it is quantized. Indices out of
        range give NaN, or 0 in a table of integers.

    Raises
    ------
    InvalidArgument
        If ``weight`` has another shape or dtype, or an option is invalid.
    InvalidType
        If ``input`` does not consist of integers.
    """
    op = "embedding"
    if isinstance(weight, QuantizedArray):
        return _quantized_rows(op, input, weight, padding_idx, max_norm, scale_grad_by_freq, sparse)
    indices, table = inputs.whole(op, "input", input), array(op, "weight", weight)
    if table.ndim != 2:
        raise InvalidArgument(op, "weight", table, "have shape [V, D]")
    check_dense(op, sparse)
    if padding_idx is not None:
        count = table.shape[0]
        padding_idx = checks.integer(op, "padding_idx", padding_idx, -count, count - 1) % count
    is_scaled = checks.flag(op, "scale_grad_by_freq", scale_grad_by_freq)
    if max_norm is not None:
        limit_rows(op, indices, table, max_norm, norm_type)
    return _rows(indices, table, padding_idx, is_scaled)


def _quantized_rows(
    op: str, input: Array, weight: QuantizedArray, padding_idx: Any, max_norm: Any,
    scale_grad_by_freq: Any, sparse: Any,
) -> Array:  # fmt: skip
    """Return rows of a quantized table, which has no gradient."""
    check_dense(op, sparse)
    if max_norm is not None:
        expected = "None, as a quantized table cannot be changed"
        raise InvalidArgument(op, "max_norm", max_norm, expected)
    if padding_idx is not None or checks.flag(op, "scale_grad_by_freq", scale_grad_by_freq):
        name = "scale_grad_by_freq" if padding_idx is None else "padding_idx"
        given = scale_grad_by_freq if padding_idx is None else padding_idx
        expected = "the default, as a quantized table gets no gradient"
        raise InvalidArgument(op, name, given, expected)
    return quantized.embedding(input, weight)


def check_dense(op: str, sparse: bool) -> None:
    """Raise InvalidArgument if sparse gradients are requested."""
    if checks.flag(op, "sparse", sparse):
        raise InvalidArgument(op, "sparse", sparse, "False, as gradients are not sparse")


@no_grad()
def limit_rows(op: str, indices: Array, table: Array, max_norm: Any, norm_type: Any) -> None:
    """Scale rows at indices in place, so that their norms are at most ``max_norm``."""
    most, order = checks.real(op, "max_norm", max_norm), checks.real(op, "norm_type", norm_type)
    own = table.detach()
    places = plain(indices).reshape((indices.size,))
    places = elementwise.clip(places, 0, table.shape[0] - 1)
    rows = manipulation.take(own, places, axis=0)
    norm = norms.vector_norm(rows.astype("float32", copy=False), axis=-1, keepdims=True, ord=order)
    # PyTorch adds the same small number.
    factor = elementwise.where(norm > most, most / (norm + 1e-7), 1.0)
    table[places] = (rows * factor).astype(table.dtype, copy=False)


@differentiable(weight=_embedding_gradient)
def _rows(input: Array, weight: Array, padding_idx: int | None, scale_grad_by_freq: bool) -> Array:
    """Return the rows at int32 indices, by a kernel."""
    op = "embedding"
    indices, kind = apply.packed(input), weight.node.kind
    if kind.dtype is None or not (kind.dtype.is_float or kind.dtype.is_whole):
        expected = "float32, float16, int32 or uint32"
        raise InvalidArgument(op, "weight", weight, expected)
    made = inputs.room(op, weight, kind, (*indices.shape, weight.shape[1]))
    if made.size:
        own = apply.packed(weight)
        views = (inputs.memory(x) for x in (indices, own, made))
        nn.embedding(weight.device, op, *views)
    return made


@constant
def one_hot(input: Array, num_classes: int = -1) -> Array:
    """Return one-hot encodings of integers.

    Parameters
    ----------
    input : Array
        Integers of shape [...].
    num_classes : int, optional
        Number of classes C. -1 uses the largest integer plus 1, and waits for it.

    Returns
    -------
    Array
        int64 of shape [..., C], or int32 if that is the default (see ``set_default_int``). 1 at the
        index of the class, and 0 elsewhere.

    Raises
    ------
    InvalidType
        If ``input`` does not consist of integers.
    InvalidArgument
        If ``num_classes`` is -1 and ``input`` is empty.
    """
    op = "one_hot"
    x = inputs.whole(op, "input", input)
    count = checks.integer(op, "num_classes", num_classes, -1)
    if count == -1:
        if not x.size:
            raise InvalidArgument(op, "num_classes", num_classes, "a number, as input is empty")
        count = int(statistics.max(x)) + 1
    classes = creation.arange(count, dtype=INT32.numpy, device=x.device)
    found: Array = x[..., None] == classes
    return apply.cast_to(op, found, DEFAULTS[int])
