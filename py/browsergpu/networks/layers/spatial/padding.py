"""Layers that add elements around signals, images and volumes."""

from __future__ import annotations

from typing import Any, ClassVar

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions.nn.padding import pad
from browsergpu.networks.module import Module


class _Padding(Module):
    """Base of padding layers.

    ``padding`` is one number, or two for each axis, before and after. The last axis comes first.
    """

    _rank: ClassVar[int]
    _mode: ClassVar[str]
    value: float | None = None

    def __init__(self, padding: Any) -> None:
        super().__init__()
        op, least = type(self).__name__, -checks.LARGEST if self._mode == "constant" else 0
        self.padding = checks.each_axis(op, "padding", padding, 2 * self._rank, least)

    def forward(self, input: Array) -> Array:
        """Return the padded array, [N, C, ...] or [C, ...]."""
        if input.ndim not in (self._rank + 1, self._rank + 2):
            expected = f"have {self._rank + 1} or {self._rank + 2} axes"
            raise InvalidArgument(type(self).__name__, "input", input, expected)
        return pad(input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return str(self.padding)


class _Constant(_Padding):
    _mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = checks.real(type(self).__name__, "value", value)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"padding={self.padding}, value={self.value}"


class _Zeros(_Padding):
    _mode = "constant"


class _Reflection(_Padding):
    _mode = "reflect"


class _Replication(_Padding):
    _mode = "replicate"


class _Circular(_Padding):
    _mode = "circular"


class ConstantPad1d(_Constant):
    """Pad [N, C, L] or [C, L] with a number."""

    _rank = 1


class ConstantPad2d(_Constant):
    """Pad [N, C, H, W] or [C, H, W] with a number."""

    _rank = 2


class ConstantPad3d(_Constant):
    """Pad [N, C, D, H, W] or [C, D, H, W] with a number."""

    _rank = 3


class ZeroPad1d(_Zeros):
    """Pad [N, C, L] or [C, L] with zeros."""

    _rank = 1


class ZeroPad2d(_Zeros):
    """Pad [N, C, H, W] or [C, H, W] with zeros."""

    _rank = 2


class ZeroPad3d(_Zeros):
    """Pad [N, C, D, H, W] or [C, D, H, W] with zeros."""

    _rank = 3


class ReflectionPad1d(_Reflection):
    """Pad [N, C, L] or [C, L] with elements mirrored at the edge, without the edge."""

    _rank = 1


class ReflectionPad2d(_Reflection):
    """Pad [N, C, H, W] or [C, H, W] with elements mirrored at the edge, without the edge."""

    _rank = 2


class ReflectionPad3d(_Reflection):
    """Pad [N, C, D, H, W] or [C, D, H, W] with elements mirrored at the edge, without the edge."""

    _rank = 3


class ReplicationPad1d(_Replication):
    """Pad [N, C, L] or [C, L] with copies of the elements at the edge."""

    _rank = 1


class ReplicationPad2d(_Replication):
    """Pad [N, C, H, W] or [C, H, W] with copies of the elements at the edge."""

    _rank = 2


class ReplicationPad3d(_Replication):
    """Pad [N, C, D, H, W] or [C, D, H, W] with copies of the elements at the edge."""

    _rank = 3


class CircularPad1d(_Circular):
    """Pad [N, C, L] or [C, L] with elements from the opposite end."""

    _rank = 1


class CircularPad2d(_Circular):
    """Pad [N, C, H, W] or [C, H, W] with elements from the opposite end."""

    _rank = 2


class CircularPad3d(_Circular):
    """Pad [N, C, D, H, W] or [C, D, H, W] with elements from the opposite end."""

    _rank = 3
