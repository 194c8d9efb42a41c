"""GGUF files: metadata and tensors.

Every count and length of a file is checked against the bytes that are left, so a malformed file
cannot allocate more than a multiple of its size.

Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.context import current
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description
from browsergpu.engine.kernels.quantized.formats import FORMATS
from browsergpu.functions import creation
from browsergpu.functions.interchange.file_parts import FileParts, file_parts
from browsergpu.functions.interchange.uploads import upload
from browsergpu.functions.language.quantized import QuantizedArray, joined_rows

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_ALIGNMENT = 32
_STRING, _ARRAY, _BOOL = 8, 9, 7
#: NumPy's dtypes of metadata, by GGUF's number.
_SCALARS: dict[int, np.dtype[Any]] = {
    0: np.dtype("u1"), 1: np.dtype("i1"), 2: np.dtype("<u2"), 3: np.dtype("<i2"),
    4: np.dtype("<u4"), 5: np.dtype("<i4"), 6: np.dtype("<f4"), 7: np.dtype("u1"),
    10: np.dtype("<u8"), 11: np.dtype("<i8"), 12: np.dtype("<f8"),
}  # fmt: skip
#: Formats of tensors that are NumPy's, by GGUF's number.
_PLAIN: dict[int, tuple[str, np.dtype[Any]]] = {
    0: ("F32", np.dtype("<f4")), 24: ("I8", np.dtype("i1")), 25: ("I16", np.dtype("<i2")),
    26: ("I32", np.dtype("<i4")), 27: ("I64", np.dtype("<i8")), 28: ("F64", np.dtype("<f8")),
}  # fmt: skip
_DTYPES = dict(_PLAIN.values())
_BY_CODE = {one.code: one for one in FORMATS.values()}
_MOST_AXES = 4
_LONGEST_NAME = 65_535
_LARGEST_ALIGNMENT = 1 << 20
#: The smallest description of a tensor: an empty name, no axes, the format and the offset.
_TENSOR_BYTES = 8 + 4 + 4 + 8
#: The smallest entry of metadata: an empty key, the type and one byte.
_ENTRY_BYTES = 8 + 4 + 1


class Tensor(NamedTuple):
    """A file's description of a tensor. ``begin`` counts bytes from the start of the file."""

    shape: tuple[int, ...]
    format: str
    begin: int
    nbytes: int


