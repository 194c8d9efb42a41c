"""Runs of many cells: where they end, how the tab shows it, and long outputs."""

from __future__ import annotations

import re

from harness.notebook import NotebookPage
from playwright.sync_api import expect


def write_cells(notebook: NotebookPage, *sources: str) -> None:
    for index, source in enumerate(sources):
        if index:
            notebook.press("Code")
        notebook.fill(index, source)


def test_run_all_goes_to_the_failure_and_counts(notebook: NotebookPage) -> None:
    write_cells(notebook, "1", "print('\\n' * 90)", "1 / 0", "print('\\n' * 90)", "'never'")
    notebook.cell(4).focus()
    notebook.press("Run all")
    notebook.wait_finished()
    expect(notebook.messages).to_contain_text("3 of 5 cells ran. The last one failed.")
    expect(notebook.cell(2)).to_be_focused()
    expect(notebook.cell(2)).to_be_in_viewport()
    expect(notebook.output(4)).to_be_empty()
    notebook.close_messages()
    notebook.fill(2, "1 / 1")
    notebook.press("Run all")
    notebook.wait_finished()
    expect(notebook.messages).to_contain_text("5 cells ran in")


def test_the_tab_tells_the_notebook_and_its_state(notebook: NotebookPage) -> None:
    page = notebook.page
    name = page.get_by_label("Notebook name")
    name.fill("heat map")
    name.press("Tab")
    expect(page).to_have_title("heat map · browsergpu")
    notebook.start("import asyncio\nawait asyncio.Event().wait()")
    expect(page).to_have_title("▶ heat map · browsergpu")
    notebook.press("Interrupt")
    notebook.wait_idle()
    expect(page).to_have_title("✗ heat map · browsergpu")
    notebook.run("1")
    expect(page).to_have_title("heat map · browsergpu")
    notebook.press("New")
    expect(page).to_have_title(re.compile("^untitled.* · browsergpu$"))


def test_long_text_shows_its_beginning_and_its_end(notebook: NotebookPage) -> None:
    shown = notebook.run("for n in range(1000): print('line', n)")
    expect(shown).to_contain_text("line 39\n")
    expect(shown).to_contain_text("line 960\n")
    expect(shown).not_to_contain_text("line 500\n")
    shown.get_by_role("button", name="Show 920 more lines").click()
    expect(shown).to_contain_text("line 500\n")
    expect(shown.get_by_role("button")).to_have_count(0)
    # The notebook has all of it, also after it was opened again.
    notebook.wait_kept()
    notebook.page.reload()
    expect(notebook.output(0).get_by_role("button", name="Show 920 more lines")).to_be_visible()
    expect(notebook.output(0)).not_to_contain_text("line 500\n")
    notebook.wait_idle()
    assert notebook.run("for n in range(200): print(n)").get_by_role("button").count() == 0
