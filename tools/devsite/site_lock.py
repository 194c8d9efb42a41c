"""The site's Pyodide lock: the release's, with entries for other wheels."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from devsite.errors import CacheUnusable
from devsite.store import write_atomically

NAME = "pyodide-lock.json"


def write_site_lock(
    release: Path, changes: Mapping[str, Mapping[str, Any]], folder: Path, temporary: Path
) -> None:
    """Write the release's lock with ``changes`` (packages by name) into ``folder``."""
    try:
        lock = json.loads(release.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CacheUnusable(f"The cache's {release} cannot be read: {error}") from error
    lock["packages"] |= changes
    text = json.dumps(lock, indent=1, sort_keys=True) + "\n"
    target = folder / NAME
    # Browsers reload a newer file.
    if not target.is_file() or target.read_text(encoding="utf-8") != text:
        write_atomically(target, [text.encode()], temporary)
