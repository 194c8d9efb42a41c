"""``jax.Array``: arrays that cannot be changed, with JAX's methods and dtypes.

The classes have the slots of an Array, so a result becomes a JAX array in place, by its
``__class__``. The other modules of this package add operators and methods.
"""

from __future__ import annotations

from collections.abc import Iterator
from sys import _getframe
from typing import Any, NoReturn

import numpy as np

from browsergpu.arrays.apply import cast_to
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import BATCHED, Batch, Batched, batch_of, register_batched
from browsergpu.arrays.autograd.families import ARRAYS, TRACKED, register_family
from browsergpu.arrays.autograd.variable import Variable, plain, variable
from browsergpu.arrays.value import NODE
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.element_types import INT32, INT64, UINT32, UINT64
from browsergpu.engine.core.errors import UnknownName
from browsergpu.engine.core.places import is_own
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions import data_types

_ADVICE = (
    "JAX arrays are immutable. Instead of x[idx] = y, use x = x.at[idx].set(y) or another .at[] "
    "method."
)


class Sharding(Shown):
    """The place of an array."""


class SingleDeviceSharding(Sharding):
    """The place of an array on one device."""

    def __init__(self, device: Any) -> None:
        self.device = device

    @property
    def device_set(self) -> set[Any]:
        """The device, in a set."""
        return {self.device}

    def _facts(self) -> str:
        return f"on {self.device.name!r}"


class _Absent:
    """A name that a class has not, although its base has it.

    NumPy's ufuncs then take a copy on the host, and ``array + x`` calls ``x.__radd__``, as for
    arrays of JAX.
    """

    def __get__(self, instance: Any, owner: type | None = None) -> NoReturn:
        raise AttributeError("__array_ufunc__")


class JaxArray(Array):
    """An immutable array with the methods and dtypes of ``jax.Array``.

    ``jax.numpy.asarray`` and the other functions of ``browsergpu.jax`` make such arrays. Integers
    are int32 and floats float32 unless a dtype says otherwise.
    """

    __slots__ = ()
    __array_priority__ = 1100

    def __setitem__(self, key: Any, value: Any) -> None:
        if not is_own(_getframe(1)):
            raise TypeError(f"'Array' object does not support item assignment. {_ADVICE}")
        Array.__setitem__(self, key, value)

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[at] for at in range(self.shape[0]))

    __array_ufunc__ = _Absent()

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if is_own(_getframe(1)):
            return Array.__array_function__(self, func, types, args, kwargs)
        return func(*_on_host(args), **_map_values(_on_host, kwargs))

    def __repr__(self) -> str:
        with np.printoptions(threshold=1000):
            return _text(self)

    def __reduce__(self) -> Any:
        return _unpickled, (self.numpy(),)

    def __copy__(self) -> Any:
        return Array.__copy__(self)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    @property
    def sharding(self) -> SingleDeviceSharding:
        """The device, as JAX describes it."""
        return SingleDeviceSharding(self.device)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'Array' object has no attribute {name!r}")
        advice = ADVICE.get(name, "It is not available. Use browsergpu.jax.numpy.")
        raise UnknownName(f"jax.Array.{name}", advice)


class TrackedJaxArray(Variable, JaxArray):
    """An array that a differentiated function gets or computes."""

    __slots__ = ()
    __iter__ = JaxArray.__iter__
    __setitem__ = JaxArray.__setitem__
    __array_ufunc__ = _Absent()
    __array_function__ = JaxArray.__array_function__

    def __repr__(self) -> str:
        return f"Traced<{plain(self)!r}>"


class BatchedJaxArray(Batched, JaxArray):
    """The array of one example, within a function that ``vmap`` calls."""

    __slots__ = ()
    __iter__ = JaxArray.__iter__
    __setitem__ = JaxArray.__setitem__
    __array_ufunc__ = _Absent()
    __array_function__ = JaxArray.__array_function__


register_family(JaxArray, TrackedJaxArray)
register_batched(JaxArray, BatchedJaxArray)
register_batched(TrackedJaxArray, BatchedJaxArray)
JAX = frozenset((JaxArray, TrackedJaxArray, BatchedJaxArray))
for _kind in JAX:
    _kind.__name__ = _kind.__qualname__ = "Array"

_OTHERS: dict[type, type] = {
    Array: JaxArray, Variable: TrackedJaxArray, Batched: BatchedJaxArray,
}  # fmt: skip
_PLAIN = {JaxArray: Array, TrackedJaxArray: Variable, BatchedJaxArray: Batched}
_NARROW = {INT64: INT32, UINT64: UINT32}


