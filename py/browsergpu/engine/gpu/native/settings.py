"""Settings kept between runs, such as tuning results, in small files of the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from browsergpu.engine.core.files import replacing


def _folder() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "browsergpu"


def kept_folder() -> Path:
    """Return the folder for downloaded files."""
    return _folder() / "files"


def _place(key: str) -> Path:
    return _folder() / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.txt"


async def read_setting(key: str) -> str | None:
    """Return a stored text, or None if there is none."""
    try:
        return _place(key).read_text("utf-8")
    except OSError:
        return None


async def write_setting(key: str, text: str | None) -> bool:
    """Store a text, or delete it. Return False if the folder cannot be written."""
    place = _place(key)
    try:
        if text is None:
            place.unlink(missing_ok=True)
            return True
        place.parent.mkdir(parents=True, exist_ok=True)
        with replacing(place) as file:  # other processes may read or write it
            file.write(text.encode())
    except OSError:
        return False
    return True
