"""Find and replace over the notebook, and the command palette."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage, hold_kernels
from playwright.sync_api import Locator, Page, expect

SELECTED = "() => getSelection().toString()"


@pytest.fixture
def notebook(lab: Lab, page_problems: list[str]) -> Iterator[NotebookPage]:
    """An empty notebook whose kernel never starts; nothing here needs Python."""
    page = lab.new_page(page_problems.append)
    hold_kernels(page)
    page.goto(f"{lab.site_url}/")
    notebook = NotebookPage(page, lab.site_url)
    expect(notebook.cells).not_to_have_count(0)
    notebook.new()
    yield notebook
    page.context.close()


def write(notebook: NotebookPage) -> None:
    """Write old four times: twice in a code cell, in a rendered text cell, and in another one."""
    notebook.fill(0, "old = 1\nolder = old")
    notebook.press("Text")
    notebook.fill(1, "The *old* way")
    notebook.page.keyboard.press("Control+Enter")
    notebook.press("Code")
    notebook.fill(2, "print(Old, new)")


def bar(page: Page) -> Locator:
    return page.get_by_role("search", name="Find in the notebook")


def find(notebook: NotebookPage, text: str) -> Locator:
    notebook.page.keyboard.press("Control+Shift+F")
    found = bar(notebook.page)
    expect(found.get_by_label("Find", exact=True)).to_be_focused()
    notebook.page.keyboard.type(text)
    return found


def test_find_goes_through_all_cells(notebook: NotebookPage) -> None:
    write(notebook)
    notebook.cell(0).focus()
    found = find(notebook, "old")
    count = found.get_by_role("status")
    expect(count).to_have_text("5 matches")
    found.get_by_label("Match case").check()
    expect(count).to_have_text("4 matches")
    found.get_by_label("Find", exact=True).focus()
    for number in (1, 2, 3, 4, 1):
        notebook.page.keyboard.press("Enter")
        expect(count).to_have_text(f"{number} of 4")
    notebook.page.keyboard.press("Shift+Enter")
    expect(count).to_have_text("4 of 4")
    # The match is in a text cell, whose source is shown for it.
    expect(notebook.editor(1)).to_be_visible()
    notebook.page.keyboard.press("Shift+Enter")
    expect(notebook.editor(1)).to_be_hidden()
    notebook.page.keyboard.press("Escape")
    expect(found).to_be_hidden()
    expect(notebook.editor(0)).to_be_focused()
    assert notebook.page.evaluate(SELECTED) == "old"


def test_replace_one_or_all_and_undo(notebook: NotebookPage) -> None:
    write(notebook)
    notebook.cell(0).focus()
    found = find(notebook, "old")
    found.get_by_label("Replace with").fill("new")
    found.get_by_role("button", name="Next match").click()
    found.get_by_role("button", name="Replace", exact=True).click()
    assert notebook.source(0) == "new = 1\nolder = old"
    expect(found.get_by_role("status")).to_have_text("1 of 4")
    found.get_by_role("button", name="Replace all").click()
    assert notebook.source(0) == "new = 1\nnewer = new"
    expect(notebook.cell(1)).to_contain_text("The new way")
    expect(notebook.editor(2)).to_have_text("print(new, new)")
    message = notebook.messages.filter(has_text="4 replacements in 3 cells.")
    message.get_by_role("button", name="Undo").click()
    assert notebook.source(0) == "new = 1\nolder = old"
    expect(notebook.cell(1)).to_contain_text("The old way")
    expect(notebook.editor(2)).to_have_text("print(Old, new)")


def test_regular_expressions_with_groups(notebook: NotebookPage) -> None:
    notebook.fill(0, "f(a, b)\nf(c, d)")
    found = find(notebook, r"f\((\w), (\w)\)")
    expect(found.get_by_role("status")).to_have_text("0 matches")
    found.get_by_label("Regular expression").check()
    expect(found.get_by_role("status")).to_have_text("2 matches")
    found.get_by_label("Replace with").fill("f($2, $1)")
    found.get_by_role("button", name="Replace all").click()
    assert notebook.source(0) == "f(b, a)\nf(d, c)"
    found.get_by_label("Find", exact=True).fill("f(")
    expect(found.get_by_role("status")).to_have_text("Not a regular expression")
    field, close = found.get_by_label("Find", exact=True), found.get_by_label("Close")
    tops = [(place.bounding_box() or {"y": 0})["y"] for place in (field, close)]
    assert abs(tops[0] - tops[1]) < 4, "in one row"


def test_the_palette_runs_commands_by_name(notebook: NotebookPage) -> None:
    page = notebook.page
    notebook.fill(0, "x = 1")
    page.keyboard.press("Control+Shift+P")
    palette = page.get_by_role("dialog", name="Commands")
    expect(palette.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("text nowhere")
    expect(palette.get_by_role("option")).to_have_count(0)
    expect(page.locator("#announcements")).to_have_text("No command has all of these words.")
    page.keyboard.press("Control+a")
    page.keyboard.type("text add")
    expect(palette.get_by_role("option")).to_have_text(["Add text cell below"])
    page.keyboard.press("Enter")
    expect(palette).to_be_hidden()
    expect(notebook.cells).to_have_count(2)
    notebook.cell(0).focus()
    page.keyboard.press("p")
    page.keyboard.type("move cell")
    page.keyboard.press("ArrowDown")
    expect(palette.get_by_role("option", selected=True)).to_contain_text("Move cells down")
    page.keyboard.press("Enter")
    expect(notebook.editor(1)).to_have_text("x = 1")
    notebook.choose("All commands")
    page.keyboard.type("keyboard")
    palette.get_by_role("option", name="Keyboard shortcuts").click()
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
