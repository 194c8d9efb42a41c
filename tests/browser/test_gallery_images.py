"""The gallery's notebooks of images and programs: each notebook's own comparison succeeds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from harness.gallery import FLAT_PNG, last_canvas, number, open_gallery, run, show
from harness.lab import Lab
from harness.notebook import NotebookPage
from playwright.sync_api import Locator, expect

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
    drawn = last_canvas(notebook.page)
    before = drawn.screenshot()
    notebook.page.get_by_role("slider").press("End")
    notebook.wait_finished()
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


def test_life(notebook: NotebookPage) -> None:
    # Sixteen generations earlier, the glider was in rows and columns 1 to 3.
    text = run(notebook, "life")
    assert "in rows [5, 6, 7, 7, 7] and columns [6, 7, 5, 6, 7]" in text


def play(notebook: NotebookPage, name: str, sizes: str, index: int) -> Locator:
    """Run a notebook with an endless loop in the cell of this index, and return what it draws."""
    show(notebook, name)
    notebook.fill(1, sizes)
    notebook.press("Run all")
    drawn = notebook.output(index).locator("canvas")  # a saved output is no canvas
    expect(drawn).to_be_visible(timeout=60_000)
    drawn.scroll_into_view_if_needed()
    return drawn


def drag(drawn: Locator, button: Literal["left", "right"] = "left") -> None:
    """Drag the mouse from the middle of a picture to the right."""
    box = drawn.bounding_box()
    assert box
    mouse, y = drawn.page.mouse, box["y"] + box["height"] / 2
    mouse.move(box["x"] + box["width"] * 0.5, y)
    mouse.down(button=button)
    mouse.move(box["x"] + box["width"] * 0.6, y, steps=4)
    mouse.up(button=button)


def changes(drawn: Locator) -> bool:
    """Return whether the picture changes within two seconds."""
    before = drawn.screenshot()
    drawn.page.wait_for_timeout(2000)
    return drawn.screenshot() != before


def test_life_pauses_and_takes_drawn_cells(notebook: NotebookPage) -> None:
    drawn = play(notebook, "life", "size = 128\nframes = 1_000_000", 6)
    assert changes(drawn)
    drawn.click(button="right")
    drawn.page.wait_for_timeout(1000)  # for the frame under way
    assert not changes(drawn)
    before = drawn.screenshot()
    drag(drawn)
    drawn.page.wait_for_timeout(1000)
    assert drawn.screenshot() != before
    assert not changes(drawn)
    drawn.click(button="right")
    assert changes(drawn)
    notebook.press("Interrupt")
    notebook.wait_idle()


def test_heat_is_painted(notebook: NotebookPage) -> None:
    """Without steps of the equation, so that only the brush changes the picture."""
    drawn = play(notebook, "heat", "size = 64\nframes, steps = 1_000_000, 0", 6)
    drawn.page.wait_for_timeout(1000)
    assert not changes(drawn)
    before = drawn.screenshot()
    drag(drawn)
    drawn.page.wait_for_timeout(1000)
    hot = drawn.screenshot()
    assert hot != before
    drag(drawn, "right")
    drawn.page.wait_for_timeout(1000)
    assert drawn.screenshot() not in (before, hot)
    notebook.press("Interrupt")
    notebook.wait_idle()


def test_galaxies(notebook: NotebookPage) -> None:
    text = run(notebook, "nbody")
    assert number(text, "after one period, off by") < 1e-2
    assert number(text, "changed by") < 1e-2
