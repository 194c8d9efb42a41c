"""Builds the project's wheel if its sources changed."""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from devsite.errors import SiteError, WheelBuildFailed
from devsite.layout import Layout
from devsite.processes import run_program
from devsite.progress import Progress
from devsite.store import workspace, write_atomically

# Hatchling is not installed: Python imports directly from wheels, which are zip files.
_BUILD = """
import sys
sys.path[:0] = sys.argv[2:]
from hatchling.build import build_wheel
build_wheel(sys.argv[1])
"""
_FOLDERS = ("py/browsergpu", "shaders")
_FILES = ("pyproject.toml", "py/README.md", "LICENSE", "tools/join_recorder.py")
_TIMEOUT = 120.0
# 2020-01-01, so that the same sources always give the same bytes.
_EPOCH = "1577836800"


def ensure_wheel(
    layout: Layout, builders: Iterable[Path], progress: Progress, rebuild: bool = False
) -> Path:
    """Return the wheel of the current sources.

    ``builders`` are the wheels of hatchling and its dependencies.
    """
    builders = sorted(builders)
    try:
        fingerprint = _fingerprint(layout.repository, builders)
    except OSError as error:
        raise SiteError(f"The project's sources cannot be read: {error}") from error
    stamp = layout.cache / "wheel.json"
    current = None if rebuild else _current(stamp, layout.wheel, fingerprint)
    if current is not None:
        return current
    progress.working("Building the browsergpu wheel")
    wheel = _build(layout, builders)
    record = {"sources": fingerprint, "wheel": wheel.name, "sha256": _sha256(wheel)}
    write_atomically(stamp, [json.dumps(record).encode()], layout.temporary)
    progress.note(f"Built {wheel.name}")
    return wheel


def _build(layout: Layout, builders: list[Path]) -> Path:
    with workspace(layout.temporary) as folder:
        finished = run_program(
            [sys.executable, "-I", "-S", "-c", _BUILD, str(folder), *map(str, builders)],
            folder=layout.repository,
            timeout=_TIMEOUT,
            environment={"SOURCE_DATE_EPOCH": _EPOCH},
        )
        built = sorted(folder.glob("*.whl"))
        if not finished.succeeded or len(built) != 1:
            reason = f"timed out after {_TIMEOUT:.0f} s" if finished.timed_out else ""
            raise WheelBuildFailed(
                "The browsergpu wheel could not be built. hatchling said:\n"
                f"{reason or finished.last_lines(8)}"
            )
        return _publish(built[0], layout)


def _publish(built: Path, layout: Layout) -> Path:
    """Publish the wheel and index.json in the served folder, and delete older wheels."""
    wheel = layout.wheel / built.name
    write_atomically(wheel, [built.read_bytes()], layout.temporary)
    index = json.dumps({"wheel": wheel.name}) + "\n"
    write_atomically(layout.wheel / "index.json", [index.encode()], layout.temporary)
    for other in layout.wheel.glob("*.whl"):
        if other != wheel:
            other.unlink()
    return wheel


def _current(stamp: Path, folder: Path, fingerprint: str) -> Path | None:
    """Return the existing wheel if it is complete and was built from these sources."""
    try:
        record = json.loads(stamp.read_text(encoding="utf-8"))
        wheel = folder / record["wheel"]
        fresh = record["sources"] == fingerprint and record["sha256"] == _sha256(wheel)
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return wheel if fresh and index == {"wheel": wheel.name} else None


def _fingerprint(repository: Path, builders: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in _sources(repository):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(repository).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    for wheel in builders:
        digest.update(f"{wheel.name}\0".encode())
    return digest.hexdigest()


def _sources(repository: Path) -> Iterator[Path]:
    for name in _FILES:
        yield repository / name
    for folder in _FOLDERS:
        for path in sorted((repository / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
