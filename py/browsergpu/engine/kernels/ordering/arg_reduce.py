"""Positions of the largest or smallest elements along an axis."""

from __future__ import annotations

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.grids import fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.cuts import FIELDS, Cut, cut, cut_lanes, inputs, outputs
from browsergpu.engine.kernels.base.family import (
    READ,
    WRITE,
    Binding,
    Kernel,
    KernelFamily,
    bindings,
    by_code,
)
from browsergpu.engine.kernels.ordering.sort import CODES, key_of

_THREADS = 256
_FLIP = 0xFFFF_FFFF


def arg_reduce(
    build: Build,
    x: Slot,
    y: Slot,
    dtype: DType,
    extents: tuple[int, int, int],
    *,
    smallest: bool,
) -> None:
    """Add y[o, i] = the first j for which x[o, j, i] is the largest or smallest.

    NaN counts as the extreme. Elements are words with the type of ``sort.key_of(dtype)``, and y has
    integers. ``extents`` are [outer, length, inner] of x, none of them 0. y must be a different
    buffer from x.
    """
    outer, length, inner = extents
    flip = _FLIP if smallest else 0
    source = x
    while True:
        part: Cut
        if source != x:
            kernel, part = "arg_merge", cut_lanes(outer, length, inner, _THREADS)
        elif inner == 1:
            kernel, part = "arg_rows", cut(outer, length, inner, _THREADS)
        else:
            kernel, part = "arg_columns", cut_lanes(outer, length, inner, _THREADS)
        last = part.chunks == 1
        found = y if last else build.temporary(8 * part.outputs)
        slots = (source, found)
        build.dispatch(
            kernel, key_of(dtype), fold(part.workgroups), slots, *part.fields, flip, not last
        )
        if source != x:
            build.release(source)
        if last:
            return
        source, length = found, part.chunks


_PARAMS = params(*FIELDS, "flip: u32", "pairs: u32")
_KINDS = by_code(CODES, "KIND")
_OF_ELEMENTS = (Binding(0, "x", READ), Binding(2, "y", WRITE))

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "arg_rows",
            "arg_reduce.wgsl",
            _OF_ELEMENTS,
            _PARAMS,
            "main_rows",
            _KINDS,
            cost=lambda f: (inputs(f), 4 * (inputs(f) + outputs(f))),
        ),
        Kernel(
            "arg_columns",
            "arg_reduce.wgsl",
            _OF_ELEMENTS,
            _PARAMS,
            "main_columns",
            _KINDS,
            cost=lambda f: (inputs(f), 4 * (inputs(f) + outputs(f))),
        ),
        Kernel(
            "arg_merge",
            "arg_reduce.wgsl",
            bindings("found", "y", first=1),
            _PARAMS,
            "main_merge",
            _KINDS,
            cost=lambda f: (inputs(f), 4 * (2 * inputs(f) + outputs(f))),
        ),
    )
)
