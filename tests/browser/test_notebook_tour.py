"""The tour runs from top to bottom as on a first visit, and the gallery lists all its notebooks."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

import pytest
from harness.gallery import GALLERY, LISTED, SMALL, last_canvas, open_gallery
from harness.lab import Lab
from harness.notebook import NotebookPage, open_notebook
from harness.pixels import screenshot
from harness.problems import assert_none
from playwright.sync_api import Route, expect

TOUR = GALLERY.parents[1] / "web" / "tour.ipynb"
SMALLER = {"1_000_000": "10_000", "n = 512": "n = 128"}  # of the tour


def cells(name: str) -> list[str]:
    """Return the code of a notebook's cells."""
    notebook = json.loads((GALLERY / f"{name}.ipynb").read_text(encoding="utf-8"))
    return ["".join(one["source"]) for one in notebook["cells"] if one["cell_type"] == "code"]


def assigned(code: str) -> set[str]:
    return {
        node.id
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def test_the_gallery_lists_all_its_notebooks() -> None:
    assert {one["file"] for one in LISTED} == {path.name for path in GALLERY.glob("*.ipynb")}
    assert {one["file"] for one in LISTED} == {f"{name}.ipynb" for name in SMALL}
    for name, code in SMALL.items():
        assert assigned(cells(name)[0]) == assigned(code), name


def test_cards_have_pictures_and_notebooks_open_with_outputs(lab: Lab) -> None:
    with open_notebook(lab, viewport={"width": 1360, "height": 900}) as (notebook, problems):
        notebook.press("Gallery")
        dialog = notebook.page.get_by_role("dialog")
        cards = dialog.get_by_role("listitem")
        expect(cards).to_have_count(len(LISTED))
        for number, one in enumerate(LISTED):
            card = cards.nth(number)
            expect(card.locator("p")).to_have_text(one["about"])
            card.scroll_into_view_if_needed()
            loaded = card.locator("img").evaluate_all(
                "all => Promise.all(all.map((one) => one.decode()))"
            )
            assert len(loaded) == one.get("picture", True)
        # The button covers the whole card.
        dialog.get_by_role("listitem").filter(has_text="Galaxies").locator("p").click(force=True)
        expect(notebook.page.locator(".title-input")).to_have_value("nbody")
        outputs = notebook.page.locator(".cell-outputs")
        expect(outputs.get_by_role("img")).to_have_count(3)
        expect(outputs.filter(has_text="smaller sizes")).to_have_count(1)
        expect(outputs.filter(has_text="changed by")).to_have_count(1)
        assert_none(problems)


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[NotebookPage]:
    """The page with a tour of small sizes."""

    def serve_tour(route: Route) -> None:
        text = TOUR.read_text(encoding="utf-8")
        for size, smaller in SMALLER.items():
            assert size in text
            text = text.replace(size, smaller)
        route.fulfill(body=text)

    with open_gallery(lab) as notebook:
        notebook.page.route("**/tour.ipynb", serve_tour)
        yield notebook


def test_the_tour(notebook: NotebookPage) -> None:
    notebook.new()  # the page opened with a tour; make sure that the new one is shown
    notebook.press("Tour")
    expect(notebook.cell(0).locator("h1")).to_have_text("Python on your GPU")
    notebook.close_messages()
    notebook.press("Run all")
    notebook.wait_finished()
    expect(notebook.page.locator(".output-traceback")).to_have_count(0)
    outputs = notebook.page.locator(".cell-outputs").all_inner_texts()
    text = "\n".join(outputs)
    assert "'vendor'" in text
    # The status bar shows the same number.
    known = re.search(r"features\s+(\d+),", text)
    assert known is not None
    expect(notebook.page.locator("footer")).to_contain_text(f"{known[1]} features")
    # The kernel, without the functions that it calls.
    (kernel,) = (one for one in outputs if "fn main(" in one)
    assert kernel.count("fn ") == 1
    assert "np_exp(" in kernel
    assert len(kernel.splitlines()) < 50
    for line in ("GPU", "NumPy", "ratio"):
        assert any(row.startswith(line) for row in text.splitlines()), line
    matrices, attention = (
        float(row.split()[-1]) for row in text.splitlines() if row.startswith("largest difference")
    )
    # Products of standard normal numbers; float32 sums differ in order.
    assert matrices < 1e-3
    assert attention < 1e-4
    # Sobel edges are grey: mostly dark, with white lines.
    drawn = last_canvas(notebook.page)
    assert is_drawing_of_edges(screenshot(notebook.page, drawn).data)


def is_drawing_of_edges(rgba: list[int]) -> bool:
    """Return whether the pixels are grey, some nearly black and some nearly white."""
    red, green, blue = rgba[0::4], rgba[1::4], rgba[2::4]
    grey = sum(r == g == b for r, g, b in zip(red, green, blue, strict=True)) / len(red)
    dark = sum(r < 60 for r in red) / len(red)
    light = sum(r > 230 for r in red) / len(red)
    return grey > 0.97 and dark > 0.2 and light > 0.01
