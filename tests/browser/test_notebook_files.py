"""The browser stores the files of the kernel's home folder: uploads, and files of Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage, hold_kernels
from playwright.sync_api import Locator, expect

TEXT = {"name": "notes.txt", "type": "text/plain", "bytes": list(b"hello from a file")}


def listed(notebook: NotebookPage) -> Locator:
    return notebook.page.get_by_role("list", name="Files in the kernel")


def test_a_dropped_file_can_be_read(notebook: NotebookPage) -> None:
    notebook.drop([TEXT])
    expect(row(notebook, "notes.txt")).to_be_visible()
    expect(notebook.run("open('notes.txt').read()")).to_have_text("'hello from a file'")


def test_a_file_that_takes_anothers_place_can_be_taken_back(notebook: NotebookPage) -> None:
    notebook.run("from pathlib import Path\nPath('mine.txt').write_text('an hour of work')")
    expect(row(notebook, "mine.txt")).to_contain_text("15 B")
    notebook.drop(
        [{"name": name, "type": "", "bytes": list(b"other")} for name in ("mine.txt", "own.txt")]
    )
    message = notebook.messages.filter(has_text="mine.txt was replaced")
    expect(row(notebook, "mine.txt")).to_contain_text("5 B")
    message.get_by_role("button", name="Undo").click()
    expect(row(notebook, "mine.txt")).to_contain_text("15 B")
    expect(notebook.run("Path('mine.txt').read_text()")).to_have_text("'an hour of work'")
    expect(notebook.run("Path('own.txt').read_text()")).to_have_text("'other'")
    # Several replacements share one message.
    notebook.close_messages()
    notebook.drop(
        [{"name": name, "type": "", "bytes": list(b"again")} for name in ("mine.txt", "own.txt")]
    )
    notebook.messages.filter(has_text="2 files were replaced").get_by_role(
        "button", name="Undo"
    ).click()
    expect(row(notebook, "mine.txt")).to_contain_text("15 B")
    told = notebook.run(
        "texts = [Path(name).read_text() for name in ('mine.txt', 'own.txt')]\n"
        "for name in ('mine.txt', 'own.txt'): Path(name).unlink()\ntexts"
    )
    expect(told).to_have_text("['an hour of work', 'other']")


def test_a_chosen_image_becomes_an_array(notebook: NotebookPage, lab: Lab) -> None:
    picture = notebook.page.request.get(f"{lab.site_url}/photos/coffee.jpg").body()
    with notebook.page.expect_file_chooser() as chosen:
        notebook.page.get_by_role("button", name="choose files").click()
    chosen.value.set_files({"name": "cup.jpg", "mimeType": "image/jpeg", "buffer": picture})
    expect(row(notebook, "cup.jpg")).to_be_visible()
    notebook.page.get_by_role("button", name="Read it in a cell: cup.jpg").click()
    notebook.page.keyboard.press("Control+Enter")
    notebook.wait_finished()
    expect(notebook.output(1)).to_have_text("(341, 512, 3)")


def test_a_file_dropped_while_python_computes_comes_afterwards(notebook: NotebookPage) -> None:
    notebook.start("while True: pass")
    notebook.wait_state("busy")
    notebook.drop([{"name": "late.txt", "type": "", "bytes": [52, 50]}])
    expect(listed(notebook)).to_contain_text("late.txt waits for Python")
    notebook.press("Interrupt")
    expect(row(notebook, "late.txt")).to_be_visible()
    expect(notebook.run("open('late.txt').read()")).to_have_text("'42'")


def test_a_name_cannot_lead_out_of_the_folder(notebook: NotebookPage) -> None:
    notebook.drop([{"name": "../../etc/evil", "type": "", "bytes": [1]}])
    expect(row(notebook, "evil")).to_be_visible()
    assert "[]" in notebook.run("import glob\nglob.glob('/etc/evil*')").inner_text()


def test_files_are_there_again_after_a_restart(notebook: NotebookPage) -> None:
    notebook.drop([TEXT])
    expect(row(notebook, "notes.txt")).to_be_visible()
    notebook.restart()
    notebook.wait_idle()
    expect(notebook.run("len(open('notes.txt').read())")).to_have_text("17")


@pytest.mark.all
def test_a_file_that_was_asked_for_while_the_kernel_loads_comes_after_a_restart(
    notebook: NotebookPage,
) -> None:
    notebook.drop([TEXT])
    expect(row(notebook, "notes.txt")).to_contain_text("17 B")
    hold_kernels(notebook.page)
    notebook.restart()
    notebook.wait_state("loading")
    with notebook.page.expect_download() as download:
        row(notebook, "notes.txt").get_by_role("button", name="Download").click()
        notebook.page.unroute("**/pyodide/**")
        notebook.restart()
    assert Path(download.value.path()).read_bytes() == bytes(TEXT["bytes"])
    notebook.wait_idle()


# Returns the folder as the browser stored it.
_KEPT = """async () => {
  const read = async (folder) => {
    const found = {};
    for await (const [name, handle] of folder.entries()) {
      found[name] = handle.kind === "file"
        ? await (await handle.getFile()).text() : await read(handle);
    }
    return found;
  };
  const root = await navigator.storage.getDirectory();
  const { evil, "cup.jpg": _cup, "late.txt": _late, ...rest } = await read(
    await root.getDirectoryHandle("browsergpu-files"));
  return rest;
}"""


def row(notebook: NotebookPage, path: str) -> Locator:
    """Return the row of a file that Python has."""
    shown_path = notebook.page.get_by_title(f"/home/pyodide/{path}", exact=True)
    return listed(notebook).locator("li", has=shown_path)


def downloaded(notebook: NotebookPage, path: str) -> bytes:
    """Return the content that a file's Download button gives."""
    with notebook.page.expect_download() as download:
        row(notebook, path).get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == path.rpartition("/")[2]
    return Path(download.value.path()).read_bytes()


