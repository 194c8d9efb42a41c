"""Layers that change only shapes, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import manipulation
from browsergpu.networks.module import Module


class Identity(Module):
    """Return the input. Accepts any arguments, so that it can replace another layer."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """Return the input itself."""
        return input


class Flatten(Module):
    """Flatten the axes from ``start_dim`` to ``end_dim`` into one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = checks.integer("Flatten", "start_dim", start_dim, -checks.LARGEST)
        self.end_dim = checks.integer("Flatten", "end_dim", end_dim, -checks.LARGEST)

    def forward(self, input: Array) -> Array:
        """Return the reshaped input."""
        first = shapes.axis("Flatten", "start_dim", self.start_dim, input.ndim)
        last = shapes.axis("Flatten", "end_dim", self.end_dim, input.ndim)
        if last < first:
            raise InvalidArgument("Flatten", "end_dim", self.end_dim, f"an axis from {first} on")
        count = checks.product(input.shape[first : last + 1])
        shape = (*input.shape[:first], count, *input.shape[last + 1 :])
        return manipulation.reshape(input, shape)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split the axis ``dim`` into axes of ``unflattened_size``. One extent may be -1."""

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        op = "Unflatten"
        self.dim = checks.integer(op, "dim", dim, -checks.LARGEST)
        self.unflattened_size = checks.dimensions(
            op, "unflattened_size", tuple(unflattened_size), minimum=-1
        )

    def forward(self, input: Array) -> Array:
        """Return the reshaped input."""
        at = shapes.axis("Unflatten", "dim", self.dim, input.ndim)
        shape = (*input.shape[:at], *self.unflattened_size, *input.shape[at + 1 :])
        return manipulation.reshape(input, shape)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
