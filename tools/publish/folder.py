"""The folder of the published page: the site's files, and a service worker that knows them all."""

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from devsite.errors import SiteError

PAGE = Path(__file__).with_name("page")
#: The script that starts the page, in index.html, and the one that the published page begins with.
START = 'src="app/main.js"'
PUBLISHED_START = 'src="start.js"'
FILES = "published-files.js"
#: The folder of a JupyterLite site, and the page's menu entry that leads to it.
LITE = "lite"
_ENTRY = re.compile(r'(<button [^>]*data-action="lite"[^>]*) hidden>')


class PublishRefused(SiteError):
    """The folder to write to is not empty."""


def publish(roots: Mapping[str, Path], target: Path, lite: Path | None = None) -> None:
    """Write the folder of each URL prefix, longest prefix last, into an empty or new folder.

    The page works below any path of a host, since its files use relative addresses. Its Help menu
    leads to the JupyterLite site ``lite``, which the page's service worker leaves alone.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise PublishRefused(
            f"publish: the folder must be new or empty, got {target}. Name another folder."
        )
    for prefix, folder in sorted(roots.items()):  # "/" first
        place = target / prefix.strip("/")
        if prefix == "/docs/":  # replaces the page that says how to build it
            shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder, place, dirs_exist_ok=True)
    if lite is not None:
        index = target / "index.html"
        text, count = _ENTRY.subn(r"\1>", index.read_text(encoding="utf-8"))
        if count != 1:
            raise ValueError(f"{index} must have one hidden entry for JupyterLite")
        index.write_text(text, encoding="utf-8")
    _start_by_service_worker(target)
    if lite is not None:
        shutil.copytree(lite, target / LITE)


def _start_by_service_worker(target: Path) -> None:
    index = target / "index.html"
    text = index.read_text(encoding="utf-8")
    if text.count(START) != 1:
        raise ValueError(f"{index} must have {START} once")
    index.write_text(text.replace(START, PUBLISHED_START), encoding="utf-8")
    for script in PAGE.iterdir():
        shutil.copy(script, target)
    files = {
        path.relative_to(target).as_posix(): [_digest(path), path.stat().st_size]
        for path in sorted(target.rglob("*"))
        if path.is_file() and path.name != "service-worker.js"
    }
    listing = json.dumps(files, indent=0, ensure_ascii=False)
    (target / FILES).write_text(f"self.PUBLISHED = {listing};\n", encoding="utf-8")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
