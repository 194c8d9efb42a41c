"""Module state: names, loading and copying."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.functions import creation
from browsergpu.networks.parameter import Parameter, take


class Unmatched(NamedTuple):
    """The names that do not match in ``load_state_dict``."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def joined(prefix: str, name: str) -> str:
    """Return the qualified name of an attribute."""
    return f"{prefix}.{name}" if prefix else name


def named(module: Any, prefix: str) -> Iterator[tuple[str, Array]]:
    """Iterate over parameters and persistent buffers of a module and its submodules.

    Shared arrays occur under each name. The order is PyTorch's.
    """
    for name, array in module._parameters.items():
        if array is not None:
            yield prefix + name, array
    for name, array in module._buffers.items():
        if array is not None and name not in module._non_persistent_buffers_set:
            yield prefix + name, array
    for name, inner in module._modules.items():
        if inner is not None:
            yield from named(inner, f"{prefix}{name}.")


class Loading(Shown):
    """Values that ``load_state_dict`` sets, all or none."""

    def __init__(self, given: Any) -> None:
        if not isinstance(given, Mapping):
            expected = "a dict of arrays by their names"
            raise InvalidType("load_state_dict", "state_dict", given, expected)
        self.given = given
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.wrong: list[str] = []
        self._values: list[tuple[Array, Any]] = []

    def add(self, name: str, own: Array, value: Any) -> None:
        """Plan to set an array."""
        if not isinstance(value, Array | np.ndarray | np.generic):
            raise InvalidType("load_state_dict", f"state_dict[{name!r}]", value, "an array")
        shape = tuple(value.shape)
        if shape == (1,) and own.shape == ():  # files before PyTorch 0.4
            value = value.reshape(())
        elif shape != own.shape:
            self.wrong.append(f"{name} has shape {shape}, not {own.shape}")
            return
        self._values.append((own, value))

    def add_all(self, own: Mapping[str, Array], given: Mapping[str, Any]) -> None:
        """Plan to set arrays by name, and note the names that do not match."""
        self.missing += [name for name in own if name not in given]
        self.unexpected += [name for name in given if name not in own]
        for name, array in own.items():
            if name in given:
                self.add(name, array, given[name])

    def end(self, kind: str, strict: bool) -> Unmatched:
        """Set the arrays. Raises InvalidArgument if a shape or a name does not match."""
        wrong = list(self.wrong)
        if strict and self.missing:
            wrong.append(f"missing: {', '.join(self.missing)}")
        if strict and self.unexpected:
            wrong.append(f"unexpected: {', '.join(map(str, self.unexpected))}")
        if wrong:
            found = Description(f"a dict of {len(self.given)} arrays")
            expected = f"a state of {kind} ({'; '.join(wrong)})"
            raise InvalidArgument("load_state_dict", "state_dict", found, expected)
        values = [(own, _value(value, own)) for own, value in self._values]  # before the first set
        for own, value in values:
            take(own, value)
        return Unmatched(self.missing, self.unexpected)


def load(kind: str, own: Mapping[str, Array], given: Any, strict: bool) -> Unmatched:
    """Set the values of arrays by name, all or none."""
    loading = Loading(given)
    loading.add_all(own, given)
    return loading.end(kind, strict)


def _value(given: Any, own: Array) -> Array:
    if isinstance(given, Array):
        return given.detach().to_device(own.device)
    return creation.asarray(np.asarray(given, own.dtype), device=own.device)


def without_gradient(parameter: Array, set_to_none: bool) -> None:
    """Delete a gradient, or set it to zeros."""
    gradient = parameter.grad
    if gradient is not None:
        parameter.grad = None if set_to_none else creation.zeros_like(gradient)


def copied(module: Any, memo: dict[int, Any]) -> Any:
    """Return a deep copy of a module, with its own parameters and buffers."""
    made = object.__new__(type(module))
    memo[id(module)] = made
    for name, value in module.__dict__.items():
        if name == "_parameters":
            made.__dict__[name] = {key: _copied(x, memo) for key, x in value.items()}
        else:
            made.__dict__[name] = deepcopy(value, memo)
    return made


def _copied(parameter: Array | None, memo: dict[int, Any]) -> Array | None:
    """Copy a Parameter. Shared parameters stay shared."""
    if parameter is None:
        return None
    if id(parameter) not in memo:
        memo[id(parameter)] = Parameter(parameter.detach().copy(), parameter.requires_grad)
    return memo[id(parameter)]  # type: ignore[no-any-return]
