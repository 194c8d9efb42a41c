"""The weights of a file, and which of them a model has used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument, Unsupported
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.functions.language.quantized import QuantizedArray

_OP = "llm.load"


class Tensors(Protocol):
    """Tensors by GGUF's names: a mapping that can also join matrices."""

    def __getitem__(self, name: str) -> Any: ...

    def __contains__(self, name: object) -> bool: ...

    def __iter__(self) -> Iterator[str]: ...

    def __len__(self) -> int: ...

    def joined(self, names: Sequence[str]) -> tuple[Any, Sequence[Any]] | None:
        """Return a matrix of the rows of several, and the several, which share its memory.

        None if a buffer cannot hold all, or if their formats or columns differ.
        """


class Weights(Shown):
    """Tensors by GGUF's names. Every tensor of the file must be used, or loading fails.

    Parameters
    ----------
    tensors : Tensors
        Arrays by name.
    device : Device
        Where the weights are.
    """

    def __init__(self, tensors: Tensors, device: Any) -> None:
        self._tensors = tensors
        self._used: set[str] = set()
        #: Where the weights are.
        self.device = device

    def _facts(self) -> str:
        return f"of {len(self._tensors)} tensors"

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def matrix(self, name: str, rows: int, columns: int) -> Array | QuantizedArray:
        """Return a matrix of a shape. Raises InvalidArgument for another shape, or none."""
        return self._get(name, (rows, columns))  # type: ignore[no-any-return]

    def joined(
        self, names: Sequence[str], rows: Sequence[int], columns: int
    ) -> tuple[Array | QuantizedArray, Sequence[Array | QuantizedArray]] | None:
        """Return a matrix of the rows of several, and the several, which share its memory.

        None if they cannot be in one, as they differ in their formats. Raises InvalidArgument for
        other shapes than [rows, columns] of each.
        """
        if any(name not in self for name in names):
            return None
        found: tuple[Any, Sequence[Any]] | None = self._tensors.joined(names)
        if found is None:
            return None
        self._used.update(names)
        for name, count, one in zip(names, rows, found[1], strict=True):
            _check(name, one, (count, columns))
        return found

    def vector(self, name: str, length: int) -> Array:
        """Return a vector of float32."""
        found = self._get(name, (length,))
        return found.astype(np.float32, copy=False)  # type: ignore[no-any-return]

    def optional_vector(self, name: str, length: int) -> Array | None:
        """Return a vector of float32, or None if the file has none."""
        return self.vector(name, length) if name in self else None

    def table(self, name: str, columns: int) -> Array | QuantizedArray:
        """Return a matrix of any number of rows."""
        found = self._get(name, None)
        if found.ndim != 2 or found.shape[1] != columns:
            raise _wrong(name, found.shape, f"have {columns} columns")
        return found  # type: ignore[no-any-return]

    def finish(self) -> None:
        """Raise Unsupported if the file has tensors that the model does not use."""
        left = sorted(set(self._tensors) - self._used)
        if left:
            shown = ", ".join(left[:4]) + (f" and {len(left) - 4} more" if left[4:] else "")
            raise Unsupported(
                _OP, f"The model must use all tensors of the file, but this architecture has no "
                f"place for {shown}. Use another file."
            )  # fmt: skip

    def _get(self, name: str, shape: tuple[int, ...] | None) -> Any:
        if name not in self._tensors:
            raise _wrong(name, Description("none"), "in the file")
        found = self._tensors[name]
        self._used.add(name)
        if shape is not None:
            _check(name, found, shape)
        return found


def _check(name: str, tensor: Any, shape: tuple[int, ...]) -> None:
    if tuple(tensor.shape) != shape:
        raise _wrong(name, tuple(tensor.shape), f"have shape {shape}")


def _wrong(name: str, value: Any, expected: str) -> InvalidArgument:
    return InvalidArgument(_OP, name, value, expected)
