"""Signatures of calls. A graph is replayed for calls with an equal signature."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.value import NODE
from browsergpu.compiled.parameters import Parameters
from browsergpu.engine.core.showing import Shown

_NUMBERS = frozenset((int, float, complex))
_CONSTANTS = frozenset((bool, str, bytes, type(None), type(Ellipsis)))


class Signature(Shown):
    """The parts of one call's arguments.

    Attributes
    ----------
    key : tuple
        Equal for calls that can replay the same graph.
    arrays : list
        Arrays and NumPy arrays, in order.
    numbers : list
        Python numbers that are not part of the key, in order.
    paths : list of str
        The names of the numbers, as in "rates[1]".
    constants : list of tuple
        The names of numbers that are part of the key, with their values as text.
    objects : list
        Other arguments, which are compared by identity.
    """

    __slots__ = ("_fixed", "arrays", "constants", "key", "numbers", "objects", "paths")

    def __init__(
        self,
        args: tuple[Any, ...],
        options: dict[str, Any],
        parameters: Parameters,
        static: Collection[int | str],
        fixed: Collection[str],
    ) -> None:
        self.arrays: list[Any] = []
        self.numbers: list[Any] = []
        self.paths: list[str] = []
        self.objects: list[Any] = []
        self.constants: list[tuple[str, str]] = []
        self._fixed = fixed
        self.key: Any = (
            tuple(
                [
                    self._static(x) if at in static else self._part(x, "", parameters.name_of(at))
                    for at, x in enumerate(args)
                ]
            ),
            tuple(
                [
                    (name, self._static(x) if name in static else self._part(x, "", name))
                    for name, x in sorted(options.items())
                ]
            )
            if options
            else (),
        )
        same = [*map(id, self.arrays)]
        if len(set(same)) < len(same):  # one array several times
            self.key = *self.key, tuple(map(same.index, same))

    def _static(self, x: Any) -> Any:
        hash(x)  # TypeError for a list
        self.objects.append(x)
        return type(x), x

    def _part(self, x: Any, path: str, at: Any) -> Any:
        """Return the part of the key for one argument. ``path`` and ``at`` name it."""
        kind = type(x)
        if isinstance(x, Array):
            node = NODE.__get__(x)
            self.arrays.append(x)
            return node.shape, node.kind.number, kind
        if kind in _NUMBERS:
            name = f"{path}[{at!r}]" if path else str(at)
            if name in self._fixed:
                self.constants.append((name, repr(x)))
                return kind, repr(x)
            self.numbers.append(x)
            self.paths.append(name)
            return kind
        if kind is np.ndarray:
            self.arrays.append(x)
            return x.shape, x.dtype, kind
        if kind in _CONSTANTS:
            return kind, x
        if isinstance(x, dict):
            name = f"{path}[{at!r}]" if path else str(at)
            return kind, tuple([(key, self._part(one, name, key)) for key, one in x.items()])
        if isinstance(x, list | tuple):
            name = f"{path}[{at!r}]" if path else str(at)
            return kind, tuple([self._part(one, name, key) for key, one in enumerate(x)])
        if isinstance(x, np.generic):
            return kind, x.item()
        if isinstance(x, slice):
            return kind, repr(x)
        self.objects.append(x)
        return kind, id(x)


def rebuilt(
    tree: Any, arrays: Iterable[Any], numbers: Iterable[Any], fixed: Collection[str]
) -> Any:
    """Return a tree of arguments with other arrays and numbers, in the order of a Signature.

    ``tree`` has the arguments, the options, the parameters, and which of them are static.
    """
    next_array, next_number = iter(arrays).__next__, iter(numbers).__next__

    def part(x: Any, path: str, at: Any) -> Any:
        kind = type(x)
        if isinstance(x, Array) or kind is np.ndarray:
            return next_array()
        name = f"{path}[{at!r}]" if path else str(at)
        if kind in _NUMBERS:
            return x if name in fixed else next_number()
        if isinstance(x, dict):
            return kind([(key, part(one, name, key)) for key, one in x.items()])
        if isinstance(x, list | tuple):
            made = [part(one, name, key) for key, one in enumerate(x)]
            return x._make(made) if hasattr(x, "_make") else kind(made)
        return x

    args, options, parameters, static = tree
    name_of = parameters.name_of
    own = tuple([x if at in static else part(x, "", name_of(at)) for at, x in enumerate(args)])
    sorted_options = {
        name: x if name in static else part(x, "", name) for name, x in sorted(options.items())
    }
    return own, {name: sorted_options[name] for name in options}
