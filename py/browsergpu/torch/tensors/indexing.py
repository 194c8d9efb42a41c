"""Indexing and gathering."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.variable import Variable
from browsergpu.arrays.in_place import become
from browsergpu.arrays.value import NODE
from browsergpu.autograd.operators import rebind
from browsergpu.engine.core.element_types import is_same_kind
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import data_types, elementwise, manipulation, parts
from browsergpu.functions.ordering import additions, sorting
from browsergpu.torch.tensors.pointwise import factor
from browsergpu.torch.tensors.public import add_method, public
from browsergpu.torch.tensors.shapes import axis_of
from browsergpu.torch.tensors.tensor import Tensor, TrackedTensor, as_tensors

_WHOLE = slice(None)
_ARRAYS = (Array, np.ndarray)
_SCALARS = (*_ARRAYS, np.generic)
#: What a list contains if it stands for a tuple of keys, as in PyTorch.
_KEYS = (list, tuple, range, slice, *_ARRAYS, type(None), type(Ellipsis))


def _is_indices(item: Any) -> bool:
    return isinstance(item, list) or (isinstance(item, _ARRAYS) and bool(item.shape))


def _selects(item: Any) -> bool:
    """Whether part of a key selects at one index: an integer, also in a tensor without axes."""
    if isinstance(item, _SCALARS):
        return not item.shape and item.dtype.kind in "iu" and item.dtype != np.uint8
    return type(item) is int


def _parts(self: Any, key: Any, is_written: bool = False) -> tuple[Any, Any]:
    """Return a view and a key of it. Integers beside index tensors select before them.

    Reads select by an integer on the GPU without a view. Writes need the view, and wait for it.
    """
    rank = self.ndim
    if type(key) is int:
        return self, ((key, Ellipsis) if rank == 1 else key)
    if type(key) is not tuple:
        return self, key
    integers = sum(type(one) is int for one in key)
    if integers and integers == len(key) == rank:
        return self, (*key, Ellipsis)  # a view, where NumPy copies a single element
    if not any(_is_indices(one) for one in key) or not any(_selects(one) for one in key):
        return self, key
    if is_written:
        key = tuple([_number(one) for one in key])
    first: list[Any] = []
    for one in key:
        if _selects(one) or one is Ellipsis:
            first.append(one)
        else:
            first += [_WHOLE] * _axes_of(one)
    return self[tuple(first)], tuple([one for one in key if not _selects(one)])


def _axes_of(item: Any) -> int:
    """Return the number of axes that a part of a key stands for."""
    if item is None or isinstance(item, bool):
        return 0
    is_mask = isinstance(item, _ARRAYS) and item.dtype.kind == "b"
    return len(item.shape) if is_mask else 1


def _meant(key: Any) -> Any:
    """Return a key in which lists of several keys are tuples, and uint8 tensors are masks."""
    if type(key) is list and len(key) < 32 and any(isinstance(one, _KEYS) for one in key):
        key = tuple(key)
    if type(key) is tuple:
        for one in key:
            if isinstance(one, _ARRAYS) and one.dtype == np.uint8:
                return tuple([_mask(one) for one in key])
        return key
    return _mask(key)


def _mask(item: Any) -> Any:
    is_mask = isinstance(item, _ARRAYS) and item.dtype == np.uint8
    return item.astype(np.bool_) if is_mask else item


def _number(item: Any) -> Any:
    return int(item) if isinstance(item, Array) and _selects(item) else item


def _indexed(owner: type, base: Any) -> None:
    get, put = base.__getitem__, base.__setitem__

    def getitem(self: Any, key: Any) -> Any:
        kind = type(key)
        if kind is not int and kind is not slice:
            key = _meant(key)
            kind = type(key)
        if kind is int or kind is tuple:
            own, key = _parts(self, key)
            if own is not self:
                return own[key]
        found = get(self, key)
        if type(found) is not Tensor and type(found) is not TrackedTensor:
            found = as_tensors(found, (self,))
        return found

    def setitem(self: Any, key: Any, value: Any) -> None:
        if type(key) is not int:
            key = _meant(key)
        if type(key) is tuple:
            own, key = _parts(self, key, is_written=True)
            if own is not self:
                own[key] = value
                return
        put(self, key, value)

    setattr(owner, "__getitem__", getitem)  # noqa: B010 - for the checker
    setattr(owner, "__setitem__", setitem)  # noqa: B010


_indexed(Tensor, Array)
_indexed(TrackedTensor, Variable)


def _cut(input: Any, index: Any, dim: int) -> Any:
    """Return the part of a tensor whose other axes are as long as those of the indices."""
    at = axis_of("gather", dim, len(input.shape))
    if len(index.shape) != len(input.shape):
        raise InvalidArgument("gather", "index", index, f"have {len(input.shape)} axes")
    both = enumerate(zip(index.shape, input.shape, strict=True))
    if 0 not in index.shape and any(n != at and one > most for n, (one, most) in both):
        expected = f"at most as long as input, {tuple(input.shape)}, along each axis but dim"
        raise InvalidArgument("gather", "index", index, expected)
    key = tuple([_WHOLE if n == at else slice(0, one) for n, one in enumerate(index.shape)])
    return input[key]


@public()
def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """Return the elements at indices along an axis."""
    if sparse_grad:
        raise InvalidArgument("gather", "sparse_grad", sparse_grad, "False")
    return sorting.take_along_axis(_cut(input, index, dim), index, axis=dim)


@public()
def take_along_dim(input: Any, indices: Any, dim: Any = None) -> Any:
    """Return the elements at indices along an axis, or of the flattened tensor."""
    if dim is None:
        return manipulation.take(manipulation.reshape(input, (-1,)), indices)
    return sorting.take_along_axis(input, indices, axis=dim)


def _check_index(op: str, index: Any) -> None:
    if not isinstance(index, Array):
        raise InvalidType(op, "index", type(index), "a tensor of integers")
    if len(index.shape) > 1:
        raise InvalidArgument(op, "index", index, "have at most 1 axis")


@public()
def index_select(input: Any, dim: int, index: Any) -> Any:
    """Return the parts at indices of an axis."""
    at = axis_of("index_select", dim, len(input.shape))
    _check_index("index_select", index)
    if not input.shape:
        return manipulation.reshape(manipulation.take(input.reshape(1), index.reshape(1)), ())
    return manipulation.take(input, manipulation.reshape(index, (-1,)), axis=at)


@public()
def take(input: Any, index: Any) -> Any:
    """Return the elements at indices of the flattened tensor."""
    return manipulation.take(manipulation.reshape(input, (-1,)), index)


@public()
def masked_select(input: Any, mask: Any) -> Any:
    """Return the elements where a mask is true. Waits for the GPU."""
    own, where = manipulation.broadcast_arrays(input, mask)
    return parts.part(own, where)


@public(function=True, out=False)
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """Replace elements where a mask is true."""
    if not isinstance(mask, Array):
        raise InvalidType("masked_fill", "mask", type(mask), "a bool tensor")
    if mask.dtype.kind != "b":
        raise InvalidType("masked_fill", "mask", mask.dtype, "a bool tensor", "Compare it.")
    if isinstance(value, Array):
        if value.shape:
            raise InvalidArgument("masked_fill", "value", value, "a number, or have no axes")
        return elementwise.where(mask, data_types.astype(value, input.dtype, copy=False), input)
    return elementwise.where(mask, _scalar("masked_fill", value, input.dtype), input)


def _scalar(op: str, value: Any, dtype: Any) -> Any:
    """Return a number as one of a dtype, which must be able to hold it."""
    kinds: dict[str, Any] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
    try:
        return kinds[dtype.kind](value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(op, "value", value, f"a number of {dtype}") from None


@public(out=False)
def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """Replace elements where a mask is true by those of a source in order."""
    mask = manipulation.broadcast_to(mask, input.shape)
    flat = manipulation.reshape(data_types.astype(mask, "int64"), (-1,))
    place = manipulation.reshape(sorting.cumulative_sum(flat) - 1, input.shape)
    return elementwise.where(mask, manipulation.take(source.reshape(-1), place.clip(0)), input)


def added(input: Any, key: Any, value: Any) -> Any:
    """Return a copy with values added at a key, also repeatedly."""
    if input.dtype.kind == "b":
        raise InvalidType("scatter_add", "input", input.dtype, "a number dtype")
    if input.dtype.kind in "iu":
        value = data_types.astype(value, input.dtype, copy=False)
    return additions.added_at(input, key, value)


def _along(dim: int, index: Any) -> tuple[Any, ...]:
    return (_WHOLE,) * dim + (index,)


def of_one_dtype(op: str, input: Any, source: Any) -> None:
    """Raise InvalidType for a source of another dtype than the tensor that takes its values."""
    if source.dtype != input.dtype:
        expected = f"{input.dtype}, as input"
        raise InvalidType(op, "source", source.dtype, expected, "Call source.to(input.dtype).")


def _moved(op: str, f: Any, input: Any, dim: int, index: Any, source: Any) -> Any:
    """Return the result of a function of parts along the first axis for parts along another."""
    at = axis_of(op, dim, len(input.shape))
    _check_index(op, index)
    own = manipulation.moveaxis(input, at, 0) if input.shape else manipulation.reshape(input, (1,))
    index = manipulation.reshape(index, (-1,))
    if isinstance(source, Array) and op != "index_fill":
        of_one_dtype(op, input, source)
        wanted = (index.shape[0], *own.shape[1:])
        parts_ = manipulation.moveaxis(source, at, 0) if len(source.shape) > at else source
        if not source.shape or (not input.shape and len(source.shape) == 1):
            parts_ = manipulation.reshape(source, (-1,))
        if tuple(parts_.shape) != wanted:
            expected = f"have a part for each of the {index.shape[0]} indices along axis {at}"
            raise InvalidArgument(op, "source", source, expected)
        source = parts_
    found = f(own, index, source)
    if not input.shape:
        return manipulation.reshape(found, ())
    return manipulation.moveaxis(found, 0, at)


@public(out=False)
def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """Return a copy with parts added at indices of an axis."""
    factor("index_add", "alpha", alpha, source)
    given = source if not isinstance(alpha, bool) and alpha == 1 else source * alpha
    return _moved("index_add", added, input, dim, index, given)


@public(out=False)
def index_copy(input: Any, dim: int, index: Any, source: Any) -> Any:
    """Return a copy with parts replaced at indices of an axis."""
    return _moved("index_copy", parts.assigned, input, dim, index, source)


@public(out=False)
def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """Return a copy with a number at indices of an axis."""
    if isinstance(value, Array) and value.shape:
        raise InvalidArgument("index_fill", "value", value, "a number, or have no axes")
    return _moved("index_fill", parts.assigned, input, dim, index, value)


@public(out=False)
def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Return a copy with values at indices, or added there."""
    key = tuple([_WHOLE if one is None else one for one in indices])
    if accumulate:
        return added(input, key, manipulation.broadcast_to(values, input[key].shape))
    return parts.assigned(input, key, values)


