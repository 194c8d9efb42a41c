"""Arrays as results of cells."""

from __future__ import annotations

from harness.notebook import NotebookPage
from playwright.sync_api import expect


def test_a_large_array_is_shown_by_a_picture_and_its_values(notebook: NotebookPage) -> None:
    shown = notebook.run(
        "import browsergpu as bg\n"
        "x = bg.linspace(0, 1, 64)\nbg.sin(12 * x)[:, None] * bg.cos(9 * x)"
    )
    expect(shown).to_contain_text("64 × 64 · float32 · 16.4 kB")
    expect(shown).to_contain_text("not computed yet")
    picture = shown.get_by_role("img", name="Picture of the array")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => [image.naturalWidth, image.width]") == [64, 192]
    assert picture.evaluate("image => getComputedStyle(image).imageRendering") == "pixelated"
    expect(shown.locator("pre")).to_contain_text("...")
    histogram = notebook.run("bg.random.normal(size=5000)")
    expect(histogram.get_by_role("img", name="Histogram of the values")).to_be_visible()
    expect(histogram.locator("rect")).not_to_have_count(0)
    expect(notebook.run("bg.arange(4)")).to_contain_text("Array([0, 1, 2, 3]")
