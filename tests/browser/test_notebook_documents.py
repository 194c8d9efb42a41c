"""Notebooks: reload, open, save, and files that cannot be opened."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from harness.notebook import NotebookPage
from playwright.sync_api import expect

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "script.ipynb"


def open_file(notebook: NotebookPage, name: str, content: str) -> None:
    """Choose a file in the dialog of the Open button."""
    with notebook.page.expect_file_chooser() as chosen:
        notebook.press("Open")
    chosen.value.set_files({"name": name, "mimeType": "", "buffer": content.encode()})


RICH = {
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Hello\n", "text"]},
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {"tags": ["mine"]},
            "execution_count": 7,
            "source": ["x = 1\n", "x"],
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]},
                {
                    "output_type": "display_data",
                    "data": {"image/png": PNG, "text/plain": ["<picture>"]},
                    "metadata": {"image/png": {"width": 10}},
                },
                {
                    "output_type": "display_data",
                    "data": {"image/svg+xml": ["<svg xmlns='http://www.w3.org/2000/svg'/>"]},
                    "metadata": {},
                },
                {
                    "output_type": "execute_result",
                    "execution_count": 7,
                    "data": {"text/html": ["<b>1</b>"], "text/plain": ["1"]},
                    "metadata": {},
                },
                {
                    "output_type": "error",
                    "ename": "ValueError",
                    "evalue": "no",
                    "traceback": ["\u001b[31mTraceback\u001b[0m", "ValueError: no"],
                },
            ],
        },
        {"cell_type": "raw", "id": "c", "metadata": {}, "source": ["as it is"]},
    ],
    "metadata": {"authors": [{"name": "A. Person"}]},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def test_a_notebook_survives_opening_and_saving(notebook: NotebookPage) -> None:
    open_file(notebook, "rich.ipynb", json.dumps(RICH))
    expect(notebook.cells).to_have_count(3)
    expect(notebook.cell(0).locator("h1")).to_have_text("Hello")
    output = notebook.output(1)
    expect(output.locator(".stdout")).to_have_text("one\ntwo\n")
    expect(output.locator("img[alt='<picture>']")).to_be_visible()
    expect(output.locator(".output-html b")).to_have_text("1")
    expect(output.locator(".output-traceback")).to_have_text("Traceback\nValueError: no")
    expect(output.locator(".output-traceback .ansi-ink-1")).to_have_text("Traceback")
    name, saved = notebook.save_file()
    assert name == "rich.ipynb"
    assert saved["cells"] == RICH["cells"]
    assert saved["metadata"]["authors"] == RICH["metadata"]["authors"]
    assert saved["metadata"]["kernelspec"]["name"] == "python3"


def test_the_notebook_of_the_examples_runs(notebook: NotebookPage) -> None:
    """tests/unit/test_native.py runs it in Jupyter's own kernel."""
    open_file(notebook, "script.ipynb", SCRIPT.read_text(encoding="utf-8"))
    expect(notebook.page.locator(".title-input")).to_have_value("script")
    notebook.close_messages()
    notebook.press("Run all")
    notebook.wait_finished()
    expect(notebook.page.locator(".output-traceback")).to_have_count(0)
    expect(notebook.page.locator(".cell-outputs").last).to_contain_text("of 176 is left")


def test_an_opened_notebook_keeps_the_order_of_its_keys(notebook: NotebookPage) -> None:
    """Keys keep their order, including other programs' keys, so version control shows no change."""
    cell = {
        "source": ["1 + 1\n", '{"10": 1,"2": 2}'], "id": "z", "outputs": [
            {"text": ["2\n"], "name": "stdout", "output_type": "stream"},
        ], "of_another_program": {"b": 1, "a": 2}, "metadata": {"y": 1, "10": {"3": 1, "2": 2}},
        "execution_count": 3, "cell_type": "code",
    }  # fmt: skip
    text = json.dumps(
        {
            "nbformat_minor": 5,
            "nbformat": 4,
            "metadata": {"z": 1, "language_info": {"name": "python"}, "kernelspec": {}, "0": 1},
            "mine": [1],
            "7": ['{"10": 1, "2": 2}', {"1": "\u00002", "0": "\0"}],
            "cells": [cell],
        },
        indent=1,
        ensure_ascii=False,
    )
    open_file(notebook, "order.ipynb", text)
    expect(notebook.editor(0)).to_have_text('1 + 1{"10": 1,"2": 2}')
    with notebook.page.expect_download() as download:
        notebook.share("Download notebook")
    assert Path(download.value.path()).read_text(encoding="utf-8") == text + "\n"


