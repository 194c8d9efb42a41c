"""Module state: names, loading and copying."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
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


def load(kind: str, own: Mapping[str, Array], given: Any, strict: bool) -> Unmatched:
    """Set the values of arrays by name, all or none."""
    op = "load_state_dict"
    if not isinstance(given, Mapping):
        raise InvalidType(op, "state_dict", given, "a dict of arrays by their names")
    missing = [name for name in own if name not in given]
    unexpected = [name for name in given if name not in own]
    for name, value in given.items():
        if name in own and not isinstance(value, Array | np.ndarray | np.generic):
            raise InvalidType(op, f"state_dict[{name!r}]", value, "an array")
    wrong = [
        f"{name} has shape {tuple(given[name].shape)}, not {array.shape}"
        for name, array in own.items()
        if name in given and tuple(given[name].shape) != array.shape
    ]
    if strict and missing:
        wrong.append(f"missing: {', '.join(missing)}")
    if strict and unexpected:
        wrong.append(f"unexpected: {', '.join(map(str, unexpected))}")
    if wrong:
        expected = f"a state of {kind} ({'; '.join(wrong)})"
        raise InvalidArgument(
            op, "state_dict", Description(f"a dict of {len(given)} arrays"), expected
        )
    values = {
        name: _value(given[name], array) for name, array in own.items() if name in given
    }  # convert all before the first is set
    for name, value in values.items():
        take(own[name], value)
    return Unmatched(missing, unexpected)


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
