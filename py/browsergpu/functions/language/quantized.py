"""Quantized matrices, which kernels dequantize as they read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant, differentiable
from browsergpu.arrays.context import current
from browsergpu.arrays.lazy.node import room
from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import FLOAT32, UINT32
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Description, Shown, shown
from browsergpu.engine.kernels.quantized.formats import FORMATS, Format
from browsergpu.engine.kernels.quantized.products import fits_grid, takes_vector
from browsergpu.engine.tensors.language import quantized
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.interchange.file_parts import FileParts, JoinedParts
from browsergpu.functions.interchange.uploads import upload
from browsergpu.functions.language.attention import rms_norm
from browsergpu.functions.language.gradients import refusing_gradients
from browsergpu.functions.linalg.linear import matmul
from browsergpu.functions.nn import activations, inputs

#: Functions of gates, by name.
GATES: Mapping[str, Callable[[Array], Array]] = {
    "silu": activations.silu, "gelu": partial(activations.gelu, approximate="tanh"),
}  # fmt: skip


class QuantizedArray(Shown):
    """A matrix in a quantized format of GGUF. It stays quantized in GPU memory.

    ``nn.linear`` and ``nn.embedding`` take it as weight, ``x @ weight.T`` multiplies by it, and
    ``weight[indices]`` gives rows. Results are float32.

    Parameters
    ----------
    data : bytes or array of uint8
        The blocks of all rows, as a GGUF file stores them.
    shape : tuple of int
        Rows and columns.
    format : str
        Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, F16 or BF16.
    device : Device, optional
        The device. The current device by default.

    Raises
    ------
    InvalidArgument
        If the format is unknown, columns are not whole blocks, or ``data`` has another size.

    Examples
    --------
    >>> import numpy as np
    >>> block = np.float16(0.5).tobytes() + bytes(range(32))
    >>> weight = bg.llm.QuantizedArray(block * 2, (2, 32), "Q8_0")
    >>> (bg.ones((1, 32)) @ weight.T).tolist()
    [[248.0, 248.0]]
    """

    __slots__ = ("_blocks", "_format", "_parts", "shape")

    #: So that NumPy arrays leave products to this class.
    __array_ufunc__ = None

    def __init__(self, data: Any, shape: Any, format: str, device: Any = None) -> None:
        op = "QuantizedArray"
        own = checked_format(op, "format", format)
        rows, columns = checks.dimensions(op, "shape", shape, 2)
        check_columns(op, "shape", columns, own)
        if isinstance(data, bytes | bytearray | memoryview):
            data = np.frombuffer(data, np.uint8)
        if isinstance(data, np.ndarray) and data.dtype == np.uint8:
            data = np.asarray(data, order="C").reshape(-1)
        elif not isinstance(data, FileParts | JoinedParts):
            raise InvalidType(op, "data", data, "bytes, or an array of uint8")
        nbytes = rows * own.row_bytes(columns)
        if data.size != nbytes:
            given = Description(f"{data.size} bytes")
            raise InvalidArgument(op, "data", given, f"have {nbytes} bytes for {own.name} {shape}")
        #: Rows and columns.
        self.shape: Shape = (rows, columns)
        self._format = own
        largest = current(device).device.largest_buffer
        #: Matrices of fewer rows, if a buffer cannot hold all.
        self._parts: tuple[QuantizedArray, ...] = ()
        if nbytes > largest:
            each, row = max(largest // own.row_bytes(columns), 1), own.row_bytes(columns)
            self._parts = tuple(
                QuantizedArray(
                    data[at * row : (at + each) * row], (min(each, rows - at), columns), format,
                    device,
                )
                for at in range(0, rows, each)
            )  # fmt: skip
            self._blocks: Array = self._parts[0]._blocks
            return
        self._blocks = upload(op, data, UINT32, (-(-nbytes // 4),), device)

    @property
    def format(self) -> str:
        """The name of the format."""
        return self._format.name

    @property
    def device(self) -> Any:
        """The device with the memory."""
        return self._blocks.device

    @property
    def ndim(self) -> int:
        """Number of axes: 2."""
        return 2

    @property
    def nbytes(self) -> int:
        """Bytes of the blocks."""
        return self.shape[0] * self._format.row_bytes(self.shape[1])

    @property
    def T(self) -> QuantizedTranspose:
        """The transpose, for ``x @ weight.T``."""
        return QuantizedTranspose(self)

    def dequantize(self, dtype: Any = np.float32) -> Array:
        """Return the matrix as float32 or float16."""
        return dequantize(self, dtype)

    def tobytes(self) -> bytes:
        """Return the blocks, as a GGUF file stores them. Blocks."""
        if self._parts:
            return b"".join([part.tobytes() for part in self._parts])
        return np.asarray(self._blocks).tobytes()[: self.nbytes]

    def __getitem__(self, indices: Any) -> Array:
        return embedding(_as_indices(indices, self), self)

    def __len__(self) -> int:
        return self.shape[0]

    def _facts(self) -> str:
        return f"of shape {self.shape} and format {self.format}"


class QuantizedTranspose(Shown):
    """The transpose of a :class:`QuantizedArray`, as the right operand of ``@``."""

    __slots__ = ("T",)

    __array_ufunc__ = None

    def __init__(self, weight: QuantizedArray) -> None:
        #: The matrix.
        self.T = weight

    @property
    def shape(self) -> Shape:
        """Rows and columns."""
        return self.T.shape[::-1]

    def __rmatmul__(self, other: Any) -> Any:
        return linear(other, self.T) if isinstance(other, Array) else NotImplemented


def of_blocks(blocks: Array, shape: Shape, format: str) -> QuantizedArray:
    """Return a matrix whose blocks are on the GPU, as uint32 words. Nothing is copied."""
    own = checked_format("of_blocks", "format", format)
    check_columns("of_blocks", "shape", shape[1], own)
    words = -(-shape[0] * own.row_bytes(shape[1]) // 4)
    if blocks.dtype != np.uint32 or blocks.shape != (words,):
        expected = f"{words} words of uint32 for {own.name} {shape}"
        raise InvalidArgument("of_blocks", "blocks", blocks, expected)
    made = QuantizedArray.__new__(QuantizedArray)
    made.shape, made._format, made._blocks, made._parts = shape, own, blocks, ()
    return made


def joined_rows(
    op: str, parts: Sequence[np.ndarray | FileParts], shapes: Sequence[Sequence[int]],
    formats: Sequence[str], device: Any,
) -> tuple[Array, list[Array]] | tuple[QuantizedArray, list[QuantizedArray]] | None:  # fmt: skip
    """Return a matrix of the rows of several, and the several, which share its memory.

    Parameters
    ----------
    op : str
        Name of the operation, for errors.
    parts : sequence of array of uint8, or FileParts
        The bytes of each matrix.
    shapes : sequence of tuple of int
        The shape of each.
    formats : sequence of str
        The format of each: F32, or a format of :class:`QuantizedArray`.
    device : Device
        The device. The current device if None.

    Returns
    -------
    tuple or None
        None if the formats or columns differ, for other formats and numbers of axes, and if a
        buffer cannot hold all, or a matrix does not begin at a word.
    """
    if any(len(shape) != 2 for shape in shapes) or len({*formats}) > 1:
        return None
    rows, columns, format = [shape[0] for shape in shapes], shapes[0][1], formats[0]
    if any(shape[1] != columns for shape in shapes):
        return None
    own = FORMATS.get(format)
    if format != "F32" and (own is None or columns % own.elements):
        return None
    each = [count * (4 * columns if own is None else own.row_bytes(columns)) for count in rows]
    is_empty = not sum(each)
    if is_empty or sum(each) > current(device).device.largest_buffer or any(n % 4 for n in each):
        return None
    data, shape, begins = JoinedParts(parts), (sum(rows), columns), [0, *accumulate(rows)]
    if own is None:
        floats = upload(op, data, FLOAT32, shape, device)
        return floats, [floats[begin:end] for begin, end in pairwise(begins)]
    whole = QuantizedArray(data, shape, format, device)
    row = own.row_bytes(columns)
    return whole, [
        of_blocks(whole._blocks[begin * row // 4 : end * row // 4], (end - begin, columns), format)
        for begin, end in pairwise(begins)
    ]


def checked_format(op: str, name: str, value: Any) -> Format:
    """Return the format with a name. Raises InvalidArgument for an unknown one."""
    found = FORMATS.get(value) if isinstance(value, str) else None
    if found is None:
        raise InvalidArgument(op, name, value, f"one of {', '.join(FORMATS)}")
    return found


def check_columns(op: str, name: str, columns: int, own: Format) -> None:
    """Raise InvalidArgument unless rows consist of whole blocks."""
    if columns % own.elements:
        expected = f"have a multiple of {own.elements} columns for {own.name}"
        raise InvalidArgument(op, name, Description(f"{columns} columns"), expected)


@constant
def dequantize(weight: QuantizedArray, dtype: Any = np.float32) -> Array:
    """Return a quantized matrix as float32 or float16."""
    op = "dequantize"
    kind = checks.numpy_dtype(op, "dtype", dtype)
    if kind not in (np.float32, np.float16):
        raise InvalidType(op, "dtype", kind, "float32 or float16")
    if weight._parts:
        found: Array = manipulation.concat([dequantize(part, dtype) for part in weight._parts])
        return found
    blocks = weight._blocks
    if not product(weight.shape):
        return creation.zeros(weight.shape, dtype=kind, device=weight.device)
    made = blocks.like(room(weight.device, op, FLOAT32, weight.shape))
    quantized.dequantize(
        weight.device, op, inputs.memory(blocks), inputs.memory(made), weight.format
    )
    return made if kind == np.float32 else made.astype(kind)


def _as_indices(indices: Any, weight: QuantizedArray) -> Array:
    if isinstance(indices, Array):
        return indices
    if isinstance(indices, int | list | np.ndarray | np.integer):
        given = np.asarray(indices)
        if given.dtype.kind in "iu":
            count = weight.shape[0]
            if given.size and not (-count <= given.min() and given.max() < count):
                raise InvalidArgument("QuantizedArray", "indices", indices, f"rows of {count}")
            own = np.where(given < 0, given + count, given).astype(np.int32)
            return creation.asarray(own, device=weight.device)
    raise InvalidType("QuantizedArray", "indices", indices, "integers, which select rows")


@constant
def embedding(input: Array, weight: QuantizedArray) -> Array:
    """Return rows of a quantized table as float32, as ``nn.embedding``."""
    op = "embedding"
    if weight._parts:
        return _of_parts(inputs.whole(op, "input", input), weight)
    own = apply.packed(inputs.whole(op, "input", input))
    made = inputs.room(op, own, FLOAT32, (*own.shape, weight.shape[1]))
    if made.size and weight.shape[0]:
        blocks = inputs.memory(weight._blocks)
        quantized.look_up(
            weight.device, op, blocks, inputs.memory(own), inputs.memory(made), weight.shape[0],
            weight.format,
        )  # fmt: skip
        return made
    return creation.full(made.shape, np.nan, dtype=np.float32, device=weight.device)


def _of_parts(indices: Array, weight: QuantizedArray) -> Array:
    """Return rows of a table in several buffers."""
    found: Array | None = None
    begin = 0
    for part in weight._parts:  # indices outside of a part give NaN
        rows = embedding(indices - begin, part)
        is_later = manipulation.expand_dims(indices >= begin, axis=-1)
        found = rows if found is None else elementwise.where(is_later, rows, found)
        begin += part.shape[0]
    assert found is not None
    return found


@differentiable(
    input=lambda g, weight: matmul(g, weight.dequantize()),
    residual=lambda g: g,
    bias=lambda g: g,
)
def linear(
    input: Array, weight: QuantizedArray, residual: Array | None = None, bias: Array | None = None
) -> Array:
    """Return ``input @ weight.T + residual + bias`` for a quantized weight.

    The weight is dequantized as the kernel reads it. At most eight vectors are rounded to 16 bits,
    with a float32 factor for each 16 numbers, unless the weight is F16 or BF16.

    Parameters
    ----------
    input : Array
        Shape [..., I], float32 or float16.
    weight : QuantizedArray
        Shape [O, I]. It gets no gradient.
    residual : Array, optional
        Shape [..., O], float32 or float16.
    bias : Array, optional
        Shape [O], float32 or float16.

    Returns
    -------
    Array
        Shape [..., O], float32. Sums are computed in float32.
    """
    op = "linear"
    x = inputs.floats(op, "input", input)
    if not isinstance(weight, QuantizedArray):
        raise InvalidType(op, "weight", weight, "a QuantizedArray")
    rows, columns = weight.shape
    if x.ndim == 0 or x.shape[-1] != columns:
        raise InvalidArgument(
            op, "input", x, f"have {columns} elements on the last axis, as weight has"
        )
    shape = (*x.shape[:-1], rows)
    added = None
    if residual is not None:
        added = inputs.shaped(op, "residual", inputs.floats(op, "residual", residual), shape)
    shift = inputs.vector(op, "bias", bias, rows)
    if weight._parts:
        made = manipulation.concat([linear(x, part) for part in weight._parts], axis=-1)
        return _sum(made, added, shift)
    vectors = product(x.shape[:-1])
    if not vectors * rows or not columns:
        zeros = creation.zeros(shape, dtype=np.float32, device=x.device)
        return _sum(zeros, added, shift)
    if not fits_grid(vectors, rows):
        given = Description(shown(x))
        raise InvalidArgument(op, "input", given, "have fewer rows for a weight of this size")
    beside = None if added is not None else shift
    made = _product(op, x, weight, shape, added, beside)
    return made if beside is not None else _sum(made, None, shift)


def _product(
    op: str, x: Array, weight: QuantizedArray, shape: Shape, residual: Array | None = None,
    bias: Array | None = None, norm: Array | None = None, eps: float = 0.0, gate: str | None = None,
) -> Array:  # fmt: skip
    """Return a nonempty product of this shape. The arguments have been checked."""
    columns = weight.shape[1]
    vectors = x.size // columns
    own = apply.packed(x.reshape((vectors, columns)))
    made = inputs.room(op, x, FLOAT32, (vectors, shape[-1]))
    added = None if residual is None else apply.packed(residual.reshape((vectors, shape[-1])))
    shift, factors = (None if one is None else apply.packed(one) for one in (bias, norm))
    quantized.multiply(
        x.device, op, inputs.memory(weight._blocks), inputs.memory(own), inputs.memory(made),
        weight.format, inputs.memory_of(added), inputs.memory_of(shift), inputs.memory_of(factors),
        eps, gate,
    )  # fmt: skip
    return made.reshape(shape)


@refusing_gradients("nn.rms_norm and nn.linear")
@constant
def decoder_linear(
    input: Array, weight: QuantizedArray, residual: Array | None = None, bias: Array | None = None,
    *, norm: Array | None = None, eps: float = 0.0, gate: str | None = None,
) -> Array:  # fmt: skip
    """Return :func:`linear` of a normalized input, gated. It is one kernel for a single vector.

    The norm of several vectors is part of their rounding to float16, if they are rounded.

    It has no gradient.

    Parameters
    ----------
    input, weight, residual, bias
        As :func:`linear` takes them.
    norm : Array, optional
        Weights [I] of an RMS norm of the input, float32 or float16.
    eps : float
        Added to the mean of squares.
    gate : {"silu", "gelu"}, optional
        The function of the first half of the last axis, which multiplies the second half. ``gelu``
        is the tanh form.

    Returns
    -------
    Array
        Shape [..., O], or [..., O / 2] with a gate. float32.
    """
    op = "decoder_linear"
    x = inputs.floats(op, "input", input)
    if not isinstance(weight, QuantizedArray):
        raise InvalidType(op, "weight", weight, "a QuantizedArray")
    if gate is not None:
        if gate not in GATES:
            raise InvalidArgument(op, "gate", gate, " or ".join(map(repr, GATES)))
        if residual is not None:
            raise InvalidArgument(op, "residual", residual, "None, if there is a gate")
        if weight.shape[0] % 2:
            raise InvalidArgument(op, "weight", weight, "have an even number of rows for a gate")
    rows, columns = weight.shape
    shape = (*x.shape[:-1], rows if gate is None else rows // 2)
    vectors = product(x.shape[:-1])
    is_one = takes_vector(vectors)
    is_whole = vectors and rows and columns and not weight._parts and fits_grid(vectors, rows)
    is_added_once = bias is None or (residual is None and (gate is None or not is_one))
    if not is_whole or not is_added_once or x.shape[-1:] != (columns,):
        found = linear(x if norm is None else rms_norm(x, norm, eps), weight, residual, bias)
        return found if gate is None else gated(found, gate)
    if gate is not None and not is_one:
        return gated(decoder_linear(x, weight, None, bias, norm=norm, eps=eps), gate)
    added = None
    if residual is not None:
        added = inputs.shaped(op, "residual", inputs.floats(op, "residual", residual), shape)
    shift, factors = (
        inputs.vector(op, name, one, length)
        for name, one, length in (("bias", bias, rows), ("norm", norm, columns))
    )
    small = checks.nonnegative(op, "eps", eps)
    return _product(op, x, weight, shape, added, shift, factors, small, gate)


def gated(x: Array, gate: str) -> Array:
    """Return a function of the first half of the last axis, times the second half."""
    half = x.shape[-1] // 2
    return GATES[gate](x[..., :half]) * x[..., half:]  # type: ignore[no-any-return]


def _sum(made: Array, residual: Array | None, bias: Array | None) -> Array:
    """Return a product with what is added to it."""
    found = made if residual is None else made + residual
    return found if bias is None else found + bias
