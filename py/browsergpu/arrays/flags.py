"""The memory layout of an array, as ``a.flags`` gives it."""

from __future__ import annotations

from typing import Any, NamedTuple

from browsergpu.arrays.lazy.node import Node
from browsergpu.core.shapes import Shape, contiguous_strides


class Flags(NamedTuple):
    """NumPy's flags of an array. They cannot be set.

    ``flags.c_contiguous`` and ``flags["C_CONTIGUOUS"]`` are the same.
    """

    c_contiguous: bool
    f_contiguous: bool
    owndata: bool
    writeable: bool
    aligned: bool = True
    writebackifcopy: bool = False

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie row by row."""
        return self.c_contiguous

    @property
    def forc(self) -> bool:
        """Whether the elements lie row by row or column by column."""
        return self.c_contiguous or self.f_contiguous

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key.lower() not in (*self._fields, "contiguous", "forc"):
                raise KeyError(key)
            return getattr(self, key.lower())
        return tuple.__getitem__(self, key)


def strides(node: Node) -> Shape:
    """The elements from one index of each axis to the next."""
    if node.window is not None or node.strides is None:
        return contiguous_strides(node.shape)
    return node.strides


def flags(node: Node) -> Flags:
    """Return the flags of a value."""
    steps = [step for step, n in zip(strides(node), node.shape, strict=True) if n > 1]
    extents = [n for n in node.shape if n > 1]
    by_rows = [*contiguous_strides(tuple(extents))]
    by_columns = [*contiguous_strides(tuple(extents[::-1]))][::-1]
    is_empty = 0 in node.shape
    return Flags(
        c_contiguous=is_empty or steps == by_rows,
        f_contiguous=is_empty or steps == by_columns,
        owndata=node.window is not None or node.cell is None,
        writeable=not node.is_read_only,
    )
