"""Methods that convert a tensor, and its properties."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Leaf
from browsergpu.arrays.autograd.variable import Variable, plain, source_of
from browsergpu.arrays.value import NODE
from browsergpu.autograd import array_methods
from browsergpu.autograd.backward import run_backward, seed
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.device.device import Device
from browsergpu.functions import data_types, elementwise
from browsergpu.networks.parameter import take
from browsergpu.torch.tensors.creation import check_layout
from browsergpu.torch.tensors.devices import device_of, notice
from browsergpu.torch.tensors.dtypes import CLASS_OF, DTYPES, dtype_of
from browsergpu.torch.tensors.public import add_method, public
from browsergpu.torch.tensors.tensor import Tensor, TrackedTensor, as_tensors


def _moved(x: Any, where: Any, dtype: Any, copy: bool) -> Any:
    found = x if dtype is None else data_types.astype(x, dtype, copy=False)
    if where is not None and where is not found.device:
        found = found.to_device(where)
    return clone(found) if copy and found is x else found


@public("to", function=False)
def to(
    self: Any, *args: Any, device: Any = None, dtype: Any = None, non_blocking: bool = False,
    copy: bool = False, memory_format: Any = None,
) -> Any:  # fmt: skip
    """Return the tensor in another dtype or on another device, itself if nothing changes."""
    check_layout("to", None, False, memory_format)
    flags = [one for one in args if isinstance(one, bool)]  # non_blocking and copy, in this order
    if len(flags) > 1:
        copy = flags[1]
    del non_blocking
    for one in args:
        if isinstance(one, bool):
            continue
        if isinstance(one, Array):
            device, dtype = one.device, one.dtype
        elif isinstance(one, str | int | Device) or type(one).__name__ == "device":
            device = one if not isinstance(one, str) or one not in DTYPES else device
        elif one is not None:
            dtype = one
    return _moved(self, device_of("to", device), dtype_of("to", dtype), copy)


def _cast(name: str) -> None:
    def method(self: Any, memory_format: Any = None) -> Any:
        check_layout(name, None, False, memory_format)
        kind = dtype_of(name, DTYPES[name])
        return data_types.astype(self, kind, copy=False)

    method.__name__ = name
    method.__doc__ = f"Return the tensor as ``torch.{name}``."
    public(name, function=False)(method)


for _name in ("float", "double", "half", "bfloat16", "long", "int", "short", "bool", "cfloat"):
    _cast(_name)
for _name, _of in (("char", "int8"), ("byte", "uint8")):
    add_method(_name, lambda self, _of=_of: data_types.astype(self, DTYPES[_of], copy=False))


@public("type", function=False)
def type_(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Return the name of the tensor's class, or the tensor in another dtype."""
    del non_blocking
    if dtype is None:
        return f"torch.{CLASS_OF.get(self.dtype, 'Tensor')}"
    return data_types.astype(self, dtype_of("type", dtype), copy=False)


@public("type_as", function=False)
def type_as(self: Any, other: Any) -> Any:
    """Return the tensor in the dtype of another."""
    return data_types.astype(self, other.dtype, copy=False)


def _stays(name: str) -> None:
    def method(self: Any, device: Any = None, non_blocking: bool = False, **_: Any) -> Any:
        del non_blocking
        if name != "pin_memory":
            notice("device", f"{name}: the tensor stays on the GPU of WebGPU.")
        return self

    method.__name__ = name
    method.__doc__ = "Return the tensor itself, which is on the GPU."
    add_method(name, method)


for _name in ("cpu", "cuda", "pin_memory"):
    _stays(_name)


@public()
def clone(input: Any, *, memory_format: Any = None) -> Any:
    """Return a copy. Gradients pass through it."""
    check_layout("clone", None, False, memory_format)
    return elementwise.positive(input) if input.dtype.kind != "b" else input.__copy__()


@public(function=False)
def contiguous(self: Any, memory_format: Any = None) -> Any:
    """Return the tensor itself if it is row-major in memory, else a copy."""
    check_layout("contiguous", None, False, memory_format)
    node = NODE.__get__(self)
    return self if node.trace is not None or node.strides is None else clone(self)


@public()
def detach(input: Any) -> Any:
    """Return a view that requires no gradient."""
    return array_methods.detach(input)


def detach_(self: Any) -> Any:
    """Make the tensor a leaf that requires no gradient."""
    if isinstance(self, Variable):
        from browsergpu.arrays.autograd.variable import untrack

        untrack(self)
    return self


def numpy(self: Any, *, force: bool = False) -> np.ndarray:
    """Return a copy on the host. Waits for the GPU."""
    if force:
        return Array.numpy(plain(self))
    return Variable.numpy(self) if isinstance(self, Variable) else Array.numpy(self)


def element_size(self: Any) -> int:
    """Return the bytes of an element."""
    return int(self.dtype.itemsize)


def get_device(self: Any) -> int:
    """Return the number of the GPU."""
    return int(self.device.adapter.index)


