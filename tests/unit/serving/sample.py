"""Files, manifests and checkouts for the tests of serve.py."""

import contextlib
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from devsite.errors import SourcesFailed
from devsite.fetch import Source, fetch_files
from devsite.layout import REPOSITORY, Layout
from devsite.manifest import Manifest, ManifestFile, Package, load_manifest
from devsite.progress import Progress
from devsite.store import Store

NO_CDN = "http://127.0.0.1:9"


class Notes(Progress):
    """Keeps the reported messages."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.files: list[tuple[str, str]] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def begin(self, files: int, size: int) -> None:
        self.notes.append(f"{files} files, {size} bytes")

    def received(self, name: str, size: int, source: str) -> None:
        self.files.append((name, source))


def manifest_file(
    path: str,
    content: bytes,
    *,
    cdn: str | None = None,
    package: Package | None = None,
) -> ManifestFile:
    """Return the manifest's line for a file with the given content."""
    return ManifestFile(
        path=path,
        version="1.0",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        cdn=cdn,
        package=package,
    )


def fetch(files: Sequence[ManifestFile], store: Store, notes: Notes, *sources: Source) -> dict:
    """Fetch the files. Return the paths that failed, with the reasons."""
    try:
        fetch_files(files, sources, store, notes)
    except SourcesFailed as error:
        return dict(error.reasons)
    return {}


def copy_checkout(target: Path) -> Layout:
    """Copy this repository's sources; the copy is small enough for each test to have its own."""
    target.mkdir()
    for name in ("serve.py", "pyproject.toml", "LICENSE", ".gitignore"):
        shutil.copy2(REPOSITORY / name, target / name)
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("py", "shaders", "tools"):
        shutil.copytree(REPOSITORY / name, target / name, ignore=ignore)
    (target / "web").mkdir()
    (target / "web" / "index.html").write_text("<!doctype html><title>page</title>")
    return Layout(target)


def fill_cache(layout: Layout, folder: str = "") -> None:
    """Link files that `prepare` built in this repository into the checkout's cache.

    They are hard links: a test may remove or replace them, but must not write into them.
    """
    for file in load_manifest().files:
        if file.path.startswith(folder):
            target = layout.files / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            source = Layout().files / file.path
            try:
                os.link(source, target)
            except OSError:
                shutil.copy2(source, target)


def build_files() -> tuple[ManifestFile, ...]:
    """Return the manifest's files that build the wheel."""
    return load_manifest().under("build")


def with_build_files(*files: ManifestFile) -> Manifest:
    """Return a manifest of the given files and of the files that build the wheel."""
    return Manifest((*files, *build_files()))


def files_below(folder: Path) -> list[str]:
    """Return every file below the folder, by relative path."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


@contextlib.contextmanager
def tiny_disk(folder: Path) -> Iterator[Path]:
    """Mount a real file system of 256 kB. Needs root and permission to mount."""
    folder.mkdir()
    try:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)],
            check=True,
            capture_output=True,
            timeout=600,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"cannot mount a small file system here: {error}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True, timeout=600)
