"""Batched arrays: the arguments of a function that ``vmap`` calls once for all examples.

A Batched array looks like the array of one example. Its value has all examples along axis 0. Calls
of public functions go to the batching rules (``autograd/batching/``). Like a Variable, a Batched
array hides its node, so an operation without a rule raises :class:`NeedsExamples`, and ``vmap``
computes it for each example.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from sys import _getframe
from typing import Any, NamedTuple, NoReturn, Self
from weakref import ref

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import INTERCEPTED, _OfClass
from browsergpu.arrays.autograd.hidden import HidingArray
from browsergpu.arrays.context import device_of
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.value import NODE
from browsergpu.arrays.views.aliases import siblings
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, NeedsExamples
from browsergpu.engine.core.modes import Mode
from browsergpu.engine.core.places import is_own, users_place
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.engine.core.turns import exclusive

_depths = count()


class Frame(Shown):
    """A call of a function that ``vmap`` returned.

    Attributes
    ----------
    depth : int
        Its number in the order of the calls. Calls within the function have higher numbers.
    size : int
        The number of examples.
    is_open : bool
        Whether the call is running.
    turned : list
        Arrays that a write made batched, as weak references, with their class, node and source.
    recorder : callable or None
        Computes the calls of public functions in place of batching rules. It takes the function,
        its key and its bound arguments. ``bg.onnx.export`` records calls with it.
    """

    __slots__ = ("depth", "is_open", "recorder", "size", "turned")

    def __init__(self, size: int, recorder: Any = None) -> None:
        self.recorder = recorder
        self.depth, self.size = next(_depths), size
        self.is_open = True
        self.turned: list[tuple[ref[Array], type, Node | None, Any]] = []


#: How random numbers are drawn in a function of ``vmap``: "same" for all examples, or "error".
RANDOMNESS: Mode[str] = Mode("randomness", "same")
#: The open frames, outermost first.
FRAMES: ContextVar[tuple[Frame, ...]] = ContextVar("frames", default=())


@contextmanager
def opened(frames: Iterable[Frame]) -> Iterator[None]:
    """Open frames for the body, in addition to the frames that are open now."""
    frames = tuple(sorted({*frames, *FRAMES.get()}, key=lambda frame: frame.depth))
    token = FRAMES.set(frames)
    before = [frame.is_open for frame in frames]
    for frame in frames:
        frame.is_open = True
    try:
        yield
    finally:
        for frame, was_open in zip(frames, before, strict=True):
            frame.is_open = was_open
        FRAMES.reset(token)


class Batch(NamedTuple):
    """The value of a batched array, with the examples along axis 0, and its frame."""

    value: Array
    frame: Frame


class Batched(HidingArray):
    """The array of one example, within a function that ``vmap`` calls."""

    __slots__ = ()

    is_tracked = True  # so that operators and assignment call public functions

    def like(self, node: Node) -> Self:
        """Return an array that is the same for all examples."""
        return Array(node, self.tracer)  # type: ignore[return-value]

    def same(self) -> Self:
        """Return another array of the same value."""
        return batched(*batch_of(self))  # type: ignore[return-value]

    @property
    def shape(self) -> Shape:
        """The length of each axis of an example."""
        return batch_of(self).value.shape[1:]

    @shape.setter
    def shape(self, _: Any) -> None:
        raise InvalidArgument("shape", "array", self, "outside of vmap", "Use reshape.")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the elements."""
        return batch_of(self).value.dtype

    @property
    def requires_grad(self) -> bool:
        """Whether operations on the array are recorded for ``backward``."""
        return batch_of(self).value.requires_grad

    @requires_grad.setter
    def requires_grad(self, _: bool) -> None:
        raise InvalidArgument("requires_grad", "array", self, "outside of vmap", "Use grad().")

    @property
    def _own_node(self) -> Node:
        raise _hidden_error(self)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """Return the array itself on its own device. Raises InvalidType for another device."""
        if device_of("to_device", device) is not self.device:
            refuse_read(self, "to_device")
        return self

    def __repr__(self) -> str:
        batch = batch_of(self)
        shown = f"shape={self.shape}, dtype={self.dtype}, examples={batch.frame.size}"
        return f"{type(self).__name__}({shown})"

    __str__ = __repr__

    def _repr_html_(self) -> None:
        return None

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)


