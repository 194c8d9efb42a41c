"""Arrays in safetensors files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.context import current
from browsergpu.engine.core.element_types import FLOAT32, INT32, UINT32
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.files import opened
from browsergpu.engine.gpu import platform
from browsergpu.functions import creation
from browsergpu.functions.interchange.file_parts import FileParts, file_parts
from browsergpu.functions.interchange.uploads import upload
from browsergpu.networks.files import headers

#: Types whose bytes go to the GPU as they are.
_UPLOADED = {"F32": FLOAT32, "I32": INT32, "U32": UINT32}


class Safetensors(Mapping[str, Array]):
    """The arrays of a safetensors file by name. Each access uploads an array to the GPU.

    Of a path, only accessed arrays are read: it is memory-mapped, or read in parts in a page.
    Other files are read at once.
    bfloat16 becomes float32, which holds all its values. float64 is rounded to float32, as
    ``set_x64`` describes.

    Parameters
    ----------
    file : path, bytes or file object
        The file.
    device : optional
        The device for the arrays. The default device if None.
    """

    def __init__(self, file: Any, device: Any = None) -> None:
        self._bytes = file_parts("Safetensors", "file", file)
        length = headers.length_of(self._read(0, 8).tobytes(), self._bytes.size)
        self._start = 8 + length
        room = self._bytes.size - self._start
        #: The file's descriptions of the arrays, and its metadata.
        self.entries, self.metadata = headers.parsed(self._read(8, self._start).tobytes(), room)
        #: The device for the arrays.
        self.device = current(device).device

    def numpy(self, name: str) -> np.ndarray:
        """Return an array on the host, which shares the file's memory if NumPy has the dtype.

        Raises KeyError if there is no array with the name.
        """
        entry = self.entries[name]
        part = self.stored(name)
        found = np.frombuffer(part, headers.DTYPES[entry.dtype]).reshape(entry.shape)
        if entry.dtype == "BF16":
            return (found.astype(np.uint32) << 16).view(np.float32)
        if entry.dtype == "BOOL" and part.size and int(part.max()) > 1:
            raise headers.refused(f"have bytes of 0 and 1 in {name!r}, of BOOL")
        return found

    def stored(self, name: str) -> np.ndarray:
        """Return the bytes of an array, as uint8, which share the file's memory if it is mapped."""
        return np.asarray(self.part(name))

    def part(self, name: str) -> np.ndarray | FileParts:
        """Return the bytes of an array. Those of a path are not read yet in a page."""
        entry = self.entries[name]
        return self._bytes[self._start + entry.begin : self._start + entry.end]

    def _read(self, begin: int, end: int) -> np.ndarray:
        return np.asarray(self._bytes[begin:end])

    def __getitem__(self, name: str) -> Array:
        entry = self.entries[name]
        kind = _UPLOADED.get(entry.dtype)
        if kind is not None:
            return upload("Safetensors", self.part(name), kind, entry.shape, self.device)
        return creation.asarray(self.numpy(name), device=self.device)

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __repr__(self) -> str:
        return f"Safetensors({', '.join(self)})"


def load_safetensors(file: Any, /, *, device: Any = None) -> dict[str, Array]:
    """Load all arrays of a safetensors file to the GPU.

    :class:`Safetensors` loads single arrays, and describes the conversion of dtypes.

    Parameters
    ----------
    file : path, bytes or file object
        The file.
    device : optional
        The device for the arrays.

    Returns
    -------
    dict
        The arrays by name.

    Raises
    ------
    InvalidArgument
        If the file is malformed or has an unknown dtype.
    """
    return dict(Safetensors(file, device))


def save_safetensors(
    file: Any, arrays: Mapping[str, Any], /, *, metadata: Mapping[str, str] | None = None
) -> None:
    """Save arrays to a safetensors file. Blocks.

    Each array is read from the GPU just before it is written.

    Parameters
    ----------
    file : path or file object
        A path, or a binary file open for writing. An existing file is replaced at the end, and kept
        after an error.
    arrays : mapping
        Arrays by name, on the GPU or from NumPy.
    metadata : mapping, optional
        Strings by name.

    Raises
    ------
    InvalidType
        If GPU arrays cannot have the dtype of an array.
    """
    platform.block_on(save_safetensors_async(file, arrays, metadata=metadata), "save_safetensors")


async def save_safetensors_async(
    file: Any, arrays: Mapping[str, Any], /, *, metadata: Mapping[str, str] | None = None
) -> None:
    """Save arrays, as :func:`save_safetensors` does, without blocking."""
    op = "save_safetensors"
    if not isinstance(arrays, Mapping):
        raise InvalidType(op, "arrays", arrays, "a dict of arrays by their names")
    own: dict[str, Any] = {}
    for name, x in arrays.items():
        if not isinstance(name, str) or name == headers.METADATA:
            raise InvalidArgument(op, "arrays", name, f"names other than {headers.METADATA}")
        if not isinstance(x, Array | np.ndarray) or x.dtype.newbyteorder("=") not in headers.NAMES:
            given = x.dtype if hasattr(x, "dtype") else x
            raise InvalidType(op, name, given, "an array with a dtype that GPU arrays can have")
        own[name] = x.detach().copy() if isinstance(x, Array) else x  # the current values
    texts = dict(metadata or {})
    if any(not isinstance(x, str) for pair in texts.items() for x in pair):
        raise InvalidType(op, "metadata", texts, "a dict of strings")
    kinds = {name: (x.dtype.newbyteorder("="), tuple(x.shape)) for name, x in own.items()}
    first, order = headers.written(kinds, texts)
    with opened(op, file) as target:
        target.write(first)
        for name in order:
            x = own[name]
            data = await x.numpy_async() if isinstance(x, Array) else x
            ready = np.asarray(data, headers.DTYPES[headers.NAMES[kinds[name][0]]], order="C")
            if ready.size:
                target.write(ready.reshape(-1).view(np.uint8).data)
