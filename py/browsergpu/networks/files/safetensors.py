"""Arrays in safetensors files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.context import current
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.files import opened
from browsergpu.functions import creation
from browsergpu.gpu import platform
from browsergpu.networks.files import headers


class Safetensors(Mapping[str, Array]):
    """The arrays of a safetensors file by their names. Each access puts one on the GPU.

    A path is mapped into memory, so that what is not asked for is not read; other files are read
    at once. bfloat16 becomes float32, which holds all of its numbers; float64
    is rounded to float32, as ``set_x64`` has it.
    """

    def __init__(self, file: Any, device: Any = None) -> None:
        self._bytes = _bytes_of("Safetensors", file)
        length = headers.length_of(self._bytes[:8].tobytes(), self._bytes.size)
        self._start = 8 + length
        room = self._bytes.size - self._start
        #: What the file says of its arrays, and its own texts.
        self.entries, self.metadata = headers.parsed(self._bytes[8 : self._start].tobytes(), room)
        #: The GPU that arrays are put on.
        self.device = current(device).device

    def numpy(self, name: str) -> np.ndarray:
        """An array on the host, which shares the file's memory where its dtype is one of NumPy's.
        Raises KeyError where there is none of the name."""
        entry = self.entries[name]
        part = self._bytes[self._start + entry.begin : self._start + entry.end]
        found = np.frombuffer(part, headers.DTYPES[entry.dtype]).reshape(entry.shape)
        if entry.dtype == "BF16":
            return (found.astype(np.uint32) << 16).view(np.float32)
        if entry.dtype == "BOOL" and part.size and int(part.max()) > 1:
            raise headers.refused(f"bytes of 0 and 1 in {name!r}, of BOOL")
        return found

    def __getitem__(self, name: str) -> Array:
        return creation.asarray(self.numpy(name), device=self.device)

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __repr__(self) -> str:
        return f"Safetensors({', '.join(self)})"


def _bytes_of(op: str, file: Any) -> np.ndarray:
    """A file's bytes: a path, bytes, or a binary file from where it is."""
    if isinstance(file, str | os.PathLike):
        if not os.path.getsize(file):
            return np.empty(0, np.uint8)
        try:
            return np.memmap(file, np.uint8, mode="r")
        except (ImportError, OSError, ValueError):  # a file system that cannot map
            return np.fromfile(file, np.uint8)
    if hasattr(file, "read"):
        file = file.read()
    if not isinstance(file, bytes | bytearray | memoryview):
        raise InvalidType(op, "file", file, "a path, bytes, or a binary file")
    return np.frombuffer(file, np.uint8)


def load_safetensors(file: Any, /, *, device: Any = None) -> dict[str, Array]:
    """All arrays of a safetensors file, a path, bytes or a binary file, on the GPU, by their names.
    Dtypes become others as :class:`Safetensors` says, which reads some of them alone. Raises
    InvalidArgument, a ValueError, for a file that is malformed or has dtypes that are not
    known."""
    return dict(Safetensors(file, device))


def save_safetensors(
    file: Any, arrays: Mapping[str, Any], /, *, metadata: Mapping[str, str] | None = None
) -> None:
    """Writes arrays, on the GPU or NumPy's, by their names to a safetensors file. Waits.

    ``file`` is a path, or a binary file that is open for writing. A file of that path is replaced
    at the end, and stays as it is after an error. ``metadata`` are texts by names. Each array is
    read from the GPU when it is written. Raises InvalidType for dtypes that arrays on the GPU do
    not have."""
    platform.block_on(save_safetensors_async(file, arrays, metadata=metadata), "save_safetensors")


async def save_safetensors_async(
    file: Any, arrays: Mapping[str, Any], /, *, metadata: Mapping[str, str] | None = None
) -> None:
    """:func:`save_safetensors` for callers that cannot block."""
    op = "save_safetensors"
    if not isinstance(arrays, Mapping):
        raise InvalidType(op, "arrays", arrays, "a dict of arrays by their names")
    own: dict[str, Any] = {}
    for name, x in arrays.items():
        if not isinstance(name, str) or name == headers.METADATA:
            raise InvalidArgument(op, "arrays", name, f"names other than {headers.METADATA}")
        if not isinstance(x, Array | np.ndarray) or x.dtype.newbyteorder("=") not in headers.NAMES:
            given = x.dtype if hasattr(x, "dtype") else x
            raise InvalidType(op, name, given, "an array of a dtype that the GPU has")
        own[name] = x.detach().copy() if isinstance(x, Array) else x  # the values of now
    texts = dict(metadata or {})
    if any(not isinstance(x, str) for pair in texts.items() for x in pair):
        raise InvalidType(op, "metadata", texts, "a dict of texts")
    kinds = {name: (x.dtype.newbyteorder("="), tuple(x.shape)) for name, x in own.items()}
    first, order = headers.written(kinds, texts)
    with opened(op, file) as target:
        target.write(first)
        for name in order:
            x = own[name]
            data = await x.numpy_async() if isinstance(x, Array) else x
            ready = np.ascontiguousarray(data, headers.DTYPES[headers.NAMES[kinds[name][0]]])
            if ready.size:
                target.write(ready.reshape(-1).view(np.uint8).data)
