"""The cache on disk, which contains only complete and verified files."""

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
from devsite.progress import human_size

CHUNK = 1 << 18
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Store:
    """Files by manifest path under ``root``. Unfinished ones are in ``temporary``."""

    def __init__(self, root: Path, temporary: Path) -> None:
        self.root = root
        self.temporary = temporary

    def path(self, file: ManifestFile) -> Path:
        """Return the path of the file, whether or not it exists."""
        return self.root / file.path

    def holds(self, file: ManifestFile) -> bool:
        """Whether the file exists with the right bytes."""
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
        """Return the missing or damaged files, and delete damaged ones."""
        absent = [file for file in files if not self.holds(file)]
        for file in absent:
            try:
                self.path(file).unlink(missing_ok=True)
            except OSError as error:
                raise storage_error(self.path(file), error) from error
        return absent

    def put(self, file: ManifestFile, chunks: Iterable[bytes]) -> None:
        """Store the file's bytes. Raises DamagedFile if they are wrong."""
        write_atomically(self.path(file), _checked(file, chunks), self.temporary)

    def clear_temporary(self) -> None:
        """Delete unfinished files of a killed process."""
        try:
            if self.temporary.exists():
                shutil.rmtree(self.temporary)
            self.temporary.mkdir(parents=True)
        except OSError as error:
            raise storage_error(self.temporary, error) from error


def write_atomically(target: Path, chunks: Iterable[bytes], temporary: Path) -> None:
    """Replace ``target`` atomically: readers see the old file or the complete new one.

    ``chunks`` may raise, but not an OSError, which would count as a disk error. The data is not
    synced to the disk: readers compare hashes, which detects damage by a power cut.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=temporary, prefix=f"{target.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.writelines(chunks)
            # mkstemp makes the file private. The cache should be as readable as its folder.
            os.chmod(unfinished, 0o644)
            os.replace(unfinished, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(unfinished)
            raise
    except OSError as error:
        raise storage_error(target, error) from error


def link_or_copy(source: str | Path, target: str | Path) -> None:
    """Link a file, or copy it on another file system or one without links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@contextlib.contextmanager
def workspace(temporary: Path) -> Iterator[Path]:
    """Yield an empty temporary folder. An OSError inside is reported as the cache's."""
    try:
        temporary.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=temporary) as name:
            yield Path(name)
    except OSError as error:
        raise storage_error(temporary, error) from error


def storage_error(path: Path, error: OSError) -> DiskFull | CacheUnusable:
    """Return a readable error for an OSError at ``path``."""
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
