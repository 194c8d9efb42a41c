"""Methods and properties of JAX arrays, which call the functions of ``jax.numpy``."""

from __future__ import annotations

import sys
from sys import _getframe
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.value import NODE
from browsergpu.engine.core.checks import is_several
from browsergpu.engine.core.errors import InvalidType
from browsergpu.engine.core.places import is_own
from browsergpu.jax.arrays import dtypes, operators
from browsergpu.jax.arrays.array import ADVICE, JAX, JaxArray, as_jax, cast, refused
from browsergpu.jax.arrays.at import At
from browsergpu.jax.numpy import namespace
from browsergpu.jax.numpy.wrappers import FUNCTIONS

_METHODS = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "conj",
    "conjugate", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod",
    "ptp", "ravel", "repeat", "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes",
    "take", "trace", "var",
)  # fmt: skip
_KINDS = (JaxArray, *[kind for kind in JAX if kind is not JaxArray])
_ = operators, namespace  # these enter their methods and functions


def _add(name: str, method: Any) -> None:
    for kind in _KINDS:
        setattr(kind, name, method)


def _method(name: str) -> Any:
    function = FUNCTIONS[name]

    def method(self: Any, *args: Any, **options: Any) -> Any:
        return function(self, *args, **options)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Call ``jax.numpy.{name}`` with the array."
    return method


for _name in _METHODS:
    _add(_name, _method(_name))
for _name in ADVICE:
    _add(_name, refused(_name))


_base_astype, _view_of_base = Array.astype, Array.view


def _astype(self: Any, dtype: Any, copy: bool = False, device: Any = None) -> Any:
    """Return the array in another dtype. 64-bit dtypes become 32-bit dtypes."""
    if is_own(_getframe(1)):  # the engine's own code may use 64 bits
        return _base_astype(self, dtype, copy=copy) if type(self) is JaxArray else cast(self, dtype)
    kind = dtypes.dtype_of("astype", dtype)
    if kind is None:
        kind = dtypes.FLOAT32
    found = cast(FUNCTIONS["real"](self) if self.dtype.kind == "c" and kind.kind != "c" else self,
                 kind)  # fmt: skip
    if device is not None:
        found = as_jax(found.to_device(device))
    return found.__copy__() if copy and found is self else found


def _reshape(self: Any, *shape: Any, order: str = "C", copy: bool | None = None,
             out_sharding: Any = None) -> Any:  # fmt: skip
    """Return the elements in another shape."""
    given = shape[0] if len(shape) == 1 else shape
    return FUNCTIONS["reshape"](self, given, order, out_sharding=out_sharding)


def _transpose(self: Any, *axes: Any) -> Any:
    """Permute the axes, by default to the reverse order."""
    given = axes[0] if len(axes) == 1 and (axes[0] is None or is_several(axes[0])) else axes
    return FUNCTIONS["transpose"](self, given or None)


def _flatten(self: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
    """Return the elements along one axis."""
    return FUNCTIONS["ravel"](self, order, out_sharding=out_sharding)


def _copy(self: Any, order: Any = None) -> Any:
    """Return a copy of the array."""
    return as_jax(self.__copy__())


def _compress(self: Any, condition: Any, axis: int | None = None, *, out: Any = None,
              size: int | None = None, fill_value: Any = 0) -> Any:  # fmt: skip
    """Return the parts of an axis where a condition is true."""
    return FUNCTIONS["compress"](condition, self, axis, out=out, size=size, fill_value=fill_value)


def _view(self: Any, dtype: Any = None) -> Any:
    """Return the bits as another dtype of the same width."""
    if dtype is None:
        return self
    if type(self) is not JaxArray:
        if dtypes.dtype_of("view", dtype) == self.dtype:
            return self
        raise InvalidType("view", "array", self, "outside of vmap and grad")
    return as_jax(_view_of_base(self, dtypes.dtype_of("view", dtype)))


def _block_until_ready(self: Any) -> Any:
    """Wait until the array is computed, and return it."""
    if type(self) is JaxArray:
        Array.numpy(self.reshape(-1)[:1])
    return self


def _copy_to_host_async(self: Any) -> None:
    """Do nothing: a read waits for the GPU."""


def _devices(self: Any) -> set[Any]:
    """Return the device of the array, in a set."""
    return {self.device}


for _method_of in (
    _astype, _reshape, _transpose, _flatten, _copy, _compress, _view, _block_until_ready,
    _copy_to_host_async, _devices,
):  # fmt: skip
    _own: Any = _method_of
    _own.__name__ = _own.__qualname__ = _own.__name__.removeprefix("_")
    _add(_own.__name__, _own)


def _array_namespace(self: Any, *, api_version: str | None = None) -> Any:
    """Return ``browsergpu.jax.numpy``."""
    Array.__array_namespace__(self, api_version=api_version)  # checks the version
    return sys.modules[namespace.__package__]


def _is_deleted(self: Any) -> bool:
    """Return whether the memory was given away by ``donate``."""
    return False


_add("is_deleted", _is_deleted)
_add("__array_namespace__", _array_namespace)
_add("is_ready", lambda self: NODE.__get__(self).trace is None)
_add("at", property(At, doc="Make copies with some elements changed: ``x.at[key].set(value)``."))
_add("weak_type", property(lambda self: False, doc="False: no array has a weak type."))
_add("is_fully_addressable", property(lambda self: True, doc="True: there is one process."))
_add("is_fully_replicated", property(lambda self: True, doc="True: each array is on one device."))
