"""Arrays in dicts, lists and tuples, one within the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


def leaves(tree: Any) -> list[Any]:
    """What is in it that is no dict, list or tuple, in the order in which it was put there."""
    return list(_leaves(tree))


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, dict):
        for value in tree.values():
            yield from _leaves(value)
    elif isinstance(tree, list | tuple):
        for value in tree:
            yield from _leaves(value)
    else:
        yield tree


def filled(tree: Any, values: Sequence[Any]) -> Any:
    """A tree of the same form with other leaves."""
    those = iter(values)
    return mapped(lambda _: next(those), tree)


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """A tree of the same form of what a function gives for each leaf."""
    if isinstance(tree, dict):
        return type(tree)([(key, mapped(function, value)) for key, value in tree.items()])
    if isinstance(tree, list | tuple):
        made = [mapped(function, value) for value in tree]
        return tree._make(made) if hasattr(tree, "_make") else type(tree)(made)
    return function(tree)
