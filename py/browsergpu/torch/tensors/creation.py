"""New tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.autograd.array_methods import detach
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, data_types, elementwise, manipulation
from browsergpu.torch.tensors.devices import device_of, notice
from browsergpu.torch.tensors.dtypes import DTYPES, FLOAT32, INT64, default_float, dtype_of
from browsergpu.torch.tensors.public import public
from browsergpu.torch.tensors.tensor import Size, Tensor


def shape_of(op: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    """Return a shape that is given as integers or as one sequence."""
    for one in size:
        if type(one) is not int:
            break
    else:
        return size
    if len(size) == 1 and not isinstance(size[0], int | np.integer | Array):
        size = tuple(size[0])
    return tuple([int(one) for one in size])


def check_layout(op: str, layout: Any, pin_memory: Any, memory_format: Any = None) -> None:
    """Check arguments that say how memory is laid out. WebGPU has one layout."""
    if layout not in (None, "strided"):
        raise InvalidArgument(op, "layout", layout, "torch.strided")
    if pin_memory:
        notice("pin_memory", f"{op}: pin_memory has no meaning, as WebGPU copies from any memory.")
    if memory_format not in (None, "preserve_format", "contiguous_format"):
        notice("memory_format", f"{op}: memory_format has no effect. Tensors are row-major.")


def finished(x: Any, requires_grad: bool) -> Any:
    """Make a new array a tensor, and a leaf if wanted."""
    if isinstance(x, Array) and not isinstance(x, Tensor):
        x.__class__ = Tensor
    return x.requires_grad_() if requires_grad else x


@public(method=False)
def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Return a tensor with a copy of the values."""
    check_layout("tensor", None, pin_memory)
    found = _converted("tensor", data, dtype, device)
    if found is data or isinstance(data, Array):
        found = found.detach() if found is not data else data.detach()
        found = found.__copy__()
    return finished(found, requires_grad)


def _converted(op: str, data: Any, dtype: Any, device: Any) -> Any:
    kind, where = dtype_of(op, dtype), device_of(op, device)
    if isinstance(data, list | tuple) and _holds_arrays(data):
        data = _nested(data)
    if kind is None and not isinstance(data, Array | np.ndarray | np.generic):
        values = np.asarray(data)
        if values.dtype.kind == "f":
            kind = default_float()
        elif values.dtype.kind == "c":
            kind = DTYPES["complex64"]
        elif values.dtype.kind == "O":
            raise InvalidArgument(op, "data", data, "numbers, or nested lists of numbers")
        elif not values.size:
            kind = default_float()
    if isinstance(data, Array):
        found = data if kind is None else data_types.astype(data, kind, copy=False)
        return found if where is None else found.to_device(where)
    return creation.asarray(data, dtype=kind, device=where, copy=True)


def _holds_arrays(data: Any) -> bool:
    return any(
        isinstance(one, Array) or (isinstance(one, list | tuple) and _holds_arrays(one))
        for one in data
    )


def _nested(data: Any) -> Any:
    if isinstance(data, Array):
        return data.detach()
    if isinstance(data, list | tuple):
        return manipulation.stack([_nested(one) for one in data])
    return creation.asarray(data)


@public(method=False)
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """Return a tensor of the values. A tensor is returned itself, and an Array is viewed."""
    if isinstance(data, Array):
        own = data if isinstance(data, Tensor) else detach(data)
        own = finished(own, False)
        kind, where = dtype_of("as_tensor", dtype), device_of("as_tensor", device)
        own = own if kind is None else data_types.astype(own, kind, copy=False)
        return own if where is None else own.to_device(where)
    return finished(_converted("as_tensor", data, dtype, device), False)


@public(method=False)
def from_numpy(ndarray: Any) -> Any:
    """Return a tensor with a copy of a NumPy array's values on the GPU.

    Later changes of the NumPy array are not seen, as its memory is not the GPU's.
    """
    if isinstance(ndarray, Array):
        return finished(detach(ndarray), False)
    return finished(creation.asarray(ndarray, copy=True), False)


