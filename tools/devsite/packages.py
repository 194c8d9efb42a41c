"""npm and pip as sources, for machines that reach registries but not the CDN."""

import contextlib
import gzip
import os
import re
import shutil
import sys
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import IO

from devsite.errors import DiskFull, Interrupted, NotDelivered
from devsite.manifest import ManifestFile, Package
from devsite.processes import run_program
from devsite.progress import Progress, human_size
from devsite.store import CHUNK
from devsite.uncompiled import uncompiled

# The package that carries the wheels is larger than 100 MB.
TIMEOUT = 900.0

# The wording of Python and Node.js.
_NO_SPACE = re.compile(r"No space left on device|ENOSPC|Disk quota exceeded")


@dataclass(frozen=True)
class Client:
    """A program that downloads all requested packages in one call.

    ``program`` returns the command that starts it, or raises NotDelivered if it is missing.
    """

    name: str
    program: Callable[[], list[str]]
    arguments: tuple[str, ...]
    specifier: str
    suffix: str
    progress: Progress

    def bundles(self, files: Sequence[ManifestFile]) -> list[Sequence[ManifestFile]]:
        """Return one bundle of all files whose packages this client downloads."""
        mine = [file for file in files if file.package and file.package.client == self.name]
        return [mine] if mine else []

    def deliver(
        self, bundle: Sequence[ManifestFile], folder: Path, cancelled: threading.Event
    ) -> Iterator[tuple[ManifestFile, Iterator[bytes]]]:
        """Yield the files from their packages. Raises NotDelivered if the client fails."""
        packages = {file: file.package for file in bundle if file.package is not None}
        self.download(packages.values(), folder, cancelled)
        for file, package in packages.items():
            yield file, self.read(folder, package)

    def download(
        self, packages: Iterable[Package], folder: Path, cancelled: threading.Event | None = None
    ) -> None:
        """Download the packages' archives into the folder. Raises NotDelivered."""
        program = self.program()
        wanted = sorted({self.specifier.format(one.name, one.version) for one in packages})
        title = " ".join([self.name, self.arguments[0], *wanted])
        self.progress.note(title)
        finished = run_program(
            [*program, *self.arguments, *wanted],
            folder=folder,
            timeout=TIMEOUT,
            cancelled=cancelled,
            while_waiting=lambda: self.progress.working(f"{title}: {human_size(_size(folder))}"),
            # The client's temporary files are deleted with the folder.
            environment={"TMPDIR": str(folder)},
        )
        if finished.timed_out:
            raise NotDelivered(f"{title} took longer than {TIMEOUT:.0f} s and was stopped")
        if finished.code is None:
            raise Interrupted("Stopped before every file was fetched.")
        if not finished.succeeded and _NO_SPACE.search(finished.output):
            raise DiskFull(
                f"No space left in {folder.parent} for: {title}. npm and pip need about 250 MB "
                "there for a moment. Free some space and start again; what is complete in the "
                "cache is kept."
            )
        if not finished.succeeded:
            raise NotDelivered(f"{title} failed:\n{finished.last_lines()}")

    def archive(self, folder: Path, package: Package) -> Path:
        """Return the package's archive among the downloads. Raises NotDelivered."""
        begin = _plain(f"{package.name}-{package.version}-")
        for archive in folder.glob(f"*{self.suffix}"):
            if _plain(archive.name).startswith(begin):
                return archive
        raise NotDelivered(f"{self.name} left no archive of {package.name}")

    def read(self, folder: Path, package: Package) -> Iterator[bytes]:
        """Yield the package's member, or its archive without one. Raises NotDelivered."""
        archive = self.archive(folder, package)
        try:
            if package.is_uncompiled:
                yield uncompiled(archive)
                return
            with _open(archive, package.member) as stream:
                while chunk := stream.read(CHUNK):
                    yield chunk
        except KeyError as error:
            raise NotDelivered(f"{archive.name} has no {package.member}") from error
        except _DAMAGED as error:
            raise NotDelivered(f"{archive.name} cannot be read: {error}") from error


def npm(progress: Progress) -> Client:
    """Return npm's client, which downloads tarballs."""
    arguments = ("pack", "--loglevel=error", "--fetch-retries=2")
    return Client("npm", _npm_command, arguments, "{}@{}", ".tgz", progress)


def pip(progress: Progress) -> Client:
    """Return pip's client, which downloads wheels."""
    arguments = (
        *("download", "--no-deps", "--only-binary=:all:", "--python-version", "3.12"),
        *("--retries", "2", "--disable-pip-version-check", "--progress-bar", "off", "--no-input"),
    )
    return Client("pip", pip_command, arguments, "{}=={}", ".whl", progress)


def _npm_command() -> list[str]:
    found = shutil.which("npm")
    if found is None:
        raise NotDelivered(
            "npm is not installed: install Node.js with npm, or let this machine reach the CDN"
        )
    return [found]


def pip_command() -> list[str]:
    """Return the command that starts pip: this Python's, the bundled one, or another Python's."""
    if util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for wheel in _bundled_pips():
        return [sys.executable, f"{wheel}/pip"]
    for name in ("pip3", "pip"):
        if found := shutil.which(name):
            return [found]
    raise NotDelivered(
        "pip is not installed: install it (Debian: apt-get install python3-pip), then start again"
    )


def _bundled_pips() -> list[Path]:
    """Return the pip wheels that Python bundles for virtual environments."""
    found = util.find_spec("ensurepip")
    folders = [Path("/usr/share/python-wheels")]
    if found is not None and found.origin is not None:
        folders.insert(0, Path(found.origin).with_name("_bundled"))
    return [wheel for folder in folders for wheel in sorted(folder.glob("pip-*.whl"))]


# A damaged gzip file raises an OSError, which would otherwise count as a disk error.
_DAMAGED = (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error)


@contextlib.contextmanager
def _open(archive: Path, member: str) -> Iterator[IO[bytes]]:
    """Open the archive, or a member of it. Raises KeyError if the member is missing."""
    if not member:
        with archive.open("rb") as stream:
            yield stream
    elif archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel, wheel.open(member) as stream:
            yield stream
    else:
        with tarfile.open(archive) as tar:
            # The top folder of an npm tarball can have any name.
            found = next((info for info in tar if info.name.partition("/")[2] == member), None)
            content = None if found is None else tar.extractfile(found)
            if content is None:
                raise KeyError(member)
            yield content


def _plain(name: str) -> str:
    """Return a name as in npm's and pip's file names: @scope/name becomes scope-name."""
    return re.sub(r"[\W_]+", "-", name).removeprefix("-")


def _size(folder: Path) -> int:
    """Return the bytes in a folder that another program is changing.

    ``os.walk`` skips folders that disappear.
    """
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                size += os.stat(os.path.join(place, name)).st_size
    return size
