"""Files that a person drops or chooses land in the kernel's file system."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage, open_notebook
from harness.problems import assert_none
from playwright.sync_api import Locator, expect


@pytest.fixture(scope="module")
def shared(lab: Lab) -> Iterator[tuple[NotebookPage, list[str]]]:
    with open_notebook(lab) as opened:
        yield opened


@pytest.fixture
def notebook(shared: tuple[NotebookPage, list[str]]) -> Iterator[NotebookPage]:
    """An empty notebook; the kernel is shared by the module."""
    page, problems = shared
    page.fresh()
    problems.clear()
    yield page
    assert_none(problems)


TEXT = {"name": "notes.txt", "type": "text/plain", "bytes": list(b"hello from a file")}


def listed(notebook: NotebookPage) -> Locator:
    return notebook.page.get_by_role("list", name="Files in the kernel")


def test_a_dropped_file_can_be_read(notebook: NotebookPage) -> None:
    notebook.drop([TEXT])
    expect(listed(notebook)).to_contain_text("/home/pyodide/notes.txt")
    expect(notebook.run("open('notes.txt').read()")).to_have_text("'hello from a file'")


def test_a_chosen_picture_becomes_an_array(notebook: NotebookPage, lab: Lab) -> None:
    picture = notebook.page.request.get(f"{lab.site_url}/photos/coffee.jpg").body()
    with notebook.page.expect_file_chooser() as chosen:
        notebook.page.get_by_role("button", name="choose files").click()
    chosen.value.set_files({"name": "cup.jpg", "mimeType": "image/jpeg", "buffer": picture})
    expect(listed(notebook)).to_contain_text("/home/pyodide/cup.jpg")
    notebook.page.get_by_role("button", name="Read cup.jpg in a cell").click()
    notebook.page.keyboard.press("Control+Enter")
    notebook.wait_finished()
    expect(notebook.output(1)).to_have_text("(341, 512, 3)")


def test_a_file_dropped_while_python_computes_comes_afterwards(notebook: NotebookPage) -> None:
    notebook.start("while True: pass")
    notebook.wait_state("busy")
    notebook.drop([{"name": "late.txt", "type": "", "bytes": [52, 50]}])
    expect(listed(notebook)).to_contain_text("late.txt waits for Python")
    notebook.press("Interrupt")
    expect(listed(notebook)).to_contain_text("/home/pyodide/late.txt")
    expect(notebook.run("open('late.txt').read()")).to_have_text("'42'")


def test_a_name_cannot_lead_out_of_the_folder(notebook: NotebookPage) -> None:
    notebook.drop([{"name": "../../etc/evil", "type": "", "bytes": [1]}])
    expect(listed(notebook)).to_contain_text("/home/pyodide/")
    assert "[]" in notebook.run("import glob\nglob.glob('/etc/evil*')").inner_text()


def test_files_are_there_again_after_a_restart(notebook: NotebookPage) -> None:
    notebook.drop([TEXT])
    expect(listed(notebook)).to_contain_text("/home/pyodide/notes.txt")
    notebook.press("Restart")
    notebook.wait_idle()
    expect(notebook.run("len(open('notes.txt').read())")).to_have_text("17")
