"""The programs of examples/ run unchanged in a page, and their own comparisons succeed."""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.bare import BarePage
from harness.lab import Lab
from harness.patience import PATIENCE_S
from harness.pixels import screenshot

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))

# Run as a program of its own, so that no example sees another's state.
_RUN = """
import contextlib, io, os, runpy

os.chdir("/tmp")
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    left = runpy.run_path({path!r}, run_name="__main__")
[printed.getvalue(), left[{wanted!r}].tolist() if {wanted!r} else None]
"""


@pytest.fixture(scope="module")
def bare(lab: Lab) -> Iterator[BarePage]:
    """One page with all examples in its file system."""
    files = {f"/examples/{path.name}": path.read_text(encoding="utf-8") for path in EXAMPLES}
    with lab.page_with_the_package("worker") as bare:
        bare.write_files(files)
        yield bare


def run(bare: BarePage, name: str, wanted: str = "") -> tuple[str, Any]:
    """What an example prints, and one of its arrays."""
    printed, array = bare.run(_RUN.format(path=f"/examples/{name}", wanted=wanted))
    return printed, array


def test_there_are_some() -> None:
    assert len(EXAMPLES) >= 6


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_compares_its_result_with_numpys(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    # At the top level, where it is never passed over.
    comparisons = [
        node
        for node in tree.body
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func).startswith("np.testing.assert_")
    ]
    assert len(comparisons) == 1


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path: Path, bare: BarePage) -> None:
    printed, _ = run(bare, path.name)
    assert printed.strip(), "an example shows what it did"


def test_the_filtered_image_is_on_the_canvas(bare: BarePage) -> None:
    _, image = run(bare, "image_filter.py", "filtered")
    wanted = [[round(255 * value) for value in pixel] for row in image for pixel in row]
    canvas = bare.page.locator("#gpu-canvas")
    deadline = time.monotonic() + PATIENCE_S
    while True:
        pixels = screenshot(bare.page, canvas)
        size = (pixels.height, pixels.width)
        seen = [pixels.data[i : i + 3] for i in range(0, len(pixels.data), 4)]
        if size == (len(image), len(image[0])) and _near(seen, wanted):
            return
        assert time.monotonic() < deadline, f"the canvas of {size} shows {json.dumps(seen[:8])} …"
        bare.page.wait_for_timeout(50)


def _near(seen: list[list[int]], wanted: list[list[int]]) -> bool:
    """Return whether colours differ by at most one 8-bit step, the rounding error."""
    return all(
        abs(s - w) <= 1
        for one, other in zip(seen, wanted, strict=True)
        for s, w in zip(one, other, strict=True)
    )
