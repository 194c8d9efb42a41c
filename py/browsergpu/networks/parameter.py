"""Parameters, the arrays that a network learns."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

from browsergpu.arrays.array import Array
from browsergpu.arrays.in_place import become
from browsergpu.autograd.array_methods import CONSTRUCTORS, Constructor
from browsergpu.engine.core.errors import InvalidType, two_devices
from browsergpu.engine.core.showing import Shown
from browsergpu.functions import creation

#: The arrays that are parameters, by id. Arrays have no field for it.
_known: WeakValueDictionary[int, Array] = WeakValueDictionary()


class _Kind(type):
    """Metaclass for ``isinstance(x, Parameter)``, as in PyTorch."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Array) and _known.get(id(x)) is x


class Parameter(Shown, metaclass=_Kind):
    """An array that becomes a module's parameter when it is assigned to an attribute.

    It is an Array and a leaf of autograd. It can be changed in place under ``no_grad()`` and stays
    a parameter, even if ``requires_grad_(False)`` freezes it.

    Parameters
    ----------
    data : array_like
        The values. An Array is viewed, as in PyTorch; other data is converted by ``asarray``.
    requires_grad : bool
        Whether gradients are computed for it.

    Raises
    ------
    InvalidType
        If it requires a gradient and its dtype is not float or complex.
    """

    def __new__(cls, data: Any, requires_grad: bool = True) -> Array:  # type: ignore[misc]
        own = data.detach() if isinstance(data, Array) else creation.asarray(data)
        return registered(own, requires_grad)


def registered(own: Array, requires_grad: bool = True) -> Array:
    """Make an array, which must have no other user, a Parameter."""
    if requires_grad and own.dtype.kind not in "fc":
        raise InvalidType("Parameter", "data", own, "floats")
    _known[id(own)] = own
    return own.requires_grad_(requires_grad)


def _constructor(x: Array) -> Constructor | None:
    """Return the function that creates Parameters if ``x`` is a Parameter, else None."""
    return registered if _known.get(id(x)) is x else None


CONSTRUCTORS.append(_constructor)


def take(x: Array, value: Array) -> None:
    """Set a leaf's value in place, in the leaf's dtype. ``value`` must have its shape.

    The leaf still requires a gradient as before, and earlier recorded operations keep the old
    value. Raises InvalidType for a value on another device.
    """
    if value.device is not x.device:
        raise two_devices("parameter", "value")
    become(x, value.detach().astype(x.dtype, copy=False))
