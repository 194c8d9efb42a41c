"""The tour and the gallery's notebooks run top to bottom, as someone who opens the page sees them.

The gallery's notebooks are right by their own comparison. Sizes are made small here: those of the
gallery stand in each notebook's first cell.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage, open_notebook
from harness.pixels import screenshot
from harness.problems import assert_none
from playwright.sync_api import Route, expect

GALLERY = Path(__file__).resolve().parents[2] / "examples" / "gallery"
LISTED = json.loads((GALLERY / "index.json").read_text(encoding="utf-8"))

SMALL = {
    "darkroom": "height, width = 54, 80\nframes = 3",
    "mandelbrot": "height, width = 60, 80\nsteps = 64\nframes = 2",
    "heat": "size = 64\nframes, steps = 2, 5",
    "colours": "height, width = 48, 64\nk = 4\nrounds = 4",
    "life": "size = 64\nframes = 4",
    "transformer": "layers, width, heads, length, words = 2, 32, 4, 24, 64",
    "digits": "epochs = 4\nbatch = 32\nchannels = 8",
    "letters": "layers, width, heads, length = 2, 32, 2, 32\nbatch, steps = 8, 30",
    "swirl": "points, side = 2000, 64\nwidth, batch, steps, times = 48, 256, 150, 8",
    "membrane": "points, width, steps = 128, 16, 120\nside = 48",
    "retrained": "channels, epochs, rounds = 8, 3, 60",
}


FLAT_PNG = 1500  # bytes; that of a canvas of one colour has less

TOUR = GALLERY.parents[1] / "web" / "tour.ipynb"
SMALLER = {"1_000_000": "10_000", "n = 512": "n = 128"}  # of the tour


def cells(name: str) -> list[str]:
    """The code of a notebook's cells."""
    notebook = json.loads((GALLERY / f"{name}.ipynb").read_text(encoding="utf-8"))
    return ["".join(one["source"]) for one in notebook["cells"] if one["cell_type"] == "code"]


