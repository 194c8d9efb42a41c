"""tools/snapshot makes the files in start/ when their sources change, and reports failures."""

import json
import sys
import threading
from pathlib import Path

import pytest
from sample import Notes

from devsite.layout import Layout
from snapshot import maker
from snapshot.maker import ensure_snapshot

# Stands in for Node.js, with the arguments of make.mjs: names the file by the wheel's index.
_MAKES = """import pathlib, sys, urllib.parse, urllib.request
site, made = sys.argv[2:]
path = urllib.request.url2pathname(urllib.parse.urlsplit(site).path)
name = (pathlib.Path(path) / "wheel/index.json").read_text()
pathlib.Path(made, f"memory-{name}.bin").write_bytes(b"memory")
"""


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A prepared site with hardly anything in it."""
    layout = Layout(tmp_path / "checkout")
    for path, text in {
        layout.web / "kernel/worker.js": "",
        layout.files / "pyodide/pyodide.mjs": "",
        layout.files / "pyodide/python_stdlib.zip": "",
        layout.lock / "pyodide-lock.json": "{}",
        layout.wheel / "index.json": "first",
        layout.start / "index.json": "[]",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return layout


def use(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Run this Python program instead of Node.js."""
    monkeypatch.setattr(maker, "node_command", lambda: [sys.executable, "-c", program])


def served(layout: Layout) -> list[str]:
    """Return the names in the index, all of which must be there, and nothing else."""
    names = json.loads((layout.start / "index.json").read_text())
    assert sorted([*names, "index.json"]) == sorted(path.name for path in layout.start.iterdir())
    return [str(name) for name in names]


def test_is_made_again_only_for_other_sources(
    layout: Layout, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, _MAKES)
    for _ in range(2):
        assert ensure_snapshot(layout, notes)
        assert served(layout) == ["memory-first.bin"]
    assert notes.notes == ["Made the snapshot for first visits"]
    (layout.wheel / "index.json").write_text("second")
    assert ensure_snapshot(layout, notes)
    assert served(layout) == ["memory-second.bin"]
    (layout.start / "memory-second.bin").unlink()
    assert ensure_snapshot(layout, notes)
    assert served(layout) == ["memory-second.bin"]
    assert len(notes.notes) == 3
    assert not (layout.cache / "start.tmp").exists()


def test_a_failure_keeps_the_present_files_and_is_tried_again(
    layout: Layout, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, _MAKES)
    assert ensure_snapshot(layout, notes)
    (layout.wheel / "index.json").write_text("second")
    use(monkeypatch, "raise SystemExit('out of memory')")
    assert not ensure_snapshot(layout, notes)
    assert notes.notes[-1].endswith("made no snapshot:\nout of memory")
    assert served(layout) == ["memory-first.bin"]
    use(monkeypatch, _MAKES)
    assert ensure_snapshot(layout, notes)
    assert served(layout) == ["memory-second.bin"]


def test_ends_node_when_cancelled(
    layout: Layout, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, "import time; time.sleep(600)")
    cancelled = threading.Event()
    cancelled.set()
    assert not ensure_snapshot(layout, notes, cancelled)
    assert (notes.notes, served(layout)) == ([], [])


def test_tells_to_install_node(
    layout: Layout, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maker, "node_command", lambda: None)
    assert not ensure_snapshot(layout, notes)
    assert notes.notes == [
        "Install Node.js 24 or newer for faster first visits: it makes a snapshot"
    ]