#: For each class of arrays, the class of its batched arrays.
BATCHED_OF = _OfClass()
BATCHED_OF[Array] = Batched
#: The classes of batched arrays.
BATCHED: set[type] = {Batched}
INTERCEPTED.add(Batched)


def register_batched(kind: type, own: type) -> None:
    """Register the class of batched arrays for a family of arrays."""
    BATCHED_OF[kind] = own
    BATCHED.add(own)
    INTERCEPTED.add(own)


def batched(value: Array, frame: Frame, kind: Any = None) -> Array:
    """Return the array of one example, of a value with all examples along axis 0."""
    kind = BATCHED_OF[type(value)] if kind is None else kind
    made: Array = kind.__new__(kind)
    made.tracer, made.source = value.tracer, Batch(value, frame)
    return made


def batch_of(x: Array) -> Batch:
    """Return the value and the frame of a batched array."""
    batch: Batch = x.source
    if not batch.frame.is_open:
        leaked = Description("an array that a function kept after vmap called it")
        expected = "a result of vmap, or used within the function"
        raise InvalidArgument("vmap", "array", leaked, expected, "Return it from the function.")
    return batch


def _hidden_error(x: Array) -> NeedsExamples:
    return NeedsExamples(batch_of(x).frame)


def _hidden(self: Array) -> Node:
    raise _hidden_error(self)


def _no_node(self: Array, node: Node) -> None:
    raise _hidden_error(self)


setattr(Batched, "node", property(_hidden, _no_node))  # noqa: B010 - a slot, for the checker

_ADVICE = {
    "__bool__": "Use where(), or lax.cond() of browsergpu.jax.",
    "__index__": "Shapes, axes and slices must be the same for all examples.",
}


def refuse_read(x: Array, name: str) -> NoReturn:
    """Raise for a read of a batched array, which has no value of its own.

    Raises NeedsExamples if a function of this package reads, so that it runs for each example.
    """
    if is_own(_getframe(2)):
        raise _hidden_error(x)
    place = users_place()
    where = f" in {place}" if place else ""
    told = Description(f"an array of vmap, which has a value for each example{where}")
    advice = _ADVICE.get(name, "Use browsergpu's functions, or read the result of vmap.")
    raise InvalidType(name.strip("_"), "array", told, "one value", advice)


for _name in (
    "numpy", "numpy_async", "item", "tolist", "__array__", "__float__", "__int__", "__bool__",
    "__complex__", "__index__", "__dlpack__", "__contains__", "ready", "__reduce__",
    "__deepcopy__", "__round__", "backward",
):  # fmt: skip

    def _reading(self: Array, *args: Any, _name: str = _name, **options: Any) -> Any:
        refuse_read(self, _name)

    _reading.__name__, _reading.__doc__ = _name, getattr(Array, _name).__doc__
    setattr(Batched, _name, _reading)


def turn(x: Array, value: Array, frame: Frame) -> None:
    """Make an array that was equal for all examples a batched array, because of a write."""
    kind, source = type(x), getattr(x, "source", None)
    if kind in BATCHED:
        frame.turned.append((ref(x), kind, None, source))
    else:
        node = NODE.__get__(x)
        if siblings(node):
            told = Description("an array with views, or a view")
            expected = "an array without views, as the value differs between the examples of vmap"
            raise InvalidArgument("vmap", "array", told, expected, "Use copy().")
        frame.turned.append((ref(x), kind, node, source))
        node.drop(x)
        NODE.__delete__(x)
        x.__class__ = BATCHED_OF[kind]
    x.source = Batch(value, frame)


@exclusive
def turn_back(frame: Frame) -> bool:
    """Undo the writes of :func:`turn` to arrays that still exist. Return whether there are any."""
    found = [(x, *rest) for one, *rest in frame.turned if (x := one()) is not None]
    for x, kind, node, source in reversed(found):
        if node is not None:
            x.__class__ = kind
            node.hold(x)
            NODE.__set__(x, node)
        if source is None:
            del x.source
        else:
            x.source = source
    frame.turned.clear()
    return bool(found)
