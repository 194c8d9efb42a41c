"""Locations of the repository's sources and of the cache's contents."""

from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Layout:
    """The folders of one checkout."""

    repository: Path = REPOSITORY

    @property
    def cache(self) -> Path:
        """All downloads and builds; ignored by git."""
        return self.repository / ".cache"

    @property
    def files(self) -> Path:
        """The manifest's files, under their manifest paths."""
        return self.cache / "files"

    @property
    def wheel(self) -> Path:
        """The project's wheel and its index.json, as served."""
        return self.cache / "wheel"

    @property
    def lock(self) -> Path:
        """The lock of the site's packages, as served."""
        return self.cache / "site-lock"

    @property
    def start(self) -> Path:
        """The files from which Python starts on a first visit, if tools/snapshot made them."""
        return self.cache / "start"

    @property
    def start_index(self) -> Path:
        """The names of those files."""
        return self.start / "index.json"

    @property
    def docs(self) -> Path:
        """The documentation site, if tools/docsite built it."""
        return self.cache / "docs"

    @property
    def temporary(self) -> Path:
        """Temporary files, on the cache's file system, so that a rename is atomic."""
        return self.cache / "tmp"

    @property
    def web(self) -> Path:
        """The page."""
        return self.repository / "web"

    @property
    def gallery(self) -> Path:
        """The notebooks that the page lists."""
        return self.repository / "examples" / "gallery"
