"""Resolves a URL's path to a file below one of the served folders."""

import stat
import urllib.parse
from collections.abc import Mapping
from pathlib import Path


def resolve(target: str, roots: Mapping[str, Path]) -> Path | None:
    """Return the regular file for ``target`` (a request's path and query), or None.

    ``roots`` maps URL prefixes, which begin and end with a slash, to folders. The longest matching
    prefix applies. A folder's URL with its slash means its index.html.
    """
    path = target.partition("?")[0].partition("#")[0]
    try:
        path = urllib.parse.unquote(path, errors="strict")
    except UnicodeDecodeError:
        return None
    matching = [prefix for prefix in roots if path.startswith(prefix)]
    if not matching:
        return None
    prefix = max(matching, key=len)
    rest = path.removeprefix(prefix)
    if rest == "" or rest.endswith("/"):
        rest += "index.html"
    parts = rest.split("/")
    if not all(_is_plain_name(part) for part in parts):
        return None
    return _regular_file_below(roots[prefix], parts)


def _is_plain_name(part: str) -> bool:
    """Whether a segment is not empty, hidden, a parent, or a path or drive on Windows."""
    return part != "" and not part.startswith(".") and not set(part) & set("\\:\0")


def _regular_file_below(root: Path, parts: list[str]) -> Path | None:
    try:
        real_root = root.resolve(strict=True)
        # Resolving follows symbolic links, which reveals links out of the folder.
        real = real_root.joinpath(*parts).resolve(strict=True)
        if not real.is_relative_to(real_root) or not stat.S_ISREG(real.stat().st_mode):
            return None
    except (OSError, ValueError, RuntimeError):
        return None
    return real
