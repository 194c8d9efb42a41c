"""Functions of pytrees with the names of ``jax.tree``.

Containers are dicts, lists, tuples, named tuples, None and registered classes. As in JAX, the
children of a dict are in the order of its sorted keys, and None has no children.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from browsergpu.autograd import trees
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description, Shown

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
    return found, _visited(tree, is_leaf, found)


def _visited(one: Any, is_leaf: IsLeaf, found: list[Any]) -> PyTreeDef:
    """Append the leaves of a tree, and return its structure."""
    parted = None if is_leaf is not None and is_leaf(one) else _parted(one)
    if parted is None:
        found.append(one)
        return _LEAF
    data, children = parted
    return PyTreeDef(type(one), data, [_visited(child, is_leaf, found) for child in children])


_LEAF = PyTreeDef(None, None, None)


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


_NONE: Any = object()


def reduce(
    function: Callable[[Any, Any], Any], tree: Any, initializer: Any = _NONE, is_leaf: IsLeaf = None
) -> Any:
    """Combine the leaves of a tree from left to right, as ``functools.reduce``."""
    first = () if initializer is _NONE else (initializer,)
    return functools.reduce(function, leaves(tree, is_leaf), *first)


def all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Return whether all leaves are true."""
    return min((bool(x) for x in leaves(tree, is_leaf)), default=True)


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


def leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the leaves of a tree with their paths, which are tuples of keys."""
    found: list[tuple[tuple[Any, ...], Any]] = []
    _visit_paths((), tree, is_leaf, found)
    return found


def _visit_paths(path: tuple[Any, ...], one: Any, is_leaf: IsLeaf, found: list[Any]) -> None:
    parted = None if is_leaf is not None and is_leaf(one) else _parted(one)
    if parted is None:
        found.append((path, one))
        return
    for key, child in zip(_path_keys(one, parted), parted[1], strict=True):
        _visit_paths((*path, key), child, is_leaf, found)


def _path_keys(tree: Any, parted: tuple[Any, Sequence[Any]]) -> Sequence[Any]:
    if isinstance(tree, dict):
        return [DictKey(key) for key in parted[0]]
    if hasattr(tree, "_fields"):
        return [GetAttrKey(name) for name in tree._fields]
    registered = trees.REGISTERED.get(type(tree))
    if registered is not None:
        if registered.keys is not None:
            return list(registered.keys(tree))
        return [FlattenedIndexKey(n) for n in range(len(parted[1]))]
    return [SequenceKey(n) for n in range(len(parted[1]))]


def flatten_with_path(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """Return the leaves of a tree with their paths, and its structure."""
    return leaves_with_path(tree, is_leaf), structure(tree, is_leaf)


def map_with_path(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Call a function with the path and the leaves of trees, and return the tree of results."""
    own, treedef = flatten_with_path(tree, is_leaf)
    columns = [_up_to(treedef, other) for other in rest]
    made = [f(path, leaf, *row) for (path, leaf), *row in zip(own, *columns, strict=True)]
    return treedef.unflatten(made)


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Return a tree of the structure of ``full_tree`` with the leaves of a prefix of it."""
    own, treedef = flatten(prefix_tree, is_leaf)
    parts = _up_to(treedef, full_tree)
    made = [map(lambda _, leaf=leaf: leaf, part) for leaf, part in zip(own, parts, strict=True)]
    return treedef.unflatten(made)


class _Key(Shown):
    """A step of a path in a tree."""

    _name, _text = "key", "[{!r}]"

    def __init__(self, key: Any) -> None:
        setattr(self, self._name, key)

    def _value(self) -> Any:
        return getattr(self, self._name)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash((type(self), self._value()))

    def __str__(self) -> str:
        return self._text.format(self._value())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name}={self._value()!r})"

    def _facts(self) -> str:
        return str(self)


class DictKey(_Key):
    """A key of a dict."""

    key: Any


class SequenceKey(_Key):
    """An index of a list or tuple."""

    _name = "idx"
    idx: int


class GetAttrKey(_Key):
    """The name of an attribute."""

    _name, _text = "name", ".{}"
    name: str


class FlattenedIndexKey(_Key):
    """The position of a child of a registered class."""

    _text = "[<flat index {}>]"
    key: int


def keystr(keys: Sequence[Any], *, simple: bool = False, separator: str = "") -> str:
    """Return the text of a path, such as ``['a'][0].b``."""
    if simple:
        return separator.join([str(one._value()) if isinstance(one, _Key) else str(one)
                               for one in keys])  # fmt: skip
    return separator.join([str(one) for one in keys])


def register_pytree_with_keys(
    nodetype: type, flatten_with_keys: Callable[[Any], Any],
    unflatten_func: Callable[[Any, Sequence[Any]], Any],
    flatten_func: Callable[[Any], Any] | None = None,
) -> None:  # fmt: skip
    """Register a class of containers whose children have keys."""

    def flat(x: Any) -> tuple[Sequence[Any], Any]:
        if flatten_func is not None:
            return flatten_func(x)  # type: ignore[no-any-return]
        pairs, data = flatten_with_keys(x)
        return [child for _, child in pairs], data

    def keys(x: Any) -> Sequence[Any]:
        return [key for key, _ in flatten_with_keys(x)[0]]

    register_pytree_node(nodetype, flat, unflatten_func)
    trees.REGISTERED[nodetype] = trees.Container(flat, unflatten_func, keys)


def register_pytree_with_keys_class(cls: type) -> type:
    """Register a class with ``tree_flatten_with_keys`` and ``tree_unflatten``. A decorator."""
    own: Any = cls
    register_pytree_with_keys(cls, own.tree_flatten_with_keys, own.tree_unflatten,
                              getattr(cls, "tree_flatten", None))  # fmt: skip
    return cls


def register_static(cls: type) -> type:
    """Register a class without children: its objects are part of the structure. A decorator."""
    register_pytree_node(cls, lambda x: ((), x), lambda data, _: data)
    return cls


def register_dataclass(
    nodetype: Any = None, data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None, drop_fields: Sequence[str] = (),
) -> Any:  # fmt: skip
    """Register a dataclass. Its fields are children, unless their metadata has ``static=True``.

    Parameters
    ----------
    nodetype : type, optional
        The class. Without it, the result is a decorator.
    data_fields, meta_fields : sequence of str, optional
        The fields that are children, and the others. By default, the metadata decides.
    drop_fields : sequence of str
        Fields that are left out.

    Returns
    -------
    type
        The class.
    """
    if nodetype is None:
        return lambda cls: register_dataclass(cls, data_fields, meta_fields, drop_fields)
    if data_fields is None or meta_fields is None:
        if not dataclasses.is_dataclass(nodetype):
            expected = "a dataclass, or given with data_fields and meta_fields"
            raise InvalidArgument("register_dataclass", "nodetype", nodetype, expected)
        own = [one for one in dataclasses.fields(nodetype) if one.name not in drop_fields]
        data_fields = [one.name for one in own if not one.metadata.get("static", False)]
        meta_fields = [one.name for one in own if one.metadata.get("static", False)]
    data, fixed = tuple(data_fields), tuple(meta_fields)

    def flat(x: Any) -> Any:
        children = [(GetAttrKey(name), getattr(x, name)) for name in data]
        return children, tuple([getattr(x, name) for name in fixed])

    def made(values: Any, children: Sequence[Any]) -> Any:
        named = {**dict(zip(data, children, strict=True)), **dict(zip(fixed, values, strict=True))}
        return nodetype(**named)

    register_pytree_with_keys(nodetype, flat, made)
    return nodetype


class Partial(functools.partial[Any]):
    """A partial function whose arguments are the children of a tree."""


register_pytree_with_keys(
    Partial,
    lambda x: ([(GetAttrKey("args"), x.args), (GetAttrKey("keywords"), x.keywords)], x.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)