def assigned(code: str) -> set[str]:
    return {
        node.id
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def test_the_list_is_what_there_is() -> None:
    assert {one["file"] for one in LISTED} == {path.name for path in GALLERY.glob("*.ipynb")}
    assert {one["file"] for one in LISTED} == {f"{name}.ipynb" for name in SMALL}
    for name, code in SMALL.items():
        assert assigned(cells(name)[0]) == assigned(code), name


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[NotebookPage]:
    """One page for all; its notebooks are small."""

    def serve_tour(route: Route) -> None:
        text = TOUR.read_text(encoding="utf-8")
        for size, smaller in SMALLER.items():
            assert size in text
            text = text.replace(size, smaller)
        route.fulfill(body=text)

    def serve(route: Route) -> None:
        name = route.request.url.rsplit("/", 1)[-1].removesuffix(".ipynb")
        text = (GALLERY / f"{name}.ipynb").read_text(encoding="utf-8")
        file = json.loads(text)
        next(one for one in file["cells"] if one["cell_type"] == "code")["source"] = SMALL[name]
        route.fulfill(json=file)

    with open_notebook(lab, viewport={"width": 1360, "height": 900}) as (notebook, problems):
        expect(notebook.cell(0).locator("h1")).to_have_text("Python on your GPU")
        notebook.page.route("**/tour.ipynb", serve_tour)
        notebook.page.route("**/gallery/*.ipynb", serve)
        yield notebook
        assert_none(problems)


def test_the_tour(notebook: NotebookPage) -> None:
    notebook.new()  # the page opened with a tour: which one is there must show
    notebook.press("Tour")
    expect(notebook.cell(0).locator("h1")).to_have_text("Python on your GPU")
    notebook.close_messages()
    notebook.press("Run all")
    notebook.wait_finished()
    expect(notebook.page.locator(".output-traceback")).to_have_count(0)
    outputs = notebook.page.locator(".cell-outputs").all_inner_texts()
    text = "\n".join(outputs)
    assert "'vendor'" in text
    # The status bar says the same number.
    known = re.search(r"features\s+(\d+),", text)
    assert known is not None
    expect(notebook.page.locator("footer")).to_contain_text(f"{known[1]} features")
    for line in ("GPU", "NumPy", "ratio"):
        assert any(row.startswith(line) for row in text.splitlines()), line
    matrices, attention = (
        float(row.split()[-1]) for row in text.splitlines() if row.startswith("largest difference")
    )
    # Products of standard normal numbers, summed in float32 in another order.
    assert matrices < 1e-3
    assert attention < 1e-4
    # Sobel's edges are grey, mostly dark, with white lines.
    drawn = notebook.page.get_by_role("img", name="on gpu-canvas").last
    assert is_drawing_of_edges(screenshot(notebook.page, drawn).data)


def is_drawing_of_edges(rgba: list[int]) -> bool:
    """Whether the pixels are grey, some nearly black and some nearly white."""
    red, green, blue = rgba[0::4], rgba[1::4], rgba[2::4]
    grey = sum(r == g == b for r, g, b in zip(red, green, blue, strict=True)) / len(red)
    dark = sum(r < 60 for r in red) / len(red)
    light = sum(r > 230 for r in red) / len(red)
    return grey > 0.97 and dark > 0.2 and light > 0.01


def run(notebook: NotebookPage, name: str) -> str:
    """What a notebook of the gallery puts out. It draws a picture."""
    (title,) = (one["title"] for one in LISTED if one["file"] == f"{name}.ipynb")
    notebook.press("Gallery")
    notebook.page.get_by_role("dialog").get_by_role("button", name=title, exact=True).click()
    expect(notebook.page.get_by_role("dialog")).to_have_count(0)
    expect(notebook.page.locator(".title-input")).to_have_value(name)
    notebook.close_messages()
    notebook.press("Run all")
    notebook.wait_finished()
    expect(notebook.page.locator(".output-traceback")).to_have_count(0)
    drawn = notebook.page.get_by_role("img", name="on gpu-canvas").last
    assert len(drawn.screenshot()) > FLAT_PNG
    return "\n".join(notebook.page.locator(".cell-outputs").all_inner_texts())


def number(text: str, before: str) -> float:
    """The number behind some words."""
    found = re.search(re.escape(before) + r"\s+(-?[\d.]+(?:e[+-]?\d+)?)", text)
    assert found, text
    return float(found[1])


def test_darkroom(notebook: NotebookPage) -> None:
    assert number(run(notebook, "darkroom"), "changed by the blur") < 1e-5


def test_mandelbrot(notebook: NotebookPage) -> None:
    # 1.5066 in all; few steps, large pixels.
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
    # It was in rows and columns 1 to 3, sixteen generations before.
    text = run(notebook, "life")
    assert "in rows [5, 6, 7, 7, 7] and columns [6, 7, 5, 6, 7]" in text


def test_transformer(notebook: NotebookPage) -> None:
    assert number(run(notebook, "transformer"), "largest difference") < 1e-4


def test_digits(notebook: NotebookPage) -> None:
    text = run(notebook, "digits")
    assert number(text, "then") < number(text, "in the end: loss") / 2
    assert number(text, "digits right") > 0.8  # after four epochs of eight channels


def test_letters(notebook: NotebookPage) -> None:
    text = run(notebook, "letters")
    assert number(text, "then") < number(text, "in the end: loss") - 0.5
    assert re.search(r"9\d\d,\d{3} letters", text)  # of NumPy's documentation


def test_swirl(notebook: NotebookPage) -> None:
    text = run(notebook, "swirl")
    assert number(text, "from the spiral") < number(text, "noise") / 2


def test_membrane(notebook: NotebookPage) -> None:
    text = run(notebook, "membrane")
    assert number(text, "then") < number(text, "loss") / 3
    assert number(text, "largest error") < 0.6  # of few steps


def test_retrained(notebook: NotebookPage) -> None:
    text = run(notebook, "retrained")
    assert number(text, "and now") > max(0.6, number(text, "read rightly"))
    assert "those of the file: True" in text
