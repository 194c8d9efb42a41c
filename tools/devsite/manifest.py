"""Reads manifest.json: every file the site needs, its version, size, sha256 and origins."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MANIFEST_PATH = Path(__file__).with_name("manifest.json")


@dataclass(frozen=True)
class Package:
    """A package of a registry, and the file inside it that is wanted.

    ``client`` is "npm" or "pip"; ``member`` is empty where the archive itself is wanted.
    """

    client: str
    name: str
    version: str
    member: str = ""


@dataclass(frozen=True)
class ManifestFile:
    """One file of the site: on the CDN under the path ``cdn``, or in a package, or both."""

    path: str
    version: str
    size: int
    sha256: str
    cdn: str | None = None
    package: Package | None = None

    @property
    def name(self) -> str:
        """The file name alone."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Manifest:
    """All files of the site, and what its lock says otherwise than Pyodide's."""

    files: tuple[ManifestFile, ...]
    lock: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def under(self, folder: str) -> tuple[ManifestFile, ...]:
        """The files whose path starts with ``folder``."""
        return tuple(file for file in self.files if file.path.startswith(f"{folder}/"))


def load_manifest(path: Path = MANIFEST_PATH) -> Manifest:
    """Read a manifest that ``python3 -m devsite.relock`` wrote."""
    document = json.loads(path.read_text(encoding="utf-8"))
    files = tuple(_file(**entry) for entry in document["files"])
    return Manifest(files, document["lock"])


def _file(package: dict[str, str] | None = None, **facts: Any) -> ManifestFile:
    return ManifestFile(**facts, package=Package(**package) if package else None)
