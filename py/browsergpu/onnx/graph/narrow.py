"""Arrays of types that the GPU lacks, such as bfloat16 and float8, as codes.

Codes are widened to floats by shifts or a table, and floats are rounded to codes by a search in the
sorted values of a type. Both run on the GPU.
"""

from __future__ import annotations

from functools import cache
from math import inf, nan
from typing import Any

import numpy as np

from browsergpu.engine.core.showing import Shown
from browsergpu.onnx.graph.types import BFLOAT16, NarrowType
from browsergpu.onnx.namespace import bg


class Narrow(Shown):
    """An array of a narrow type.

    Attributes
    ----------
    codes : Array
        The values' codes, of ``type.codes``.
    type : NarrowType
        The type.
    """

    __slots__ = ("codes", "type")

    def __init__(self, codes: Any, type: NarrowType) -> None:
        self.codes = codes
        self.type = type

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the codes."""
        return tuple(self.codes.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of values."""
        return int(np.prod(self.shape, dtype=object))

    def _facts(self) -> str:
        return f"of {self.type.name}, shape {self.shape}"

    def like(self, codes: Any) -> Narrow:
        """Return other codes of the type."""
        return Narrow(codes, self.type)

    def numpy(self) -> np.ndarray:
        """Return the values on the host, in the type for arithmetic."""
        return np.asarray(widened(self).numpy())


def widened(x: Any) -> Any:
    """Return an array in the type for arithmetic. Other values are returned as they are."""
    if not isinstance(x, Narrow):
        return x
    kind = x.type
    codes = bg.asarray(x.codes)
    if kind.wide.kind != "f":
        return codes
    if kind is BFLOAT16:
        return (codes.astype("uint32") << 16).view("float32")
    return bg.take(bg.asarray(_values(kind)), codes.astype("int32"))


def narrowed(x: Any, kind: NarrowType, *, saturate: bool = True, up: bool = False) -> Narrow:
    """Return floats or integers rounded to a narrow type, ties to even.

    ``saturate`` replaces values that are too large by the largest finite one. ``up`` is the
    rounding of float8e8m0.
    """
    wide = bg.asarray(x)
    if kind.wide.kind != "f":
        if wide.dtype.kind == "f":
            wide = bg.trunc(wide)
        bits = wide.astype("int32") & ((1 << kind.bits) - 1)
        if kind.wide.kind == "i":
            half = 1 << (kind.bits - 1)
            bits = (bits ^ half) - half
        return Narrow(bits.astype(kind.codes), kind)
    floats = wide.astype("float32")
    if kind is BFLOAT16:
        words = floats.view("uint32")
        rounded = (words + 0x7FFF + ((words >> 16) & 1)) >> 16
        return Narrow(bg.where(bg.isnan(floats), 0x7FC0, rounded).astype("uint16"), kind)
    return Narrow(_coded(floats, kind, saturate, up), kind)


def _coded(x: Any, kind: NarrowType, saturate: bool, up: bool) -> Any:
    form = _FORMS[kind.name]
    size = bg.abs(x)
    thresholds, codes = _thresholds(kind, up)
    at = bg.searchsorted(bg.asarray(thresholds), size.reshape(-1), side="right").reshape(x.shape)
    if saturate or form.overflow is None:
        at = bg.minimum(at, len(codes) - 1)
        found = bg.take(bg.asarray(codes), at)
        if form.infinity is not None and not saturate:
            found = bg.where(bg.isinf(x), form.infinity, found)
    else:
        found = bg.take(bg.asarray(np.append(codes, np.uint8(form.overflow))), at)
    if form.signed:
        is_minus = bg.signbit(x)
        if form.one_nan:  # no negative zero
            is_minus = bg.logical_and(is_minus, found != 0)
            is_minus = bg.logical_and(is_minus, found != form.nan)
        found = bg.where(is_minus, found | (1 << (kind.bits - 1)), found)
    nan_code = 1 << (kind.bits - 1) if form.nan is None else form.nan  # or -0
    return bg.where(bg.isnan(x), nan_code, found).astype("uint8")


class _Form(Shown):
    """The layout of a small float."""

    def __init__(
        self, exponent: int, mantissa: int, bias: int, *, signed: bool = True,
        infinity: int | None = None, nan: int | None = None, overflow: int | None = None,
        one_nan: bool = False,
    ) -> None:  # fmt: skip
        self.exponent, self.mantissa, self.bias = exponent, mantissa, bias
        self.signed, self.infinity, self.nan, self.overflow = signed, infinity, nan, overflow
        self.one_nan = one_nan


_FORMS = {
    "float8e4m3fn": _Form(4, 3, 7, nan=0x7F, overflow=0x7F),
    "float8e4m3fnuz": _Form(4, 3, 8, nan=0x80, overflow=0x80, one_nan=True),
    "float8e5m2": _Form(5, 2, 15, infinity=0x7C, nan=0x7F, overflow=0x7C),
    "float8e5m2fnuz": _Form(5, 2, 16, nan=0x80, overflow=0x80, one_nan=True),
    "float4e2m1": _Form(2, 1, 1),
    "float8e8m0": _Form(8, 0, 127, signed=False, nan=0xFF, overflow=0xFF),
}


@cache
def _values(kind: NarrowType) -> np.ndarray:
    """Return the value of each code."""
    form = _FORMS[kind.name]
    count = 1 << kind.bits
    half = count >> 1 if form.signed else count
    found = np.empty(count, np.float64)
    for code in range(half):
        exponent, part = divmod(code, 1 << form.mantissa)
        share = part / (1 << form.mantissa)
        if kind.name == "float8e8m0":
            value = 2.0 ** (code - form.bias)
        elif exponent == 0:
            value = share * 2.0 ** (1 - form.bias)
        else:
            value = (1 + share) * 2.0 ** (exponent - form.bias)
        if form.infinity is not None and code >= form.infinity:
            value = inf if code == form.infinity else nan
        found[code] = value
        if form.signed:
            found[code + half] = -value
    if form.nan is not None:
        found[form.nan] = nan
        if not form.one_nan and form.signed:
            found[form.nan | half] = nan
    return found.astype(np.float32)


@cache
def _thresholds(kind: NarrowType, up: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the finite codes without a sign, and the least float of each but the first.

    The last threshold is that of values which overflow.
    """
    form = _FORMS[kind.name]
    half = 1 << (kind.bits - 1 if form.signed else kind.bits)
    values = _values(kind)[:half].astype(np.float64)
    codes = np.flatnonzero(np.isfinite(values)).astype(np.uint8)
    finite = values[codes]
    step = finite[-1] - finite[-2]
    after = np.append(finite[1:], finite[-1] + step)
    if kind.name == "float8e8m0":
        after[-1] = inf
        low = finite if up else finite * 1.5
        middle = low.copy()
        middle[-1] = inf
        if up:
            return np.nextafter(middle.astype(np.float32), np.float32(inf)), codes
        return middle.astype(np.float32), codes
    middle = ((finite + after) / 2).astype(np.float32)
    goes_up = codes % 2 == 1  # a tie goes to the even code
    return np.where(goes_up, middle, np.nextafter(middle, np.float32(inf))), codes
