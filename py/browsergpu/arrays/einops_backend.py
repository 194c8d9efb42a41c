"""The backend with which einops handles arrays.

einops searches the subclasses of its AbstractBackend. The subclass can only be made once einops is
imported, possibly after this package. Every function that makes an array calls :func:`register`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from browsergpu.engine.core.above import ABOVE

_registered: list[type] = []  # einops only has weak references to its subclasses


def register() -> None:
    """Register arrays with einops if it is imported."""
    if "einops._backends" in sys.modules and not _registered:
        abstract = getattr(sys.modules["einops._backends"], "AbstractBackend", None)
        if abstract is not None:  # else another thread is importing it
            _registered.append(type("Backend", (_Ours, abstract), {}))


class _Ours:
    """The methods that einops calls on a backend."""

    framework_name = "browsergpu"

    def __init__(self) -> None:
        self.xp = ABOVE.namespace

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, self.xp.Array)

    def from_numpy(self, x: Any) -> Any:
        found = self.xp.asarray(x)
        return found.requires_grad_() if self.is_float_type(found) else found

    def to_numpy(self, x: Any) -> Any:
        return x.detach().numpy()

    def arange(self, start: int, stop: int) -> Any:
        return self.xp.arange(start, stop)

    def transpose(self, x: Any, axes: Sequence[int]) -> Any:
        return self.xp.permute_dims(x, tuple(axes))

    def reduce(self, x: Any, operation: str, axes: tuple[int, ...]) -> Any:
        return getattr(self.xp, operation)(x, axis=axes)

    def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
        return self.xp.stack(tensors)

    def add_axes(self, x: Any, n_axes: int, pos2len: Mapping[int, int]) -> Any:
        for position in pos2len:
            x = self.xp.expand_dims(x, axis=position)
        return self.xp.broadcast_to(x, [pos2len.get(at, x.shape[at]) for at in range(n_axes)])

    def tile(self, x: Any, repeats: Sequence[int]) -> Any:
        return self.xp.tile(x, tuple(repeats))

    def concat(self, tensors: list[Any], axis: int) -> Any:
        return self.xp.concat(tensors, axis=axis)

    def is_float_type(self, x: Any) -> bool:
        return bool(self.xp.isdtype(x.dtype, ("real floating", "complex floating")))

    def einsum(self, pattern: str, *x: Any) -> Any:
        return self.xp.einsum(pattern, *x)
