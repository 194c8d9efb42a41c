"""Modules, the building blocks of networks, with parameters, buffers and submodules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

from browsergpu.arrays.array import Array
from browsergpu.arrays.handles import Handle, added
from browsergpu.arrays.upload import element_type
from browsergpu.engine.core import checks
from browsergpu.engine.core.changes import CHANGES
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.networks import hooks, states
from browsergpu.networks.moving import convert, moved
from browsergpu.networks.parameter import Parameter
from browsergpu.networks.showing import shown


class Module:
    """Base class of all layers and networks, as ``torch.nn.Module``.

    A subclass calls ``super().__init__()`` first and defines a method ``forward``, which runs when
    the module is called. Attributes that are a Parameter or a Module are found by ``parameters()``,
    ``modules()``, ``state_dict()`` and related methods. Other arrays can be registered by
    ``register_buffer``.
    """

    #: Whether the module is in training mode, which Dropout and BatchNorm depend on. Set by
    #: ``train`` and ``eval``.
    training: bool
    _parameters: dict[str, Array | None]
    _buffers: dict[str, Array | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]
    _forward_pre_hooks: dict[int, Callable[..., Any]]
    _forward_hooks: dict[int, Callable[..., Any]]

    #: The dicts that are searched for an attribute, in order.
    _PLACES: ClassVar[tuple[str, ...]] = ("_parameters", "_buffers", "_modules")

    def __init__(self) -> None:
        own = self.__dict__
        own["training"] = True
        own["_non_persistent_buffers_set"] = set()  # names of buffers outside the state
        for name in (*self._PLACES, "_forward_pre_hooks", "_forward_hooks"):
            own[name] = {}

    def forward(self, *args: Any, **options: Any) -> Any:
        """Compute the module's output. Subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} has no method forward")

    def __call__(self, *args: Any, **options: Any) -> Any:
        if self._forward_pre_hooks:
            args, options = hooks.before(self, self._forward_pre_hooks, args, options)
        result = self.forward(*args, **options)
        if self._forward_hooks:
            result = hooks.after(self, self._forward_hooks, args, options, result)
        return result

    # -- attributes --------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        CHANGES.count += 1
        if isinstance(value, Parameter | Module):
            kind = "_modules" if isinstance(value, Module) else "_parameters"
            if kind not in own:
                expected = "set after the call of super().__init__()"
                raise InvalidArgument(type(self).__name__, name, value, expected)
            self._set_attribute(kind, name, value)
            return
        for place in self._PLACES:
            if name in own.get(place, ()):
                self._check_attribute(name, place, value)
                own[place][name] = value
                return
        own[name] = value

    def _check_attribute(self, name: str, place: str, value: Any) -> None:
        """Raise InvalidType if a value cannot replace a parameter, buffer or submodule."""
        if value is None or (place == "_buffers" and isinstance(value, Array)):
            return
        expected = {
            "_parameters": "a Parameter or None", "_buffers": "an array or None",
            "_modules": "a Module or None",
        }[place]  # fmt: skip
        raise InvalidType(type(self).__name__, name, value, expected)

    def _set_attribute(self, place: str, name: str, value: Any) -> None:
        """Register an attribute. A replaced attribute keeps its position in the order."""
        CHANGES.count += 1
        if name not in self.__dict__[place]:
            self._forget_attribute(name)
        self.__dict__[place][name] = value

    def _forget_attribute(self, name: str) -> None:
        CHANGES.count += 1
        for place in self._PLACES:
            self.__dict__[place].pop(name, None)
        self.__dict__.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for place in self._PLACES:
            found = own.get(place)  # None before the call of super().__init__()
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        CHANGES.count += 1
        if not any(name in self.__dict__[place] for place in self._PLACES):
            object.__delattr__(self, name)
        else:
            self._forget_attribute(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(n for at in self._PLACES for n in self.__dict__[at])})

    def _checked_name(self, op: str, name: Any) -> str:
        if not isinstance(name, str) or not name or "." in name:
            raise InvalidArgument(op, "name", name, "a name without a dot")
        known = any(name in self.__dict__[place] for place in self._PLACES)
        if not known and hasattr(self, name):
            raise InvalidArgument(op, "name", name, "a name that is not an attribute yet")
        return name

    def register_parameter(self, name: str, param: Array | None) -> None:
        """Register a Parameter as an attribute. None reserves the name without a parameter."""
        op = "register_parameter"
        own = self._checked_name(op, name)
        if param is not None and not isinstance(param, Parameter):
            raise InvalidType(op, "param", param, "a Parameter or None")
        self._set_attribute("_parameters", own, param)

    def register_buffer(self, name: str, tensor: Array | None, persistent: bool = True) -> None:
        """Register an array as an attribute that is not learned.

        Parameters
        ----------
        name : str
            The attribute's name.
        tensor : Array or None
            The array.
        persistent : bool
            Whether the buffer is part of ``state_dict()``.
        """
        op = "register_buffer"
        own = self._checked_name(op, name)
        if tensor is not None and not isinstance(tensor, Array):
            raise InvalidType(op, "tensor", tensor, "an array or None")
        stays = checks.flag(op, "persistent", persistent)
        self._set_attribute("_buffers", own, tensor)
        if stays:
            self._non_persistent_buffers_set.discard(own)
        else:
            self._non_persistent_buffers_set.add(own)

    def register_module(self, name: str, module: Module | None) -> None:
        """Register a submodule as an attribute, whose name may be a number."""
        op = "register_module"
        own = self._checked_name(op, name)
        if module is not None and not isinstance(module, Module):
            raise InvalidType(op, "module", module, "a Module or None")
        self._set_attribute("_modules", own, module)

    add_module = register_module

    # -- parameters, buffers and submodules ----------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over the direct submodules, each once, with their names."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """Iterate over the direct submodules, each once."""
        return (module for _, module in self.named_children())

    def named_modules(
        self, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Iterate over this module and all submodules, with their names.

        Each module occurs once, unless ``remove_duplicate`` is False.
        """
        return self._named_modules(prefix, set() if remove_duplicate else None)

    def _named_modules(self, prefix: str, seen: set[Module] | None) -> Iterator[tuple[str, Module]]:
        if seen is not None:
            if self in seen:
                return
            seen.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module._named_modules(states.joined(prefix, name), seen)

    def modules(self) -> Iterator[Module]:
        """Iterate over this module and all submodules, each once."""
        return (module for _, module in self.named_modules())

    def _named_arrays(
        self, place: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Array]]:
        modules = self.named_modules(prefix, remove_duplicate) if recurse else [(prefix, self)]
        seen: set[int] = set()
        for where, module in modules:
            for name, array in module.__dict__[place].items():
                if array is None or (remove_duplicate and id(array) in seen):
                    continue
                seen.add(id(array))
                yield states.joined(where, name), array

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Array]]:
        """Iterate over the parameters, with names such as "0.weight".

        With ``recurse=False``, parameters of submodules are left out.
        """
        return self._named_arrays("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Array]:
        """Iterate over the parameters. With ``recurse=False``, leave out those of submodules."""
        return (array for _, array in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Array]]:
        """Iterate over the buffers, with their names."""
        return self._named_arrays("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Array]:
        """Iterate over the buffers."""
        return (array for _, array in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """Return the submodule with a name such as "encoder.0". "" is this module.

        Raises InvalidArgument if there is none.
        """
        found: Any = self
        for name in target.split(".") if target else ():
            found = found._modules.get(name)
            if found is None:
                expected = "the name of a submodule"
                raise InvalidArgument("get_submodule", "target", target, expected)
        return found  # type: ignore[no-any-return]

    # -- state ---------------------------------------------------------------------------------

    def state_dict(self, prefix: str = "") -> dict[str, Array]:
        """Return all parameters and persistent buffers by name.

        The arrays share memory with the module's, as in PyTorch: a change of one is seen in both.
        ``copy()`` keeps the current values.
        """
        return {name: array.detach() for name, array in states.named(self, prefix)}

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True
    ) -> states.Unmatched:
        """Set the values of parameters and buffers from arrays, in the module's dtypes.

        Parameters
        ----------
        state_dict : mapping
            Arrays by name, on the GPU or from NumPy.
        strict : bool
            Whether missing and unexpected names are an error.

        Returns
        -------
        Unmatched
            The names that are missing in ``state_dict``, and its unexpected names.

        Raises
        ------
        InvalidArgument
            If an array has another shape, or if ``strict`` and the names do not match. The message
            lists all of them. Nothing is changed.
        """
        own = dict(states.named(self, ""))
        kind = type(self).__name__
        return states.load(kind, own, state_dict, checks.flag("load_state_dict", "strict", strict))

    # -- operations on all submodules ----------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Set the training mode of this module and all submodules."""
        self.training = checks.flag("train", "mode", mode)
        for module in self.children():  # their classes may define it
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set the evaluation mode: ``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether the parameters require gradients. False freezes them."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Delete the parameters' gradients, or set them to zeros if not ``set_to_none``."""
        for parameter in self.parameters():
            states.without_gradient(parameter, set_to_none)

    def to(self, device: Any = None, dtype: Any = None) -> Self:
        """Move to a device, or cast floats to another float dtype.

        This applies to parameters, buffers and gradients.

        Parameters
        ----------
        device : optional
            The new device. The current one by default.
        dtype : optional
            float32 or float16. The current dtypes by default.

        Returns
        -------
        Module
            This module. Optimizers keep working with its parameters.

        Raises
        ------
        InvalidType
            If the dtype is not a float dtype.
        """
        if dtype is not None and element_type("to", dtype).kind != "f":
            raise InvalidType("to", "dtype", dtype, "float32 or float16")
        return self._apply(lambda x: moved(x, device, dtype))

    def _apply(self, fn: Callable[[Array], Array], recurse: bool = True) -> Self:
        """Convert parameters, buffers and gradients. ``to`` calls it for every submodule."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        for x in (*self._parameters.values(), *self._buffers.values()):
            if x is not None:
                convert(x, fn)
        return self

    def half(self) -> Self:
        """Cast to float16: ``to(dtype="float16")``."""
        return self.to(dtype="float16")

    def float(self) -> Self:
        """Cast to float32: ``to(dtype="float32")``."""
        return self.to(dtype="float32")

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call a function with every submodule, and with this module last."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # -- hooks ---------------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> Handle:
        """Call ``hook(module, args)`` before each ``forward``.

        A result other than None replaces the arguments. The handle's ``remove()`` removes the hook.

        Parameters
        ----------
        hook : callable
            The hook.
        prepend : bool
            Whether it is called before the earlier hooks.
        with_kwargs : bool
            Whether ``hook(module, args, kwargs)`` is called, which returns None or both.
        """
        own: Any = hooks.WithOptions(hook) if with_kwargs else hook
        return added(self._forward_pre_hooks, own, prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> Handle:
        """Call ``hook(module, args, output)`` after each ``forward``.

        A result other than None replaces the output. The handle's ``remove()`` removes the hook.

        Parameters
        ----------
        hook : callable
            The hook.
        prepend : bool
            Whether it is called before the earlier hooks.
        with_kwargs : bool
            Whether ``hook(module, args, kwargs, output)`` is called.
        """
        own: Any = hooks.WithOptions(hook) if with_kwargs else hook
        return added(self._forward_hooks, own, prepend)

    # -- repr and copies -----------------------------------------------------------------------

    def extra_repr(self) -> str:
        """Return the text between the parentheses of the repr."""
        return ""

    def __repr__(self) -> str:
        return shown(type(self).__name__, self.extra_repr(), self._modules)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        found: Self = states.copied(self, memo)
        return found
