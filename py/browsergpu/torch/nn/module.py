"""Modules whose parameters, buffers and results are tensors."""

from __future__ import annotations

from typing import Any, Self

from browsergpu.arrays.array import Array
from browsergpu.arrays.handles import Handle, added
from browsergpu.autograd.array_methods import detach
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation
from browsergpu.networks import hooks, parameter
from browsergpu.networks import module as networks_module
from browsergpu.torch.nn import functional
from browsergpu.torch.nn.backward_hooks import BackwardHooks
from browsergpu.torch.nn.module_state import StatefulModule
from browsergpu.torch.tensors.devices import device_of, notice
from browsergpu.torch.tensors.dtypes import dtype_of
from browsergpu.torch.tensors.tensor import Tensor, TrackedTensor, as_tensors

#: The class of ``torch.nn`` for each class of ``browsergpu.nn``.
CLASSES: dict[type, type] = {}


class Parameter(parameter.Parameter):
    """A tensor that becomes a module's parameter when it is assigned to an attribute."""

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        """Return a parameter of a tensor's memory, or of values."""
        if data is None:
            data = creation.zeros((0,))
        own = detach(data) if isinstance(data, Array) else creation.asarray(data)
        own.__class__ = Tensor
        return parameter.registered(own, requires_grad)


def adopt(module: Any) -> Any:
    """Make a module of ``browsergpu.nn``, and what it holds, modules of ``torch.nn``."""
    kind = CLASSES.get(type(module))
    if kind is None:
        return module
    object.__setattr__(module, "__class__", kind)
    for place in ("_parameters", "_buffers"):
        for value in module.__dict__[place].values():
            as_tensors(value)
    for child in module.__dict__["_modules"].values():
        adopt(child)
    return module


_call = networks_module.Module.__call__


