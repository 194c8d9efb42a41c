"""Arrays in NumPy's files: ``.npy`` for one array, ``.npz`` for several."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.context import current
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.files import opened
from browsergpu.engine.core.showing import Description
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu import platform
from browsergpu.functions.creation import asarray


class SavedArrays(Mapping[str, Array]):
    """The arrays of an ``.npz`` file by name. Each access reads one array and uploads it.

    The file stays open until it is closed: ``with browsergpu.load("weights.npz") as saved: ...``.

    Attributes
    ----------
    device : Device
        The device of the arrays.
    """

    def __init__(self, archive: Any, device: Device) -> None:
        self._archive = archive
        #: The device of the arrays.
        self.device = device

    def __getitem__(self, name: str) -> Array:
        data = self._archive[name]
        if not isinstance(data, np.ndarray):
            raise InvalidType(
                "load",
                "file",
                Description(f"a file with {name!r}, which is not an array"),
                "a file with only arrays",
            )
        return asarray(data, device=self.device)

    def __iter__(self) -> Iterator[str]:
        return iter(self._archive.files)

    def __len__(self) -> int:
        return len(self._archive.files)

    def __contains__(self, name: object) -> bool:
        return name in self._archive.files

    def close(self) -> None:
        """Close the file. Arrays that were read stay valid."""
        self._archive.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SavedArrays({', '.join(self)})"


def save(file: Any, arr: Array, allow_pickle: bool = True) -> None:
    """Write an array to a ``.npy`` file. Waits.

    Parameters
    ----------
    file : path or file object
        A path, to which ``.npy`` is added if it is missing, or a binary file that is open for
        writing. An existing file is replaced only after all is written, so it survives an error.
    arr : Array
        Any dtype.
    allow_pickle : bool, optional
        Has no effect, as there are no arrays of objects.

    Raises
    ------
    InvalidType
        If ``arr`` is not an array, or ``file`` neither a path nor a file.
    """
    del allow_pickle
    platform.block_on(save_async(file, arr), "save")


async def save_async(file: Any, arr: Array, /) -> None:
    """Write an array as :func:`save`, for callers that cannot block."""
    _check_file("save", file, "write")
    data = await _on_host("save", "arr", arr)
    with opened("save", file, ".npy") as target:
        np.save(_Written(target), data, allow_pickle=False)


def savez(file: Any, *args: Array, allow_pickle: bool = True, **kwds: Array) -> None:
    """Write arrays to an uncompressed ``.npz`` file. Waits.

    Parameters
    ----------
    file : path or file object
        A path, to which ``.npz`` is added if it is missing, or a binary file that is open for
        writing. An existing file is replaced only after all is written, so it survives an error.
    *args : Array
        Arrays with the names ``arr_0``, ``arr_1`` and so on.
    allow_pickle : bool, optional
        Has no effect, as there are no arrays of objects.
    **kwds : Array
        Arrays with the names of their keywords.

    Raises
    ------
    InvalidArgument
        If a keyword is the name of a positional array.
    InvalidType
        If an argument is not an array, or ``file`` neither a path nor a file.
    """
    del allow_pickle
    platform.block_on(savez_async(file, *args, **kwds), "savez")


async def savez_async(file: Any, /, *args: Array, **kwds: Array) -> None:
    """Write arrays as :func:`savez`, for callers that cannot block."""
    await _save_all("savez", np.savez, file, args, kwds)


def savez_compressed(file: Any, *args: Array, allow_pickle: bool = True, **kwds: Array) -> None:
    """Write arrays to a compressed ``.npz`` file, otherwise as :func:`savez`. Waits.

    Parameters
    ----------
    file : path or file object
        A path, to which ``.npz`` is added if it is missing, or a binary file that is open for
        writing.
    *args : Array
        Arrays with the names ``arr_0``, ``arr_1`` and so on.
    allow_pickle : bool, optional
        Has no effect, as there are no arrays of objects.
    **kwds : Array
        Arrays with the names of their keywords.

    Raises
    ------
    InvalidArgument
        If a keyword is the name of a positional array.
    InvalidType
        If an argument is not an array, or ``file`` neither a path nor a file.
    """
    del allow_pickle
    platform.block_on(savez_compressed_async(file, *args, **kwds), "savez_compressed")


async def savez_compressed_async(file: Any, /, *args: Array, **kwds: Array) -> None:
    """Write arrays as :func:`savez_compressed`, for callers that cannot block."""
    await _save_all("savez_compressed", np.savez_compressed, file, args, kwds)


def load(
    file: Any, mmap_mode: Any = None, allow_pickle: bool = False, fix_imports: bool = True,
    encoding: str = "ASCII", *, max_header_size: int = 10000, device: Device | None = None,
) -> Any:  # fmt: skip
    """Read a file of :func:`save`, :func:`savez` or NumPy.

    Parameters
    ----------
    file : path or file object
        A path, or a binary file that is open for reading.
    mmap_mode : None, optional
        Must be None, as there are no memory maps on the GPU.
    allow_pickle : bool, optional
        Must be False, as pickled objects are never loaded.
    fix_imports, encoding : optional
        Have no effect, as they are for pickled objects.
    max_header_size : int, optional
        The limit of ``numpy.load``.
    device : Device, optional
        The device of the arrays. The current device by default.

    Returns
    -------
    Array or SavedArrays
        The array of a ``.npy`` file, or the mapping of an ``.npz`` file.

    Raises
    ------
    InvalidArgument
        If the file has another format, an option is not allowed, or the dtype is not supported. The
        class is a ValueError.
    """
    del fix_imports, encoding
    if mmap_mode is not None:
        expected = "None, because the GPU has no memory maps"
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
    """A file object that has only ``write()``.

    NumPy writes to other file objects through C, which does not report a full disk.
    """

    def __init__(self, file: Any) -> None:
        self.write = file.write


async def _save_all(
    op: str, write: Callable[..., None], file: Any, args: tuple[Any, ...], kwds: dict[str, Any]
) -> None:
    _check_file(op, file, "write")
    given = {f"arr_{n}": array for n, array in enumerate(args)}
    if twice := given.keys() & kwds.keys():
        raise InvalidArgument(op, "kwds", sorted(twice), "names that positional arrays do not have")
    given |= kwds
    for name, array in given.items():  # checks all before the first read
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
