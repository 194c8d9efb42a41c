"""Shapes: views, and joining and splitting of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.value import NODE
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument, InvalidIndex, InvalidType
from browsergpu.functions import data_types, manipulation
from browsergpu.torch.tensors.conversions import clone, conjugate_transposed
from browsergpu.torch.tensors.creation import shape_of
from browsergpu.torch.tensors.dtypes import dtype_of, promoted
from browsergpu.torch.tensors.public import public
from browsergpu.torch.tensors.tensor import BatchedTensor, Size


def axis_of(op: str, dim: Any, rank: int) -> int:
    """Return an axis that PyTorch's dim names, from 0."""
    if not isinstance(dim, int | np.integer) or not -max(rank, 1) <= dim < max(rank, 1):
        limits = f"from {-max(rank, 1)} to {max(rank, 1) - 1}"
        raise InvalidIndex(op, "dim", dim, limits)
    return int(dim) % max(rank, 1)


@public(out=False)
def reshape(input: Any, *shape: Any) -> Any:
    """Return the elements in another shape, as a view if possible."""
    return manipulation.reshape(input, shape_of("reshape", shape))


class NotAView(InvalidArgument):
    """The elements in another shape would be a copy."""


def _viewed(op: str, x: Any, shape: Any) -> Any:
    try:
        return manipulation.reshape(x, shape, copy=False)
    except InvalidArgument as error:
        if error.argument != "copy":
            raise InvalidArgument(op, "shape", shape, error.expected) from None
        expected = "a shape that the strides of the tensor allow without a copy"
        raise NotAView(op, "shape", shape, expected, "Use reshape().") from error


@public(function=False)
def view(self: Any, *shape: Any, dtype: Any = None) -> Any:
    """Return a view of the elements in another shape, or of the bits as another dtype.

    It raises an error that is a RuntimeError where a copy is needed. ``reshape`` copies.
    """
    if len(shape) == 1 and not isinstance(shape[0], int | list | tuple):
        dtype, shape = shape[0], ()
    if dtype is not None:
        return Array.view(self, dtype_of("view", dtype))
    return _viewed("view", self, shape_of("view", shape))


@public(function=False)
def view_as(self: Any, other: Any) -> Any:
    """Return a view of the elements in the shape of another tensor."""
    return _viewed("view_as", self, tuple(other.shape))


@public(function=False)
def reshape_as(self: Any, other: Any) -> Any:
    """Return the elements in the shape of another tensor."""
    return manipulation.reshape(self, tuple(other.shape))


@public(out=False)
def permute(input: Any, *dims: Any) -> Any:
    """Return a view with the axes in another order."""
    return manipulation.permute_dims(input, shape_of("permute", dims))


@public("transpose", "swapaxes", "swapdims", out=False)
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Return a view with two axes swapped."""
    rank = len(input.shape)
    order = list(range(rank))
    a, b = axis_of("transpose", dim0, rank), axis_of("transpose", dim1, rank)
    if rank:
        order[a], order[b] = order[b], order[a]
    return manipulation.permute_dims(input, order)


@public(out=False)
def t(input: Any) -> Any:
    """Return a view of a matrix with its axes swapped."""
    if len(input.shape) > 2:
        raise InvalidArgument("t", "input", input, "have at most 2 axes")
    return manipulation.permute_dims(input, tuple(reversed(range(len(input.shape)))))


@public("moveaxis", "movedim", out=False)
def movedim(input: Any, source: Any, destination: Any) -> Any:
    """Return a view with axes moved."""
    return manipulation.moveaxis(input, source, destination)


@public(out=False)
def adjoint(input: Any) -> Any:
    """Return the conjugate with the last two axes swapped, for real tensors a view."""
    return conjugate_transposed(input)


@public(out=False)
def squeeze(input: Any, dim: Any = None) -> Any:
    """Return a view without axes of length 1, all of them or those given."""
    shape = input.shape
    if dim is None:
        dims = range(len(shape))
    else:
        given = dim if isinstance(dim, list | tuple) else (dim,)
        dims = [axis_of("squeeze", one, len(shape)) for one in given]  # type: ignore[assignment]
    chosen = tuple([one for one in dims if one < len(shape) and shape[one] == 1])
    return manipulation.squeeze(input, chosen)


@public(out=False)
def unsqueeze(input: Any, dim: int) -> Any:
    """Return a view with an axis of length 1 more."""
    return manipulation.expand_dims(input, dim)


@public(out=False)
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Join axes, as a view if possible."""
    shape = tuple(input.shape)
    first, last = axis_of("flatten", start_dim, len(shape)), axis_of("flatten", end_dim, len(shape))
    if not shape:
        return manipulation.reshape(input, (1,))
    if first > last:
        raise InvalidArgument("flatten", "start_dim", start_dim, "at most end_dim")
    joined = product(shape[first : last + 1])
    return manipulation.reshape(input, (*shape[:first], joined, *shape[last + 1 :]))


