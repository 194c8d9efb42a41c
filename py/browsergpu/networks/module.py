"""What networks are made of: modules, which have parameters, buffers and other modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

from browsergpu.arrays.array import Array
from browsergpu.arrays.handles import Handle, added
from browsergpu.arrays.upload import element_type
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.networks import states
from browsergpu.networks.moving import move
from browsergpu.networks.parameter import Parameter
from browsergpu.networks.showing import shown


class Module:
    """The base of all layers and networks, as ``torch.nn.Module``.

    A class of its own calls ``super().__init__()`` first and has a method ``forward``, which
    calling the module calls. Attributes that are a Parameter or a Module are found by
    ``parameters()``, ``modules()``, ``state_dict()`` and the others; arrays that are none are
    registered by ``register_buffer``.
    """

    #: Whether it learns, for what then does something else, as Dropout; ``train`` and ``eval`` say.
    training: bool
    _parameters: dict[str, Array | None]
    _buffers: dict[str, Array | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]
    _forward_pre_hooks: dict[int, Callable[..., Any]]
    _forward_hooks: dict[int, Callable[..., Any]]

    #: In the order in which an attribute is looked for in them.
    _PLACES: ClassVar[tuple[str, ...]] = ("_parameters", "_buffers", "_modules")

    def __init__(self) -> None:
        own = self.__dict__
        own["training"] = True
        own["_non_persistent_buffers_set"] = (
            set()
        )  # the names of buffers that are no part of the state
        for name in (*self._PLACES, "_forward_pre_hooks", "_forward_hooks"):
            own[name] = {}

    def forward(self, *args: Any, **options: Any) -> Any:
        """What calling the module computes; a class of its own says it."""
        raise NotImplementedError(f"{type(self).__name__} has no method forward")

    def __call__(self, *args: Any, **options: Any) -> Any:
        for hook in tuple(self._forward_pre_hooks.values()):
            found = hook(self, args)
            if found is not None:
                args = found if isinstance(found, tuple) else (found,)
        result = self.forward(*args, **options)
        for hook in tuple(self._forward_hooks.values()):
            found = hook(self, args, result)
            if found is not None:
                result = found
        return result

    # -- attributes --------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter | Module):
            kind = "_modules" if isinstance(value, Module) else "_parameters"
            if kind not in own:
                expected = "set after super().__init__()"
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
        """Raises where something else takes the place of a parameter, a buffer or a module."""
        if value is None or (place == "_buffers" and isinstance(value, Array)):
            return
        expected = {
            "_parameters": "a Parameter or None", "_buffers": "an array or None",
            "_modules": "a Module or None",
        }[place]  # fmt: skip
        raise InvalidType(type(self).__name__, name, value, expected)

    def _set_attribute(self, place: str, name: str, value: Any) -> None:
        """Makes something an attribute; one of the same kind keeps its place among the others."""
        if name not in self.__dict__[place]:
            self._forget_attribute(name)
        self.__dict__[place][name] = value

    def _forget_attribute(self, name: str) -> None:
        for place in self._PLACES:
            self.__dict__[place].pop(name, None)
        self.__dict__.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __getattr__(self, name: str) -> Any:
        for place in self._PLACES:
            found = self.__dict__.get(place, {})
            if name in found:
                return found[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
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
            raise InvalidArgument(op, "name", name, "one that is no attribute already")
        return name

    def register_parameter(self, name: str, param: Array | None) -> None:
        """Makes a Parameter an attribute; None keeps the name for one that is not there."""
        op = "register_parameter"
        own = self._checked_name(op, name)
        if param is not None and not isinstance(param, Parameter):
            raise InvalidType(op, "param", param, "a Parameter or None")
        self._set_attribute("_parameters", own, param)

    def register_buffer(self, name: str, tensor: Array | None, persistent: bool = True) -> None:
        """Makes an array an attribute that belongs to the state, unless it is not ``persistent``,
        and is not learnt."""
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
        """Makes a module an attribute, whose name may be a number."""
        op = "register_module"
        own = self._checked_name(op, name)
        if module is not None and not isinstance(module, Module):
            raise InvalidType(op, "module", module, "a Module or None")
        self._set_attribute("_modules", own, module)

    add_module = register_module

    # -- what it has -------------------------------------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules that are its attributes, each once, and their names."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules that are its attributes, each once."""
        return (module for _, module in self.named_children())

    def named_modules(
        self, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Itself and all modules in it, each once unless not ``remove_duplicate``, with their names
        from here."""
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
        """Itself and all modules in it, each once."""
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
        """What it learns, with names such as "0.weight"; without ``recurse`` its own alone."""
        return self._named_arrays("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Array]:
        """What it learns; without ``recurse`` its own alone."""
        return (array for _, array in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Array]]:
        """The arrays that it has and does not learn, with their names."""
        return self._named_arrays("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Array]:
        """The arrays that it has and does not learn."""
        return (array for _, array in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The module of a name such as "encoder.0"; itself for "". Raises InvalidArgument where
        there is none."""
        found: Any = self
        for name in target.split(".") if target else ():
            found = found._modules.get(name)
            if found is None:
                expected = "the name of a module in it"
                raise InvalidArgument("get_submodule", "target", target, expected)
        return found  # type: ignore[no-any-return]

    # -- its state ---------------------------------------------------------------------------------

    def state_dict(self, prefix: str = "") -> dict[str, Array]:
        """All parameters and lasting buffers by their names: arrays of the values that they have
        now, which do not change with them."""
        return {name: array.detach() for name, array in states.named(self, prefix)}

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True
    ) -> states.Unmatched:
        """Gives parameters and buffers the values of arrays, on the GPU or NumPy's, by their names,
        in their own dtypes. Gives the names that were missing and those that nothing here has.

        Raises InvalidArgument, a ValueError, that names all of these where ``strict``, and arrays
        of other shapes always; nothing is changed then.
        """
        own = dict(states.named(self, ""))
        kind = type(self).__name__
        return states.load(kind, own, state_dict, checks.flag("load_state_dict", "strict", strict))

    # -- what all of its modules do ----------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Sets ``training`` of itself and of all modules in it."""
        wanted = checks.flag("train", "mode", mode)
        for module in self.modules():
            module.training = wanted
        return self

    def eval(self) -> Self:
        """``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Whether its parameters are learnt: False freezes them."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Lets go of its parameters' gradients, or, not ``set_to_none``, makes them zeros."""
        for parameter in self.parameters():
            states.without_gradient(parameter, set_to_none)

    def to(self, device: Any = None, dtype: Any = None) -> Self:
        """Puts its parameters and buffers, and the gradients, on a device, and those of floats into
        another dtype of floats, each where it is given; optimisers go on with them. Raises
        InvalidType for other dtypes."""
        if dtype is not None and element_type("to", dtype).kind != "f":
            raise InvalidType("to", "dtype", dtype, "float32 or float16")
        for x in (*self.parameters(), *self.buffers()):
            move(x, device, dtype)
        return self

    def half(self) -> Self:
        """``to(dtype="float16")``."""
        return self.to(dtype="float16")

    def float(self) -> Self:
        """``to(dtype="float32")``."""
        return self.to(dtype="float32")

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Calls a function with every module in it, and with itself at last."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # -- what is called with it --------------------------------------------------------------------

    def register_forward_pre_hook(self, hook: Callable[[Module, tuple[Any, ...]], Any]) -> Handle:
        """Calls ``hook(module, args)`` before each ``forward``; what it gives, unless None, takes
        the arguments' place. The handle's ``remove()`` ends that."""
        return added(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook: Callable[[Module, tuple[Any, ...], Any], Any]) -> Handle:
        """Calls ``hook(module, args, output)`` after each ``forward``; what it gives, unless None,
        takes the output's place. The handle's ``remove()`` ends that."""
        return added(self._forward_hooks, hook)

    # -- as text, and copied -----------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What its text has between the brackets."""
        return ""

    def __repr__(self) -> str:
        return shown(type(self).__name__, self.extra_repr(), self._modules)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        found: Self = states.copied(self, memo)
        return found
