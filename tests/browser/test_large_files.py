"""Large files in the home folder stay in the browser's storage, and Python reads them there."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from harness.notebook import NotebookPage

SIZE = (1 << 24) + 5

#: Functions for the tests: the bytes in memory of a file, and a large file.
_SETUP = f"""
import asyncio, hashlib, os, numpy as np, pyodide_js
from pathlib import Path
def in_memory(path):
    return pyodide_js.FS.lookupPath(str(Path(path).absolute())).node.contents.length
def content(seed):
    return np.random.default_rng(seed).bytes({SIZE})
def is_content(path, seed):
    return Path(path).read_bytes() == content(seed)
Path("a.bin").write_bytes(content(1))
Path("b.bin").write_bytes(content(2))
Path("small.bin").write_bytes(b"x" * 1000)
"""


def value(notebook: NotebookPage, code: str) -> Any:
    return ast.literal_eval(notebook.run(code).inner_text().strip())


def again(notebook: NotebookPage) -> None:
    """Another kernel, with the functions and without writes."""
    notebook.wait_kept()
    notebook.restart()
    notebook.wait_idle()
    notebook.run(_SETUP[: _SETUP.index('Path("a.bin")')] + "print(0)")


@pytest.fixture
def files(notebook: NotebookPage) -> NotebookPage:
    """A notebook with two large files and a small one, in a kernel that did not write them."""
    notebook.run(_SETUP + "print(0)")
    again(notebook)
    return notebook


def test_a_large_file_is_read_in_parts(files: NotebookPage) -> None:
    own = value(
        files,
        "with open('a.bin', 'rb') as file:\n"
        "    _ = file.seek(-9, 2)\n"
        "    end = file.read(100) == content(1)[-9:]\n"
        "    _ = file.seek(12345)\n"
        "    middle = file.read(70_000) == content(1)[12345:82345]\n"
        "print([in_memory('a.bin'), in_memory('small.bin'), os.path.getsize('a.bin'), end,\n"
        "       middle, is_content('a.bin', 1), in_memory('a.bin')])",
    )
    assert own == [0, 1000, SIZE, True, True, True, 0]


@pytest.mark.all
def test_a_large_file_that_python_writes_leaves_memory(notebook: NotebookPage) -> None:
    notebook.run(_SETUP + "print(in_memory('a.bin'))")
    notebook.wait_kept()
    found = value(notebook, "print([in_memory('a.bin'), is_content('a.bin', 1)])")
    assert found == [0, True]


@pytest.mark.all
def test_changes_of_large_files(files: NotebookPage) -> None:
    own = value(
        files,
        "with open('a.bin', 'r+b') as file:\n"
        "    _ = file.seek(7)\n"
        "    _ = file.write(b'changed')\n"
        "with open('b.bin', 'ab') as file:\n"
        "    _ = file.write(b'more')\n"
        "own = Path('a.bin').read_bytes()[5:16]\n"
        "print([own == content(1)[5:7] + b'changed' + content(1)[14:16],\n"
        "       Path('b.bin').read_bytes() == content(2) + b'more'])",
    )
    assert own == [True, True]
    again(files)
    own = value(
        files,
        "os.truncate('b.bin', 100)\n"
        "print([Path('a.bin').read_bytes() == content(1)[:7] + b'changed' + content(1)[14:],\n"
        "       Path('b.bin').read_bytes() == content(2)[:100]])",
    )
    assert own == [True, True]
    again(files)
    assert value(files, "print(Path('b.bin').read_bytes() == content(2)[:100])") is True


def test_large_files_that_change_their_names(files: NotebookPage) -> None:
    """Two files swap their names, and one moves to a folder."""
    own = value(
        files,
        "os.rename('a.bin', 'c.bin'); os.rename('b.bin', 'a.bin'); os.rename('c.bin', 'b.bin')\n"
        "print([is_content('a.bin', 2), is_content('b.bin', 1)])",
    )
    assert own == [True, True]
    again(files)
    own = value(
        files,
        "os.makedirs('folder'); os.rename('a.bin', 'folder/d.bin'); os.remove('small.bin')\n"
        "print([is_content('b.bin', 1), is_content('folder/d.bin', 2)])",
    )
    assert own == [True, True]
    again(files)
    own = value(
        files,
        "print([sorted(os.listdir('.')), is_content('b.bin', 1), is_content('folder/d.bin', 2),\n"
        "       in_memory('folder/d.bin')])",
    )
    assert own == [["b.bin", "folder"], True, True, 0]
