"""The gallery's notebooks that take the mouse: a person draws, stirs and turns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pytest
from harness import rays
from harness.gallery import SMALL, open_gallery, run_shown, show
from harness.lab import Lab
from harness.notebook import NotebookPage
from harness.patience import PATIENCE_MS
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.all


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[NotebookPage]:
    """One page for all notebooks."""
    with open_gallery(lab) as notebook:
        yield notebook


def play(notebook: NotebookPage, name: str, sizes: str, index: int) -> Locator:
    """Run a notebook with an endless loop in the cell of this index, and return what it draws."""
    show(notebook, name)
    notebook.fill(1, sizes)
    notebook.press("Run all")
    drawn = notebook.output(index).locator("canvas")  # a saved output is no canvas
    expect(drawn).to_be_visible(timeout=PATIENCE_MS)
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


def wait_for_change(drawn: Locator, before: bytes) -> bytes:
    """Wait until the picture is another one, and return it."""
    for _ in range(int(PATIENCE_MS / 500)):
        if (now := drawn.screenshot()) != before:
            return now
        drawn.page.wait_for_timeout(500)
    raise AssertionError("the picture stays the same")


def test_life_pauses_and_takes_drawn_cells(notebook: NotebookPage) -> None:
    drawn = play(notebook, "life", "size = 128\nframes = 1_000_000", 6)
    assert changes(drawn)
    drawn.click(button="right")
    drawn.page.wait_for_timeout(1000)  # for the frame under way
    assert not changes(drawn)
    before = drawn.screenshot()
    drag(drawn)
    wait_for_change(drawn, before)
    drawn.page.wait_for_timeout(1000)
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
    wait_for_change(drawn, before)
    drawn.page.wait_for_timeout(1000)  # for the whole stroke
    hot = drawn.screenshot()
    drag(drawn, "right")
    assert wait_for_change(drawn, hot) != before
    notebook.press("Interrupt")
    notebook.wait_idle()


def value(notebook: NotebookPage, code: str) -> Any:
    """Return the value of an expression, from a new cell."""
    notebook.wait_idle()
    notebook.page.locator("[data-action=append-code]").click()
    return ast.literal_eval(notebook.run(code).inner_text().strip())


def interrupt(notebook: NotebookPage) -> None:
    notebook.press("Interrupt")
    notebook.wait_idle()


def test_fluid_is_stirred(notebook: NotebookPage) -> None:
    drawn = play(notebook, "fluid", "size = 64\nframes = 1_000_000\nspeed = 0", 9)
    drawn.page.wait_for_timeout(1000)
    assert not changes(drawn)  # at rest
    before = drawn.screenshot()
    drag(drawn)
    wait_for_change(drawn, before)
    interrupt(notebook)
    # The drawing still takes the mouse, now without steps in between.
    assert value(notebook, "u, v, old = 0 * u, 0 * v, dye\n0") == 0
    drag(drawn)
    row, column, fastest, corner, painted = value(
        notebook,
        "speeds = bg.hypot(u[:, 1:], v[1:])\n"
        "at = int(bg.argmax(speeds))\n"
        "changed = bg.max(bg.abs(dye - old), axis=0)\n"
        "at // size, at % size, float(u[at // size, at % size]), float(speeds[5, 5]), "
        "[float(changed[32, 36]), float(changed[5, 5])]",
    )
    assert abs(row - 32) <= 1
    assert 32 <= column <= 40
    assert fastest > 0.3  # to the right
    assert corner < 0.01 * fastest
    assert painted[0] > 0.05
    assert painted[1] < 1e-3
    sources = value(
        notebook,
        "flows = (u, v), step(u, v, dye)[:2]\n"
        "[float(bg.max(bg.abs(divergence(*flow)))) for flow in flows]",
    )
    assert sources[0] > 0.05
    assert sources[1] < 1e-5


def test_the_camera_turns_and_the_pixels_are_those_of_numpy(notebook: NotebookPage) -> None:
    show(notebook, "raytracing")
    notebook.fill(1, SMALL["raytracing"])
    run_shown(notebook)
    drawn = notebook.output(7).locator("canvas")
    drawn.scroll_into_view_if_needed()
    before = drawn.screenshot()
    assert value(notebook, "turn") == 0.45
    drag(drawn)
    turn, tilt = value(notebook, "turn, tilt")
    assert turn == pytest.approx(0.45 - 4 * 0.1, abs=0.08)
    wait_for_change(drawn, before)
    height, width = 54, 96
    places = [(40, 10), (30, 25), (25, 48), (35, 60), (48, 50), (5, 5), (33, 75), (45, 80)]
    spheres = value(notebook, "spheres.tolist()")
    found = value(
        notebook,
        f"shown = picture(*camera()).numpy()\n[shown[y, x].tolist() for y, x in {places}]",
    )
    expected = [
        rays.colour(
            spheres, turn, tilt, (x - (width - 1) / 2) / height, ((height - 1) / 2 - y) / height
        )
        for y, x in places
    ]
    assert np.ptp(expected, axis=0).min() > 0.3  # different things
    np.testing.assert_allclose(found, expected, atol=0.01)


def test_a_drawn_digit_is_read(notebook: NotebookPage) -> None:
    show(notebook, "digits")
    notebook.fill(1, "epochs = 1\nbatch = 512\nchannels = 8")
    run_shown(notebook)
    drawn = notebook.output(13).locator("canvas")
    drawn.scroll_into_view_if_needed()
    drawn.click(button="right")
    wait_for(notebook, "float(bg.max(drawing)) == 0")
    before = drawn.screenshot()
    box = drawn.bounding_box()
    assert box
    mouse = notebook.page.mouse
    # The drawing is the left half, below the title.
    x, top, height = box["x"] + box["width"] * 0.25, box["y"], box["height"]
    mouse.move(x, top + height * 0.35)
    mouse.down()
    mouse.move(x, top + height * 0.85, steps=6)
    mouse.up()
    wait_for(notebook, "float(bg.sum(drawing)) > 700")  # the line is complete
    assert drawn.screenshot() != before
    # The network sees a line in the middle, and its answer is the one that is shown.
    picture = np.array(value(notebook, "scaled().numpy().tolist()"))
    assert picture[:, 3:5].min() > 0.5
    assert picture[:, [0, 1, 6, 7]].max() < 0.1
    assert value(notebook, "guess == int(read(scaled()[None, None])[0].argmax())")


def wait_for(notebook: NotebookPage, condition: str) -> None:
    """Wait until an expression is true."""
    for _ in range(50):
        if value(notebook, condition):
            return
    raise AssertionError(condition)
