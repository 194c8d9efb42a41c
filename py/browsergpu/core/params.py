"""A kernel's parameters: declared once as ordered fields, packed as WGSL lays the struct out.

Only 32-bit scalars are allowed, so the struct has no padding and every field is one word.
"""

from __future__ import annotations

from dataclasses import dataclass

_FORMATS = {"u32": "I", "i32": "i", "f32": "f"}


@dataclass(frozen=True)
class Params:
    """Fields in the order of the shader's ``struct Params``, as ``"name: type"`` strings."""

    declared: tuple[str, ...]

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """(name, WGSL type) of each field."""
        return tuple((name, kind) for name, _, kind in (f.partition(": ") for f in self.declared))

    @property
    def format(self) -> str:
        """The fields as ``struct`` format characters."""
        return "".join(_FORMATS[kind] for _, kind in self.fields)

    @property
    def nbytes(self) -> int:
        """Bytes that the struct takes."""
        return 4 * len(self.declared)


def params(*declared: str) -> Params:
    """``params("n: u32", "alpha: f32")``"""
    return Params(declared)