def test_elements_of_an_output_are_not_taken_for_the_pages(notebook: NotebookPage) -> None:
    names = ("cell", "toasts", "announcements", "notebook-page")
    html = "".join(f'<b id="{name}">{name}</b>' for name in names)
    output = {"output_type": "display_data", "data": {"text/html": html}, "metadata": {}}
    cells = [{**RICH["cells"][1], "outputs": [output]}]
    open_file(notebook, "ids.ipynb", json.dumps({**RICH, "cells": cells}))
    expect(notebook.output(0)).to_contain_text("cell")
    expect(notebook.messages).to_have_count(1)
    notebook.press("Code")
    expect(notebook.cells).to_have_count(2)
    notebook.messages.get_by_role("button", name=re.compile("Back to “untitled")).click()
    expect(notebook.output(0)).to_be_empty()


def test_a_cell_deleted_while_it_runs_comes_back_with_its_output(notebook: NotebookPage) -> None:
    notebook.start(
        "import asyncio\ngate = asyncio.Event()\nprint('before')\n"
        "await gate.wait()\nprint('after')\n'done'"
    )
    expect(notebook.output(0)).to_have_text("before")
    notebook.cell(0).hover()
    notebook.cell(0).get_by_role("button", name="Delete this cell").click()
    expect(notebook.cells).to_have_count(1)
    notebook.page.evaluate("void 0")
    notebook.press("Interrupt")
    notebook.wait_idle()
    notebook.messages.get_by_role("button", name="Undo").click()
    expect(notebook.output(0)).to_contain_text("before")
    expect(notebook.output(0)).to_contain_text("KeyboardInterrupt")
    assert notebook.source(0).startswith("import asyncio")


def test_a_cell_deleted_while_it_runs_comes_to_its_end(notebook: NotebookPage) -> None:
    notebook.start(
        "import asyncio, os\nprint('before')\n"
        "while not os.path.exists('go.txt'):\n    await asyncio.sleep(0.01)\n"
        "os.remove('go.txt')\nprint('after')\n'done'"
    )
    expect(notebook.output(0)).to_have_text("before")
    notebook.cell(0).focus()
    notebook.page.keyboard.press("d")
    notebook.page.keyboard.press("d")
    expect(notebook.cells).to_have_count(1)
    notebook.drop([{"name": "go.txt", "type": "", "bytes": [1]}])
    notebook.wait_idle()
    notebook.page.keyboard.press("z")
    expect(notebook.output(0).locator("pre")).to_have_text(["before\nafter\n", "'done'"])
    expect(notebook.cell(0)).to_have_attribute("aria-busy", "false")
    expect(notebook.cell(0).locator(".cell-timing")).to_be_visible()


def test_a_notebook_whose_kernel_was_passed_on_keeps_the_output_of_running_cells(
    notebook: NotebookPage,
) -> None:
    notebook.page.get_by_label("Notebook name").fill("left")
    notebook.start("import asyncio\nprint('before')\ngate = asyncio.Event()\nawait gate.wait()")
    expect(notebook.output(0)).to_have_text("before")
    notebook.new()
    notebook.press("Interrupt")
    notebook.wait_idle()
    notebook.press("Notebooks")
    notebook.page.get_by_role("dialog").get_by_role("button", name="left", exact=True).click()
    expect(notebook.output(0)).to_contain_text("before")
    expect(notebook.output(0)).to_contain_text("KeyboardInterrupt")


def test_cells_are_saved_with_their_outputs(notebook: NotebookPage) -> None:
    notebook.page.get_by_label("Notebook name").fill("my work")
    notebook.run("print('out')\ndisplay('shown')\n'result'")
    name, saved = notebook.save_file()
    assert name == "my work.ipynb"
    cell = saved["cells"][0]
    assert cell["source"] == ["print('out')\n", "display('shown')\n", "'result'"]
    assert [output["output_type"] for output in cell["outputs"]] == [
        "stream",
        "display_data",
        "execute_result",
    ]
    assert cell["outputs"][2]["data"]["text/plain"] == ["'result'"]
    assert cell["outputs"][2]["execution_count"] == cell["execution_count"]


@pytest.mark.firefox
def test_the_last_notebook_survives_a_reload(notebook: NotebookPage) -> None:
    notebook.page.get_by_label("Notebook name").fill("kept")
    notebook.run("'an output'")
    notebook.fill(1, "not_run_yet = 1")
    notebook.wait_kept()
    notebook.page.reload()
    expect(notebook.output(0)).to_have_text("'an output'")
    assert notebook.sources() == ["'an output'", "not_run_yet = 1"]
    expect(notebook.page.get_by_label("Notebook name")).to_have_value("kept")
    notebook.wait_idle()
    expect(notebook.run("1 + 1")).to_have_text("2")


