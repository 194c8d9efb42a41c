"""Functions of pytrees with the names of ``jax.tree``.

Containers are dicts, lists, tuples, named tuples, None and registered classes. As in JAX, the
children of a dict are in the order of its sorted keys, and None has no children.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from browsergpu.autograd import trees
from browsergpu.core.errors import InvalidArgument
from browsergpu.core.showing import Description, Shown

IsLeaf = Callable[[Any], bool] | None


class PyTreeDef(Shown):
    """The structure of a tree. Structures can be compared."""

    def __init__(self, node: Any, data: Any, children: Sequence[PyTreeDef] | None) -> None:
        self._node, self._data = node, data
        self._children = None if children is None else tuple(children)

    @property
    def num_leaves(self) -> int:
        """The number of leaves."""
        if self._children is None:
            return 1
        return sum(one.num_leaves for one in self._children)

    def _key(self) -> Any:
        children = self._children and tuple([one._key() for one in self._children])
        return self._node, self._data, children, self._children is None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PyTreeDef) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self._node, self.num_leaves))

    def _facts(self) -> str:
        return f"of {self.num_leaves} leaves"

    def unflatten(self, values: Sequence[Any]) -> Any:
        """Return a tree with these leaves."""
        own = list(values)
        if len(own) != self.num_leaves:
            told = Description(f"{len(own)} leaves")
            raise InvalidArgument("unflatten", "leaves", told, f"have {self.num_leaves} leaves")
        return self._made(iter(own))

    def _made(self, values: Any) -> Any:
        if self._children is None:
            return next(values)
        made = [one._made(values) for one in self._children]
        kind, data = self._node, self._data
        if kind is type(None):
            return None
        if kind in trees.REGISTERED:
            return trees.REGISTERED[kind].unflatten(data, made)
        if issubclass(kind, dict):
            return dict(zip(data, made, strict=True))
        return kind._make(made) if hasattr(kind, "_make") else kind(made)


def _parted(tree: Any) -> tuple[Any, Sequence[Any]] | None:
    """Return the data and the children of a container, or None for a leaf."""
    if tree is None:
        return None, ()
    if type(tree) in trees.REGISTERED:
        children, data = trees.REGISTERED[type(tree)].flatten(tree)
        return data, tuple(children)
    if isinstance(tree, dict):
        keys = tuple(sorted(tree))
        return keys, [tree[key] for key in keys]
    return (None, tree) if isinstance(tree, list | tuple) else None


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """Return the leaves of a tree, and its structure.

    Examples
    --------
    >>> leaves, structure = bg.jax.tree.flatten({"b": 2, "a": [1, None]})
    >>> leaves
    [1, 2]
    """
    found: list[Any] = []

    def visit(one: Any) -> PyTreeDef:
        parted = None if is_leaf is not None and is_leaf(one) else _parted(one)
        if parted is None:
            found.append(one)
            return PyTreeDef(None, None, None)
        data, children = parted
        return PyTreeDef(type(one), data, [visit(child) for child in children])

    structure = visit(tree)
    return found, structure


def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Return the leaves of a tree."""
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """Return the structure of a tree."""
    return flatten(tree, is_leaf)[1]


def unflatten(treedef: PyTreeDef, leaves: Sequence[Any]) -> Any:
    """Return the tree of a structure and leaves."""
    return treedef.unflatten(leaves)


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Call a function with the leaves of trees, and return the tree of the results.

    Parameters
    ----------
    f : callable
        Takes a leaf of each tree.
    tree : tree
        The first tree. The others begin with its structure.
    *rest : tree
        The other trees.
    is_leaf : callable, optional
        Returns whether an object counts as a leaf.

    Returns
    -------
    tree
        A tree of the structure of ``tree``.

    Raises
    ------
    InvalidArgument
        If another tree has another structure. The class is a ValueError.

    Examples
    --------
    >>> bg.jax.tree.map(lambda x, y: x + y, {"a": 1}, {"a": 2})
    {'a': 3}
    """
    own, treedef = flatten(tree, is_leaf)
    columns = [own, *[_up_to(treedef, other) for other in rest]]
    return treedef.unflatten([f(*row) for row in zip(*columns, strict=True)])


def _up_to(treedef: PyTreeDef, tree: Any) -> list[Any]:
    """Return the parts of a tree at the leaves of a structure that it begins with."""
    if treedef._children is None:
        return [tree]
    parted = _parted(tree)
    if parted is None or type(tree) is not treedef._node or parted[0] != treedef._data:
        raise _other_structure(tree)
    if len(parted[1]) != len(treedef._children):
        raise _other_structure(tree)
    pairs = zip(treedef._children, parted[1], strict=True)
    return [part for one, child in pairs for part in _up_to(one, child)]


def _other_structure(tree: Any) -> InvalidArgument:
    told = Description(f"another structure at a {type(tree).__name__}")
    return InvalidArgument("map", "rest", told, "trees of the structure of the first tree")


def reduce(f: Callable[[Any, Any], Any], tree: Any, *initializer: Any) -> Any:
    """Combine the leaves of a tree from left to right, as ``functools.reduce``."""
    return functools.reduce(f, leaves(tree), *initializer)


def all(tree: Any) -> bool:
    """Return whether all leaves are true."""
    return min((bool(x) for x in leaves(tree)), default=True)


def transpose(outer: PyTreeDef, inner: PyTreeDef, tree: Any) -> Any:
    """Return a tree of the inner structure of trees of the outer one, from the reverse."""
    rows = [flatten(part)[0] for part in _up_to(outer, tree)]
    return inner.unflatten([outer.unflatten(column) for column in zip(*rows, strict=True)])


def register_pytree_node(
    nodetype: type, flatten_func: Callable[[Any], tuple[Sequence[Any], Any]],
    unflatten_func: Callable[[Any, Sequence[Any]], Any],
) -> None:  # fmt: skip
    """Register a class of containers, for this module and for ``grad``, ``vmap`` and ``jit``.

    Parameters
    ----------
    nodetype : type
        The class.
    flatten_func : callable
        Takes a container. Returns its children, and data that describes the rest.
    unflatten_func : callable
        Takes the data and other children. Returns a container.

    Raises
    ------
    InvalidArgument
        If the class is registered already.
    """
    if nodetype in trees.REGISTERED:
        told = f"{nodetype.__name__}, which is registered"
        raise InvalidArgument("register_pytree_node", "nodetype", Description(told), "a new class")
    trees.REGISTERED[nodetype] = trees.Container(flatten_func, unflatten_func)


def register_pytree_node_class(cls: type) -> type:
    """Register a class with methods ``tree_flatten`` and ``tree_unflatten``. Use as a decorator."""
    own: Any = cls
    register_pytree_node(cls, own.tree_flatten, own.tree_unflatten)
    return cls
