"""Pytrees: nested dicts, lists and tuples of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


def leaves(tree: Any) -> list[Any]:
    """Return the items that are not dicts, lists or tuples, in order."""
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


def unflatten(tree: Any, values: Sequence[Any]) -> Any:
    """Return a tree of the same structure with other leaves."""
    remaining = iter(values)
    return map_tree(lambda _: next(remaining), tree)


def map_tree(function: Callable[[Any], Any], tree: Any) -> Any:
    """Apply a function to each leaf, and return a tree of the same structure."""
    if isinstance(tree, dict):
        return type(tree)([(key, map_tree(function, value)) for key, value in tree.items()])
    if isinstance(tree, list | tuple):
        made = [map_tree(function, value) for value in tree]
        return tree._make(made) if hasattr(tree, "_make") else type(tree)(made)
    return function(tree)
