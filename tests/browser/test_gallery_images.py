"""The gallery's notebooks of images and programs: each notebook's own comparison succeeds."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from harness.gallery import FLAT_PNG, number, open_gallery, run
from harness.lab import Lab
from harness.notebook import NotebookPage
from playwright.sync_api import expect

pytestmark = pytest.mark.all


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[NotebookPage]:
    """One page for all notebooks."""
    with open_gallery(lab) as notebook:
        yield notebook


def test_darkroom(notebook: NotebookPage) -> None:
    assert number(run(notebook, "darkroom"), "changed by the blur") < 1e-5


def test_mandelbrot(notebook: NotebookPage) -> None:
    # The exact area is 1.5066; large pixels are less precise.
    text = run(notebook, "mandelbrot")
    assert 1.4 < number(text, "area") < 1.8
    assert number(text, "median difference") < 0.1
    # The slider draws another window.
    notebook.page.locator(".widget-frame").scroll_into_view_if_needed()
    drawn = notebook.page.locator(".widget-outputs canvas")
    expect(drawn).to_be_visible(timeout=60_000)
    before = drawn.screenshot()
    controls = notebook.page.frame_locator(".widget-frame iframe")
    controls.get_by_role("slider").press("End")
    expect(controls.locator(".widget-readout")).to_have_text("30.00")
    notebook.wait_idle()
    after = drawn.screenshot()
    assert len(after) > FLAT_PNG
    assert before != after


def test_heat(notebook: NotebookPage) -> None:
    assert number(run(notebook, "heat"), "largest error") < 1e-4


def test_colours(notebook: NotebookPage) -> None:
    text = run(notebook, "colours")
    assert 0 < number(text, "then") < number(text, "distance")
    # A table with a bar of each colour.
    rows = notebook.page.locator(".output-html tr").all_inner_texts()
    shares = [float(share) for share in re.findall(r"#[0-9a-f]{6}\s+([\d.]+)%", "\n".join(rows))]
    assert len(shares) == 4
    assert sum(shares) == pytest.approx(100, abs=0.3)


def test_fluid(notebook: NotebookPage) -> None:
    text = run(notebook, "fluid")
    assert number(text, "largest divergence") > 1
    assert number(text, "then") < 1e-4
    assert number(text, "the vortex has changed by") < 5  # percent


def test_ray_tracing(notebook: NotebookPage) -> None:
    text = run(notebook, "raytracing")
    found = re.search(r"(\d+) of 500 pixels have another colour", text)
    assert found
    assert int(found[1]) < 5


def test_life(notebook: NotebookPage) -> None:
    # Sixteen generations earlier, the glider was in rows and columns 1 to 3.
    text = run(notebook, "life")
    assert "in rows [5, 6, 7, 7, 7] and columns [6, 7, 5, 6, 7]" in text


def test_galaxies(notebook: NotebookPage) -> None:
    text = run(notebook, "nbody")
    assert number(text, "after one period, off by") < 1e-2
    assert number(text, "changed by") < 1e-2
