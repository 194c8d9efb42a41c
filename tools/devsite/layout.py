"""Where things are: the repository's sources and what the cache holds."""

from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Layout:
    """The folders that one checkout uses."""

    repository: Path = REPOSITORY

    @property
    def cache(self) -> Path:
        """Everything downloaded or built; git ignores it."""
        return self.repository / ".cache"

    @property
    def files(self) -> Path:
        """The manifest's files, each under its manifest path."""
        return self.cache / "files"

    @property
    def wheel(self) -> Path:
        """The project's wheel and its index.json, as they are served."""
        return self.cache / "wheel"

    @property
    def lock(self) -> Path:
        """The lock of the site's packages, as it is served."""
        return self.cache / "site-lock"

    @property
    def docs(self) -> Path:
        """The documentation site, where tools/docsite has built it."""
        return self.cache / "docs"

    @property
    def temporary(self) -> Path:
        """Unfinished work; on the cache's file system, so that a rename is atomic."""
        return self.cache / "tmp"

    @property
    def web(self) -> Path:
        """The page."""
        return self.repository / "web"

    @property
    def gallery(self) -> Path:
        """The notebooks that the page lists."""
        return self.repository / "examples" / "gallery"