def assigned(self: Any, found: Any, op: str) -> Any:
    """Assign a result to a tensor, and return the tensor.

    Writes of untracked values to untracked tensors, such as ``x.data``, are not recorded.
    """
    if self.is_tracked or found.is_tracked:
        return rebind(self, found, op)
    if found.dtype != self.dtype:
        if not is_same_kind(NODE.__get__(found).kind, NODE.__get__(self).kind):
            expected = f"of a dtype that leaves {self.dtype}"
            raise InvalidType(op, "other", found.dtype, expected)
        found = data_types.astype(found, self.dtype)
    become(self, found)
    return self


def in_place(name: str, f: Any) -> None:
    """Add the method ``name``, which assigns the result of a function to the tensor."""

    def method(self: Any, *args: Any, **options: Any) -> Any:
        found = f(self, *args, **options)
        if tuple(found.shape) != tuple(self.shape):
            found = manipulation.broadcast_to(found, self.shape)
        return assigned(self, found, name)

    method.__name__ = name
    method.__doc__ = f"Compute ``{name.removesuffix('_')}`` in place, and return the tensor."
    add_method(name, method)


for _f in (
    index_add, index_copy, index_fill, index_put, masked_fill, masked_scatter
):  # fmt: skip
    in_place(f"{_f.__name__}_", _f)