class GGUF(Mapping[str, Any]):
    """The tensors of a GGUF file by name. Each access uploads a tensor to the GPU.

    Matrices in quantized formats, F16 or BF16 become :class:`QuantizedArray`, other tensors become
    arrays: floats as float32, integers as they are. A path is memory-mapped. In a page, its parts
    are read when they are uploaded, so Python's memory holds few megabytes of the file.

    Parameters
    ----------
    file : path, bytes or file object
        The file.
    device : Device, optional
        The device for the tensors. The default device if None.

    Raises
    ------
    InvalidArgument
        If the file is malformed, or has a version or tensor format that is not supported.
    """

    def __init__(self, file: Any, device: Any = None) -> None:
        self._bytes = file_parts("GGUF", "file", file)
        reader = _Reader(self._bytes)
        #: The metadata by name: numbers, strings, bools, NumPy arrays, and lists of strings.
        self.metadata: dict[str, Any] = {}
        #: The file's descriptions of the tensors.
        self.tensors: dict[str, Tensor] = {}
        reader.read(self.metadata, self.tensors)
        self._device = device

    def numpy(self, name: str) -> np.ndarray:
        """Return a tensor's bytes as uint8, or its numbers if NumPy has the format.

        The memory is the file's, unless its parts are read. Raises KeyError if there is no tensor
        with the name.
        """
        one = self.tensors[name]
        part = np.asarray(self._part(one))
        dtype = _DTYPES.get(one.format)
        return part if dtype is None else part.view(dtype).reshape(one.shape)

    def _part(self, one: Tensor) -> np.ndarray | FileParts:
        return self._bytes[one.begin : one.begin + one.nbytes]

    def joined(
        self, names: Sequence[str]
    ) -> tuple[Array, list[Array]] | tuple[QuantizedArray, list[QuantizedArray]] | None:
        """Return a matrix of the rows of several, and the several, which share its memory.

        None if a buffer cannot hold all, or if their formats or columns differ.
        """
        found = [self.tensors[name] for name in names]
        parts = [self._part(one) for one in found]
        shapes, formats = [one.shape for one in found], [one.format for one in found]
        return joined_rows("GGUF", parts, shapes, formats, self._device)

    def __getitem__(self, name: str) -> Array | QuantizedArray:
        one = self.tensors[name]
        data = self._part(one)
        device = current(self._device).device
        if one.format == "F32":
            return upload("GGUF", data, FLOAT32, one.shape, device)
        if one.format == "F64":
            return creation.asarray(self.numpy(name).astype(np.float32), device=device)
        if one.format in _DTYPES:
            return creation.asarray(self.numpy(name), device=device)
        columns = one.shape[-1] if one.shape else 1
        if columns % FORMATS[one.format].elements:  # F16 and BF16, which blocks of 4 do not fit
            floats = _floats(self.numpy(name), one.format)
            return creation.asarray(floats.reshape(one.shape), device=device)
        rows = product(one.shape[:-1])
        matrix = QuantizedArray(data, (rows, columns), one.format, device)
        if len(one.shape) == 2:
            return matrix
        return matrix.dequantize().reshape(one.shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def __contains__(self, name: object) -> bool:
        return name in self.tensors

    def __repr__(self) -> str:
        return f"<GGUF of {len(self.tensors)} tensors and {len(self.metadata)} metadata>"


def _floats(data: np.ndarray, format: str) -> np.ndarray:
    """Return F16 or BF16 as float32."""
    if format == "F16":
        return data.view("<f2").astype(np.float32)
    return (data.view("<u2").astype(np.uint32) << 16).view(np.float32)


def refused(expected: str) -> InvalidArgument:
    """Return the error for a malformed file."""
    return InvalidArgument("GGUF", "file", Description("a malformed file"), expected)


class _Reader:
    """A position in the bytes of a file."""

    def __init__(self, data: np.ndarray | FileParts) -> None:
        self._data = data
        self._at = 0

    def read(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        """Read the header into empty dicts."""
        if self._take(4, "the magic").tobytes() != _MAGIC:
            raise refused("begin with GGUF")
        version = self._integer(4, "the version")
        if version not in _VERSIONS:
            if int.from_bytes(version.to_bytes(4, "little"), "big") in _VERSIONS:
                raise refused("be little-endian")
            raise refused(f"have version 2 or 3, not {version}")
        count = self._count("tensors", _TENSOR_BYTES)
        entries = self._count("metadata", _ENTRY_BYTES)
        for _ in range(entries):
            key = self._string("a key")
            if key in metadata:
                raise refused(f"have each key once, not {key!r} twice")
            metadata[key] = self._value(self._integer(4, key), key)
        found = [self._tensor() for _ in range(count)]
        self._place(found, _alignment(metadata), tensors)

    def _left(self) -> int:
        return int(self._data.size) - self._at

    def _take(self, nbytes: int, what: str) -> np.ndarray:
        if nbytes > self._left():
            raise refused(f"have {nbytes} bytes for {what}, not {self._left()}")
        part = np.asarray(self._data[self._at : self._at + nbytes])
        self._at += nbytes
        return part

    def _integer(self, nbytes: int, what: str) -> int:
        return int.from_bytes(self._take(nbytes, what).tobytes(), "little")

    def _count(self, what: str, least: int) -> int:
        """Return a number of items with at least ``least`` bytes each."""
        count, most = self._integer(8, f"the number of {what}"), self._left() // least
        if count > most:
            raise refused(f"have at most {most} {what} in {self._left()} bytes, not {count}")
        return count

    def _string(self, what: str) -> str:
        length = self._integer(8, f"the length of {what}")
        if length > self._left():
            raise refused(f"have {length} bytes for {what}, not {self._left()}")
        text = self._take(length, what).tobytes()
        # Tokens of some tokenizers are not whole characters.
        return text.decode("utf-8", "surrogateescape")

    def _value(self, kind: int, key: str) -> Any:
        if kind == _STRING:
            return self._string(key)
        if kind == _ARRAY:
            return self._array(key)
        value = self._numbers(kind, 1, key)[0]
        return bool(value) if kind == _BOOL else value.item()

    def _array(self, key: str) -> Any:
        kind = self._integer(4, key)
        if kind == _ARRAY:
            raise refused(f"have no array of arrays in {key!r}")
        if kind == _STRING:
            return [self._string(key) for _ in range(self._count(f"strings in {key!r}", 8))]
        found = self._numbers(kind, self._count(f"numbers in {key!r}", 1), key)
        return found.astype(bool) if kind == _BOOL else found

    def _numbers(self, kind: int, count: int, key: str) -> np.ndarray:
        dtype = _SCALARS.get(kind)
        if dtype is None:
            raise refused(f"have metadata of GGUF's types in {key!r}, not type {kind}")
        found = self._take(count * dtype.itemsize, key).view(np.uint8)
        if kind == _BOOL and found.size and found.max() > 1:
            raise refused(f"have bools of 0 and 1 in {key!r}")
        return np.frombuffer(found.tobytes(), dtype)

    def _tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        """Return a tensor's name, shape, format and offset."""
        name = self._string("a tensor's name")
        if len(name) > _LONGEST_NAME:
            raise refused(f"have names of at most {_LONGEST_NAME} characters, not {len(name)}")
        axes = self._integer(4, f"the axes of {name!r}")
        if axes > _MOST_AXES:
            raise refused(f"have at most {_MOST_AXES} axes for {name!r}, not {axes}")
        extents = [self._integer(8, f"the shape of {name!r}") for _ in range(axes)]
        code = self._integer(4, f"the format of {name!r}")
        return name, tuple(extents[::-1]), code, self._integer(8, f"the offset of {name!r}")

    def _place(
        self, found: list[tuple[str, tuple[int, ...], int, int]], alignment: int,
        tensors: dict[str, Tensor],
    ) -> None:  # fmt: skip
        """Check the tensors' places in the file, and add them to ``tensors``."""
        start = -(-self._at // alignment) * alignment
        room = max(int(self._data.size) - start, 0)
        for name, shape, code, offset in found:
            if name in tensors:
                raise refused(f"have each tensor once, not {name!r} twice")
            own, nbytes = _size(name, shape, code)
            if offset % alignment:
                raise refused(f"have an offset of {name!r} that is a multiple of {alignment}")
            if offset + nbytes > room:
                raise refused(
                    f"have {offset + nbytes} bytes of tensors for {name!r}, not {room}. "
                    "It may be truncated"
                )
            tensors[name] = Tensor(shape, own, start + offset, nbytes)
        end, before = 0, ""
        for name, one in sorted(tensors.items(), key=lambda pair: (pair[1].begin, pair[1].nbytes)):
            if one.begin < end and one.nbytes:
                raise refused(f"have tensors that do not overlap, as {before!r} and {name!r} do")
            if one.nbytes:
                end, before = one.begin + one.nbytes, name


def _size(name: str, shape: tuple[int, ...], code: int) -> tuple[str, int]:
    """Return the name of a tensor's format, and its number of bytes."""
    if code in _PLAIN:
        own, dtype = _PLAIN[code]
        return own, product(shape) * dtype.itemsize
    if code not in _BY_CODE:
        known = ", ".join([*_DTYPES, *FORMATS])
        raise refused(f"have tensors of the formats {known}, but {name!r} has GGUF's type {code}")
    form = _BY_CODE[code]
    if form.elements == 4:  # F16 and BF16
        return form.name, 2 * product(shape)
    columns = shape[-1] if shape else 1
    if columns % form.elements:
        raise refused(
            f"have rows of a multiple of {form.elements} elements for {form.name} of {name!r}, "
            f"not {columns}"
        )
    return form.name, product(shape[:-1]) * form.row_bytes(columns)


def _alignment(metadata: Mapping[str, Any]) -> int:
    found = metadata.get("general.alignment", _ALIGNMENT)
    is_power = isinstance(found, int) and 0 < found <= _LARGEST_ALIGNMENT
    if not is_power or found & (found - 1):
        raise refused(f"have a power of two as general.alignment, not {found!r}")
    return int(found)
