"""Kept files: their folders, what is known of them, and one download of each at a time."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.files import replacing
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu import platform

_ABOUT, _LOCK = "about.json", "lock"
_MOST_ABOUT = 1 << 16
_PIECE = 1 << 22
_LONGEST_NAME = 120
#: The folders to which this process downloads.
_active: set[str] = set()


@dataclass(frozen=True)
class KeptFile:
    """A file that was downloaded.

    Attributes
    ----------
    address : str
        Where it is from.
    path : Path
        Where it is.
    size : int
        Number of bytes.
    sha256 : str
        SHA-256 of the bytes, in hexadecimal.
    """

    address: str
    path: Path
    size: int
    sha256: str


@dataclass
class About:
    """What is stored beside a file.

    Attributes
    ----------
    address, name : str
        Where it is from, and its name.
    size : int or None
        Bytes of the whole file, if the server says so.
    tag : str or None
        The server's name of this version.
    sha256 : str or None
        The hash of a whole file. None while parts are missing.
    """

    address: str
    name: str
    size: int | None = None
    tag: str | None = None
    sha256: str | None = None


class Place(Shown):
    """The folder of one address.

    Parameters
    ----------
    folder : Path
        The folder of all files.
    address : str
        The address.
    """

    def __init__(self, folder: Path, address: str) -> None:
        self.address = address
        self.folder = folder / hashlib.sha256(address.encode()).hexdigest()[:16]
        self.path = self.folder / name_of(address)
        self.part = self.folder / f"{self.path.name}.part"

    def kept(self) -> KeptFile | None:
        """Return the file, or None unless all of it is there."""
        return kept_in(self.folder)

    def about(self) -> About:
        """Return what is known of the file."""
        found = _read(self.folder)
        known = found is not None and found.address == self.address
        return found if known and found is not None else About(self.address, self.path.name)

    def note(self, about: About) -> None:
        """Store what is known of the file."""
        with replacing(self.folder / _ABOUT) as file:
            file.write(json.dumps(asdict(about)).encode())

    def received(self) -> int:
        """Return how many bytes of the part are there."""
        return self.part.stat().st_size if self.part.exists() else 0

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Keep other downloads of the same address away. Raises BlockingIOError if there is one."""
        own = str(self.folder)
        if own in _active:
            raise self._busy()
        self.folder.mkdir(parents=True, exist_ok=True)
        _active.add(own)
        try:
            with self._locked():
                yield
        finally:
            _active.discard(own)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold a lock among processes, where the system has it."""
        try:
            import fcntl
        except ImportError:  # Windows
            yield
            return
        lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise self._busy() from None
            yield
        finally:
            os.close(lock)

    def _busy(self) -> BlockingIOError:
        return BlockingIOError(f"{self.address} is being downloaded. Wait until it ends.")


def name_of(address: str) -> str:
    """Return a file name for an address: the last part of its path."""
    last = unquote(urlsplit(address).path).rsplit("/", 1)[-1]
    name = re.sub(r"[^\w.+=-]", "_", last).lstrip(".")[-_LONGEST_NAME:]
    return f"file-{name}" if name in ("", _ABOUT, _LOCK) else name


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file, read in pieces."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return found.hexdigest()


def folder_of(op: str, folder: Any) -> Path:
    """Return the folder of all files, by default the platform's."""
    if folder is None:
        return platform.kept_folder()
    if not isinstance(folder, str | os.PathLike):
        raise InvalidArgument(op, "folder", folder, "a path")
    return Path(folder)


def kept_in(folder: Path) -> KeptFile | None:
    """Return the file in the folder of an address, or None unless all of it is there."""
    about = _read(folder)
    if about is None or about.sha256 is None or about.size is None:
        return None
    path = folder / about.name
    with suppress(OSError):
        if path.stat().st_size == about.size:
            return KeptFile(about.address, path, about.size, about.sha256)
    return None


def all_kept(folder: Path) -> list[KeptFile]:
    """Return all files of which nothing is missing, by name."""
    if not folder.is_dir():
        return []
    found = [kept_in(one) for one in folder.iterdir() if one.is_dir()]
    return sorted((one for one in found if one is not None), key=lambda one: one.path.name)


def remove(folder: Path, address: str) -> bool:
    """Delete a file, or the part of it that was downloaded. Return whether there was one."""
    place = Place(folder, address)
    if not place.folder.is_dir():
        return False
    with place.reserved():
        shutil.rmtree(place.folder)
    return True


def _read(folder: Path) -> About | None:
    """Return what is stored beside a file, or None if it is missing or malformed."""
    path = folder / _ABOUT
    try:
        if path.stat().st_size > _MOST_ABOUT:
            return None
        found = About(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    texts = (found.address, found.name)
    is_sound = all(isinstance(one, str) for one in texts) and Path(found.name).name == found.name
    numbers = found.size is None or isinstance(found.size, int)
    return found if is_sound and numbers else None