def backward(
    self: Any, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False,
    inputs: Any = None,
) -> None:  # fmt: skip
    """Compute the gradients of the leaves, and add them to ``grad``."""
    if inputs is None:
        array_methods.backward(self, gradient, bool(retain_graph), create_graph)
        return
    given = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    found = run_backward(
        [(self.source, seed("backward", self, gradient))], [x.source for x in given],
        accumulate=False, create_graph=create_graph,
        retain_graph=bool(retain_graph) or create_graph,
    )  # fmt: skip
    for x, g in zip(given, found, strict=True):
        if g is not None:
            x.grad = g if x.grad is None else x.grad + g


def __reduce__(self: Any) -> Any:
    function, args, *_ = array_methods.pickled(self)
    return rebuilt, (function, args)


def rebuilt(function: Any, args: Any) -> Any:
    """Rebuild a pickled tensor. Pickles refer to this function by its name."""
    return as_tensors(function(*args))


def register_hook(self: Any, hook: Any) -> Any:
    """Register a function that is called with each gradient of the tensor."""
    if not callable(hook):
        return array_methods.register_hook(self, hook)  # which raises the error
    return array_methods.register_hook(self, lambda gradient: hook(as_tensors(gradient)))


#: PyTorch's words in the names of operations, where they differ.
_WORDS = {"multiply": "mul", "subtract": "sub", "divide": "div", "negative": "neg"}


class GradFn:
    """The operation of which a tensor is the result."""

    def __init__(self, node: Any) -> None:
        self.node = node

    def name(self) -> str:
        """Return the operation's name."""
        if isinstance(self.node, Leaf):
            return "AccumulateGrad"
        words = _WORDS.get(self.node.name, self.node.name).split("_")
        return "".join([one[:1].upper() + one[1:] for one in words]) + "Backward0"

    @property
    def next_functions(self) -> tuple[tuple[GradFn, int], ...]:
        """The operations whose results are operands, each with the index of the result.

        Operands that need no gradient are left out, where PyTorch has ``(None, 0)``. ``backward()``
        frees the graph, and leaves none.
        """
        return tuple((GradFn(one.source.node), one.source.at) for one in self.node.operands)

    def __repr__(self) -> str:
        return f"<{self.name()}>"


def _grad_fn(self: Any) -> Any:
    source = source_of(self)
    return None if source is None or isinstance(source.node, Leaf) else GradFn(source.node)


def _set_data(self: Any, value: Any) -> None:
    if tuple(value.shape) != tuple(self.shape):
        from browsergpu.arrays.views.aliases import take_node

        take_node(self, NODE.__get__(value))
        return
    take(self, value)


def _set_grad(self: Any, value: Any) -> None:
    array_methods.set_grad(self, value)


def _matrix_conjugate(self: Any) -> Any:
    if len(self.shape) not in (0, 2):
        raise InvalidArgument("Tensor.H", "self", self, "have 2 axes", "Use x.mH.")
    return conjugate_transposed(self) if self.shape else self.conj()


def conjugate_transposed(x: Any) -> Any:
    """Return the conjugate with the last two axes swapped, for real tensors a view."""
    return x.mT.conj() if x.dtype.kind == "c" else x.mT


def _set_requires_grad(self: Any, wanted: Any) -> None:
    array_methods.set_requires_grad(self, bool(wanted))


def _returning_tensors(theirs: Any) -> Any:
    return property(lambda self: as_tensors(theirs.fget(self)), theirs.fset, doc=theirs.__doc__)


for _method in (detach_, numpy, element_size, get_device, backward, register_hook, __reduce__):
    add_method(_method.__name__, _method)
_PROPERTIES: dict[str, Any] = {
    "data": property(detach, _set_data, doc="The values, without gradients."),
    "grad": property(
        lambda self: as_tensors(array_methods.grad(self)), _set_grad, doc="The gradient, or None."
    ),
    "grad_fn": property(_grad_fn, doc="The operation of which the tensor is the result, or None."),
    "is_cuda": property(lambda self: False, doc="False, as WebGPU is not CUDA."),
    **{
        f"is_{name}": property(lambda self: False, doc="False, as the tensor is on WebGPU.")
        for name in ("cpu", "mps", "xpu")
    },
    "is_sparse": property(lambda self: False, doc="False."),
    "is_quantized": property(lambda self: False, doc="False."),
    "is_meta": property(lambda self: not self.device.has_values, doc="Whether it has no values."),
    "layout": property(lambda self: "strided", doc="The layout, torch.strided."),
    "H": property(_matrix_conjugate, doc="The conjugate of a matrix with its axes swapped."),
    "mH": property(conjugate_transposed, doc="The conjugate with the last axes swapped."),
    "requires_grad": property(
        lambda self: self.is_tracked,
        _set_requires_grad,
        doc="Whether operations on the tensor are recorded.",
    ),
}
for _name, _property in _PROPERTIES.items():
    add_method(_name, _property)
for _name in ("T", "mT", "real", "imag"):
    for _kind, _base in ((Tensor, Array), (TrackedTensor, Variable)):
        setattr(_kind, _name, _returning_tensors(getattr(_base, _name)))
