"""No path leads outside the served folders."""

import tempfile
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devsite.resolve import resolve

pytestmark = pytest.mark.fast

PARTS = [
    "..",
    ".",
    "",
    "web",
    "files",
    "a.txt",
    "secret.txt",
    "index.html",
    "deep",
    "\\",
    "~",
    "\0",
]


@pytest.fixture(scope="module")
def roots() -> Iterator[dict[str, Path]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in ("web/index.html", "web/deep/a.txt", "files/a.txt", "secret.txt"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(path)
        yield {"/": folder / "web", "/files/": folder / "files"}


def is_inside(found: Path, roots: dict[str, Path]) -> bool:
    return any(found.is_relative_to(root.resolve()) for root in roots.values())


def encoded(text: str, times: int) -> str:
    """Percent-encode every character the given number of times."""
    for _ in range(times):
        text = "".join(f"%{byte:02x}" for byte in text.encode())
    return text


@given(
    prefix=st.sampled_from(["/", "", "/files/", "//", "/files"]),
    parts=st.lists(st.tuples(st.sampled_from(PARTS), st.integers(0, 2)), max_size=6),
    slash=st.sampled_from(["/", "%2f", "%5c", "\\", "%252f"]),
)
def test_mixtures_of_dots_and_slashes(
    roots: dict[str, Path], prefix: str, parts: list[tuple[str, int]], slash: str
) -> None:
    found = resolve(prefix + slash.join(encoded(*part) for part in parts), roots)
    assert found is None or is_inside(found, roots)


@given(st.text(max_size=60))
def test_any_text(roots: dict[str, Path], text: str) -> None:
    for target in (text, f"/{text}", f"/{urllib.parse.quote(text, errors='replace')}"):
        found = resolve(target, roots)
        assert found is None or is_inside(found, roots)


def test_the_longest_prefix_wins(roots: dict[str, Path]) -> None:
    (roots["/"] / "files").mkdir()
    (roots["/"] / "files" / "b.txt").touch()
    assert resolve("/files/b.txt", roots) is None
    found = resolve("/files/a.txt", roots)
    assert found is not None
    assert found.read_text() == "files/a.txt"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert resolve("/a.txt", {"/": tmp_path / "none"}) is None
    assert resolve("/a.txt", {}) is None
