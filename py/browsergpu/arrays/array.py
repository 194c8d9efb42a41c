"""The array class: NumPy's interface to values on the GPU, which are computed when needed."""

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
from browsergpu.arrays.views.aliases import alias, take_node
from browsergpu.arrays.views.flat import Flat
from browsergpu.engine.core import checks
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import TYPES
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, NeedsExamples, Unsupported
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.device.device import Device

#: Supported versions of the array API standard.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


class Array(Value, Methods):
    """An array on the GPU, as the Python array API standard describes it.

    Functions such as ``browsergpu.asarray`` make arrays. Operations check shapes, dtypes and
    arguments immediately. They are computed when a value is read, or by ``browsergpu.eval``. A
    chain of elementwise operations becomes one kernel.

    As in NumPy, ``b = a[1:]`` is a view: ``b[0] = 5`` changes ``a[1]``.
    """

    __slots__ = ()

    # Operators between NumPy arrays and arrays call this class.
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]

    # -- attributes --------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """The length of each axis. Setting it changes the array in place, without a copy.

        Raises InvalidArgument if the elements would have to be copied, and Unsupported for an array
        that requires a gradient and in a captured block.
        """
        return self.node.shape

    @shape.setter
    @exclusive
    def shape(self, shape: Any) -> None:
        graphs = self.tracer.device.graphs
        if graphs is not None and graphs.open is not None:
            raise Unsupported(
                "shape",
                "the shape of an array cannot be set in a block of capture(). Use reshape().",
            )
        self.node.in_memory()
        found = strided.reshaped("shape", self, shape, copy=None)
        if found.node.storage is not self.node.storage:
            raise InvalidArgument(
                "shape", "shape", shape, "a shape that needs no copy", "Use reshape()."
            )
        take_node(self, NODE.__get__(alias(self, found)))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the elements."""
        return self.node.kind.numpy

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.node.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return product(self.node.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element on the host."""
        return self.node.kind.numpy.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements on the host."""
        return self.size * self.itemsize

    @property
    def strides(self) -> Shape:
        """The bytes to step along each axis, as in NumPy."""
        return tuple(step * self.itemsize for step in memory_flags.strides(self._own_node))

    @property
    def flags(self) -> memory_flags.Flags:
        """The memory layout, and whether the array can be written."""
        return memory_flags.Flags(self)

    @property
    def flat(self) -> Flat:
        """A flat iterator over the elements, which can be indexed and assigned to."""
        return Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        self.flat[:] = value

    @property
    def _own_node(self) -> Node:
        return NODE.__get__(self)  # type: ignore[no-any-return]

    @property
    def device(self) -> Device:
        """The GPU that holds the array."""
        return self.tracer.device

    @property
    @exclusive
    def T(self) -> Array:
        """A view with the axes reversed."""
        return alias(self, strided.permuted(self, tuple(reversed(range(self.ndim)))))

    @property
    @exclusive
    def mT(self) -> Array:
        """A view with the last two axes swapped. Raises ValueError for fewer than two axes."""
        if self.ndim < 2:
            raise InvalidArgument("mT", "array", self, "have at least 2 axes")
        axes = list(range(self.ndim))
        axes[-2:] = axes[-1], axes[-2]
        return alias(self, strided.permuted(self, tuple(axes)))

    @property
    @exclusive
    def real(self) -> Array:
        """The real part: a view of a complex array, or the array itself."""
        return alias(self, strided.real(self)) if self.node.kind.kind == "c" else self

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    @exclusive
    def imag(self) -> Array:
        """The imaginary part: a view of a complex array, or zeros."""
        if self.node.kind.kind == "c":
            return alias(self, strided.imag(self))
        return unary("imag", self)

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.node.kind.kind != "c":
            raise InvalidType("imag", "array", self.dtype, "complex numbers")
        self.imag[...] = value

    # -- copies on the host ------------------------------------------------------------------------

    def numpy(self) -> np.ndarray:
        """Copy the array to the host, as a NumPy array. Waits for the GPU."""
        return readback.numpy(self)

    def to_numpy(self) -> np.ndarray:
        """Call :meth:`numpy`. Matplotlib, pandas and seaborn look for this name."""
        return self.numpy()

    async def numpy_async(self) -> np.ndarray:
        """Copy the array to the host: :meth:`numpy` for callers that cannot block."""
        return await readback.numpy_async(self)

    async def ready(self) -> Array:
        """Wait until the array is computed, and return it. Raises errors that the GPU reported."""
        readback.computed(self)
        await self.device.faults.after(self.device.recorder.synchronize())
        return self

    def item(self, *args: Any) -> Any:
        """Return one element as a Python number. Waits for the GPU.

        Parameters
        ----------
        *args : int or tuple of int
            The index of the element, or its index in the flattened array. It can be left out if the
            array has one element.

        Raises
        ------
        InvalidArgument
            If there is no index and the array has not exactly one element.
        """
        if not args:
            return readback.item("item", self)
        key = args[0] if len(args) == 1 else args
        return (self[key] if isinstance(key, tuple) else self.reshape(-1)[key]).item()

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers. Waits for the GPU."""
        return self.numpy().tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError(
                "__array__: copy must be True or None, got False. GPU memory must be copied."
            )
        array = self.numpy()
        if dtype is not None:
            array = array.astype(dtype, copy=False)
        # Writes into an implicit copy would be lost.
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
            raise TypeError(f"only integer arrays can be an index, got {self.dtype}")
        return int(readback.item("index", self))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over views along the first axis.

        A one-dimensional array is read once and yields NumPy scalars, as in NumPy. It yields views
        if it requires a gradient or cannot be read now.
        """
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

    def _repr_html_(self) -> str | None:
        return ABOVE.display.html(self)  # type: ignore[no-any-return]

    def _repr_mimebundle_(self, **_unused: Any) -> dict[str, str]:
        # The HTML shows whether the array is computed, and the text computes it.
        html = self._repr_html_()
        return {"text/plain": repr(self)} | ({} if html is None else {"text/html": html})

    def __format__(self, spec: str) -> str:
        if self.shape:
            return object.__format__(self, spec)
        return format(readback.item("format", self), spec)

    def __round__(self, digits: int | None = None) -> Any:
        if self.shape:
            raise TypeError(
                "round() of an array with axes. Use browsergpu.round() for its elements."
            )
        return round(readback.item("round", self), digits)

    # -- indexing, casts and views -----------------------------------------------------------------

    @exclusive
    def __getitem__(self, key: Any) -> Array:
        try:
            return keys.get(self, key)
        except NeedsExamples:
            return ABOVE.batching.part(self, key)  # type: ignore[no-any-return]

    @exclusive
    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, Value) and value.is_tracked:
            ABOVE.variable_operators.assign(self, key, value)
        else:
            try:
                become(self, keys.assigned(self, key, value))
            except NeedsExamples:
                ABOVE.variable_operators.assign(self, key, value)

    @exclusive
    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True,
        copy: bool = True,
    ) -> Array:  # fmt: skip
        """Convert the elements to another dtype.

        Floats are truncated towards 0 and clamped to the range of an integer dtype, and NaN becomes
        0. Integers keep their lowest bits.

        Parameters
        ----------
        dtype : dtype
            The new dtype.
        order, casting, subok, copy
            As in NumPy.

        Returns
        -------
        Array
            A copy, or the array itself if it has this dtype and ``copy`` is False.

        Raises
        ------
        InvalidType
            For a dtype that ``casting`` does not allow.
        """
        del subok  # there are no subclasses
        if order != "K" or casting != "unsafe":
            ABOVE.numpy_protocols.check_cast(self, dtype, order, casting)
        return cast_to("astype", self, element_type("astype", dtype), copy=copy)

    @exclusive
    def view(self, dtype: Any = None) -> Array:
        """Return a view of the same memory that reads the bits as another dtype.

        Parameters
        ----------
        dtype : dtype, optional
            Any dtype of the GPU except bool. For one of another size, the last axis must be
            contiguous, and its length changes.

        Returns
        -------
        Array
            The view. For a dtype that only NumPy has, such as records, a read-only
            copy on the host, with a HostFallbackWarning.

        Raises
        ------
        InvalidType
            If ``dtype`` or the array's own is bool, if the size of ``dtype`` does not divide the
            array's last axis, or for float64 and complex128. ``astype`` converts values.
        """
        node = self.node
        if dtype is None:
            return alias(self, strided.retyped(self, node.kind))
        if isinstance(dtype, type) and issubclass(dtype, np.ndarray | Array):
            expected = "a dtype, because GPU arrays have no subclasses"
            raise InvalidType("view", "dtype", dtype, expected, "Use x.numpy().view().")
        if ABOVE.numpy_protocols.is_numpys_alone(dtype):
            return ABOVE.numpy_protocols.viewed_on_host(self, dtype)  # type: ignore[no-any-return]
        wanted = checks.numpy_dtype("view", "dtype", dtype)
        if wanted == node.kind.numpy:
            return alias(self, strided.retyped(self, node.kind))
        kind = next((one for one in TYPES if one.numpy == wanted), None)
        if kind is None:
            expected = "a dtype that the GPU has"
            raise InvalidType("view", "dtype", wanted, expected, "astype() converts values.")
        return alias(self, strided.retyped(self, kind))

    @exclusive
    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Array:
        """Return the elements in another shape: a view if possible, else a copy.

        Parameters
        ----------
        *shape : int or tuple of int
            The new shape. One length may be -1.
        order, copy
            As in ``numpy.reshape``.
        """
        given = shape[0] if len(shape) == 1 else shape
        if order != "C" or copy is not None:
            return np.reshape(self, given, order, copy=copy)  # type: ignore[call-overload, no-any-return]
        return alias(self, strided.reshaped("reshape", self, given))

    # -- gradients, by PyTorch's names -------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether operations on the array are recorded for ``backward``.

        It can be set on arrays of floats that are not results of recorded operations.
        """
        return self.is_tracked

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        ABOVE.array_gradients.set_requires_grad(self, bool(wanted))

    def requires_grad_(self, requires_grad: bool = True) -> Array:
        """Set ``requires_grad``, and return the array.

        Raises InvalidType if the dtype is not a float.
        """
        return ABOVE.array_gradients.set_requires_grad(self, bool(requires_grad))  # type: ignore[no-any-return]

    @property
    def is_leaf(self) -> bool:
        """Whether the array is not the result of a recorded operation."""
        return ABOVE.array_gradients.is_leaf(self)  # type: ignore[no-any-return]

    @property
    def grad(self) -> Array | None:
        """The gradient that ``backward`` has accumulated, or None.

        Results of operations have one only after ``retain_grad()``. The gradient of a leaf can be
        set to None or to an array of the same shape.
        """
        return ABOVE.array_gradients.grad(self)  # type: ignore[no-any-return]

    @grad.setter
    def grad(self, value: Array | None) -> None:
        ABOVE.array_gradients.set_grad(self, value)

    def backward(
        self, gradient: Any = None, *, retain_graph: bool = False, create_graph: bool = False
    ) -> None:
        """Compute the gradients of the leaves that this array depends on, and add them to ``grad``.

        Parameters
        ----------
        gradient : array_like, optional
            The gradient of this array, with its shape. It can be left out for an array of one
            element.
        retain_graph : bool
            Keep the graph for another call. By default it is freed.
        create_graph : bool
            Record the computation of the gradients, so that they have gradients too.

        Raises
        ------
        NotDifferentiable
            If nothing requires a gradient, or the graph has been freed.
        InvalidArgument
            If ``gradient`` is missing or has another shape.
        """
        ABOVE.array_gradients.backward(self, gradient, retain_graph, create_graph)

    def register_hook(self, hook: Callable[[Array], Array | None]) -> Handle:
        """Call ``hook(gradient)`` each time a gradient of the array is computed.

        The hook runs before the gradient propagates further or is added to ``grad``. Hooks run in
        the order of registration, once in each backward pass.

        Parameters
        ----------
        hook : callable
            Takes the gradient. It returns None or a replacement with the same shape and dtype.

        Returns
        -------
        Handle
            Its ``remove()`` removes the hook.

        Raises
        ------
        NotDifferentiable
            If the array requires no gradient.
        InvalidType
            If ``hook`` is not callable.

        Notes
        -----
        The hook belongs to the current value of the array, not to the value after ``x += 1``. The
        hook of an operation's result ends with the backward pass that frees the graph.

        Operations in a hook are recorded if the backward pass is recorded. A captured graph
        contains them, but its replays do not call the hook.
        """
        return ABOVE.array_gradients.register_hook(self, hook)  # type: ignore[no-any-return]

    def retain_grad(self) -> None:
        """Make ``backward`` accumulate ``grad`` for the result of an operation.

        Hooks change the gradient first. Leaves always retain their gradient. The setting belongs to
        the current value of the array. Raises NotDifferentiable if the array requires no gradient.
        """
        ABOVE.array_gradients.retain_grad(self)

    @property
    def retains_grad(self) -> bool:
        """Whether the array is the result of an operation and retains its gradient."""
        return ABOVE.array_gradients.retains_grad(self)  # type: ignore[no-any-return]

    def detach(self) -> Array:
        """Return a view of the array that requires no gradient."""
        return ABOVE.array_gradients.detach(self)  # type: ignore[no-any-return]

    # -- protocols ---------------------------------------------------------------------------------

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        if api_version is not None and api_version not in VERSIONS:
            expected = f"one of {', '.join(VERSIONS)}"
            raise InvalidArgument("__array_namespace__", "api_version", api_version, expected)
        return ABOVE.namespace

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return ABOVE.numpy_protocols.ufunc(ufunc, method, inputs, options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(issubclass(one, Array | np.ndarray) for one in types):
            return NotImplemented  # defer to the other library
        return ABOVE.numpy_protocols.function(func, args, kwargs)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a DLPack capsule with a copy on the host. Waits for the GPU.

        WebGPU gives no pointers to GPU memory. Raises BufferError if another device or no copy is
        requested.
        """
        return readback.dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the device of ``__dlpack__``'s capsules, the host."""
        return readback.HOST

    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """Return the array on another device.

        Parameters
        ----------
        device : Device or int
            The device or its number.

        Returns
        -------
        Array
            The array itself on its own device, else a copy. The copy waits for the GPU.
        """
        if stream is not None:
            raise InvalidArgument(
                "to_device", "stream", stream, "None, because WebGPU has no streams"
            )
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
