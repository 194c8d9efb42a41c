"""``jax.tree_util``: the functions of ``jax.tree`` by their older names."""

from __future__ import annotations

from typing import Any

from browsergpu.jax.tree import DictKey as DictKey
from browsergpu.jax.tree import FlattenedIndexKey as FlattenedIndexKey
from browsergpu.jax.tree import GetAttrKey as GetAttrKey
from browsergpu.jax.tree import Partial as Partial
from browsergpu.jax.tree import PyTreeDef as PyTreeDef
from browsergpu.jax.tree import SequenceKey as SequenceKey
from browsergpu.jax.tree import all as tree_all
from browsergpu.jax.tree import broadcast as tree_broadcast
from browsergpu.jax.tree import flatten as tree_flatten
from browsergpu.jax.tree import flatten_with_path as tree_flatten_with_path
from browsergpu.jax.tree import keystr as keystr
from browsergpu.jax.tree import leaves as tree_leaves
from browsergpu.jax.tree import leaves_with_path as tree_leaves_with_path
from browsergpu.jax.tree import map as tree_map
from browsergpu.jax.tree import map_with_path as tree_map_with_path
from browsergpu.jax.tree import reduce as tree_reduce
from browsergpu.jax.tree import register_dataclass as register_dataclass
from browsergpu.jax.tree import register_pytree_node as register_pytree_node
from browsergpu.jax.tree import register_pytree_node_class as register_pytree_node_class
from browsergpu.jax.tree import register_pytree_with_keys as register_pytree_with_keys
from browsergpu.jax.tree import register_pytree_with_keys_class as register_pytree_with_keys_class
from browsergpu.jax.tree import register_static as register_static
from browsergpu.jax.tree import structure as tree_structure
from browsergpu.jax.tree import transpose as tree_transpose
from browsergpu.jax.tree import unflatten as tree_unflatten

KeyPath = tuple[Any, ...]
KeyEntry = Any

__all__ = [
    "DictKey", "FlattenedIndexKey", "GetAttrKey", "KeyEntry", "KeyPath", "Partial", "PyTreeDef",
    "SequenceKey", "all_leaves", "keystr", "register_dataclass", "register_pytree_node",
    "register_pytree_node_class", "register_pytree_with_keys", "register_pytree_with_keys_class",
    "register_static", "tree_all", "tree_broadcast", "tree_flatten", "tree_flatten_with_path",
    "tree_leaves", "tree_leaves_with_path", "tree_map", "tree_map_with_path", "tree_reduce",
    "tree_structure", "tree_transpose", "tree_unflatten", "treedef_children", "treedef_is_leaf",
]  # fmt: skip


def all_leaves(iterable: Any, is_leaf: Any = None) -> bool:
    """Return whether all items are leaves."""
    return all(len(found) == 1 and found[0] is one
               for one in iterable for found in [tree_leaves(one, is_leaf)])  # fmt: skip


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """Return the structures of the children."""
    return list(treedef._children or ())


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Return whether a structure is a single leaf."""
    return treedef._children is None
