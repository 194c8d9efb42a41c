"""Reads manifest.json: version, size, sha256 and origins of every file of the site."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MANIFEST_PATH = Path(__file__).with_name("manifest.json")


@dataclass(frozen=True)
class Package:
    """A registry package and a file inside it.

    ``client`` is "npm" or "pip". An empty ``member`` means the archive itself, or the wheel without
    its compiled modules if ``is_uncompiled``.
    """

    client: str
    name: str
    version: str
    member: str = ""
    is_uncompiled: bool = False


@dataclass(frozen=True)
class ManifestFile:
    """One file of the site, on the CDN under the path ``cdn``, in a package, or both."""

    path: str
    version: str
    size: int
    sha256: str
    cdn: str | None = None
    package: Package | None = None

    @property
    def name(self) -> str:
        """The name of the file without folders."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Manifest:
    """All files of the site, and the changes to Pyodide's lock."""

    files: tuple[ManifestFile, ...]
    lock: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def under(self, folder: str) -> tuple[ManifestFile, ...]:
        """Return the files whose path starts with ``folder``."""
        return tuple(file for file in self.files if file.path.startswith(f"{folder}/"))


def load_manifest(path: Path = MANIFEST_PATH) -> Manifest:
    """Read a manifest that ``python3 -m devsite.relock`` wrote."""
    document = json.loads(path.read_text(encoding="utf-8"))
    files = tuple(_file(**entry) for entry in document["files"])
    return Manifest(files, document["lock"])


def _file(package: dict[str, Any] | None = None, **facts: Any) -> ManifestFile:
    return ManifestFile(**facts, package=Package(**package) if package else None)
