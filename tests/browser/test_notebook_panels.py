"""The panels beside the cells: outline, variables, GPU; and the profile of a cell."""

from __future__ import annotations

import re

from harness.notebook import NotebookPage
from playwright.sync_api import expect


def open_panel(notebook: NotebookPage, name: str) -> None:
    notebook.page.get_by_role("tab", name=name).click()


def test_the_outline_follows_the_headings_and_leads_to_them(notebook: NotebookPage) -> None:
    notebook.run("print('\\n' * 100)")
    notebook.press("Text")
    notebook.fill(2, "# First *one*\n\n```\n# no heading\n```\n\n## Second")
    notebook.page.keyboard.press("Shift+Enter")
    notebook.page.mouse.wheel(0, -5000)
    open_panel(notebook, "Outline")
    panel = notebook.page.get_by_role("tabpanel", name="Outline")
    expect(panel.locator("button.link")).to_have_text(["First one", "Second"])
    panel.get_by_role("button", name="First one", exact=True).click()
    expect(notebook.cell(2)).to_be_focused()
    expect(notebook.cell(2)).to_be_in_viewport()
    notebook.press("New")
    expect(panel).to_contain_text("Headings of text cells are listed here.")


def test_variables_have_their_types_shapes_and_bytes(notebook: NotebookPage) -> None:
    open_panel(notebook, "Variables")
    notebook.run(
        "import numpy as np\nimport browsergpu as bg\n"
        "class Broken:\n    @property\n    def shape(self): raise RuntimeError\n"
        "table_a = np.zeros((3, 4))\ntable_b = bg.ones((5, 2))\ntable_c = [1, 2]\n"
        "table_d = Broken()\ndef table_e(): pass\n_table_f = 1"
    )
    rows = notebook.page.get_by_role("tabpanel", name="Variables").get_by_role("row")
    mine = rows.filter(has_text=re.compile("table_"))
    expect(mine).to_have_count(4)
    expect(mine.nth(0).get_by_role("cell")).to_have_text(["ndarray", "3 × 4 float64", "96 B"])
    expect(mine.nth(1).get_by_role("cell")).to_have_text(["Array", "5 × 2 float32", "40 B"])
    expect(mine.nth(2).get_by_role("cell").nth(1)).to_have_text("2")
    expect(mine.nth(3).get_by_role("cell").first).to_have_text("Broken")
    notebook.run("del table_a, table_b, table_c, table_d")
    expect(mine).to_have_count(0)


def test_the_gpu_panel_shows_memory_and_a_cell_its_kernels(notebook: NotebookPage) -> None:
    open_panel(notebook, "GPU")
    notebook.run("import browsergpu as bg\nkept = bg.ones((512, 512))\nbg.eval(kept)")
    panel = notebook.page.get_by_role("tabpanel", name="GPU")
    expect(panel).to_contain_text(re.compile(r"1\.\d MB in \d+ buffers?, highest"))
    expect(panel.locator("polyline")).to_have_attribute("points", re.compile(r"\d+,\d+"))
    shown = notebook.run("%%gpu\ny = bg.sin(kept) + 1\nfloat(y[0, 0])")
    expect(shown.get_by_role("columnheader", name="kernel")).to_be_visible()
    expect(shown).to_contain_text("1.84")
    expect(notebook.run("%%gpu\n1 / 0")).to_contain_text("ZeroDivisionError")
    notebook.run("del kept, y")


def test_the_gpu_panel_lists_arrays_with_lines_and_times_of_cells(notebook: NotebookPage) -> None:
    open_panel(notebook, "GPU")
    notebook.run(
        "import browsergpu as bg\npanel_a = bg.ones((300, 200))\npanel_b = panel_a[5:]\n"
        "panel_list = [bg.zeros(1000, dtype=bg.uint8)]\nbg.eval(panel_a, panel_list[0])\n"
        "panel_lazy = panel_a + 1\npanel_layer = bg.nn.Linear(8, 4)\nbg.zeros(3)"
    )
    count = notebook.cell(0).locator(".cell-count").inner_text().strip("[]")
    panel = notebook.page.get_by_role("tabpanel", name="GPU")
    arrays = panel.get_by_role("region", name="Arrays on the GPU").get_by_role("row")

    def row(name: str) -> list[str]:
        found = arrays.filter(has=notebook.page.get_by_role("rowheader", name=name))
        expect(found).to_have_count(1)
        head = found.get_by_role("rowheader").inner_text()
        return [*head.splitlines(), *found.get_by_role("cell").all_inner_texts()]

    assert row("panel_a") == ["panel_a", f"Cell {count}, line 2", "300 × 200 float32", "246 kB"]
    assert row("panel_b")[3] == "memory of panel_a"
    assert row("panel_list[0]")[1:] == [f"Cell {count}, line 4", "1000 uint8", "1.0 kB"]
    assert row("panel_lazy")[2:] == ["300 × 200 float32", "not computed"]
    assert row("panel_layer.weight")[2] == "4 × 8 float32"
    times = panel.get_by_role("region", name="Times of the last cells").get_by_role("row")
    expect(times.nth(1)).to_contain_text(re.compile(rf"\[{count}\]\s*\d+(\.\d+)? m?s"))
    notebook.run("del panel_a, panel_b, panel_list, panel_lazy, panel_layer")
    expect(arrays.filter(has_text="panel_")).to_have_count(0)


