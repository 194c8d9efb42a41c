"""Wheels of Pyodide's release that are fetched when a page requests them."""

import hashlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path

from devsite.cdn import Cdn
from devsite.errors import DamagedFile, NotDelivered, SiteError
from devsite.manifest import ManifestFile
from devsite.store import Store, write_atomically

PREFIX = "/pyodide/"


class LateWheels:
    """Fetches the release's wheels from the CDN and keeps them in the cache."""

    def __init__(self, lock: Path, release: str, store: Store, cdn: Cdn) -> None:
        """``lock`` is the lock file of the release with version ``release``."""
        self._lock = lock
        self._folder = f"pyodide/v{release}/full"
        self._store = store
        self._cdn = cdn
        self._fetching = threading.Lock()

    def bring(self, target: str) -> Path | None:
        """Return the file for a request's path, or None if it is not in the lock or unavailable."""
        name = target.partition("?")[0].removeprefix(PREFIX)
        file = self._wheels().get(name) if target.startswith(PREFIX) else None
        if file is None:
            return None
        path = self._store.path(file)
        with self._fetching:
            if not path.exists():
                try:
                    self._fetch(file, path)
                except (NotDelivered, SiteError):
                    # The page reports the missing package.
                    return None
        return path

    def _wheels(self) -> dict[str, ManifestFile]:
        try:
            lock = json.loads(self._lock.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {
            entry["file_name"]: ManifestFile(
                path=f"pyodide/{entry['file_name']}",
                version=entry["version"],
                size=0,  # the lock does not say
                sha256=entry["sha256"],
                cdn=f"{self._folder}/{entry['file_name']}",
            )
            for entry in lock["packages"].values()
        }

    def _fetch(self, file: ManifestFile, path: Path) -> None:
        folder = self._store.temporary
        for _, chunks in self._cdn.deliver([file], folder, threading.Event()):
            write_atomically(path, _checked(file, chunks), folder)


def _checked(file: ManifestFile, chunks: Iterator[bytes]) -> Iterator[bytes]:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
        yield chunk
    if digest.hexdigest() != file.sha256:
        raise DamagedFile(f"{file.name} is not the file that Pyodide's lock names")
