"""Arrays in NumPy's files: ``.npy`` for one, ``.npz`` for several by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.context import current
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.files import opened
from browsergpu.core.showing import Description
from browsergpu.device.device import Device
from browsergpu.functions.creation import asarray
from browsergpu.gpu import platform


class SavedArrays(Mapping[str, Array]):
    """The arrays of an ``.npz`` file by their names. Each access reads one and puts it on the GPU.

    The file stays open: ``with browsergpu.load("weights.npz") as saved: ...`` closes it.
    """

    def __init__(self, archive: Any, device: Device) -> None:
        self._archive = archive
        #: The GPU that arrays are put on.
        self.device = device

    def __getitem__(self, name: str) -> Array:
        data = self._archive[name]
        if not isinstance(data, np.ndarray):
            raise InvalidType(
                "load",
                "file",
                Description(f"a file with {name!r}, which is no array"),
                "a file of arrays alone",
            )
        return asarray(data, device=self.device)

    def __iter__(self) -> Iterator[str]:
        return iter(self._archive.files)

    def __len__(self) -> int:
        return len(self._archive.files)

    def __contains__(self, name: object) -> bool:
        return name in self._archive.files

    def close(self) -> None:
        """Closes the file. Arrays that were read stay."""
        self._archive.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SavedArrays({', '.join(self)})"


def save(file: Any, arr: Array, allow_pickle: bool = True) -> None:
    """Writes an array to a ``.npy`` file. Waits. ``allow_pickle`` matters to arrays of objects,
    which there are none of.

    ``file`` is a path, to which ``.npy`` is added where it is missing, or a binary file that is
    open for writing. A file of that path is replaced at the end, and stays as it is after an
    error."""
    del allow_pickle
    platform.block_on(save_async(file, arr), "save")


async def save_async(file: Any, arr: Array, /) -> None:
    """:func:`save` for callers that cannot block."""
    _check_file("save", file, "write")
    data = await _on_host("save", "arr", arr)
    with opened("save", file, ".npy") as target:
        np.save(_Written(target), data, allow_pickle=False)


def savez(file: Any, *args: Array, allow_pickle: bool = True, **kwds: Array) -> None:
    """Writes arrays to an ``.npz`` file, uncompressed. Waits. ``allow_pickle`` as in :func:`save`.

    Each array has its keyword as its name; others are ``arr_0``, ``arr_1`` and so on. ``file`` is a
    path, to which ``.npz`` is added where it is missing, or a binary file. A file of that path is
    replaced at the end, and stays as it is after an error."""
    del allow_pickle
    platform.block_on(savez_async(file, *args, **kwds), "savez")


async def savez_async(file: Any, /, *args: Array, **kwds: Array) -> None:
    """:func:`savez` for callers that cannot block."""
    await _save_all("savez", np.savez, file, args, kwds)


def savez_compressed(file: Any, *args: Array, allow_pickle: bool = True, **kwds: Array) -> None:
    """:func:`savez`, compressed."""
    del allow_pickle
    platform.block_on(savez_compressed_async(file, *args, **kwds), "savez_compressed")


async def savez_compressed_async(file: Any, /, *args: Array, **kwds: Array) -> None:
    """:func:`savez_compressed` for callers that cannot block."""
    await _save_all("savez_compressed", np.savez_compressed, file, args, kwds)


def load(
    file: Any, mmap_mode: Any = None, allow_pickle: bool = False, fix_imports: bool = True,
    encoding: str = "ASCII", *, max_header_size: int = 10000, device: Device | None = None,
) -> Any:  # fmt: skip
    """What :func:`save` or NumPy wrote, a path or a binary file open for reading: the array of a
    ``.npy`` file, or of an ``.npz`` file a mapping, :class:`SavedArrays`.

    Pickled objects are never loaded: ``fix_imports`` and ``encoding`` are about those.
    ``max_header_size`` is NumPy's. Raises InvalidArgument, a ValueError, for ``mmap_mode``, another
    file, or one whose elements the GPU cannot have.
    """
    del fix_imports, encoding
    if mmap_mode is not None:
        expected = "None, as arrays on the GPU are no memory maps"
        raise InvalidArgument("load", "mmap_mode", mmap_mode, expected)
    if allow_pickle:
        raise InvalidArgument("load", "allow_pickle", allow_pickle, "False. Use numpy.load.")
    _check_file("load", file, "read")
    tracer = current(device)
    try:
        found = np.load(file, allow_pickle=False, max_header_size=max_header_size)
    except (ValueError, EOFError) as error:
        expected = f"a .npy or .npz file of numbers ({error})"
        raise InvalidArgument("load", "file", file, expected) from None
    if isinstance(found, np.ndarray):
        return asarray(found, device=tracer.device)
    return SavedArrays(found, tracer.device)


class _Written:
    """A file that can only be written to. NumPy writes others past Python, and then it does not
    tell that a disk is full."""

    def __init__(self, file: Any) -> None:
        self.write = file.write


async def _save_all(
    op: str, write: Callable[..., None], file: Any, args: tuple[Any, ...], kwds: dict[str, Any]
) -> None:
    _check_file(op, file, "write")
    given = {f"arr_{n}": array for n, array in enumerate(args)}
    if twice := given.keys() & kwds.keys():
        raise InvalidArgument(op, "kwds", sorted(twice), "names that arrays without one do not get")
    given |= kwds
    for name, array in given.items():  # before any is read
        _check(op, name, array)
    read = {name: await _on_host(op, name, array) for name, array in given.items()}
    with opened(op, file, ".npz") as target:
        write(target, allow_pickle=False, **read)


def _check(op: str, name: str, array: Any) -> None:
    if not isinstance(array, Array):
        raise InvalidType(op, name, array, "an array on the GPU")


async def _on_host(op: str, name: str, array: Any) -> np.ndarray:
    _check(op, name, array)
    return await array.detach().numpy_async()  # type: ignore[no-any-return]


def _check_file(op: str, file: Any, method: str) -> None:
    if not isinstance(file, str | os.PathLike) and not hasattr(file, method):
        raise InvalidType(op, "file", file, f"a path, or a binary file with {method}()")