@public(out=False)
def unflatten(input: Any, dim: int, sizes: Sequence[int]) -> Any:
    """Split an axis into several."""
    shape = tuple(input.shape)
    at = axis_of("unflatten", dim, len(shape))
    parts = list(sizes)
    if -1 in parts:
        parts[parts.index(-1)] = shape[at] // -product(parts)
    if not parts or not shape or product(parts) != shape[at]:
        expected = f"lengths with the product {shape[at] if shape else 'of an axis'}"
        raise InvalidArgument("unflatten", "sizes", tuple(sizes), expected)
    return manipulation.reshape(input, (*shape[:at], *parts, *shape[at + 1 :]))


@public(out=False)
def ravel(input: Any) -> Any:
    """Return the elements along one axis, as a view if possible."""
    return manipulation.reshape(input, (-1,))


@public("expand", function=False)
def expand(self: Any, *sizes: Any) -> Any:
    """Return a view in which axes of length 1 repeat. -1 keeps a length."""
    shape = tuple(self.shape)
    sizes = shape_of("expand", sizes)
    ahead = len(sizes) - len(shape)
    wanted = [shape[n - ahead] if one == -1 and n >= ahead else one for n, one in enumerate(sizes)]
    return manipulation.broadcast_to(self, tuple(wanted))


@public(function=False)
def expand_as(self: Any, other: Any) -> Any:
    """Return a view in the shape of another tensor."""
    return manipulation.broadcast_to(self, tuple(other.shape))


@public(out=False)
def broadcast_to(input: Any, size: Any) -> Any:
    """Return a view in a shape, in which axes of length 1 repeat."""
    return manipulation.broadcast_to(input, tuple(size))


@public(method=False, out=False)
def broadcast_tensors(*tensors: Any) -> Any:
    """Return views of the tensors in their common shape."""
    return manipulation.broadcast_arrays(*tensors)


@public(method=False, out=False)
def broadcast_shapes(*shapes: Any) -> Any:
    """Return the common shape."""
    return Size(manipulation.broadcast_shapes(*shapes))


@public("repeat", function=False)
def repeat(self: Any, *repeats: Any) -> Any:
    """Repeat the tensor along its axes."""
    sizes = shape_of("repeat", repeats)
    if len(sizes) < len(self.shape):
        expected = f"have at least {len(self.shape)} numbers, as the tensor has axes"
        raise InvalidArgument("repeat", "repeats", sizes, expected)
    return manipulation.tile(self, sizes)


@public(out=False)
def tile(input: Any, *dims: Any) -> Any:
    """Repeat the tensor along its last axes."""
    return manipulation.tile(input, shape_of("tile", dims))


@public(out=False)
def repeat_interleave(
    input: Any, repeats: Any = None, dim: Any = None, *, output_size: Any = None
) -> Any:
    """Repeat each element, along an axis or of the flattened tensor."""
    if repeats is None:
        input, repeats = ABOVE.namespace.arange(input.shape[0], device=input.device), input
    found = manipulation.repeat(input, repeats, axis=dim)
    if output_size is not None and output_size != found.shape[0 if dim is None else dim]:
        raise InvalidArgument("repeat_interleave", "output_size", output_size, "the sum of repeats")
    return found


@public(out=False)
def split(tensor: Any, split_size_or_sections: Any = None, dim: int = 0, **also: Any) -> Any:
    """Split an axis into views of a length, or of several lengths."""
    size = also.pop("split_size", split_size_or_sections)
    if also or size is None:
        raise InvalidArgument("split", "arguments", also, "split_size_or_sections and dim")
    at = axis_of("split", dim, len(tensor.shape))
    extent = tensor.shape[at]
    if isinstance(size, int):
        if size < 1:
            raise InvalidArgument("split", "split_size", size, "at least 1")
        lengths = [min(size, extent - n) for n in range(0, extent, size)] or [0]
    else:
        lengths = list(size)
        if sum(lengths) != extent:
            expected = f"lengths with the sum {extent}"
            raise InvalidArgument("split", "split_size_or_sections", lengths, expected)
    found, start = [], 0
    for length in lengths:
        found.append(narrow(tensor, at, start, length))
        start += length
    return tuple(found)


