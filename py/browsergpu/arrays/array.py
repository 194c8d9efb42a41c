"""Arrays as in NumPy, on the GPU: values that are computed when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from browsergpu.arrays import readback
from browsergpu.arrays.apply import binary, cast_to, duplicate, unary
from browsergpu.arrays.context import device_of
from browsergpu.arrays.handles import Handle
from browsergpu.arrays.in_place import become, in_place
from browsergpu.arrays.indexing import keys
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.methods import Methods
from browsergpu.arrays.upload import element_type
from browsergpu.arrays.value import NODE, Value
from browsergpu.arrays.views import flags as memory_flags
from browsergpu.arrays.views import strided
from browsergpu.arrays.views.aliases import alias
from browsergpu.arrays.views.flat import Flat
from browsergpu.core import checks
from browsergpu.core.above import ABOVE
from browsergpu.core.checks import product
from browsergpu.core.element_types import FLOAT32, INT32, INT64, UINT32, UINT64
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.shapes import Shape
from browsergpu.core.turns import exclusive
from browsergpu.device.device import Device

#: Of the Array API standard, those that the namespace keeps to.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

#: Types whose bits can be read as one another.
_ALIKE = ((FLOAT32, INT32, UINT32), (INT64, UINT64))


class Array(Value, Methods):
    """An array on the GPU, as the Python Array API standard describes it.

    Made by ``browsergpu.asarray`` and its kin. Operations are recorded, checked at once (shapes,
    dtypes, arguments) and computed when a value is read, or by ``browsergpu.eval``; a chain of
    elementwise operations is one kernel. As in NumPy, ``b = a[1:]`` is a view: ``b[0] = 5`` changes
    ``a[1]``.
    """

    __slots__ = ()

    # Beside NumPy's arrays, these decide.
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]

    # -- what it is ------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """The extents of its axes."""
        return self.node.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements, as NumPy's."""
        return self.node.kind.numpy

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return len(self.node.shape)

    @property
    def size(self) -> int:
        """The number of its elements."""
        return product(self.node.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element on the host."""
        return self.node.kind.numpy.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of its elements on the host."""
        return self.size * self.itemsize

    @property
    def strides(self) -> Shape:
        """Bytes from one index of each axis to the next, as NumPy counts them."""
        return tuple(step * self.itemsize for step in memory_flags.strides(self._own_node))

    @property
    def flags(self) -> memory_flags.Flags:
        """The memory layout, and whether the array can be written."""
        return memory_flags.Flags(self)

    @property
    def flat(self) -> Flat:
        """Its elements row by row, to be read, iterated and assigned."""
        return Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        self.flat[:] = value

    @property
    def _own_node(self) -> Node:
        return NODE.__get__(self)  # type: ignore[no-any-return]

    @property
    def device(self) -> Device:
        """The GPU that it is on."""
        return self.tracer.device

    @property
    @exclusive
    def T(self) -> Array:
        """A view with the axes reversed."""
        return alias(self, strided.permuted(self, tuple(reversed(range(self.ndim)))))

    @property
    @exclusive
    def mT(self) -> Array:
        """A view with the last two axes exchanged. Raises ValueError below two axes."""
        if self.ndim < 2:
            raise InvalidArgument("mT", "array", self, "have at least 2 axes")
        axes = list(range(self.ndim))
        axes[-2:] = axes[-1], axes[-2]
        return alias(self, strided.permuted(self, tuple(axes)))

    @property
    @exclusive
    def real(self) -> Array:
        """The real parts: a view of a complex array, else the array itself."""
        return alias(self, strided.real(self)) if self.node.kind.kind == "c" else self

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    @exclusive
    def imag(self) -> Array:
        """The imaginary parts: a view of a complex array, else zeros."""
        if self.node.kind.kind == "c":
            return alias(self, strided.imag(self))
        return unary("imag", self)

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.node.kind.kind != "c":
            raise InvalidType("imag", "array", self.dtype, "complex numbers")
        self.imag[...] = value

    # -- its values on the host --------------------------------------------------------------------

    def numpy(self) -> np.ndarray:
        """A copy as a NumPy array. Waits."""
        return readback.numpy(self)

    def to_numpy(self) -> np.ndarray:
        """:meth:`numpy`, by the name that Matplotlib, pandas and seaborn look for."""
        return self.numpy()

    async def numpy_async(self) -> np.ndarray:
        """:meth:`numpy` for callers that cannot block."""
        return await readback.numpy_async(self)

    async def ready(self) -> Array:
        """Waits until it is computed, and gives it. Raises what the GPU reported."""
        readback.computed(self)
        await self.device.faults.after(self.device.recorder.synchronize())
        return self

    def item(self, *args: Any) -> Any:
        """The one element, or that at indices or at an index of the flattened array, as a Python
        number. Waits."""
        if not args:
            return readback.item("item", self)
        key = args[0] if len(args) == 1 else args
        return (self[key] if isinstance(key, tuple) else self.reshape(-1)[key]).item()

    def tolist(self) -> Any:
        """Its elements as nested lists of Python numbers. Waits."""
        return self.numpy().tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array on the GPU cannot be a NumPy array without a copy")
        array = self.numpy()
        if dtype is not None:
            array = array.astype(dtype, copy=False)
        # A write into a copy that nobody asked for would be lost.
        array.flags.writeable = copy is True
        return array

    def __float__(self) -> float:
        return float(readback.item("float", self))

    def __int__(self) -> int:
        return int(readback.item("int", self))

    def __bool__(self) -> bool:
        return bool(readback.item("bool", self))

    def __complex__(self) -> complex:
        return complex(readback.item("complex", self))

    def __index__(self) -> int:
        if self.node.kind.kind not in "iu":
            raise TypeError(f"only whole numbers are indices, not {self.dtype}")
        return int(readback.item("index", self))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        """Views of the parts along the first axis. Of one axis NumPy's numbers, as in NumPy, which
        are read at once; views where gradients are wanted or nothing can be read."""
        if not self.shape:
            raise TypeError("iteration over an array without axes")
        if self.ndim == 1 and not self.is_tracked and readback.can_read(self):
            return iter(self.numpy())
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).numpy().any())

    def __repr__(self) -> str:
        return readback.text(self)

    def __str__(self) -> str:
        return readback.printed(self)

    def __format__(self, spec: str) -> str:
        if self.shape:
            return object.__format__(self, spec)
        return format(readback.item("format", self), spec)

    def __round__(self, digits: int | None = None) -> Any:
        if self.shape:
            raise TypeError("round() of an array with axes; browsergpu.round rounds its elements")
        return round(readback.item("round", self), digits)

    # -- parts of it -------------------------------------------------------------------------------

    @exclusive
    def __getitem__(self, key: Any) -> Array:
        return keys.get(self, key)

    @exclusive
    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, Value) and value.is_tracked:
            ABOVE.variable_operators.assign(self, key, value)
        else:
            become(self, keys.assigned(self, key, value))

    @exclusive
    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True,
        copy: bool = True,
    ) -> Array:  # fmt: skip
        """Its elements as another dtype. Floats are cut off towards 0 and clamped to what a whole
        number can be, NaN becomes 0; whole numbers keep their lowest bits. Raises InvalidType for
        a dtype that ``casting``, NumPy's rule, does not allow."""
        del subok  # there are no subclasses
        if order != "K" or casting != "unsafe":
            ABOVE.numpy_protocols.check_cast(self, dtype, order, casting)
        return cast_to("astype", self, element_type("astype", dtype), copy=copy)

    @exclusive
    def view(self, dtype: Any = None) -> Array:
        """Return a view of the same memory, whose bits are read as another dtype.

        Parameters
        ----------
        dtype : dtype, optional
            float32, int32 or uint32 for an array of these, int64 or uint64 for an array of these,
            or the array's own.

        Returns
        -------
        Array
            A view of the same shape. For a dtype that only NumPy has, as records, a copy on the
            host that cannot be written, with a HostFallbackWarning.

        Raises
        ------
        InvalidType
            For every other dtype: ``astype`` converts values.
        """
        node = self.node
        if dtype is None:
            return alias(self, strided.retyped(self, node.kind))
        if isinstance(dtype, type) and issubclass(dtype, np.ndarray | Array):
            expected = "a dtype, as arrays on the GPU have no subclasses"
            raise InvalidType("view", "dtype", dtype, expected, "Use x.numpy().view().")
        if ABOVE.numpy_protocols.is_numpys_alone(dtype):
            return ABOVE.numpy_protocols.viewed_on_host(self, dtype)  # type: ignore[no-any-return]
        wanted = checks.numpy_dtype("view", "dtype", dtype)
        if wanted == node.kind.numpy:
            return alias(self, strided.retyped(self, node.kind))
        alike = next((kinds for kinds in _ALIKE if node.kind in kinds), (node.kind,))
        kind = next((one for one in alike if one.numpy == wanted), None)
        if kind is None:
            words = " or ".join(one.name for one in alike)
            expected = words if len(alike) > 1 else f"{words}, the array's own"
            raise InvalidType("view", "dtype", wanted, expected, "astype() converts values.")
        return alias(self, strided.retyped(self, kind))

    @exclusive
    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Array:
        """Its elements in another shape: a view where that is possible, else a copy. One extent
        may be -1. ``order`` and ``copy`` as in ``numpy.reshape``."""
        given = shape[0] if len(shape) == 1 else shape
        if order != "C" or copy is not None:
            return np.reshape(self, given, order, copy=copy)  # type: ignore[call-overload, no-any-return]
        return alias(self, strided.reshaped("reshape", self, given))

    # -- gradients, by PyTorch's names -------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are noted, so that ``backward`` gives it a gradient. It can be
        set: of arrays of floats, and of no operation's results."""
        return self.is_tracked

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        ABOVE.array_gradients.set_requires_grad(self, bool(wanted))

    def requires_grad_(self, requires_grad: bool = True) -> Array:
        """Sets ``requires_grad``, and gives the array itself. Raises InvalidType, a TypeError, for
        one that is not of floats."""
        return ABOVE.array_gradients.set_requires_grad(self, bool(requires_grad))  # type: ignore[no-any-return]

    @property
    def is_leaf(self) -> bool:
        """Whether it is no result of an operation that was noted."""
        return ABOVE.array_gradients.is_leaf(self)  # type: ignore[no-any-return]

    @property
    def grad(self) -> Array | None:
        """What ``backward`` has added up for it; None before, and for an operation's results but
        after ``retain_grad()``. That of a leaf can be set, to None or to an array of its shape."""
        return ABOVE.array_gradients.grad(self)  # type: ignore[no-any-return]

    @grad.setter
    def grad(self, value: Array | None) -> None:
        ABOVE.array_gradients.set_grad(self, value)

    def backward(
        self, gradient: Any = None, *, retain_graph: bool = False, create_graph: bool = False
    ) -> None:
        """Adds to ``grad``, of each array with ``requires_grad`` that it was computed from, its
        gradient by that one; of an array of several numbers that of its sum weighted by
        ``gradient``. What was kept for this is let go unless ``retain_graph``; ``create_graph``
        notes the gradients, too, so that they have some. Raises NotDifferentiable, a RuntimeError,
        where nothing requires one or what was kept is gone, InvalidArgument, a ValueError, where
        ``gradient`` lacks or is of another shape."""
        ABOVE.array_gradients.backward(self, gradient, retain_graph, create_graph)

    def register_hook(self, hook: Callable[[Array], Array | None]) -> Handle:
        """Has ``hook(gradient)`` called whenever a gradient of the array has been computed, before
        it goes further back or is added to ``grad``; what it gives, unless None, an array of the
        same shape and dtype, takes the gradient's place. Hooks are called in the order in which
        they were registered, once in a sweep, and belong to the value that the array has now: not
        to that of ``x += 1``. What they compute is noted where the sweep is, and is part of a
        block of ``capture()``; they themselves are not called by replays. The handle's ``remove()``
        ends it, and for an operation's result the sweep that lets go of what was noted. Raises
        NotDifferentiable, a RuntimeError, where the array requires no gradient, and InvalidType for
        what is no function."""
        return ABOVE.array_gradients.register_hook(self, hook)  # type: ignore[no-any-return]

    def retain_grad(self) -> None:
        """Has ``backward`` add to ``grad`` of an operation's result, too, what its hooks have made
        of the gradient; leaves do so anyway. It is of the value that the array has now. Raises
        NotDifferentiable, a RuntimeError, where the array requires no gradient."""
        ABOVE.array_gradients.retain_grad(self)

    @property
    def retains_grad(self) -> bool:
        """Whether it is an operation's result that keeps its gradient."""
        return ABOVE.array_gradients.retains_grad(self)  # type: ignore[no-any-return]

    def detach(self) -> Array:
        """A view of the whole array that requires no gradient."""
        return ABOVE.array_gradients.detach(self)  # type: ignore[no-any-return]

    # -- NumPy's protocols and others' -------------------------------------------------------------

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        if api_version is not None and api_version not in VERSIONS:
            expected = f"one of {', '.join(VERSIONS)}"
            raise InvalidArgument("__array_namespace__", "api_version", api_version, expected)
        return ABOVE.namespace

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return ABOVE.numpy_protocols.ufunc(ufunc, method, inputs, options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(issubclass(one, Array | np.ndarray) for one in types):
            return NotImplemented  # another's arrays know what to do with ours
        return ABOVE.numpy_protocols.function(func, args, kwargs)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule with a copy in the host's memory, as WebGPU gives no pointers to the GPU's.
        Waits. Raises BufferError where another device or no copy is asked for."""
        return readback.dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Where ``__dlpack__`` puts what it gives: the host."""
        return readback.HOST

    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """The array on a device, or on the one of a number: itself on its own one, else a copy,
        which waits."""
        if stream is not None:
            raise InvalidArgument("to_device", "stream", stream, "None, as WebGPU has no streams")
        found = device_of("to_device", device)
        if found is self.device:
            return self
        return ABOVE.numpy_protocols.loaded(self.numpy(), found)  # type: ignore[no-any-return]

    @exclusive
    def __copy__(self) -> Array:
        return duplicate(self)

    def __deepcopy__(self, memo: Any) -> Array:
        return ABOVE.array_gradients.deep_copy(self)  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        return ABOVE.array_gradients.pickled(self)

    # -- operators ---------------------------------------------------------------------------------

    @exclusive
    def __add__(self, other: Any) -> Any:
        return binary("add", self, other)

    @exclusive
    def __radd__(self, other: Any) -> Any:
        return binary("add", other, self)

    @exclusive
    def __sub__(self, other: Any) -> Any:
        return binary("subtract", self, other)

    @exclusive
    def __rsub__(self, other: Any) -> Any:
        return binary("subtract", other, self)

    @exclusive
    def __mul__(self, other: Any) -> Any:
        return binary("multiply", self, other)

    @exclusive
    def __rmul__(self, other: Any) -> Any:
        return binary("multiply", other, self)

    @exclusive
    def __truediv__(self, other: Any) -> Any:
        return binary("divide", self, other)

    @exclusive
    def __rtruediv__(self, other: Any) -> Any:
        return binary("divide", other, self)

    @exclusive
    def __floordiv__(self, other: Any) -> Any:
        return binary("floor_divide", self, other)

    @exclusive
    def __rfloordiv__(self, other: Any) -> Any:
        return binary("floor_divide", other, self)

    @exclusive
    def __mod__(self, other: Any) -> Any:
        return binary("remainder", self, other)

    @exclusive
    def __rmod__(self, other: Any) -> Any:
        return binary("remainder", other, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    @exclusive
    def __pow__(self, other: Any) -> Any:
        return binary("pow", self, other)

    @exclusive
    def __rpow__(self, other: Any) -> Any:
        return binary("pow", other, self)

    @exclusive
    def __matmul__(self, other: Any) -> Any:
        return ABOVE.numpy_protocols.product(self, other)

    @exclusive
    def __rmatmul__(self, other: Any) -> Any:
        return ABOVE.numpy_protocols.product(other, self)

    def __imatmul__(self, other: Any) -> Any:
        self[...] = self @ other
        return self

    @exclusive
    def __and__(self, other: Any) -> Any:
        return binary("bitwise_and", self, other)

    @exclusive
    def __rand__(self, other: Any) -> Any:
        return binary("bitwise_and", other, self)

    @exclusive
    def __or__(self, other: Any) -> Any:
        return binary("bitwise_or", self, other)

    @exclusive
    def __ror__(self, other: Any) -> Any:
        return binary("bitwise_or", other, self)

    @exclusive
    def __xor__(self, other: Any) -> Any:
        return binary("bitwise_xor", self, other)

    @exclusive
    def __rxor__(self, other: Any) -> Any:
        return binary("bitwise_xor", other, self)

    @exclusive
    def __lshift__(self, other: Any) -> Any:
        return binary("bitwise_left_shift", self, other)

    @exclusive
    def __rlshift__(self, other: Any) -> Any:
        return binary("bitwise_left_shift", other, self)

    @exclusive
    def __rshift__(self, other: Any) -> Any:
        return binary("bitwise_right_shift", self, other)

    @exclusive
    def __rrshift__(self, other: Any) -> Any:
        return binary("bitwise_right_shift", other, self)

    @exclusive
    def __eq__(self, other: Any) -> Any:
        return binary("equal", self, other)

    @exclusive
    def __ne__(self, other: Any) -> Any:
        return binary("not_equal", self, other)

    @exclusive
    def __lt__(self, other: Any) -> Any:
        return binary("less", self, other)

    @exclusive
    def __le__(self, other: Any) -> Any:
        return binary("less_equal", self, other)

    @exclusive
    def __gt__(self, other: Any) -> Any:
        return binary("greater", self, other)

    @exclusive
    def __ge__(self, other: Any) -> Any:
        return binary("greater_equal", self, other)

    @exclusive
    def __neg__(self) -> Array:
        return unary("negative", self)

    @exclusive
    def __pos__(self) -> Array:
        return unary("positive", self)

    @exclusive
    def __invert__(self) -> Array:
        return unary("bitwise_invert", self)

    @exclusive
    def __abs__(self) -> Array:
        return unary("abs", self)

    # -- operators in place ------------------------------------------------------------------------

    @exclusive
    def __iadd__(self, other: Any) -> Any:
        return in_place("add", self, other)

    @exclusive
    def __isub__(self, other: Any) -> Any:
        return in_place("subtract", self, other)

    @exclusive
    def __imul__(self, other: Any) -> Any:
        return in_place("multiply", self, other)

    @exclusive
    def __itruediv__(self, other: Any) -> Any:
        return in_place("divide", self, other)

    @exclusive
    def __ifloordiv__(self, other: Any) -> Any:
        return in_place("floor_divide", self, other)

    @exclusive
    def __imod__(self, other: Any) -> Any:
        return in_place("remainder", self, other)

    @exclusive
    def __iand__(self, other: Any) -> Any:
        return in_place("bitwise_and", self, other)

    @exclusive
    def __ior__(self, other: Any) -> Any:
        return in_place("bitwise_or", self, other)

    @exclusive
    def __ixor__(self, other: Any) -> Any:
        return in_place("bitwise_xor", self, other)

    @exclusive
    def __ilshift__(self, other: Any) -> Any:
        return in_place("bitwise_left_shift", self, other)

    @exclusive
    def __irshift__(self, other: Any) -> Any:
        return in_place("bitwise_right_shift", self, other)

    @exclusive
    def __ipow__(self, other: Any) -> Any:
        return in_place("pow", self, other)
