"""Images that Python draws are outputs of their cells."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage, hold_kernels, open_notebook
from harness.pixels import Pixels, screenshot
from harness.problems import assert_none
from playwright.sync_api import Locator, expect

FLAT = """
import browsergpu as bg

def flat(r, g, b, height=300, width=400):
    return bg.ones((height, width, 3)) * bg.asarray([r, g, b])
"""


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[NotebookPage]:
    with open_notebook(lab) as (notebook, problems):
        notebook.new()
        notebook.run(FLAT)
        yield notebook
        assert_none(problems)


@pytest.fixture(autouse=True)
def fresh(notebook: NotebookPage) -> None:
    notebook.new()


RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


def pictures(notebook: NotebookPage, index: int) -> Locator:
    return notebook.output(index).get_by_role("img")


def colour(notebook: NotebookPage, picture: Locator) -> tuple[int, int, int]:
    """Return the colour in the middle of a single-coloured image."""
    expect(picture).to_be_visible()
    shown: Pixels = screenshot(notebook.page, picture)
    return shown.rgb(shown.width // 2, shown.height // 2)


@pytest.mark.firefox
def test_a_loop_that_never_waits_is_seen_while_it_runs(notebook: NotebookPage) -> None:
    index = notebook.start(
        "import time\nbg.draw(flat(0, 0, 1))\nwhile True:\n    time.sleep(0) or sum(range(1000))"
    )
    notebook.page.wait_for_function(
        "(index) => document.querySelectorAll('.cell')[index].querySelector('canvas')", arg=index
    )
    assert colour(notebook, pictures(notebook, index)) == BLUE
    notebook.wait_state("busy")
    notebook.press("Interrupt")
    notebook.wait_idle()
    index = notebook.start("for i in range(40):\n    bg.draw(flat(0, (i + 1) / 40, 0))")
    notebook.wait_finished()
    expect(pictures(notebook, index)).to_have_count(1)
    assert colour(notebook, pictures(notebook, index)) == GREEN, "the last one"


@pytest.mark.firefox
def test_a_task_draws_in_the_cell_that_started_it(notebook: NotebookPage) -> None:
    first = notebook.start(
        "import asyncio\ngate = asyncio.Event()\nasync def later():\n    await gate.wait()\n"
        "    bg.draw(flat(1, 0, 0))\ntask = asyncio.ensure_future(later())"
    )
    second = notebook.start("gate.set()\nawait task\nbg.draw(flat(0, 1, 0))")
    notebook.wait_finished()
    assert colour(notebook, pictures(notebook, first)) == RED
    assert colour(notebook, pictures(notebook, second)) == GREEN


def test_on_a_narrow_screen_the_image_is_next_to_its_cell(notebook: NotebookPage) -> None:
    before = notebook.page.viewport_size
    notebook.page.set_viewport_size({"width": 390, "height": 800})
    try:
        notebook.run("bg.draw(flat(0, 0, 1, 300, 900))\n'below'")
        picture = pictures(notebook, 0).bounding_box()
        editor = notebook.editor(0).bounding_box()
        following = notebook.editor(1).bounding_box()
        assert picture
        assert editor
        assert following
        assert editor["y"] + editor["height"] <= picture["y"] < following["y"]
        assert picture["x"] >= 0
        assert picture["x"] + picture["width"] <= 390
        assert notebook.page.evaluate("document.scrollingElement.scrollWidth") <= 390
    finally:
        notebook.page.set_viewport_size(before or {"width": 1280, "height": 720})


ANIMATION = """
import asyncio
import browsergpu as bg
go = True
for n in range(1500):
    bg.draw(bg.full((40, 40, 3), (n % 100) / 100))
    await asyncio.sleep(0.03)
    if n > 40 and not go: break
