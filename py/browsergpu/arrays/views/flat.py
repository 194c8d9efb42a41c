"""The flat iterator of an array: ``a.flat``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from browsergpu.engine.core.showing import Shown


class Flat(Shown):
    """The elements of an array in row-major order. Assignments change the array.

    Iteration reads the array once and yields NumPy scalars.
    """

    __slots__ = ("base",)

    def __init__(self, base: Any) -> None:
        #: The array.
        self.base = base

    def _facts(self) -> str:
        return f"of an array of shape {self.base.shape} and dtype {self.base.dtype}"

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.base.ravel())

    def __getitem__(self, key: Any) -> Any:
        return self.base.ravel()[key].copy()

    def __setitem__(self, key: Any, value: Any) -> None:
        at = np.unravel_index(np.arange(len(self))[key], self.base.shape)
        self.base[at] = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.base.ravel().__array__(dtype, copy)  # type: ignore[no-any-return]

    def copy(self) -> Any:
        """Return a copy of the elements.

        Returns
        -------
        Array
            A one-dimensional array.
        """
        return self.base.flatten()
