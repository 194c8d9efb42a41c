"""What a network learns."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

from browsergpu.arrays.array import Array
from browsergpu.arrays.in_place import become
from browsergpu.autograd.array_methods import MAKERS, Maker
from browsergpu.core.errors import InvalidType, two_devices
from browsergpu.core.showing import Shown
from browsergpu.functions import creation

#: Arrays that are parameters, by their ids: an array has no place to say so, and needs none.
_known: WeakValueDictionary[int, Array] = WeakValueDictionary()


class _Kind(type):
    """Whether an array is a parameter is asked by ``isinstance``, as in PyTorch."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Array) and _known.get(id(x)) is x


class Parameter(Shown, metaclass=_Kind):
    """An array that a Module has as one of its parameters where it is an attribute: a leaf that
    requires a gradient: a view of ``data``, as in PyTorch, or of what ``asarray`` makes of it.

    It is an Array, changes its value in place under ``no_grad()`` and stays a parameter then, also
    where ``requires_grad_(False)`` freezes it. Raises InvalidType, a TypeError, where it is not of
    floats and requires a gradient.
    """

    def __new__(cls, data: Any, requires_grad: bool = True) -> Array:  # type: ignore[misc]
        own = data.detach() if isinstance(data, Array) else creation.asarray(data)
        return registered(own, requires_grad)


def registered(own: Array, requires_grad: bool = True) -> Array:
    """An array that nobody else has, as a Parameter."""
    if requires_grad and own.dtype.kind not in "fc":
        raise InvalidType("Parameter", "data", own, "floats")
    _known[id(own)] = own
    return own.requires_grad_(requires_grad)


def _maker(x: Array) -> Maker | None:
    """What makes another Parameter; None for what is none."""
    return registered if _known.get(id(x)) is x else None


MAKERS.append(_maker)


def take(x: Array, value: Array) -> None:
    """A leaf takes a value of its shape; it requires a gradient as before, and what was noted of
    it before is as it was. In the dtype of the leaf. Raises InvalidType for one of another
    device."""
    if value.device is not x.device:
        raise two_devices("parameter", "value")
    become(x, value.detach().astype(x.dtype, copy=False))