def test_files_that_python_writes_are_stored_and_listed(notebook: NotebookPage) -> None:
    notebook.drop([TEXT])
    expect(row(notebook, "notes.txt")).to_contain_text("17 B")
    notebook.run(
        "from pathlib import Path\n"
        "Path('notes.txt').write_text('changed by Python')\n"
        "Path('out/deep').mkdir(parents=True)\nPath('out/deep/numbers.bin').write_bytes(bytes(1500))\n"
        "Path('gone.txt').write_text('gone'); Path('gone.txt').unlink()\n"
        "Path('.hidden').write_text('a setting')"
    )
    expect(row(notebook, "out/deep/numbers.bin")).to_contain_text("1.5 kB")
    expect(listed(notebook)).not_to_contain_text("hidden")
    notebook.page.reload()
    notebook.wait_idle()
    found = notebook.run(
        "import os\nsorted(os.path.join(*one) for folder, _, names in os.walk('out') "
        "for one in [(folder, name) for name in names]), open('notes.txt').read()"
    )
    expect(found).to_have_text("(['out/deep/numbers.bin'], 'changed by Python')")
    assert downloaded(notebook, "notes.txt") == b"changed by Python"
    assert downloaded(notebook, "out/deep/numbers.bin") == bytes(1500)

    # Two writes within one second: the file that changes again is stored with its last content.
    notebook.run("for n in range(50): Path('often.txt').write_text(f'{n:02}')" .replace(
        "for", "from pathlib import Path\nfor", 1))  # fmt: skip
    row(notebook, "out/deep/numbers.bin").get_by_role("button", name="Delete").click()
    expect(row(notebook, "out/deep/numbers.bin")).to_have_count(0)
    row(notebook, "notes.txt").get_by_role("button", name="Delete").click()
    expect(row(notebook, "notes.txt")).to_have_count(0)
    message = notebook.messages.filter(has_text="notes.txt is deleted")
    message.get_by_role("button", name="Undo").click()
    expect(row(notebook, "notes.txt")).to_be_visible()
    with notebook.page.expect_download() as download:
        notebook.run("import browsergpu\nbrowsergpu.download('notes.txt', 'mine.txt')")
    assert download.value.suggested_filename == "mine.txt"
    assert Path(download.value.path()).read_bytes() == b"changed by Python"
    expect(notebook.run("browsergpu.download('nothing')")).to_contain_text("FileNotFoundError")
    expect(notebook.run("browsergpu.download('notes.txt', 'a/b')")).to_contain_text(
        "without folders"
    )
    expect(row(notebook, "notes.txt")).to_be_visible()
    assert notebook.page.evaluate(_KEPT) == {
        "notes.txt": "changed by Python", "often.txt": "49", "out": {"deep": {}},
    }  # fmt: skip


def test_a_trace_of_a_profile_can_be_had(notebook: NotebookPage) -> None:
    notebook.wait_idle()
    told = notebook.run(
        "import browsergpu as bg\nx = bg.ones(9)\nwith bg.profile() as p:\n"
        "    y = (x + 1).tolist()\np.save_trace()"
    )
    expect(told).to_have_text("'trace.json'")
    assert "traceEvents" in json.loads(downloaded(notebook, "trace.json"))


@pytest.mark.all
def test_a_run_that_never_ends_loses_no_file(notebook: NotebookPage) -> None:
    """A waiting run's files are stored, and so are files that another tab wrote meanwhile."""
    notebook.start(
        "import asyncio\nopen('early.txt', 'w').write('written while it runs')\n"
        "await asyncio.Event().wait()"
    )
    expect(row(notebook, "early.txt")).to_be_visible()
    other = NotebookPage(notebook.page.context.new_page(), notebook.url)
    other.open()
    expect(row(other, "early.txt")).to_be_visible()
    other.new()
    other.run("open('theirs.txt', 'w').write('of another tab')")
    other.page.close()
    notebook.restart()
    notebook.wait_idle()
    assert downloaded(notebook, "early.txt") == b"written while it runs"
    assert downloaded(notebook, "theirs.txt") == b"of another tab"


@pytest.mark.all
def test_a_browser_that_keeps_no_files_says_so(notebook: NotebookPage) -> None:
    """The browser refuses storage, as in some private windows."""
    page = notebook.page.context.new_page()
    page.route(
        "**/kernel/home-folder.js",
        lambda route: route.fulfill(
            body=route.fetch().text().replace("navigator.storage.getDirectory()", "null.refused"),
            content_type="text/javascript",
        ),
    )
    other = NotebookPage(page, notebook.url)
    other.open()
    other.drop([TEXT])
    expect(other.messages.filter(has_text="not kept in this browser")).to_be_visible()
    expect(row(other, "notes.txt")).to_contain_text("not kept")
    other.restart()
    other.wait_idle()
    expect(other.run("len(open('notes.txt').read())")).to_have_text("17")
    page.close()