split_with_sizes = public("split_with_sizes", out=False)(
    lambda input, split_sizes, dim=0: split(input, split_sizes, dim)
)


@public(out=False)
def chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """Split an axis into at most a number of equal views."""
    at = axis_of("chunk", dim, len(input.shape))
    extent = input.shape[at]
    if chunks < 1:
        raise InvalidArgument("chunk", "chunks", chunks, "at least 1")
    if not extent:
        return split(input, [0] * chunks, at)
    return split(input, max(1, -(-extent // chunks)), at)


@public(out=False)
def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """Return a view of a range of an axis."""
    at = axis_of("narrow", dim, len(input.shape))
    begin = int(start)
    begin = begin + input.shape[at] if begin < 0 else begin
    if begin < 0:
        raise InvalidArgument("narrow", "start", start, f"at least {-input.shape[at]}")
    if length < 0 or begin + length > input.shape[at]:
        expected = f"at most {input.shape[at] - begin} from {begin}"
        raise InvalidArgument("narrow", "length", length, expected)
    return input[(slice(None),) * at + (slice(begin, begin + length),)]


@public(out=False)
def select(input: Any, dim: int, index: int) -> Any:
    """Return a view at an index of an axis."""
    at = axis_of("select", dim, len(input.shape))
    return input[(slice(None),) * at + (index,)]


@public(out=False)
def unbind(input: Any, dim: int = 0) -> Any:
    """Return the views along an axis."""
    at = axis_of("unbind", dim, len(input.shape))
    return tuple([select(input, at, n) for n in range(input.shape[at])])


def _common(tensors: Sequence[Any]) -> list[Any]:
    """Return tensors in their common dtype."""
    kinds = {x.dtype for x in tensors}
    if len(kinds) == 1:
        return list(tensors)
    kind = None
    for x in tensors:
        kind = x.dtype if kind is None else promoted(kind, True, x.dtype, True)
    return [data_types.astype(x, kind, copy=False) for x in tensors]


@public("cat", "concat", "concatenate", method=False)
def cat(tensors: Any, dim: int = 0) -> Any:
    """Join tensors along an axis."""
    given = list(tensors)
    if not given:
        raise InvalidArgument("cat", "tensors", given, "at least one tensor")
    for x in given:
        if not isinstance(x, Array):
            raise InvalidType("cat", "tensors", x, "tensors")
    given = _common(given)  # empty tensors decide the dtype too
    if any(tuple(x.shape) == (0,) for x in given):
        given = [x for x in given if tuple(x.shape) != (0,)] or given[:1]
    if not given[0].shape:
        raise InvalidArgument("cat", "tensors", given[0], "have an axis", "Use stack.")
    return manipulation.concat(given, axis=dim)


@public("stack", method=False)
def stack(tensors: Any, dim: int = 0) -> Any:
    """Join tensors of one shape along a new axis."""
    return manipulation.stack(_common(list(tensors)), axis=dim)


def _stacking(name: str, theirs: str) -> None:
    def function(tensors: Any) -> Any:
        return getattr(ABOVE.namespace, theirs)(_common(list(tensors)))

    function.__name__ = name
    function.__doc__ = f"Join tensors, as NumPy's {theirs}."
    public(name, method=False)(function)


for _own, _theirs in (
    ("hstack", "hstack"), ("vstack", "vstack"), ("row_stack", "vstack"), ("dstack", "dstack"),
    ("column_stack", "column_stack"),
):  # fmt: skip
    _stacking(_own, _theirs)


@public(out=False)
def flip(input: Any, *dims: Any) -> Any:
    """Return a copy with axes reversed."""
    return clone(manipulation.flip(input, axis=shape_of("flip", dims)))


@public("fliplr", out=False)
def fliplr(input: Any) -> Any:
    """Return a copy with the second axis reversed."""
    return clone(manipulation.flip(input, axis=1))


@public("flipud", out=False)
def flipud(input: Any) -> Any:
    """Return a copy with the first axis reversed."""
    return clone(manipulation.flip(input, axis=0))


@public(out=False)
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Shift elements around along axes."""
    counts = [len(x) if isinstance(x, list | tuple) else 1 for x in (shifts, dims)]
    if dims is not None and counts[0] != counts[1]:
        raise InvalidArgument("roll", "dims", dims, f"{counts[0]} dims, one for each shift")
    return manipulation.roll(input, shifts, axis=dims)


@public(out=False)
def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """Return a copy that is rotated by 90 degrees."""
    return clone(ABOVE.namespace.rot90(input, k, tuple(dims)))


@public(out=False)
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Return a view of a diagonal, which can be written."""
    found = ABOVE.namespace.diagonal(input, offset, dim1, dim2)
    if type(input) is not BatchedTensor:
        NODE.__get__(found).is_read_only = NODE.__get__(input).is_read_only
    return found


@public(out=False)
def diag(input: Any, diagonal: int = 0) -> Any:
    """Return a matrix with a diagonal, or a copy of the diagonal of a matrix."""
    found = ABOVE.namespace.diag(input, diagonal)
    return clone(found) if input.ndim == 2 else found


@public("diag_embed", out=False)
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Return matrices with these diagonals."""
    n = input.shape[-1] + abs(offset)
    columns = ABOVE.namespace.arange(n, device=input.device)
    rows = columns[:, None] + offset == columns
    pads = (abs(offset), 0)
    padded = ABOVE.namespace.pad(input, [(0, 0)] * (input.ndim - 1) + [pads]) if offset else input
    across = manipulation.expand_dims(padded, -2 if offset >= 0 else -1)
    found = ABOVE.namespace.where(rows, across, ABOVE.namespace.zeros_like(across))
    return manipulation.moveaxis(found, (-2, -1), (dim1, dim2))


@public("block_diag", method=False)
def block_diag(*tensors: Any) -> Any:
    """Return a matrix with blocks on its diagonal."""
    found = []
    width = sum(x.shape[1] for x in tensors)
    left = 0
    for x in tensors:
        sides = (left, width - left - x.shape[1])
        found.append(ABOVE.namespace.pad(x, ((0, 0), sides)))
        left += x.shape[1]
    return manipulation.concat(found)


@public("numel", "nelement", out=False)
def numel(input: Any) -> int:
    """Return the number of elements."""
    return product(tuple(input.shape))


@public("ndimension", "dim", function=False, out=False)
def dim(self: Any) -> int:
    """Return the number of axes."""
    return len(self.shape)


@public("view_as_real", out=False)
def view_as_real(input: Any) -> Any:
    """Return the real and imaginary parts along a new last axis: a view, or a tracked copy."""
    if input.dtype.kind != "c":
        raise InvalidType("view_as_real", "input", input.dtype, "complex64")
    if not input.is_tracked:
        return Array.view(manipulation.expand_dims(input, -1), np.float32)
    return manipulation.stack([ABOVE.namespace.real(input), ABOVE.namespace.imag(input)], axis=-1)


@public("view_as_complex", out=False)
def view_as_complex(input: Any) -> Any:
    """Return complex numbers of a last axis of two parts: a view, or a tracked copy."""
    if not input.shape or input.shape[-1] != 2 or input.dtype != np.float32:
        expected = "float32 with a last axis of length 2"
        raise InvalidArgument("view_as_complex", "input", input, expected)
    if not input.is_tracked:
        return manipulation.squeeze(Array.view(input, np.complex64), -1)
    return input[..., 0] + input[..., 1] * 1j


@public(function=False, out=False)
def is_contiguous(self: Any, memory_format: Any = None) -> bool:
    """Return whether the elements lie in row-major order in memory."""
    expected = "torch.contiguous_format, the only format here"
    if memory_format not in (None, "contiguous_format"):
        raise InvalidArgument("is_contiguous", "memory_format", memory_format, expected)
    return bool(self.flags.c_contiguous)


@public("cartesian_prod", method=False)
def cartesian_prod(*tensors: Any) -> Any:
    """Return all combinations of elements."""
    if len(tensors) == 1 and len(tensors[0].shape) == 1:
        return tensors[0].__copy__()
    grids = ABOVE.namespace.meshgrid(*tensors, indexing="ij")
    return manipulation.stack([manipulation.reshape(one, (-1,)) for one in grids], axis=-1)


@public("combinations", method=False)
def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """Return the combinations of r elements."""
    import itertools

    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = np.array(list(choose(range(input.shape[0]), r)), np.int32)
    return input[chosen.reshape(-1, r)]
