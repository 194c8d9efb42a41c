"""Division of a reduction of [outer, length, inner] over its middle axis among threads.

The reducing kernels (arg_reduce.wgsl, moments.wgsl, softmax.wgsl) share it and take the same
fields.
"""

from __future__ import annotations

from dataclasses import dataclass

from browsergpu.engine.core.grids import blocks
from browsergpu.engine.kernels.base.family import Fields

#: The kernels' first parameters, which describe the division.
FIELDS = ("outer: u32", "length: u32", "inner: u32", "chunk: u32", "chunks: u32", "lanes: u32")

_ROW_CHUNK = 16_384  # maximum elements of a row per workgroup: 64 per thread of 256
_SMALL_ROW_CHUNK = 4_096  # minimum, if there are too few rows to fill the GPU
_LANE = 128  # elements per thread of a row, if there are many rows
_SHORT_LANE = 16  # minimum elements per thread of a row: four vec4s
_NEIGHBOURS = 8  # minimum threads of a row, unless fewer cover it: they read 128 bytes at once
_THREADS = 131_072  # enough to fill a GPU
_COLUMN_LANES = 32  # maximum groups of neighbouring columns per workgroup
_FEW_COLUMNS = 16  # minimum columns per workgroup: 64 bytes
_ONE_PASS = 20_000_000  # maximum elements for one pass over columns
_ONE_PASS_OF_LANES = 1_000_000  # the same, if each lane has one column
_FEW_WORKGROUPS = 192  # workgroups that are enough for one pass
_LINE = 4  # rows that a thread takes at once
_WORKGROUP = 16_384  # elements that justify a workgroup
_LINE_CHUNK = 256  # maximum rows per thread with four columns
_LANE_CHUNK = 512  # maximum rows per workgroup, if a thread has one column
_LONG_LANE_CHUNK = 8_192  # the same, divided by the lanes; the larger limit counts
_WORKGROUPS = 1_024  # enough to fill a GPU


@dataclass(frozen=True, slots=True)
class Cut:
    """The parameters of a reducing kernel and its number of workgroups.

    ``rows`` selects the entry point: for rows (inner is 1) or for columns. Columns are ``aligned``
    if inner is a multiple of 4.
    """

    rows: bool
    aligned: bool
    fields: tuple[int, int, int, int, int, int]
    workgroups: int

    @property
    def chunks(self) -> int:
        """Values left per output. 1 means that the reduction is complete."""
        return self.fields[4]

    @property
    def outputs(self) -> int:
        """Values that the kernel writes."""
        outer, _length, inner, _chunk, chunks, _lanes = self.fields
        return outer * chunks * inner


def cut(outer: int, length: int, inner: int, threads: int) -> Cut:
    """Divide a reduction with four columns per lane.

    Rows are cut into chunks of ``lanes`` threads each. Columns are cut in the same way, and a
    workgroup takes four times ``lanes`` columns.
    """
    if inner == 1:
        return _rows(outer, length, threads)
    return _columns(outer, length, inner, threads, 4, _ONE_PASS)


def cut_lanes(outer: int, length: int, inner: int, threads: int) -> Cut:
    """Divide a reduction with one column per lane."""
    return _columns(outer, length, inner, threads, 1, _ONE_PASS_OF_LANES)


def inputs(f: Fields) -> float:
    """Return the number of elements that a dispatch with these parameters reads."""
    return f["outer"] * f["length"] * f["inner"]


def outputs(f: Fields) -> float:
    """Return the number of values that a dispatch with these parameters writes."""
    return f["outer"] * f["chunks"] * f["inner"]


def power_of_two(n: int) -> int:
    """Return the smallest power of two that is at least n."""
    return 1 << (n - 1).bit_length()


def _rows(outer: int, length: int, threads: int) -> Cut:
    chunk = _ROW_CHUNK
    while chunk > _SMALL_ROW_CHUNK and outer * blocks(length, chunk) < _WORKGROUPS:
        chunk //= 2
    chunks = blocks(length, chunk)
    part = min(length, chunk)
    most = min(threads, power_of_two(blocks(part, _SHORT_LANE)))
    lanes = min(most, max(_NEIGHBOURS, power_of_two(blocks(part, _LANE))))
    while lanes < most and outer * chunks * lanes < _THREADS:
        lanes *= 2
    groups = blocks(outer * chunks, threads // lanes)
    return Cut(True, False, (outer, length, 1, chunk, chunks, lanes), groups)


def _columns(outer: int, length: int, inner: int, threads: int, width: int, one_pass: int) -> Cut:
    wide = blocks(inner, width)  # lanes for all columns
    # Few rows leave no work for several rows of threads.
    most = max(_COLUMN_LANES, threads // power_of_two(blocks(length, _LINE)))
    lanes = min(threads, power_of_two(wide), most)
    if outer * length * inner <= one_pass:
        # One pass with few workgroups is faster than two passes with many.
        one = lanes
        while (
            one * width > _FEW_COLUMNS
            and outer * blocks(wide, one) < _FEW_WORKGROUPS
            and threads // one * _LINE < length
        ):
            one //= 2
        groups = outer * blocks(wide, one)
        if groups >= _FEW_WORKGROUPS or length * one * width <= _WORKGROUP:
            return Cut(False, inner % 4 == 0, (outer, length, inner, length, 1, one), groups)
    groups = outer * blocks(wide, lanes)
    chunk = max(blocks(length, blocks(_WORKGROUPS, groups)), blocks(_WORKGROUP, lanes * width))
    if width == 1:
        longest = max(_LANE_CHUNK, _LONG_LANE_CHUNK // lanes)
    else:
        longest = _LINE_CHUNK * (threads // lanes)
    chunk = min(chunk, longest)
    chunks = blocks(length, chunk)
    fields = (outer, length, inner, chunk, chunks, lanes)
    return Cut(False, inner % 4 == 0, fields, groups * chunks)