"""


def test_a_drawing_zooms_and_pans_with_pointer_and_keys(notebook: NotebookPage) -> None:
    shown = notebook.run("import browsergpu as bg\nx = bg.zeros((64, 64))\nx[:32] = 1\nbg.draw(x)")
    canvas, box = shown.locator("canvas"), shown.locator(".picture-box")
    before = box.bounding_box()
    assert before
    middle = before["x"] + before["width"] / 2, before["y"] + before["height"] * 0.1
    mouse = notebook.page.mouse
    mouse.move(*middle)
    mouse.wheel(0, -100)  # without the focus, the wheel scrolls the page
    expect(canvas).to_have_class("picture enlarged")
    canvas.click(position={"x": before["width"] / 2, "y": before["height"] * 0.1})
    before = box.bounding_box()
    for _ in range(6):
        mouse.wheel(0, -100)
    show_all = shown.get_by_role("button", name="Show all")
    expect(show_all).to_be_visible()
    assert box.bounding_box() == before, "the picture's place on the page stays"
    pixels = screenshot(notebook.page, box)
    assert pixels.rgb(20, pixels.height - 20) == (255, 255, 255), "the upper half fills the box"
    mouse.down()
    mouse.move(middle[0], 0, steps=5)
    mouse.up()
    notebook.page.keyboard.press("ArrowDown")
    for _ in range(12):
        notebook.page.keyboard.press("ArrowDown")
    pixels = screenshot(notebook.page, box)
    assert pixels.rgb(20, pixels.height - 20) == (0, 0, 0)
    notebook.page.keyboard.press("0")
    expect(show_all).to_be_hidden()


def test_a_tall_narrow_image_is_not_enlarged_beyond_a_screen(notebook: NotebookPage) -> None:
    shown = notebook.run("import browsergpu as bg\nbg.draw(bg.ones((600, 3, 3)))")
    box = shown.locator("canvas").bounding_box()
    assert box
    assert (box["width"], box["height"]) == (5, 1000)


def test_an_animation_is_paused_and_recorded(notebook: NotebookPage) -> None:
    index = notebook.start(ANIMATION)
    shown = notebook.output(index)
    shown.get_by_role("button", name="Record").click()
    pause = shown.get_by_role("button", name="Pause")
    pause.click()
    held = "canvas => canvas.toDataURL()"
    first = shown.locator("canvas").evaluate(held)
    notebook.page.wait_for_timeout(300)
    assert shown.locator("canvas").evaluate(held) == first
    shown.get_by_role("button", name="Play").click()
    notebook.page.wait_for_function(
        "([canvas, first]) => canvas.toDataURL() !== first",
        arg=[shown.locator("canvas").element_handle(), first],
    )
    notebook.page.wait_for_timeout(500)
    with notebook.page.expect_download() as download:
        shown.get_by_role("button", name="Stop and download").click()
    assert download.value.suggested_filename == "gpu-canvas.webm"
    video = download.value.path().read_bytes()
    assert video[:4] == b"\x1aE\xdf\xa3"  # Matroska
    assert len(video) > 1000
    notebook.press("Interrupt")
    notebook.wait_finished()


@pytest.mark.firefox
def test_images_without_a_cell_are_shown_beside_the_cells(notebook: NotebookPage) -> None:
    canvas = notebook.page.locator("#gpu-canvas")
    expect(canvas).to_be_hidden()
    notebook.page.evaluate("browsergpu.run('bg.draw(flat(0, 1, 0))')")
    assert colour(notebook, canvas) == GREEN


def test_they_are_saved_with_their_cell_and_there_after_a_reload(notebook: NotebookPage) -> None:
    notebook.run(
        "print('before')\nbg.draw(flat(1, 0, 0))\nbg.draw(flat(0, 0, 1), canvas_id='other')\n"
        "bg.draw(flat(0, 1, 0))\nprint('after')"
    )
    notebook.run("bg.draw(flat(1, 0, 0, 8, 16))")

    def check() -> None:
        # Drawing on a canvas again replaces its image in the same cell, but not in another cell.
        expect(pictures(notebook, 0)).to_have_count(2)
        assert colour(notebook, pictures(notebook, 0).nth(0)) == GREEN
        assert colour(notebook, pictures(notebook, 0).nth(1)) == BLUE
        expect(pictures(notebook, 0).nth(1)).to_have_accessible_name(
            re.compile("picture of 400 × 300 on other")
        )
        assert colour(notebook, pictures(notebook, 1)) == RED
        box = pictures(notebook, 1).bounding_box()
        assert box is not None
        assert (box["width"], box["height"]) == (256, 128), "a small one is enlarged"

    check()
    with notebook.page.expect_download() as download:
        notebook.share("Download notebook")
    file = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    outputs = file["cells"][0]["outputs"]
    kinds = [output["output_type"] for output in outputs]
    assert kinds == ["stream", "display_data", "display_data", "stream"]
    png = base64.b64decode(outputs[1]["data"]["image/png"])
    assert png[16:24] == (400).to_bytes(4, "big") + (300).to_bytes(4, "big")
    notebook.wait_kept()
    hold_kernels(notebook.page)  # images need no kernel; this is the last test on the shared page
    notebook.page.reload()
    check()
