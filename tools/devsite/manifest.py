"""Reads manifest.json: every file the site needs, its version, size, sha256 and origins."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MANIFEST_PATH = Path(__file__).with_name("manifest.json")


@dataclass(frozen=True)
class Package:
    """A package of a registry, and the file inside it that is wanted.

    ``member`` is empty where the downloaded file itself is wanted.
    """

    name: str
    version: str
    member: str


@dataclass(frozen=True)
class ManifestFile:
    """One file of the site."""

    path: str
    version: str
    size: int
    sha256: str
    cdn: str | None
    npm: Package | None
    pip: Package | None

    @property
    def name(self) -> str:
        """The file name alone."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Manifest:
    """All files of the site."""

    files: tuple[ManifestFile, ...]

    def under(self, folder: str) -> tuple[ManifestFile, ...]:
        """The files whose path starts with ``folder``."""
        return tuple(file for file in self.files if file.path.startswith(f"{folder}/"))


def load_manifest(path: Path = MANIFEST_PATH) -> Manifest:
    """Read a manifest that ``python3 -m devsite.relock`` wrote."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return Manifest(tuple(_file(entry) for entry in document["files"]))


def _file(entry: dict[str, Any]) -> ManifestFile:
    return ManifestFile(
        path=entry["path"],
        version=entry["version"],
        size=entry["size"],
        sha256=entry["sha256"],
        cdn=entry.get("cdn"),
        npm=_package(entry.get("npm")),
        pip=_package(entry.get("pip")),
    )


def _package(entry: dict[str, str] | None) -> Package | None:
    if entry is None:
        return None
    return Package(entry["package"], entry["version"], entry.get("member", ""))
