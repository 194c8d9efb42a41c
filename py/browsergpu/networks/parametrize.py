"""Attributes of modules that are computed from parameters, with PyTorch's names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.networks.layers.containers import ModuleDict, ModuleList
from browsergpu.networks.module import Module
from browsergpu.networks.parameter import Parameter, take

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations",
]  # fmt: skip

_NAME = "parametrizations"
#: The values in a block of :func:`cached`, by module and name.
_cache: ContextVar[dict[tuple[int, str], Any] | None] = ContextVar("parametrized", default=None)


class ParametrizationList(ModuleList):
    """The parametrizations of one attribute, and the parameters that they start from.

    The parameter is ``original``. If the last ``right_inverse`` returned a tuple, the parameters
    are ``original0``, ``original1`` and so on.
    """

    def __init__(self, modules: Iterable[Any], original: Array) -> None:
        super().__init__(modules)
        is_parameter = isinstance(original, Parameter)
        begin = original.detach()
        parts = self._inverse(begin)
        self.__dict__["names"] = (
            [f"original{n}" for n in range(len(parts))] if isinstance(parts, tuple)
            else ["original"]
        )  # fmt: skip
        for name, x in zip(self.names, parts if isinstance(parts, tuple) else [parts], strict=True):
            if is_parameter:
                own = original if x is begin else Parameter(x.detach().copy())
                self.register_parameter(name, own)
            else:
                self.register_buffer(name, original if x is begin else x)

    def _inverse(self, value: Any) -> Any:
        with no_grad():
            for one in reversed(list(self)):
                if hasattr(one, "right_inverse"):
                    value = one.right_inverse(value)
        return tuple(value) if isinstance(value, list | tuple) else value

    def right_inverse(self, value: Array) -> None:
        """Set the parameters, so that the attribute has a value."""
        found = self._inverse(value.detach())
        parts = found if isinstance(found, tuple) else (found,)
        if len(parts) != len(self.names):
            expected = f"{len(self.names)} arrays of right_inverse"
            raise InvalidArgument("right_inverse", "value", len(parts), expected)
        for name, x in zip(self.names, parts, strict=True):
            own = getattr(self, name)
            if own.shape != x.shape:
                raise InvalidArgument("right_inverse", "value", x, f"have shape {own.shape}")
            take(own, x)

    def forward(self) -> Any:
        """Compute the attribute."""
        first, *others = self
        x = first(*[getattr(self, name) for name in self.names])
        for one in others:
            x = one(x)
        return x


@contextmanager
def cached() -> Iterator[None]:
    """Compute each attribute once in the block, not at each use."""
    if _cache.get() is not None:
        yield
        return
    token = _cache.set({})
    try:
        yield
    finally:
        _cache.reset(token)


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a module has an attribute that is computed, or whether this one is.

    Parameters
    ----------
    module : Module
        The module.
    tensor_name : str, optional
        The attribute. Any, by default.
    """
    found = module._modules.get(_NAME)
    return found is not None and (tensor_name in found if tensor_name is not None else bool(found))


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False
) -> Any:
    """Compute a parameter or buffer of a module from other parameters.

    Parameters
    ----------
    module : Module
        The module. It gets the submodule ``parametrizations``.
    tensor_name : str
        The name of the parameter or buffer.
    parametrization : Module
        Its ``forward`` computes the attribute. Its ``right_inverse``, if any, computes the
        parameters from the current value, one array or a tuple.
    unsafe : bool
        Whether the attribute may get another shape or dtype.

    Returns
    -------
    Module
        The module.

    Raises
    ------
    InvalidArgument
        If there is no such attribute, or it would get another shape or dtype.
    InvalidType
        If ``module`` or ``parametrization`` is not a Module.

    Examples
    --------
    >>> class Symmetric(bg.nn.Module):
    ...     def forward(self, x):
    ...         return bg.triu(x) + bg.triu(x, k=1).T
    >>> layer = bg.nn.Linear(3, 3)
    >>> _ = bg.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    """
    op = "register_parametrization"
    for name, one in (("module", module), ("parametrization", parametrization)):
        if not isinstance(one, Module):
            raise InvalidType(op, name, one, "a Module")
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        current = getattr(module, tensor_name).detach()
        _check_result(op, current, lambda: parametrization(current), unsafe)
        listed = module.parametrizations[tensor_name]
        if hasattr(parametrization, "right_inverse"):
            with no_grad():
                listed.right_inverse(parametrization.right_inverse(current))
        listed.append(parametrization)
        return module
    own = module._parameters.get(tensor_name)
    original = module._buffers.get(tensor_name) if own is None else own
    if original is None:
        raise InvalidArgument(op, "tensor_name", tensor_name, "the name of a parameter or buffer")
    listed = ParametrizationList([parametrization], original)
    _check_result(op, original, listed, unsafe)
    if _NAME not in module._modules:
        _subclass(module)
        setattr(module, _NAME, ModuleDict())
    delattr(module, tensor_name)
    module.parametrizations[tensor_name] = listed
    setattr(type(module), tensor_name, _property(tensor_name))
    return module


def _check_result(op: str, original: Array, compute: Any, unsafe: bool) -> None:
    if unsafe:
        return
    with no_grad():
        found = compute()
    form = original.shape, original.dtype
    if not isinstance(found, Array) or (found.shape, found.dtype) != form:
        expected = f"compute shape {original.shape} and dtype {original.dtype}"
        raise InvalidArgument(op, "parametrization", found, expected, "Or pass unsafe=True.")


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a computed attribute a parameter or buffer again.

    Parameters
    ----------
    module : Module
        The module.
    tensor_name : str
        The attribute.
    leave_parametrized : bool
        Whether it keeps the computed value, or gets the value of the original parameter.

    Returns
    -------
    Module
        The module.

    Raises
    ------
    InvalidArgument
        If the attribute is not computed, or has several parameters and ``leave_parametrized`` is
        False.
    """
    op = "remove_parametrizations"
    if not is_parametrized(module, tensor_name):
        raise InvalidArgument(op, "tensor_name", tensor_name, "the name of a computed attribute")
    listed = module.parametrizations[tensor_name]
    if not leave_parametrized and len(listed.names) > 1:
        expected = "True for several parameters"
        raise InvalidArgument(op, "leave_parametrized", leave_parametrized, expected)
    first = getattr(listed, listed.names[0])
    value = getattr(module, tensor_name).detach() if leave_parametrized else first
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    is_learned = first.requires_grad
    if isinstance(first, Parameter):
        own = value if isinstance(value, Parameter) else Parameter(value, is_learned)
        module.register_parameter(tensor_name, own)
    else:
        module.register_buffer(tensor_name, value)
    if not len(module.parametrizations):
        delattr(module, _NAME)
        object.__setattr__(module, "__class__", type(module).__bases__[0])
    return module


def _subclass(module: Any) -> None:
    """Give a module a class of its own, which can have properties."""
    kind: Any = type(module)

    def set_attribute(self: Any, name: str, value: Any) -> None:
        if is_parametrized(self, name):
            self.parametrizations[name].right_inverse(value)
        else:
            kind.__setattr__(self, name, value)

    names = {"__setattr__": set_attribute, "__module__": kind.__module__}
    object.__setattr__(module, "__class__", type(f"Parametrized{kind.__name__}", (kind,), names))


def _property(name: str) -> property:
    def computed(self: Any) -> Any:
        known = _cache.get()
        if known is None:
            return self.parametrizations[name]()
        key = id(self), name
        if key not in known:
            known[key] = self.parametrizations[name]()
        return known[key]

    return property(computed)
