"""Tensors: arrays with PyTorch's methods and meaning.

A Tensor is an Array of another class with the same slots, so a result becomes a tensor in place, by
its ``__class__``. The other modules of this package add the methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from weakref import ref

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import Batched, batch_of, batched, register_batched
from browsergpu.arrays.autograd.families import ARRAYS, register_family
from browsergpu.arrays.autograd.variable import Variable, plain
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.value import NODE, Value
from browsergpu.arrays.views.aliases import alias
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidType, UnknownName
from browsergpu.engine.core.turns import exclusive

_item = tuple.__getitem__
#: An argument that is not given.
_MISSING = object()


class Size(tuple[int, ...]):
    """The shape of a tensor, a tuple."""

    __slots__ = ()

    def numel(self) -> int:
        """Return the number of elements."""
        return product(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __getitem__(self, key: Any) -> Any:
        found = _item(self, key)
        return Size(found) if type(found) is tuple else found

    def __add__(self, other: Any) -> Any:
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other: Any) -> Any:
        return Size(tuple.__add__(tuple(other), self))

    def __mul__(self, times: Any) -> Any:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__


class _SizeMethod(int):
    """The number of elements, as in NumPy, which can be called, as in PyTorch."""

    shape: Size

    def __call__(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]


def _size(shape: tuple[int, ...]) -> _SizeMethod:
    found = _SizeMethod(product(shape))
    found.shape = Size(shape)
    return found


class Tensor(Array):
    """An array with PyTorch's methods.

    ``torch.tensor`` makes tensors of values, and ``torch.Tensor(2, 3)`` an empty one.
    """

    __slots__ = ()

    def __init__(
        self, node: Any = _MISSING, tracer: Any = _MISSING, *rest: Any, **options: Any
    ) -> None:
        if type(tracer) is Tracer:  # the engine's call, as Value.__init__, which takes longer
            self.node = node
            self.tracer = tracer
            if node.refs:
                node.hold(self)
            else:
                node.refs = (ref(self),)
        else:
            args = tuple([one for one in (node, tracer, *rest) if one is not _MISSING])
            _hold(self, _of_values(args, options))

    __hash__ = object.__hash__  # type: ignore[assignment]

    @property  # type: ignore[misc]
    def shape(self) -> Any:
        """The length of each axis."""
        return Size(NODE.__get__(self).shape)

    @property
    def size(self) -> Any:
        """``x.size()`` is the shape and ``x.size(0)`` the length of an axis."""
        return _size(NODE.__get__(self).shape)

    def __iter__(self) -> Iterator[Any]:
        if not NODE.__get__(self).shape:
            raise TypeError("iteration over a 0-d tensor")
        return (self[at] for at in range(NODE.__get__(self).shape[0]))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'Tensor' object has no attribute {name!r}")
        advice = f"{' or '.join(ADVICE.get(name, ('It is not available.',)))}"
        raise UnknownName(f"Tensor.{name}", advice)


class TrackedTensor(Variable, Tensor):
    """A tensor that requires a gradient."""

    __slots__ = ()

    __hash__ = object.__hash__
    __iter__ = Tensor.__iter__
    size = Tensor.size

    @property  # type: ignore[misc]
    def shape(self) -> Any:
        """The length of each axis."""
        return Size(NODE.__get__(self).shape)


class BatchedTensor(Batched, Tensor):
    """The tensor of one example, within a function that ``vmap`` calls."""

    __slots__ = ()

    __hash__ = object.__hash__
    __init__ = Tensor.__init__

    def like(self, node: Any) -> Any:
        """Return a tensor that is the same for all examples."""
        return Tensor(node, self.tracer)

    @property  # type: ignore[misc]
    def shape(self) -> Any:
        """The length of each axis of an example."""
        return Size(Batched.shape.fget(self))  # type: ignore[attr-defined]

    @property
    def size(self) -> Any:
        """``x.size()`` is the shape and ``x.size(0)`` the length of an axis."""
        return _size(self.shape)

    def __iter__(self) -> Iterator[Any]:
        return (self[at] for at in range(len(self)))


#: Advice for names that tensors do not have.
ADVICE: dict[str, tuple[str, ...]] = {
    "is_sparse": ("Tensors are dense.",),
    "to_sparse": ("Tensors are dense.",),
    "storage": ("WebGPU gives no pointers. Use x.numpy().",),
    "untyped_storage": ("WebGPU gives no pointers. Use x.numpy().",),
    "data_ptr": ("WebGPU gives no pointers. Use id(x) to tell tensors apart.",),
    "share_memory_": ("There are no worker processes.",),
}

register_family(Tensor, TrackedTensor)
for _kind in (Tensor, TrackedTensor):
    register_batched(_kind, BatchedTensor)
for _kind in (Tensor, TrackedTensor, BatchedTensor):
    _kind.__name__ = _kind.__qualname__ = "Tensor"

_OTHERS = {Array: Tensor, Variable: TrackedTensor, Batched: BatchedTensor}
_CONTAINERS = (tuple, list, dict)


@exclusive
def _hold(x: Tensor, found: Any) -> None:
    """Make a new tensor hold the value of an array."""
    Value.__init__(x, NODE.__get__(found), found.tracer)


def _of_values(args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    from browsergpu.functions import creation

    if options:
        raise UnknownName(f"Tensor({', '.join(options)}=)", "Use torch.tensor.")
    if not args:
        return creation.zeros((0,), dtype=np.float32)
    if len(args) == 1 and not isinstance(args[0], int):
        if isinstance(args[0], float | complex):
            raise InvalidType("Tensor", "data", args[0], "a sequence or sizes", "Use torch.tensor.")
        return creation.asarray(args[0], dtype=np.float32, copy=True)
    return creation.zeros(args, dtype=np.float32)


@exclusive
def _another(x: Any) -> Any:
    """Return another array of the same memory."""
    return alias(x, plain(x))


def as_tensors(found: Any, given: Iterable[Any] = ()) -> Any:
    """Make arrays tensors, also those in tuples, lists and dicts, and return them.

    An array that is one of ``given`` is the user's, and stays an array. The result is another
    tensor of its memory.
    """
    kind = type(found)
    if kind is Tensor or kind is TrackedTensor:
        return found
    if kind in _OTHERS:
        if any(found is one for one in given):
            if kind is Batched:
                return batched(*batch_of(found), BatchedTensor)
            found = _another(found) if kind is Array else found[...]
        found.__class__ = _OTHERS[type(found)]
        return found
    if isinstance(found, _CONTAINERS) and kind is not Size:
        return _in_container(found, given)
    return found


def _in_container(found: Any, given: Iterable[Any]) -> Any:
    if isinstance(found, dict):
        for key, value in found.items():
            made = as_tensors(value, given)
            if made is not value:
                found[key] = made
        return found
    made = [as_tensors(one, given) for one in found]
    if all(new is old for new, old in zip(made, found, strict=True)):
        return found
    if hasattr(found, "_make"):
        return found._make(made)
    return type(found)(made)


def is_array(x: Any) -> bool:
    """Whether an object is an array or a tensor."""
    return type(x) in ARRAYS


def is_tensor(obj: Any) -> bool:
    """Return whether an object is a tensor."""
    return isinstance(obj, Tensor)
