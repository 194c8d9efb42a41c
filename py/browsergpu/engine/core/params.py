"""Kernel parameters, declared as ordered fields and packed like the WGSL struct.

Fields are 32-bit scalars only, so the struct has no padding and every field is one word.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from browsergpu.engine.core.errors import Unsupported

#: Minimum and maximum of each integer type.
_BOUNDS = {"u32": (0, 2**32 - 1), "i32": (-(2**31), 2**31 - 1)}
_FORMATS = {"u32": "I", "i32": "i", "f32": "f"}


def float_word(value: float) -> int:
    """Return the bits of a number as float32."""
    (word,) = struct.unpack("<I", struct.pack("<f", value))
    return int(word)


@dataclass(frozen=True)
class Params:
    """The fields of a shader's ``struct Params`` in order, as ``"name: type"`` strings."""

    declared: tuple[str, ...]

    @cached_property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """The (name, WGSL type) of each field."""
        return tuple((name, kind) for name, _, kind in (f.partition(": ") for f in self.declared))

    @property
    def format(self) -> str:
        """The fields as ``struct`` format characters."""
        return "".join(_FORMATS[kind] for _, kind in self.fields)

    @property
    def nbytes(self) -> int:
        """Bytes of the struct."""
        return 4 * len(self.declared)

    def check(self, op: str, kernel: str, values: tuple[float, ...]) -> None:
        """Check that values fit the first fields. Raise Unsupported otherwise."""
        for (name, kind), value in zip(self.fields, values, strict=False):
            if kind == "f32":
                continue
            low, high = _BOUNDS[kind]
            if not (hasattr(value, "__index__") and low <= value <= high):
                raise unfit(op, kernel, name, value, high)


def unfit(op: str, kernel: str, name: str, value: Any, most: int) -> Unsupported:
    """Return the error for a number of a dispatch that exceeds WebGPU's or the shader's range."""
    return Unsupported(
        op,
        f"{name} of the kernel {kernel!r} must be an integer up to {most}, got {value}. Work in "
        "smaller pieces.",
    )


def params(*declared: str) -> Params:
    """Return the Params of declarations, as ``params("n: u32", "alpha: f32")``."""
    return Params(declared)
