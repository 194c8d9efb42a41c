"""Reading, checking and writing the headers of safetensors files.

A file consists of eight bytes with the header's length as a little-endian integer, the header in
JSON, and the arrays' bytes. For each array, the header has the dtype, the shape, and the range of
its bytes after the header. "__metadata__" is a dict of strings.

Source: https://github.com/huggingface/safetensors, README.md, "Format".
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import numpy as np

from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description

#: Maximum length of a header, by the format.
MOST = 100_000_000

#: The supported dtypes of the format, as stored. BF16 is the upper half of F32.
DTYPES = {
    "BOOL": np.dtype(np.bool_), "U8": np.dtype(np.uint8), "I8": np.dtype(np.int8),
    "U16": np.dtype("<u2"), "I16": np.dtype("<i2"), "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"), "U64": np.dtype("<u8"), "I64": np.dtype("<i8"),
    "F16": np.dtype("<f2"), "BF16": np.dtype("<u2"), "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"), "C64": np.dtype("<c8"),
}  # fmt: skip

#: Format names of the dtypes that GPU arrays can have.
NAMES = {
    np.dtype(np.bool_): "BOOL", np.dtype(np.uint8): "U8", np.dtype(np.int8): "I8",
    np.dtype(np.uint16): "U16", np.dtype(np.int16): "I16", np.dtype(np.uint32): "U32",
    np.dtype(np.int32): "I32", np.dtype(np.float16): "F16", np.dtype(np.float32): "F32",
    np.dtype(np.complex64): "C64", np.dtype(np.int64): "I64", np.dtype(np.uint64): "U64",
}  # fmt: skip

METADATA = "__metadata__"


class Entry(NamedTuple):
    """A header's description of an array."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def refused(expected: str) -> InvalidArgument:
    """Return the error for a malformed file."""
    return InvalidArgument("safetensors", "file", Description("a malformed file"), expected)


def length_of(first: bytes, total: int) -> int:
    """Return the header's length, from a file's first eight bytes and total size."""
    if total < 8:
        raise refused(f"have 8 bytes with the header's length first, not {total} bytes in total")
    length = int.from_bytes(first, "little")
    if length > min(MOST, total - 8):
        most = min(MOST, total - 8)
        raise refused(f"have a header of at most {most} bytes, not {length}")
    return length


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise refused(f"have each name once, not {key!r} twice")
        found[key] = value
    return found


_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(r"[\[{\]}]")
_DEEPEST = 32


def shallow_json(text: str, **options: Any) -> Any:
    """Parse JSON that is nested at most as deeply as files of this package.

    Deep nesting would overflow the stack, which ends Python in a page. Raises ValueError.
    """
    depth = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > _DEEPEST:
            raise ValueError(f"nested deeper than {_DEEPEST} levels")
    return json.loads(text, **options)


def parsed(text: bytes, room: int) -> tuple[dict[str, Entry], dict[str, str]]:
    """Return the arrays and the metadata of a header. ``room`` is the number of bytes after it."""
    if text[:1] != b"{":
        raise refused("have a header that begins with '{'")
    try:
        found = shallow_json(text.decode("utf-8"), object_pairs_hook=_once)
    except InvalidArgument:
        raise
    except ValueError as error:
        raise refused(f"have a JSON header in UTF-8 ({error})") from None
    metadata = found.pop(METADATA, {})
    if not isinstance(metadata, dict) or any(not isinstance(x, str) for x in metadata.values()):
        raise refused(f"have only strings in {METADATA}")
    entries = {name: _entry(name, value, room) for name, value in found.items()}
    _check_all(entries, room)
    return entries, metadata


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _entry(name: str, value: Any, room: int) -> Entry:
    if not isinstance(value, dict) or value.keys() != {"dtype", "shape", "data_offsets"}:
        raise refused(f"have dtype, shape and data_offsets for {name!r}")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise refused(f"have a dtype of {', '.join(DTYPES)} for {name!r}, not {dtype!r}")
    if not isinstance(shape, list) or not all(map(_whole, shape)):
        raise refused(f"have integers as the shape of {name!r}")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_whole, offsets)):
        raise refused(f"have two integers as data_offsets of {name!r}")
    begin, end = offsets
    if not begin <= end <= room:
        raise refused(f"have data_offsets of {name!r} within {room} bytes, not {begin} to {end}")
    size = product(shape) * DTYPES[dtype].itemsize
    if size != end - begin:
        raise refused(f"have {size} bytes for {dtype} {shape} of {name!r}, not {end - begin}")
    return Entry(dtype, tuple(shape), begin, end)


def _check_all(entries: dict[str, Entry], room: int) -> None:
    """Raise InvalidArgument if arrays overlap, or if bytes belong to no array."""
    at = 0
    for name, entry in sorted(entries.items(), key=lambda one: (one[1].begin, one[1].end)):
        if entry.begin != at:
            problem = "overlaps another" if entry.begin < at else "follows unused bytes"
            raise refused(f"have contiguous arrays, but {name!r} {problem}")
        at = entry.end
    if at != room:
        raise refused(f"have arrays for all {room} bytes, not for {at}")


def written(
    arrays: dict[str, tuple[np.dtype[Any], tuple[int, ...]]], metadata: dict[str, str]
) -> tuple[bytes, list[str]]:
    """Return the file's bytes before the arrays, and the order of the arrays.

    Arrays with large elements come first, so that all begin at a multiple of their element size.
    """
    order = sorted(arrays, key=lambda name: (-arrays[name][0].itemsize, name))
    header: dict[str, Any] = {METADATA: metadata} if metadata else {}
    at = 0
    for name in order:
        dtype, shape = arrays[name]
        end = at + product(shape) * dtype.itemsize
        header[name] = {
            "dtype": NAMES[dtype], "shape": list(shape), "data_offsets": [at, end],
        }  # fmt: skip
        at = end
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text, order