def _text(x: Array) -> str:
    from browsergpu.engine.gpu import platform

    if not platform.can_block():
        return f"Array(shape={x.shape}, dtype={x.dtype.name})"
    values = np.array2string(x.numpy(), separator=", ", prefix="Array(")
    shape = f", shape={x.shape}" if 0 in x.shape and len(x.shape) > 1 else ""
    return f"Array({values}{shape}, dtype={x.dtype.name})"


def _unpickled(data: np.ndarray) -> Any:
    return as_jax(ABOVE.namespace.asarray(data))


def _map_values(function: Any, options: dict[str, Any]) -> dict[str, Any]:
    return {name: function(x) for name, x in options.items()}


def _on_host(x: Any) -> Any:
    """Return an argument of a NumPy function with copies of arrays on the host."""
    if isinstance(x, list | tuple):
        made = [_on_host(one) for one in x]
        return x._make(made) if hasattr(x, "_make") else type(x)(made)
    return np.asarray(x) if type(x) in JAX else x


@exclusive
def as_jax(found: Any) -> Any:
    """Make new arrays JAX arrays, also those in tuples, lists and dicts, and return them.

    64-bit integers become 32-bit integers.
    """
    kind = type(found)
    if kind is JaxArray:
        own = _NARROW.get(NODE.__get__(found).kind)
        return found if own is None else cast_to("astype", found, own, copy=False)
    if kind is Array:
        found.__class__ = JaxArray
        own = _NARROW.get(NODE.__get__(found).kind)
        return found if own is None else cast_to("astype", found, own, copy=False)
    if kind is TrackedJaxArray:
        return found
    if kind is Variable:
        found.__class__ = TrackedJaxArray
        return found
    if kind in BATCHED:
        return _of_batch(found)
    if kind in ARRAYS:  # of another family
        return of_another(found)
    return _in_container(found)


def _of_batch(found: Any) -> Any:
    value, frame = batch_of(found)
    own = as_jax(value)
    if own is not value:
        found.source = Batch(own, frame)
    found.__class__ = BatchedJaxArray
    return found


def _in_container(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: as_jax(one) for name, one in found.items()}
    if isinstance(found, list | tuple):
        made = [as_jax(one) for one in found]
        return found._make(made) if hasattr(found, "_make") else type(found)(made)
    if isinstance(found, np.ndarray | np.generic):
        return as_jax(ABOVE.namespace.asarray(np.asarray(found)))
    return found


@exclusive
def of_another(x: Array) -> Any:
    """Return a JAX array of the value of an array of another class."""
    kind = type(x)
    if kind in BATCHED:
        value, frame = batch_of(x)
        made: Any = BatchedJaxArray.__new__(BatchedJaxArray)
        made.tracer, made.source = x.tracer, Batch(value if type(value) in JAX else
                                                    of_another(value), frame)  # fmt: skip
        return made
    if kind in TRACKED:
        return variable(JaxArray(NODE.__get__(x), x.tracer), x.source)
    own = x.same()
    return as_jax(JaxArray(NODE.__get__(own), own.tracer))


@exclusive
def unwrapped(x: Any) -> Any:
    """Return the argument of a function of NumPy's namespace, with arrays of the base class."""
    kind = type(x)
    if kind is JaxArray:
        return Array(NODE.__get__(x), x.tracer)
    if kind is TrackedJaxArray:
        return variable(Array(NODE.__get__(x), x.tracer), x.source)
    if kind is BatchedJaxArray:
        value, frame = batch_of(x)
        made: Any = Batched.__new__(Batched)
        made.tracer, made.source = x.tracer, Batch(unwrapped(value), frame)
        return made
    if kind is list or kind is tuple:
        return kind([unwrapped(one) for one in x])
    return x


#: Advice for names that JAX's arrays do not have, although browsergpu's arrays have them.
ADVICE = {
    "fill": "Arrays cannot be changed. Use jnp.full_like.",
    "put": "Arrays cannot be changed. Use x.at[indices].set(values).",
    "partition": "Use jnp.partition.",
    "setflags": "Arrays cannot be changed.",
    "set": "Use x.at[...].set(values).",
    "backward": "Use jax.grad.",
    "grad": "Use jax.grad.",
    "requires_grad_": "Use jax.grad.",
    "retain_grad": "Use jax.grad.",
    "register_hook": "Use jax.custom_vjp.",
    "flat": "Use x.ravel().",
}


def refused(name: str) -> Any:
    """Return a property that raises UnknownName."""

    def getter(self: Any) -> NoReturn:
        raise AttributeError(name)  # Python then calls __getattr__

    return property(getter)


def cast(x: Any, kind: Any) -> Any:
    """Return a JAX array in another dtype."""
    return data_types.astype(x, kind, copy=False)
