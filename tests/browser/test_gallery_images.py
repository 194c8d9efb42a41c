"""The gallery's notebooks of images and programs: each notebook's own comparison succeeds."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from harness.gallery import number, open_gallery, run
from harness.lab import Lab
from harness.notebook import NotebookPage

pytestmark = pytest.mark.all


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[NotebookPage]:
    """One page for all notebooks."""
    with open_gallery(lab) as notebook:
        yield notebook


def test_darkroom(notebook: NotebookPage) -> None:
    assert number(run(notebook, "darkroom"), "changed by the blur") < 1e-5


def test_mandelbrot(notebook: NotebookPage) -> None:
    # The exact area is 1.5066; few steps and large pixels are less precise.
    assert 1.4 < number(run(notebook, "mandelbrot"), "area") < 1.8


def test_heat(notebook: NotebookPage) -> None:
    assert number(run(notebook, "heat"), "largest error") < 1e-4


def test_colours(notebook: NotebookPage) -> None:
    text = run(notebook, "colours")
    assert 0 < number(text, "then") < number(text, "distance")
    shares = [float(share) for share in re.findall(r"#[0-9a-f]{6}\s+([\d.]+)%", text)]
    assert len(shares) == 4
    assert sum(shares) == pytest.approx(100, abs=0.3)


def test_life(notebook: NotebookPage) -> None:
    # Sixteen generations earlier, the glider was in rows and columns 1 to 3.
    text = run(notebook, "life")
    assert "in rows [5, 6, 7, 7, 7] and columns [6, 7, 5, 6, 7]" in text


def test_transformer(notebook: NotebookPage) -> None:
    assert number(run(notebook, "transformer"), "largest difference") < 1e-4