# Whether the browser's storage has the shown notebook with the given text.
_STORED = """async (text) => {
  const opening = indexedDB.open("browsergpu-notebooks");
  const database = await new Promise((resolve, reject) => {
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = reject;
  });
  const store = database.transaction("notebooks").objectStore("notebooks");
  const asking = store.get(sessionStorage.getItem("browsergpu-record"));
  await new Promise((resolve) => { asking.onsuccess = resolve; });
  database.close();
  return asking.result?.notebook.includes(text) ?? false;
}"""


def test_text_typed_during_endless_output_is_saved(
    notebook: NotebookPage,
) -> None:
    printing = notebook.start(
        "import time\ni = 0\nwhile True:\n    print('line', i)\n    i += 1\n    time.sleep(.1)"
    )
    expect(notebook.output(printing)).to_contain_text("line 3")
    notebook.page.keyboard.type("typed_meanwhile = 1")
    notebook.page.wait_for_function(_STORED, arg="typed_meanwhile = 1", polling=500)
    expect(notebook.cell(printing)).to_have_attribute("data-state", "running")
    notebook.press("Interrupt")
    notebook.wait_idle()


def test_leaving_right_after_typing_loses_nothing(notebook: NotebookPage) -> None:
    notebook.editor(0).click()
    notebook.page.keyboard.type("typed_last = 1")
    notebook.page.reload()
    expect(notebook.editor(0)).to_have_text("typed_last = 1")
    notebook.wait_idle()


def test_the_notebook_before_can_be_brought_back(notebook: NotebookPage) -> None:
    notebook.page.get_by_label("Notebook name").fill("precious")
    notebook.run("'unsaved work'")
    open_file(notebook, "other.ipynb", json.dumps(RICH))
    expect(notebook.cells).to_have_count(3)
    notebook.messages.get_by_role("button", name="Back to “precious”").click()
    expect(notebook.output(0)).to_have_text("'unsaved work'")
    expect(notebook.page.get_by_label("Notebook name")).to_have_value("precious")


BROKEN = {
    "not JSON": ("{ broken", "not JSON"),
    "not a notebook": ('{"some": "json"}', "“nbformat” is missing"),
    "too old": ('{"nbformat": 3, "worksheets": []}', "nbformat 3"),
    "without cells": ('{"nbformat": 4}', "no list of cells"),
    "a strange cell": ('{"nbformat": 4, "cells": [{"cell_type": "poem"}]}', "“poem”"),
    "a strange stream": (
        '{"nbformat": 4, "cells": [{"cell_type": "code", "source": "", "outputs": '
        '[{"output_type": "stream", "name": "my stream", "text": "x"}]}]}',
        "“my stream”",
    ),
    "a strange traceback": (
        '{"nbformat": 4, "cells": [{"cell_type": "code", "source": "", "outputs": '
        '[{"output_type": "error", "ename": "E", "evalue": "", "traceback": "text"}]}]}',
        "traceback",
    ),
    "a strange source": (
        '{"nbformat": 4, "cells": [{"cell_type": "code", "source": 5}]}',
        "cell 1",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_bad_file_is_refused_and_the_work_stays(notebook: NotebookPage, kind: str) -> None:
    content, reason = BROKEN[kind]
    notebook.fill(0, "my_work = 1")
    open_file(notebook, "bad.ipynb", content)
    message = notebook.messages.filter(has_text="bad.ipynb could not be opened")
    expect(message).to_contain_text(reason)
    assert notebook.sources() == ["my_work = 1"]


def test_a_dropped_notebook_is_opened(notebook: NotebookPage) -> None:
    content = json.dumps(RICH).encode()
    notebook.drop([{"name": "dropped.ipynb", "type": "", "bytes": list(content)}])
    expect(notebook.cells).to_have_count(3)
    expect(notebook.page.get_by_label("Notebook name")).to_have_value("dropped")


def test_a_damaged_store_is_reported_and_can_be_downloaded(notebook: NotebookPage) -> None:
    notebook.fill(0, "before = 1")
    notebook.wait_kept()
    notebook.page.evaluate(
        """() => new Promise((resolve, reject) => {
          const opening = indexedDB.open("browsergpu-notebooks");
          opening.onerror = reject;
          opening.onsuccess = () => {
            const id = sessionStorage.getItem("browsergpu-record");
            const record = { id, saved: Date.now(), title: "torn", notebook: '{"half": ' };
            const transaction = opening.result.transaction("notebooks", "readwrite");
            transaction.objectStore("notebooks").put(record);
            transaction.oncomplete = () => { opening.result.close(); resolve(); };
          };
        })"""
    )
    notebook.page.reload()
    expect(notebook.messages.filter(has_text="could not be opened")).to_contain_text("not JSON")
    with notebook.page.expect_download() as download:
        notebook.messages.get_by_role("button", name="Download").click()
    assert Path(download.value.path()).read_text() == '{"half": '
    expect(notebook.cell(0)).to_contain_text("Python on your GPU")
    notebook.wait_idle()
