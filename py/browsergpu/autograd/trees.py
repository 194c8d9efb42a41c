"""Pytrees: nested dicts, lists, tuples and registered containers of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description


class Container(NamedTuple):
    """How a class of containers is flattened and rebuilt.

    Attributes
    ----------
    flatten : callable
        Takes a container. Returns its children, and data that describes the rest.
    unflatten : callable
        Takes the data and other children. Returns a container.
    keys : callable
        Takes a container. Returns the key of each child.
    """

    flatten: Callable[[Any], tuple[Sequence[Any], Any]]
    unflatten: Callable[[Any, Sequence[Any]], Any]
    keys: Callable[[Any], Sequence[Any]] | None = None


#: The registered classes.
REGISTERED: dict[type, Container] = {}


def children(tree: Any) -> Sequence[Any] | None:
    """Return the children of a container, or None for a leaf."""
    if isinstance(tree, dict):
        return list(tree.values())
    if isinstance(tree, list | tuple):
        return tree
    own = REGISTERED.get(type(tree))
    return None if own is None else list(own.flatten(tree)[0])


def with_children(tree: Any, made: Sequence[Any]) -> Any:
    """Return a container of the same kind with other children."""
    if isinstance(tree, dict):
        if type(tree) is dict:
            return dict(zip(tree, made, strict=True))
        found = tree.copy()
        found.update(zip(tree, made, strict=True))
        return found
    if isinstance(tree, list | tuple):
        return tree._make(made) if hasattr(tree, "_make") else type(tree)(made)
    own = REGISTERED[type(tree)]
    return own.unflatten(own.flatten(tree)[1], made)


def leaves(tree: Any) -> list[Any]:
    """Return the items that are not containers, in order."""
    return list(_leaves(tree))


def _leaves(tree: Any) -> Iterator[Any]:
    own = children(tree)
    if own is None:
        yield tree
    else:
        for value in own:
            yield from _leaves(value)


def unflatten(tree: Any, values: Sequence[Any]) -> Any:
    """Return a tree of the same structure with other leaves."""
    remaining = iter(values)
    return map_tree(lambda _: next(remaining), tree)


def map_tree(function: Callable[[Any], Any], tree: Any) -> Any:
    """Apply a function to each leaf, and return a tree of the same structure."""
    own = children(tree)
    if own is None:
        return function(tree)
    return with_children(tree, [map_tree(function, value) for value in own])


def prefixed(op: str, name: str, prefix: Any, tree: Any) -> list[Any]:
    """Return an entry of a prefix for each leaf of a tree.

    A prefix has the structure of the tree, with a single entry in place of some subtrees. None is
    an entry, too.

    Raises InvalidArgument if the structures differ.
    """
    own = None if prefix is None else children(prefix)
    if own is None:
        return [prefix] * len(leaves(tree))
    others = children(tree)
    is_alike = others is not None and len(others) == len(own)
    if is_alike and isinstance(prefix, dict):
        is_alike = isinstance(tree, dict) and prefix.keys() == tree.keys()
        own = [prefix[key] for key in tree] if is_alike else own
    if not is_alike or others is None:
        told = Description(f"{type(prefix).__name__} of {len(own)} entries")
        expected = "a prefix of the structure of the arguments or results"
        raise InvalidArgument(op, name, told, expected)
    return [
        entry for one, part in zip(own, others, strict=True)
        for entry in prefixed(op, name, one, part)
    ]  # fmt: skip