class Module(StatefulModule):
    """Base class of all layers and networks."""

    def __init__(self, *args: Any, **options: Any) -> None:
        if args or options:
            raise TypeError(f"{type(self).__name__}.__init__() takes no arguments")
        super().__init__()

    def __call__(self, *args: Any, **options: Any) -> Any:
        if "_backward_hooks" in self.__dict__:
            return self._call_with_backward_hooks(args, options)
        found = _call(self, *args, **options)
        kind = type(found)
        return found if kind is Tensor or kind is TrackedTensor else as_tensors(found, args)

    def _call_with_backward_hooks(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        args, options = hooks.before(self, self._forward_pre_hooks, args, options)
        backward = BackwardHooks(self)
        args = backward.inputs(args)
        found = as_tensors(self.forward(*args, **options), args)
        found = hooks.after(self, self._forward_hooks, args, options, found)
        return backward.outputs(as_tensors(found, args))

    def _backward_hook(self, place: str, hook: Any, is_first: bool) -> Handle:
        for name in ("_backward_hooks", "_backward_pre_hooks"):
            self.__dict__.setdefault(name, {})
        return added(self.__dict__[place], hook, is_first)

    def register_full_backward_hook(self, hook: Any, prepend: bool = False) -> Handle:
        """Call ``hook(module, grad_input, grad_output)`` when gradients of inputs are computed.

        A result other than None replaces ``grad_input``.
        """
        return self._backward_hook("_backward_hooks", hook, prepend)

    def register_full_backward_pre_hook(self, hook: Any, prepend: bool = False) -> Handle:
        """Call ``hook(module, grad_output)`` before gradients of inputs are computed.

        A result other than None replaces ``grad_output``.
        """
        return self._backward_hook("_backward_pre_hooks", hook, prepend)

    def _set_attribute(self, place: str, name: str, value: Any) -> None:
        value = adopt(value) if place == "_modules" else as_tensors(value)
        super()._set_attribute(place, name, value)

    def to(self, *args: Any, **options: Any) -> Self:
        """Move to a device, or cast floats to another float dtype."""
        options.pop("non_blocking", None)
        options.pop("memory_format", None)
        device, dtype = options.pop("device", None), options.pop("dtype", None)
        if options:
            raise InvalidArgument("to", "arguments", options, "a device, a dtype or a tensor")
        for one in args:
            if isinstance(one, Array):
                device, dtype = one.device, one.dtype
            elif isinstance(one, bool):
                continue
            elif hasattr(one, "itemsize") or type(one).__name__ == "MissingType":
                dtype = one
            else:
                device = one
        where, kind = device_of("to", device), dtype_of("to", dtype)
        return self if where is None and kind is None else super().to(where, kind)

    def cuda(self, device: Any = None) -> Self:
        """Return the module, which is on the GPU."""
        notice("device", "cuda: the module stays on the GPU of WebGPU.")
        return self

    def cpu(self) -> Self:
        """Return the module, which stays on the GPU."""
        notice("device", "cpu: the module stays on the GPU of WebGPU.")
        return self

    def double(self) -> Self:
        """Cast to float64, which WebGPU has not: see ``set_x64``."""
        return self.to(dtype_of("double", "float64"))

    def type(self, dst_type: Any) -> Self:
        """Cast floats to a dtype."""
        return self.to(dtype_of("type", dst_type))

    def get_parameter(self, target: str) -> Any:
        """Return the parameter with a name such as "encoder.0.weight"."""
        where, _, name = target.rpartition(".")
        return self.get_submodule(where)._parameters[name]

    def get_buffer(self, target: str) -> Any:
        """Return the buffer with a name such as "norm.running_mean"."""
        where, _, name = target.rpartition(".")
        return self.get_submodule(where)._buffers[name]

    def compile(self, *_: Any, **__: Any) -> None:
        """Compile the calls of the module."""
        from browsergpu.compiled.jit import jit

        self.forward = jit(self.forward)  # type: ignore[method-assign]

    def share_memory(self) -> Self:
        """Return the module. There are no worker processes."""
        return self


def _along_axis(theirs: type) -> dict[str, Any]:
    """Return the methods of a layer whose ``dim=None`` is chosen by the number of axes."""
    function = {
        "Softmax": functional.softmax, "LogSoftmax": functional.log_softmax,
        "Softmin": functional.softmin,
    }[theirs.__name__]  # fmt: skip
    plain: Any = theirs

    def __init__(self: Any, dim: int | None = None) -> None:
        plain.__init__(self, -1 if dim is None else dim)
        self.dim = self.dim if dim is not None else None

    return {"__init__": __init__, "forward": lambda self, input: function(input, self.dim)}


def _load_counts(self: Any, state_dict: Any, prefix: str, local_metadata: Any, *lists: Any) -> None:
    """Load a state of BatchNorm. States before version 2 have no number of batches."""
    name = f"{prefix}num_batches_tracked"
    count = self._buffers.get("num_batches_tracked")
    if local_metadata.get("version") is None and count is not None:
        state_dict.setdefault(name, count)
    Module._load_from_state_dict(self, state_dict, prefix, local_metadata, *lists)


def layer(theirs: type) -> type:
    """Return the class of ``torch.nn`` for a class of ``browsergpu.nn``."""
    names: dict[str, Any] = {"__doc__": theirs.__doc__}
    if theirs.__name__ == "Dropout2d":
        names["forward"] = lambda self, x: functional.dropout2d(x, self.p, self.training)
    if theirs.__name__ == "Transformer":
        own: Any = theirs
        names["generate_square_subsequent_mask"] = staticmethod(
            lambda *args, **options: as_tensors(
                own.generate_square_subsequent_mask(*args, **options)
            )
        )
    if theirs.__name__ in ("RNN", "LSTM", "GRU"):
        names["flatten_parameters"] = lambda self: None  # they need no common memory
    if theirs.__name__ in ("Softmax", "LogSoftmax", "Softmin"):
        names |= _along_axis(theirs)
    if "BatchNorm" in theirs.__name__:
        names |= {"_version": 2, "_load_from_state_dict": _load_counts}
    if "MaxPool" in theirs.__name__:
        plain: Any = theirs
        names["forward"] = lambda self, x: functional.with_long_indices(plain.forward(self, x))
    made = type(theirs.__name__, (theirs, Module), names)
    made.__module__ = "browsergpu.torch.nn"
    CLASSES[theirs] = made
    return made