def test_tabs_are_reached_by_arrow_keys(notebook: NotebookPage) -> None:
    open_panel(notebook, "Files")
    notebook.page.keyboard.press("ArrowRight")
    expect(notebook.page.get_by_role("tab", name="Outline")).to_be_focused()
    expect(notebook.page.get_by_role("tabpanel", name="Outline")).to_be_visible()
    notebook.page.keyboard.press("ArrowLeft")
    expect(notebook.page.get_by_role("tabpanel", name="Files")).to_be_visible()


def text_cells(notebook: NotebookPage, *sources: str) -> None:
    """Replace the notebook by text cells."""
    for index, source in enumerate(sources):
        if index > 0:
            notebook.press("Text")
        else:
            notebook.cell(0).focus()
            notebook.page.keyboard.press("m")
        notebook.fill(index, source)
        notebook.page.keyboard.press("Escape")


def test_headings_fold_and_show_their_cells(notebook: NotebookPage) -> None:
    text_cells(notebook, "# One", "in one", "## Part", "in part", "# Two", "in two")
    shown = notebook.page.locator(".cell:visible")
    part = notebook.cell(2).get_by_role("button", name="Hide the 1 cell under this heading")
    part.click()
    expect(shown).to_have_count(5)
    expect(notebook.cell(2).get_by_role("button", name="1 cell hidden")).to_be_visible()
    notebook.cell(0).get_by_role("button", name="Hide the 3 cells under this heading").click()
    expect(shown).to_have_count(3)
    notebook.page.keyboard.press("ArrowDown")
    expect(notebook.cell(4)).to_be_focused()
    notebook.wait_kept()
    notebook.page.reload()
    expect(shown).to_have_count(3)
    open_panel(notebook, "Outline")
    panel = notebook.page.get_by_role("tabpanel", name="Outline")
    panel.get_by_role("button", name="Cells under One").click()
    expect(shown).to_have_count(5)
    expect(notebook.cell(3)).to_be_hidden()
    # Search leads to a hidden cell.
    notebook.page.keyboard.press("Control+Shift+F")
    notebook.page.get_by_role("textbox", name="Find").fill("in part")
    notebook.page.keyboard.press("Enter")
    expect(notebook.cell(3)).to_be_visible()


def test_cells_are_dragged_to_another_place(notebook: NotebookPage) -> None:
    text_cells(notebook, "a", "b", "c")
    mouse = notebook.page.mouse
    order = notebook.page.locator(".cell-rendered")
    handle = notebook.cell(0).get_by_role("button", name="Drag to move this cell")

    def drag(target: int, *, below: bool) -> None:
        notebook.cell(0).hover()
        box, there = handle.bounding_box(), notebook.cell(target).bounding_box()
        assert box
        assert there
        mouse.move(box["x"] + 5, box["y"] + 5)
        mouse.down()
        mouse.move(there["x"] + 50, there["y"] + there["height"] * (0.9 if below else 0.1), steps=5)

    drag(2, below=True)
    expect(notebook.page.locator(".drop-line")).to_be_visible()
    mouse.up()
    expect(order).to_have_text(["b", "c", "a"])
    drag(1, below=True)
    notebook.page.keyboard.press("Escape")
    mouse.up()
    expect(notebook.page.locator(".drop-line")).to_be_hidden()
    expect(order).to_have_text(["b", "c", "a"])
    handle.focus()
    notebook.page.keyboard.press("ArrowDown")
    expect(order).to_have_text(["c", "b", "a"])


def test_an_output_that_a_reload_cuts_is_marked(notebook: NotebookPage) -> None:
    notebook.start("import time\nprint('begun', flush=True)\ntime.sleep(600)")
    expect(notebook.output(0)).to_contain_text("begun")
    notebook.wait_kept()
    notebook.page.on("dialog", lambda dialog: dialog.accept())
    notebook.page.reload()
    expect(notebook.output(0)).to_contain_text("begun")
    expect(notebook.output(0)).to_contain_text("stored while this cell ran")
    notebook.wait_idle()
    notebook.fill(0, "1")
    notebook.page.keyboard.press("Control+Enter")
    expect(notebook.output(0)).to_have_text("1")
