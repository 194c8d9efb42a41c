"""The tour runs top to bottom, as someone who opens the page for the first time sees it."""

from __future__ import annotations

from harness.lab import Lab
from harness.notebook import open_notebook
from harness.pixels import screenshot
from harness.problems import assert_none
from playwright.sync_api import expect


def test_the_tour_runs_top_to_bottom(lab: Lab) -> None:
    with open_notebook(lab, viewport={"width": 1360, "height": 900}) as (notebook, problems):
        expect(notebook.cell(0).locator("h1")).to_have_text("Python on your GPU")
        canvas = notebook.page.locator("#gpu-canvas")
        notebook.press("Run all")
        notebook.wait_finished()
        expect(notebook.page.locator(".output-traceback")).to_have_count(0)
        outputs = notebook.page.locator(".cell-outputs").all_inner_texts()
        text = "\n".join(outputs)
        assert "'vendor'" in text
        for line in ("GPU", "NumPy", "ratio"):
            assert any(row.startswith(line) for row in text.splitlines()), line
        matrices, attention = (
            float(row.split()[-1])
            for row in text.splitlines()
            if row.startswith("largest difference")
        )
        # 512 products of standard normal numbers, summed in float32 in another order.
        assert matrices < 1e-3
        assert attention < 1e-4
        # Sobel's edges are grey, mostly dark, with white lines.
        expect(canvas).to_be_in_viewport()
        pixels = None
        for _ in range(50):
            pixels = screenshot(notebook.page, canvas)
            if is_drawing_of_edges(pixels.data):
                break
            notebook.page.wait_for_timeout(200)
        assert pixels is not None
        assert is_drawing_of_edges(pixels.data)
        assert_none(problems)


def is_drawing_of_edges(rgba: list[int]) -> bool:
    """Whether the pixels are grey, some nearly black and some nearly white."""
    red, green, blue = rgba[0::4], rgba[1::4], rgba[2::4]
    grey = sum(r == g == b for r, g, b in zip(red, green, blue, strict=True)) / len(red)
    dark = sum(r < 60 for r in red) / len(red)
    light = sum(r > 230 for r in red) / len(red)
    return grey > 0.97 and dark > 0.2 and light > 0.01
