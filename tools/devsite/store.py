"""The cache on disk: a file is in it whole and checked, or not at all."""

import contextlib
import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from devsite.errors import CacheUnusable, DamagedFile, DiskFull
from devsite.manifest import ManifestFile
from devsite.sizes import human_size

CHUNK = 1 << 18
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Store:
    """Files by their manifest path, under ``root``; unfinished ones stay in ``temporary``."""

    def __init__(self, root: Path, temporary: Path) -> None:
        self.root = root
        self.temporary = temporary

    def path(self, file: ManifestFile) -> Path:
        """Where the file is, or would be."""
        return self.root / file.path

    def holds(self, file: ManifestFile) -> bool:
        """Whether the file is here and its bytes are right."""
        path = self.path(file)
        try:
            if path.stat().st_size != file.size:
                return False
            with path.open("rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256
        except FileNotFoundError:
            return False
        except OSError as error:
            raise storage_error(path, error) from error

    def missing(self, files: Iterable[ManifestFile]) -> list[ManifestFile]:
        """The files that are absent or damaged; damaged ones are thrown away."""
        absent = [file for file in files if not self.holds(file)]
        for file in absent:
            try:
                self.path(file).unlink(missing_ok=True)
            except OSError as error:
                raise storage_error(self.path(file), error) from error
        return absent

    def put(self, file: ManifestFile, chunks: Iterable[bytes]) -> None:
        """Take the file's bytes in; raises DamagedFile where they are not the right ones."""
        write_atomically(self.path(file), _checked(file, chunks), self.temporary)

    def clear_temporary(self) -> None:
        """Throw away what a killed process left unfinished."""
        try:
            if self.temporary.exists():
                shutil.rmtree(self.temporary)
            self.temporary.mkdir(parents=True)
        except OSError as error:
            raise storage_error(self.temporary, error) from error


def write_atomically(target: Path, chunks: Iterable[bytes], temporary: Path) -> None:
    """Write ``target`` so that whoever looks sees the old file or the whole new one.

    ``chunks`` may raise, but no OSError of its own: each one is taken to be the disk's.
    """
    unfinished: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=temporary, prefix=f"{target.name}.")
        unfinished = Path(name)
        with os.fdopen(handle, "wb") as stream:
            for chunk in chunks:
                stream.write(chunk)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes the file private; the cache is as readable as its folder.
        unfinished.chmod(0o644)
        os.replace(unfinished, target)
        _sync_folder(target.parent)
    except OSError as error:
        raise storage_error(target, error) from error
    finally:
        if unfinished is not None:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)


def storage_error(path: Path, error: OSError) -> DiskFull | CacheUnusable:
    """The plain words for what the operating system said about ``path``."""
    if error.errno in _FULL:
        return DiskFull(
            f"No space left while writing {path}{_free_space(path)}. "
            "Free some space and start again; what is complete in the cache is kept."
        )
    return CacheUnusable(
        f"The cache cannot be used: {path}: {error.strerror or error}. "
        "Make it readable and writable, or delete it, and start again."
    )


def _checked(file: ManifestFile, chunks: Iterable[bytes]) -> Iterator[bytes]:
    digest = hashlib.sha256()
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > file.size:
            raise DamagedFile(
                f"{file.name} is longer than the {human_size(file.size)} that the manifest says"
            )
        digest.update(chunk)
        yield chunk
    if size < file.size:
        raise DamagedFile(f"{file.name} ended after {size} of {file.size} bytes")
    if digest.hexdigest() != file.sha256:
        raise DamagedFile(
            f"{file.name} has sha256 {digest.hexdigest()}, but the manifest says {file.sha256}"
        )


def _free_space(path: Path) -> str:
    for folder in path.parents:
        with contextlib.suppress(OSError):
            return f" ({human_size(shutil.disk_usage(folder).free)} free)"
    return ""


def _sync_folder(folder: Path) -> None:
    """Make the rename itself survive a power cut, where the system can open folders."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
