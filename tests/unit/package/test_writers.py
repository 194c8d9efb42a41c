"""A single module writes all files of the package, each completely or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.fast

PACKAGE = Path(__file__).resolve().parents[3] / "py" / "browsergpu"
THE_WRITER = "engine/core/files.py"
#: Methods and functions of the standard library and NumPy that write to a path.
WRITERS = {"write_text", "write_bytes", "tofile", "savetxt", "mkstemp", "NamedTemporaryFile"}


def _writers(source: str) -> Iterator[int]:
    """Return the lines that write to a path or open it for writing."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = getattr(function, "attr", None) or getattr(function, "id", "")
        modes = [
            one.value
            for one in (*node.args, *(keyword.value for keyword in node.keywords))
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
        ]
        opens = name in ("open", "fdopen") and any(
            mode and set(mode) <= set("rwxabt+") and set(mode) & set("wxa+") for mode in modes
        )
        if opens or name in WRITERS:
            yield node.lineno


def test_nothing_else_writes_files() -> None:
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}:{line}"
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).as_posix() != THE_WRITER
        for line in _writers(path.read_text("utf-8"))
    }
    assert not found, "use browsergpu.engine.core.files, which leaves no file half-written"


def test_the_test_finds_writers() -> None:
    assert [*_writers((PACKAGE / THE_WRITER).read_text("utf-8"))]
    text = "Path(x).write_text('')\nPath(x).open(mode='a')\nopen(x)\nopen(x, 'r+b')"
    assert [*_writers(text)] == [1, 2, 4]
