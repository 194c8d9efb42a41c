"""How a reduction of [outer, length, inner] over its middle axis is dealt out to threads.

Shared by the kernels that reduce (reduce.wgsl, moments.wgsl, softmax.wgsl). All of them take the
same fields.
"""

from __future__ import annotations

from dataclasses import dataclass

from browsergpu.core.grids import blocks
from browsergpu.kernels.base.family import Fields

#: The parameters that say how it is dealt out, the kernels' first ones.
FIELDS = ("outer: u32", "length: u32", "inner: u32", "chunk: u32", "chunks: u32", "lanes: u32")

_ROW_CHUNK = 16_384  # elements of a row that one workgroup takes at most: 64 a thread of 256
_SMALL_ROW_CHUNK = 4_096  # … and at least, where there are too few rows for the GPU
_LANE = 128  # elements that each thread of a row takes where there are many rows: eight times …
_SHORT_LANE = 16  # … and at least: four vec4s at once
_NEIGHBOURS = 8  # threads of a row that read 128 bytes in one go: as many, or a whole row
_THREADS = 131_072  # enough to fill a GPU
_COLUMN_LANES = 32  # groups of neighbouring columns that a workgroup takes at most
_FEW_COLUMNS = 16  # columns that it takes at least: 64 bytes
_ONE_PASS = 20_000_000  # elements up to which …
_ONE_PASS_OF_LANES = 1_000_000  # … where each lane has one column
_FEW_WORKGROUPS = 192  # … so many workgroups are enough
_LINE = 4  # rows that a thread takes at once
_WORKGROUP = 16_384  # elements for which a workgroup of its own pays
_LINE_CHUNK = 256  # rows that one thread takes at most, where it takes four columns
_LANE_CHUNK = 512  # rows that a workgroup takes at most, where a thread has one column …
_LONG_LANE_CHUNK = 8_192  # … or so many divided by the lanes, if that is more
_WORKGROUPS = 1_024  # enough to fill a GPU


@dataclass(frozen=True, slots=True)
class Cut:
    """The kernel's fields, and the workgroups that they take. ``rows`` says for which entry point:
    rows (inner is 1), or columns, whose inner is ``aligned`` where it is a multiple of 4."""

    rows: bool
    aligned: bool
    fields: tuple[int, int, int, int, int, int]
    workgroups: int

    @property
    def chunks(self) -> int:
        """How many values each output still has; 1: it is done."""
        return self.fields[4]

    @property
    def outputs(self) -> int:
        """Values that the kernel writes."""
        outer, _length, inner, _chunk, chunks, _lanes = self.fields
        return outer * chunks * inner


def cut(outer: int, length: int, inner: int, threads: int) -> Cut:
    """Rows are cut into chunks, and a chunk has ``lanes`` threads; columns likewise, and a
    workgroup has ``lanes`` times four of them."""
    if inner == 1:
        return _rows(outer, length, threads)
    return _columns(outer, length, inner, threads, 4, _ONE_PASS)


def cut_lanes(outer: int, length: int, inner: int, threads: int) -> Cut:
    """As for columns, of which each lane has one in place of four."""
    return _columns(outer, length, inner, threads, 1, _ONE_PASS_OF_LANES)


def inputs(f: Fields) -> float:
    """Elements that a dispatch of such parameters reads."""
    return f["outer"] * f["length"] * f["inner"]


def outputs(f: Fields) -> float:
    """Values that it writes."""
    return f["outer"] * f["chunks"] * f["inner"]


def power_of_two(n: int) -> int:
    """The smallest power of two that is at least n."""
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
    wide = blocks(inner, width)  # lanes that all columns take
    # Few rows leave no work for several lines of threads.
    most = max(_COLUMN_LANES, threads // power_of_two(blocks(length, _LINE)))
    lanes = min(threads, power_of_two(wide), most)
    if outer * length * inner <= one_pass:
        # One pass by few workgroups is quicker than two by many.
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
