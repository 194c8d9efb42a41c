"""Notebooks are stored separately: in the list, in several tabs, and in their files.

No kernel starts here: these tests do not need Python.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage, hold_kernels
from harness.patience import GLANCE_MS
from harness.problems import watch
from playwright.sync_api import BrowserContext, Locator, Page, expect

Tab = Callable[..., NotebookPage]


@pytest.fixture
def context(lab: Lab) -> Iterator[BrowserContext]:
    """One browser profile, with the file chooser of an <input>."""
    context = lab.browser.new_context()
    context.set_default_timeout(GLANCE_MS)
    context.add_init_script("delete globalThis.showOpenFilePicker")
    yield context
    context.close()


@pytest.fixture
def tab(context: BrowserContext, lab: Lab, page_problems: list[str]) -> Tab:
    """A function that opens the notebook in a tab, or in a given tab."""

    def open_tab(page: Page | None = None) -> NotebookPage:
        page = page or context.new_page()
        watch(page, page_problems.append)
        hold_kernels(page)
        page.goto(f"{lab.site_url}/")
        notebook = NotebookPage(page, lab.site_url)
        expect(notebook.cells).not_to_have_count(0)
        return notebook

    return open_tab


def file_of(source: str, name: str) -> dict[str, Any]:
    cell = {
        "cell_type": "code", "id": "a", "metadata": {}, "execution_count": None, "outputs": [],
        "source": [source],
    }  # fmt: skip
    text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})
    return {"name": name, "mimeType": "", "buffer": text.encode()}


def name(notebook: NotebookPage) -> Locator:
    return notebook.page.get_by_label("Notebook name")


def write(notebook: NotebookPage, title: str, source: str) -> None:
    """Write a notebook with this title and code into the open record."""
    name(notebook).fill(title)
    notebook.fill(0, source)


def kept(notebook: NotebookPage) -> Locator:
    """Return the list of stored notebooks; open it if it is closed."""
    dialog = notebook.page.get_by_role("dialog", name="Notebooks in this browser")
    if not dialog.is_visible():
        notebook.press("Notebooks")
    expect(dialog).to_be_visible()
    return dialog


def titles(notebook: NotebookPage) -> list[str]:
    rows = kept(notebook).locator("[data-ref=kept-list] li .link")
    found = rows.all_inner_texts()
    notebook.page.keyboard.press("Escape")
    return found


def open_kept(notebook: NotebookPage, title: str) -> None:
    kept(notebook).get_by_role("button", name=title, exact=True).click()
    expect(name(notebook)).to_have_value(title)


def act(notebook: NotebookPage, action: str, title: str) -> None:
    kept(notebook).get_by_role("button", name=f"{action} “{title}”").click()


def test_new_open_tour_and_gallery_overwrite_nothing(tab: Tab) -> None:
    notebook = tab()
    notebook.press("New")
    write(notebook, "first", "of_the_first = 1")
    notebook.press("New")
    expect(notebook.editor(0)).to_have_text("")
    write(notebook, "second", "of_the_second = 2")
    notebook.press("Tour")
    expect(name(notebook)).to_have_value("tour")
    notebook.press("Gallery")
    notebook.page.get_by_role("dialog").locator(".gallery-list button").first.click()
    expect(name(notebook)).not_to_have_value("tour")
    with notebook.page.expect_file_chooser() as chosen:
        notebook.press("Open")
    chosen.value.set_files(file_of("of_a_file = 3", "opened.ipynb"))
    expect(name(notebook)).to_have_value("opened")
    dropped = [file_of(f"dropped_{n} = {n}", f"dropped {n}.ipynb") for n in range(2)]
    notebook.drop([{**one, "type": "", "bytes": list(one["buffer"])} for one in dropped])
    expect(name(notebook)).to_have_value("dropped 1")
    # Viewed notebooks are not stored; all others are, the last first.
    assert titles(notebook) == ["dropped 1", "dropped 0", "opened", "second", "first"]
    for title, source in (
        ("first", "of_the_first = 1"),
        ("opened", "of_a_file = 3"),
        ("second", "of_the_second = 2"),
    ):
        open_kept(notebook, title)
        expect(notebook.editor(0)).to_have_text(source)
    notebook.page.reload()
    expect(notebook.editor(0)).to_have_text("of_the_second = 2")
    notebook.fill(0, "changed = 4")
    notebook.messages.first.wait_for(state="detached")
    open_kept(notebook, "first")
    notebook.messages.get_by_role("button", name="Back to “second”").click()
    expect(notebook.editor(0)).to_have_text("changed = 4")


def test_new_notebooks_have_names_of_their_own(tab: Tab) -> None:
    notebook = tab()
    for n, title in enumerate(("untitled", "untitled 2", "untitled 3")):
        notebook.press("New")
        expect(name(notebook)).to_have_value(title)
        notebook.fill(0, f"n = {n}")
    notebook.page.reload()
    expect(notebook.editor(0)).to_have_text("n = 2")
    notebook.press("New")
    expect(name(notebook)).to_have_value("untitled 4")
    assert titles(notebook)[1:] == ["untitled 3", "untitled 2", "untitled"]


def test_the_list_renames_duplicates_downloads_and_deletes(tab: Tab) -> None:
    notebook = tab()
    notebook.press("New")
    write(notebook, "plan", "plan = 1")
    notebook.press("New")
    write(notebook, "other", "other = 2")
    dialog = kept(notebook)
    for old, new in (("plan", "better plan"), ("other", "present")):
        act(notebook, "Rename", old)
        notebook.page.keyboard.type(new)
        notebook.page.keyboard.press("Enter")
        expect(dialog.get_by_role("button", name=new, exact=True)).to_be_visible()
    expect(name(notebook)).to_have_value("present")
    act(notebook, "Rename", "present")
    notebook.page.keyboard.type("nothing")
    notebook.page.keyboard.press("Escape")
    act(notebook, "Duplicate", "better plan")
    expect(dialog.get_by_role("button", name="better plan (copy)", exact=True)).to_be_visible()
    with notebook.page.expect_download() as download:
        act(notebook, "Download", "better plan")
    assert download.value.suggested_filename == "better plan.ipynb"
    saved = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert saved["cells"][0]["source"] == ["plan = 1"]
    assert titles(notebook) == ["better plan (copy)", "present", "better plan"]

    act(notebook, "Delete", "better plan")
    dialog.get_by_role("button", name="Undo").click()
    expect(dialog.get_by_role("button", name="better plan", exact=True)).to_be_visible()
    act(notebook, "Delete", "better plan")
    act(notebook, "Delete", "present")  # the open notebook
    expect(dialog.get_by_role("button", name="present", exact=True)).to_have_count(0)
    notebook.page.reload()
    expect(notebook.cells).to_have_count(1)
    assert "better plan" not in titles(notebook)
    kept(notebook).get_by_text("Deleted", exact=True).click()
    for title in ("better plan", "present"):
        act(notebook, "Bring back", title)
        expect(dialog.get_by_role("button", name=title, exact=True)).to_be_visible()
    open_kept(notebook, "present")
    expect(notebook.editor(0)).to_have_text("other = 2")


# What a browser does that keeps a page in memory, and shows it again at "Back".
_LEAVE = "dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))"
_RETURN = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"


def test_two_tabs_lose_nothing_of_one_notebook(tab: Tab) -> None:
    first = tab()
    first.press("New")
    write(first, "plan", "first = 1")
    first.wait_kept()
    second = tab()
    expect(second.messages).to_contain_text("“plan” is open in another tab.")
    second.messages.get_by_role("button", name="Open a copy").click()
    expect(name(second)).to_have_value("plan (copy)")
    for n in range(3):  # alternating, faster than they are stored
        second.fill(0, f"second = {n}")
        first.fill(0, f"first = {n}")
    name(second).fill("plan")
    name(second).press("Enter")
    expect(second.messages.last).to_contain_text("Another notebook is named “plan”")
    name(first).fill("plan 2")
    name(first).press("Enter")
    expect(name(first)).to_have_value("plan 2 2")
    for notebook, source in ((second, "second = 2"), (first, "first = 2")):
        notebook.wait_kept()
        notebook.page.reload()
        expect(notebook.editor(0)).to_have_text(source)

    # The second tab's list becomes older than what the first tab does.
    first.page.goto("about:blank")
    dialog = kept(second)
    expect(dialog.get_by_role("button", name="Delete “plan 2 2”")).to_be_enabled()
    first.page.go_back()
    expect(first.editor(0)).to_have_text("first = 2")
    act(second, "Delete", "plan 2 2")
    expect(second.messages.last).to_contain_text("the notebook is open in another tab")
    first.press("New")
    act(first, "Delete", "plan 2 2")
    deleted = kept(second).locator("details")
    deleted.locator("summary").click()
    kept(first).get_by_role("button", name="Undo").click()
    expect(kept(first).get_by_role("button", name="plan 2 2", exact=True)).to_be_enabled()
    deleted.get_by_role("button", name="Delete for good “plan 2 2”").click()
    expect(second.messages.last).to_contain_text("the notebook was brought back in another tab")
    open_kept(first, "plan 2 2")
    expect(first.editor(0)).to_have_text("first = 2")

    # A page that the browser kept in memory is not older than what another tab stored meanwhile.
    first.page.evaluate(_LEAVE)
    open_kept(second, "plan 2 2")
    second.fill(0, "newer = 3")
    second.wait_kept()
    second.page.close()
    first.page.evaluate(_RETURN)
    expect(first.editor(0)).to_have_text("newer = 3")


@pytest.mark.all
def test_each_tab_has_its_own_notebook_and_all_are_stored(
    tab: Tab, context: BrowserContext
) -> None:
    first = tab()
    first.press("New")
    write(first, "one", "first_tab = 1")
    first.wait_kept()
    second = tab()
    second.press("New")
    write(second, "two", "second_tab = 2")
    second.wait_kept()
    # A notebook open in another tab cannot be overwritten.
    row = kept(second).locator("li", has_text="open in another tab")
    expect(row.get_by_role("button", name="one", exact=True)).to_be_disabled()
    expect(row.get_by_role("button", name="Delete “one”")).to_be_disabled()
    second.page.keyboard.press("Escape")

    # The browser copies a tab's sessionStorage into tabs that it opens or duplicates.
    with context.expect_page() as opened:
        first.page.evaluate("() => { window.open('about:blank'); }")
    copy = tab(opened.value)
    expect(name(copy)).to_have_value("one (copy)")
    expect(copy.editor(0)).to_have_text("first_tab = 1")
    expect(copy.messages).to_contain_text("is open in another tab")
    copy.fill(0, "copied_tab = 3")
    copy.wait_kept()
    contents = {first: "first_tab = 1", second: "second_tab = 2", copy: "copied_tab = 3"}
    for _ in range(2):
        for notebook, source in contents.items():
            notebook.page.reload()
            expect(notebook.editor(0)).to_have_text(source)

    for notebook in (copy, first, second):
        notebook.page.close()
    last = tab()
    expect(last.editor(0)).to_have_text("copied_tab = 3")  # loaded last
    assert set(titles(last)) == {"one", "two", "one (copy)"}
    for title, source in (("one", "first_tab = 1"), ("two", "second_tab = 2")):
        open_kept(last, title)
        expect(last.editor(0)).to_have_text(source)


@pytest.mark.all
def test_leaving_a_large_notebook_right_after_typing_loses_nothing(tab: Tab) -> None:
    """It is too large for the storage that can be written before the page is gone."""
    notebook = tab()
    file = file_of("large = 1", "large.ipynb")
    cells = json.loads(file["buffer"])
    cells["cells"][0]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "many words " * 700_000}
    ]
    with notebook.page.expect_file_chooser() as chosen:
        notebook.press("Open")
    chosen.value.set_files({**file, "buffer": json.dumps(cells).encode()})
    expect(name(notebook)).to_have_value("large")
    notebook.wait_kept()
    notebook.editor(0).click()
    notebook.page.keyboard.press("Control+End")
    notebook.page.keyboard.type("23")
    notebook.page.reload()
    expect(notebook.editor(0)).to_have_text("large = 123")


def test_a_torn_entry_of_a_tab_that_was_left_hides_nothing(tab: Tab) -> None:
    notebook = tab()
    notebook.press("New")
    write(notebook, "whole", "whole = 1")
    notebook.wait_kept()
    left = {"id": "left", "title": "left behind", "saved": 1}
    left["notebook"] = file_of("left = 2", "")["buffer"].decode()
    entries = {"a": '{"half": ', "b": "null", "c": '{"id": "c", "saved": 1}', "d": json.dumps(left)}
    notebook.page.evaluate(
        """(entries) => {
          for (const [id, text] of Object.entries(entries)) {
            localStorage.setItem(`browsergpu-left:${id}`, text);
          }
        }""",
        entries,
    )
    notebook.page.reload()
    expect(notebook.editor(0)).to_have_text("whole = 1")
    expect(notebook.messages).to_have_count(0)
    assert titles(notebook) == ["whole", "left behind"]
    open_kept(notebook, "left behind")
    expect(notebook.editor(0)).to_have_text("left = 2")


# A stand-in for a file on disk: the browser's own file, without the dialog that selects it.
_PICKER = """
globalThis.onDisk = async () => {
  const folder = await navigator.storage.getDirectory();
  return folder.getFileHandle("on disk.ipynb", { create: true });
};
globalThis.showOpenFilePicker = async () => [await onDisk()];
globalThis.writeDisk = async (text) => {
  const writable = await (await onDisk()).createWritable();
  await writable.write(text);
  await writable.close();
};
"""
_READ = "async () => (await (await onDisk()).getFile()).text()"


def test_control_s_keeps_the_notebook_and_writes_the_file_that_it_came_from(
    tab: Tab, context: BrowserContext
) -> None:
    context.add_init_script(_PICKER)
    notebook = tab()
    downloads: list[Any] = []
    notebook.page.on("download", lambda download: downloads.append(download))

    def on_disk() -> list[str]:
        return json.loads(notebook.page.evaluate(_READ))["cells"][0]["source"]

    notebook.press("New")
    notebook.fill(0, "nowhere = 1")
    notebook.page.keyboard.press("Control+s")
    expect(notebook.page.locator("#announcements")).to_contain_text("kept in this browser")
    assert notebook.page.evaluate("navigator.storage.persisted()") in (True, False)

    content = file_of("from_disk = 1", "")["buffer"].decode()
    notebook.page.evaluate("(text) => writeDisk(text)", content)
    notebook.close_messages()
    notebook.press("Open")
    expect(name(notebook)).to_have_value("on disk")
    notebook.fill(0, "changed = 2")
    notebook.page.keyboard.press("Control+s")
    expect(notebook.messages.filter(has_text="Saved to on disk.ipynb")).to_be_visible()
    assert on_disk() == ["changed = 2"]

    # The file is still known after a reload,
    notebook.page.reload()
    expect(notebook.editor(0)).to_have_text("changed = 2")
    notebook.fill(0, "again = 3")
    notebook.press("Save")
    expect(notebook.messages.filter(has_text="Saved to on disk.ipynb")).to_be_visible()
    assert on_disk() == ["again = 3"]

    # and changes by another program are not overwritten without asking.
    notebook.page.evaluate("(text) => writeDisk(text)", content)
    notebook.close_messages()
    notebook.fill(0, "mine = 4")
    notebook.page.keyboard.press("Control+s")
    message = notebook.messages.filter(has_text="changed by another program")
    expect(message).to_be_visible()
    assert on_disk() == ["from_disk = 1"]
    message.get_by_role("button", name="Overwrite it").click()
    expect(notebook.messages.filter(has_text="Saved to on disk.ipynb")).to_be_visible()
    assert on_disk() == ["mine = 4"]
    assert downloads == []
