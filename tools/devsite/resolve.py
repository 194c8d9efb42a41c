"""Turns a URL's path into a file below one of the served folders, or into nothing."""

import stat
import urllib.parse
from collections.abc import Mapping
from pathlib import Path


def resolve(target: str, roots: Mapping[str, Path]) -> Path | None:
    """The regular file that ``target`` (a request's path and query) names.

    ``roots`` maps URL prefixes, each with a slash at both ends, to folders; the longest
    matching prefix wins. A folder's URL, with its slash, names its index.html.
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
    """No empty, hidden or parent segment, and nothing that Windows reads as a path or drive."""
    return part != "" and not part.startswith(".") and not set(part) & set("\\:\0")


def _regular_file_below(root: Path, parts: list[str]) -> Path | None:
    try:
        real_root = root.resolve(strict=True)
        # Resolving follows symbolic links, so one that leads out of the folder is noticed.
        real = real_root.joinpath(*parts).resolve(strict=True)
        if not real.is_relative_to(real_root) or not stat.S_ISREG(real.stat().st_mode):
            return None
    except (OSError, ValueError, RuntimeError):
        return None
    return real