@public("asarray", method=False)
def asarray_(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Return a tensor of the values, or the tensor itself."""
    if copy is False and not (
        isinstance(obj, Array)
        and dtype_of("asarray", dtype) in (None, obj.dtype)
        and device_of("asarray", device) in (None, obj.device)
    ):
        raise InvalidArgument("asarray", "copy", copy, "None or True where values must be copied")
    found = tensor(obj, dtype=dtype, device=device) if copy else as_tensor(obj, dtype, device)
    return finished(found, requires_grad)


@public(method=False)
def scalar_tensor(s: Any, *, dtype: Any = None, **options: Any) -> Any:
    """Return a tensor of one number without axes, of the default float dtype by default."""
    return tensor(s, dtype=default_float() if dtype is None else dtype, **options)


def _filled(name: str, make: Any) -> None:
    def function(
        *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False,
        layout: Any = None, pin_memory: bool = False, names: Any = None, memory_format: Any = None,
        **also: Any,
    ) -> Any:  # fmt: skip
        if also or names is not None:
            size = also.pop("size", also.pop("shape", None)) if also else size
            if also or names is not None:
                raise InvalidArgument(name, "arguments", also or names, "those of PyTorch")
            size = (size,)
        check_layout(name, layout, pin_memory, memory_format)
        kind = dtype_of(name, dtype) or default_float()
        found = make(shape_of(name, size), dtype=kind, device=device_of(name, device))
        return finished(found, requires_grad)

    function.__name__ = name
    function.__doc__ = f"Return a new tensor, as ``torch.{name}``."
    public(name, method=False)(function)

    def like(
        input: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
        layout: Any = None, pin_memory: bool = False, memory_format: Any = None,
    ) -> Any:  # fmt: skip
        check_layout(name, layout, pin_memory, memory_format)
        kind = dtype_of(name, dtype) or input.dtype
        where = device_of(name, device) or input.device
        return finished(make(tuple(input.shape), dtype=kind, device=where), requires_grad)

    like.__name__ = f"{name}_like"
    like.__doc__ = f"Return a new tensor of the shape and dtype of another, as ``torch.{name}``."
    public(f"{name}_like", method=False)(like)

    def new(
        self: Any, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Any:
        kind = dtype_of(name, dtype) or self.dtype
        where = device_of(name, device) or self.device
        return finished(make(shape_of(name, size), dtype=kind, device=where), requires_grad)

    new.__doc__ = f"Return a new tensor of the dtype of this one, as ``torch.{name}``."
    public(f"new_{name}", function=False)(new)


for _name, _make in (("zeros", creation.zeros), ("ones", creation.ones), ("empty", creation.empty)):
    _filled(_name, _make)


def _kind_of(value: Any) -> Any:
    if isinstance(value, Array | np.generic):
        return value.dtype
    if isinstance(value, bool):
        return DTYPES["bool"]
    if isinstance(value, int):
        return INT64
    return DTYPES["complex64"] if isinstance(value, complex) else default_float()


@public(method=False)
def full(
    size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Return a tensor whose elements all are a number."""
    check_layout("full", layout, pin_memory)
    kind = dtype_of("full", dtype) or _kind_of(fill_value)
    size = (size,) if isinstance(size, int) else size
    found = creation.full(tuple(size), fill_value, dtype=kind, device=device_of("full", device))
    return finished(found, requires_grad)


@public(method=False)
def full_like(
    input: Any, fill_value: Any, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None, memory_format: Any = None,
) -> Any:  # fmt: skip
    """Return a tensor of the shape of another, whose elements all are a number."""
    check_layout("full_like", layout, False, memory_format)
    kind, where = dtype_of("full_like", dtype) or input.dtype, device_of("full_like", device)
    found = creation.full(tuple(input.shape), fill_value, dtype=kind, device=where or input.device)
    return finished(found, requires_grad)


@public(function=False)
def new_full(self: Any, size: Any, fill_value: Any, **options: Any) -> Any:
    """Return a tensor of this dtype, whose elements all are a number."""
    options.setdefault("dtype", self.dtype)
    return full(size, fill_value, **options)


@public(function=False)
def new_tensor(self: Any, data: Any, **options: Any) -> Any:
    """Return a tensor of this dtype with a copy of the values."""
    options.setdefault("dtype", self.dtype)
    return tensor(data, **options)


@public("new", function=False)
def new_of(self: Any, *size: Any) -> Any:
    """Return a tensor of this dtype: of a size, or of the values of a list, as ``Tensor.new``."""
    if len(size) == 1 and not isinstance(size[0], int | np.integer | Size):
        if isinstance(size[0], list | tuple | np.ndarray):
            return tensor(size[0], dtype=self.dtype, device=self.device)
        raise InvalidArgument(
            "Tensor.new", "size", size[0],
            "numbers, a torch.Size or a list of values", "Use x.clone() for a tensor's copy.",
        )  # fmt: skip
    return self.new_empty(*(size or (0,)))


@public(method=False)
def arange(
    start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Return numbers from start to end, without end."""
    check_layout("arange", layout, pin_memory)
    if end is None:
        start, end = 0, start
    given = [x.item() if isinstance(x, Array) else x for x in (start, end, step)]
    kind = dtype_of("arange", dtype)
    if kind is None:
        kind = default_float() if any(isinstance(x, float) for x in given) else INT64
    start, end, step = given
    if step == 0 or (end - start) * step < 0:
        expected = f"a step from {start} to {end}"
        raise InvalidArgument("arange", "step", step, expected)
    found = creation.arange(start, end, step, dtype=kind, device=device_of("arange", device))
    return finished(found, requires_grad)


@public(method=False)
def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Return ``steps`` numbers from start to end, with end."""
    check_layout("linspace", layout, pin_memory)
    kind, where = dtype_of("linspace", dtype) or default_float(), device_of("linspace", device)
    start, end = (x.item() if isinstance(x, Array) else x for x in (start, end))
    return finished(creation.linspace(start, end, steps, dtype=kind, device=where), requires_grad)


@public(method=False)
def logspace(start: Any, end: Any, steps: int, base: float = 10.0, **options: Any) -> Any:
    """Return powers of ``base`` whose exponents are ``linspace(start, end, steps)``."""
    kind, requires_grad = options.pop("dtype", None), options.pop("requires_grad", False)
    found = base ** linspace(start, end, steps, dtype=FLOAT32, **options)
    kind = dtype_of("logspace", kind) or default_float()
    return finished(data_types.astype(found, kind, copy=False), requires_grad)


@public(method=False)
def eye(
    n: int, m: int | None = None, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Return an identity matrix."""
    check_layout("eye", layout, pin_memory)
    kind, where = dtype_of("eye", dtype) or default_float(), device_of("eye", device)
    return finished(creation.eye(n, m, dtype=kind, device=where), requires_grad)


def _triangle(name: str) -> None:
    def function(
        row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None
    ) -> Any:
        kind = dtype_of(name, dtype) or INT64
        found = getattr(np, name)(row, offset, col)
        return creation.asarray(np.stack(found), dtype=kind, device=device_of(name, device))

    function.__doc__ = "Return the rows and columns of a triangle, as a tensor of two rows."
    function.__name__ = name
    public(name, method=False)(function)


_triangle("tril_indices")
_triangle("triu_indices")


@public(method=False)
def meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    """Return the coordinates of a grid, by default in the order of the axes ("ij")."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    if len({x.dtype for x in given}) > 1:
        raise InvalidType("meshgrid", "tensors", [x.dtype for x in given], "tensors of one dtype")
    return creation.meshgrid(*given, indexing=indexing)


@public("complex", method=False)
def complex_(real: Any, imag: Any) -> Any:
    """Return a complex tensor of its real and imaginary parts."""
    return elementwise.complex_number(real, imag)


@public(method=False)
def polar(abs: Any, angle: Any) -> Any:
    """Return a complex tensor of its magnitude and angle."""
    return elementwise.complex_number(abs * elementwise.cos(angle), abs * elementwise.sin(angle))
