"""Writes the page and everything it needs into a folder, for a static host."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from devsite.errors import ExportRefused


def export(roots: Mapping[str, Path], target: Path) -> None:
    """Copy the folder of each URL prefix, longest prefix last, into an empty or new folder.

    The page works below any path of a host, since its files use relative addresses.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ExportRefused(f"{target} is not empty: --export takes a new folder, or an empty one")
    for prefix, folder in sorted(roots.items()):  # "/" first
        place = target / prefix.strip("/")
        if prefix == "/docs/":  # replaces the page that says how to build it
            shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder, place, dirs_exist_ok=True)
