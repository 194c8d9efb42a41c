"""Notebooks from addresses and links, and pages made from notebooks.

None of it needs Python: no kernel starts here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage, hold_kernels
from harness.patience import GLANCE_MS
from harness.problems import watch
from playwright.sync_api import BrowserContext, Route, expect

Visit = Callable[..., NotebookPage]

PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
ACTIVE = "<p>of a stranger</p><script>parent.acted = document.title = 'acted'</script>"


def output(mime: str, value: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {mime: value}, "metadata": {}}


def notebook_text(*outputs: dict[str, Any], source: str = "total = 1 + 1\ntotal") -> str:
    cells = [
        {
            "cell_type": "markdown",
            "id": "a",
            "metadata": {},
            "source": "# Heading\n\n$x^2$ and *more*",
        },
        {
            "cell_type": "code", "id": "b", "metadata": {}, "execution_count": 7,
            "source": source, "outputs": [*outputs],
        },
    ]  # fmt: skip
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


@pytest.fixture
def context(lab: Lab) -> Iterator[BrowserContext]:
    context = lab.browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    context.set_default_timeout(GLANCE_MS)
    yield context
    context.close()


@pytest.fixture
def visit(context: BrowserContext, lab: Lab, page_problems: list[str]) -> Visit:
    """Opens the page, in a new tab, at an address that has this after its path."""

    def open_tab(rest: str = "", files: dict[str, str] | None = None) -> NotebookPage:
        page = context.new_page()
        watch(page, page_problems.append)
        hold_kernels(page)

        def answer(route: Route) -> None:
            text = (files or {}).get(route.request.url)
            headers = {"Access-Control-Allow-Origin": "*"}
            status = 404 if text is None else 200
            route.fulfill(status=status, body=text or "", headers=headers)

        page.route(re.compile("^https://"), answer)
        page.goto(f"{lab.site_url}/{rest}")
        notebook = NotebookPage(page, lab.site_url)
        expect(notebook.cells).not_to_have_count(0)
        return notebook

    return open_tab


def title(notebook: NotebookPage) -> str:
    return notebook.page.get_by_label("Notebook name").input_value()


ADDRESSES = {
    "https://github.com/me/mine/blob/main/a%20b/heat%20map.ipynb": (
        "https://raw.githubusercontent.com/me/mine/main/a%20b/heat%20map.ipynb"
    ),
    "https://github.com/me/mine/raw/v1/heat%20map.ipynb": (
        "https://raw.githubusercontent.com/me/mine/v1/heat%20map.ipynb"
    ),
    "https://example.org/files/heat%20map.ipynb": "https://example.org/files/heat%20map.ipynb",
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_notebook_opens_from_its_address(visit: Visit, address: str) -> None:
    files = {ADDRESSES[address]: notebook_text(output("text/html", ACTIVE))}
    notebook = visit(f"?notebook={address.replace('%', '%25')}", files)
    expect(notebook.cells).to_have_count(2)
    assert title(notebook) == "heat map"
    source = notebook.page.locator(".origin")
    expect(source).to_contain_text("This is a copy of a notebook from")
    expect(source.get_by_role("link")).to_have_attribute("href", address)
    # Untrusted: its scripts wait for the reader.
    expect(notebook.output(1)).to_contain_text("of a stranger")
    expect(notebook.output(1).get_by_role("button", name="Show active output")).to_be_visible()
    assert notebook.page.locator("iframe").count() == 0


def test_a_notebook_opens_from_a_gist(visit: Visit) -> None:
    gist = "0123456789abcdef0123456789abcdef"
    raw = f"https://gist.githubusercontent.com/me/{gist}/raw/long.ipynb"
    files = {
        "notes.md": {"filename": "notes.md", "content": "no notebook"},
        "long.ipynb": {"filename": "long.ipynb", "truncated": True, "raw_url": raw, "content": "{"},
    }
    answers = {
        f"https://api.github.com/gists/{gist}": json.dumps({"files": files}),
        raw: notebook_text(),
    }
    notebook = visit(f"?notebook=https://gist.github.com/me/{gist}", answers)
    expect(notebook.cells).to_have_count(2)
    assert title(notebook) == "long"


def test_a_changed_copy_outlives_a_reload(visit: Visit) -> None:
    address = "https://example.org/plan.ipynb"
    notebook = visit(f"?notebook={address}", {address: notebook_text()})
    notebook.fill(1, "mine = 3")
    notebook.wait_kept()
    assert notebook.page.evaluate("location.search") == ""
    notebook.page.reload()
    expect(notebook.editor(1)).to_have_text("mine = 3")
    expect(notebook.page.locator(".origin")).to_contain_text(address)


BAD = {
    "missing": ("https://example.org/no.ipynb", {}, "HTTP 404"),
    "no notebook": ("https://example.org/x", {"https://example.org/x": "{}"}, "nbformat"),
    "no address": ("https://", {}, "this is not a valid address"),
    "no web address": ("data:application/json,{}", {}, "https://"),
}  # fmt: skip


@pytest.mark.provokes_errors
@pytest.mark.parametrize("kind", BAD)
def test_a_notebook_that_cannot_be_had_leaves_the_page_usable(visit: Visit, kind: str) -> None:
    address, files, reason = BAD[kind]
    notebook = visit(f"?notebook={address}", files)
    expect(notebook.messages.filter(has_text="could not be opened")).to_contain_text(reason)
    expect(notebook.cell(0)).to_contain_text("Python on your GPU")
    expect(notebook.page.locator(".origin")).to_be_hidden()


def copied_link(notebook: NotebookPage) -> str:
    notebook.share("Copy link")
    expect(notebook.messages.filter(has_text="The link is copied")).to_be_visible()
    return str(notebook.page.evaluate("navigator.clipboard.readText()"))


def write(notebook: NotebookPage, name: str, source: str) -> None:
    notebook.press("New")
    expect(notebook.cells).to_have_count(1)
    notebook.close_messages()
    notebook.page.get_by_label("Notebook name").fill(name)
    notebook.fill(0, source)


def test_a_copied_link_holds_the_notebook(visit: Visit) -> None:
    mine = visit()
    write(mine, "π and & more", "'ünï' # <b>\nx = 1")
    link = copied_link(mine)
    theirs = visit(link.removeprefix(f"{mine.url}/"))
    expect(theirs.cells).to_have_count(1)
    assert title(theirs) == "π and & more 2"  # the same browser has the first
    assert theirs.sources() == ["'ünï' # <b>\nx = 1"]
    expect(theirs.page.locator(".origin")).to_contain_text("from a link")
    assert theirs.page.evaluate("location.hash") == ""


def test_a_link_that_is_followed_in_the_page_opens_beside_the_work(visit: Visit) -> None:
    notebook = visit()
    write(notebook, "shared", "shared = 1")
    link = copied_link(notebook)
    write(notebook, "work", "work = 1")
    notebook.page.evaluate("link => { location.href = link; }", link)
    expect(notebook.editor(0)).to_have_text("shared = 1")
    notebook.messages.get_by_role("button", name="Back to “work”").click()
    expect(notebook.editor(0)).to_have_text("work = 1")


def test_long_outputs_are_not_in_the_link(visit: Visit) -> None:
    address = "https://example.org/plan.ipynb"
    text = "".join(f"{n * n * 7919 % 104729:x}" for n in range(12_000))
    outputs = [{"output_type": "stream", "name": "stdout", "text": text}]
    notebook = visit(f"?notebook={address}", {address: notebook_text(*outputs)})
    assert copied_link(notebook) == f"{notebook.url}/?notebook={quote(address, safe='')}"
    notebook.close_messages()
    notebook.fill(1, "changed = 1")
    notebook.share("Copy link")
    expect(notebook.messages).to_contain_text("outputs would make the link too long")
    link = notebook.page.evaluate("navigator.clipboard.readText()")
    assert len(link) < 1000
    theirs = visit(link.removeprefix(f"{notebook.url}/"))
    expect(theirs.editor(1)).to_have_text("changed = 1")
    expect(theirs.output(1)).to_be_empty()


def test_a_cut_link_says_so(visit: Visit) -> None:
    mine = visit()
    write(mine, "plan", "x = 1")
    link = copied_link(mine)
    theirs = visit(link.removeprefix(f"{mine.url}/")[:-20])
    expect(theirs.messages.first).to_contain_text("the link is incomplete")


def test_names_are_unique_and_not_empty(visit: Visit) -> None:
    notebook = visit()
    write(notebook, "plan", "x = 1")
    notebook.wait_kept()
    write(notebook, "other", "x = 2")
    name = notebook.page.get_by_label("Notebook name")
    name.fill("plan")
    name.press("Tab")
    expect(name).to_have_value("plan 2")
    expect(notebook.messages).to_contain_text("Another notebook is named “plan”")
    name.fill("  ")
    name.press("Tab")
    expect(name).to_have_value("untitled")


EXPORTED = [
    output("text/html", "<table><tr><td>a cell of a table</td></tr></table>"),
    output("text/html", ACTIVE),
    output("image/png", PICTURE),
    output("text/latex", r"$\frac{a}{b}$"),
    {"output_type": "stream", "name": "stdout", "text": "\u001b[31mprinted\u001b[0m\n"},
    {"output_type": "error", "ename": "E", "evalue": "no", "traceback": ["E: no"]},
]


def test_a_downloaded_page_shows_the_outputs_without_scripts(
    visit: Visit, lab: Lab, tmp_path: Path
) -> None:
    address = "https://example.org/heat%20map.ipynb"
    notebook = visit(
        f"?notebook={address}", {address.replace("%2520", "%20"): notebook_text(*EXPORTED)}
    )
    with notebook.page.expect_download() as download:
        notebook.share("Download page with outputs")
    assert download.value.suggested_filename == "heat map.html"
    file = tmp_path / "page.html"
    download.value.save_as(file)
    context = lab.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    expect(page).to_have_title("heat map")
    expect(page.get_by_role("heading", name="Heading")).to_be_visible()
    expect(page.locator("math")).to_have_count(2)
    expect(page.get_by_role("cell", name="a cell of a table")).to_be_visible()
    expect(page.get_by_text("of a stranger")).to_be_visible()
    expect(page.locator("iframe")).to_have_count(0)
    expect(page.get_by_text("printed")).to_have_class(re.compile("ansi-ink-1"))
    expect(page.get_by_text("E: no")).to_be_visible()
    expect(page.locator(".cell-source")).to_have_text("total = 1 + 1\ntotal")
    expect(page.locator(".cell-source span").first).to_be_visible()
    expect(page.get_by_role("link", name="Open in the notebook")).to_be_visible()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    link = page.get_by_role("link", name="Open in the notebook").get_attribute("href")
    context.close()
    theirs = visit(str(link).removeprefix(f"{notebook.url}/"))
    expect(theirs.editor(1)).to_have_text("total = 1 + 1total")


def test_a_downloaded_page_shows_trusted_active_outputs(
    visit: Visit, lab: Lab, tmp_path: Path
) -> None:
    address = "https://example.org/active.ipynb"
    active = "<script>document.write('written by ' + 'a script')</script>"
    notebook = visit(f"?notebook={address}", {address: notebook_text(output("text/html", active))})
    notebook.output(1).get_by_role("button", name="Show active output").click()
    expect(notebook.output(1).locator("iframe")).to_be_visible()
    with notebook.page.expect_download() as download:
        notebook.share("Download page with outputs")
    file = tmp_path / "page.html"
    download.value.save_as(file)
    page = lab.browser.new_page()
    page.goto(file.as_uri())
    frame = page.locator(".cell-outputs iframe")
    expect(frame.content_frame.get_by_text("written by a script")).to_be_visible()
    expect(frame).to_have_attribute("style", re.compile("height: [1-9][0-9]px"))
    page.close()


VIEW = "application/vnd.jupyter.widget-view+json"


def view(name: str) -> dict[str, Any]:
    ids = {"model_id": name, "version_major": 2, "version_minor": 0}
    return {
        "output_type": "display_data",
        "data": {"text/plain": f"the text of {name}", VIEW: ids},
        "metadata": {},
    }


def state(name: str, module: str = "controls", **values: Any) -> dict[str, Any]:
    module = module if "-" in module else f"@jupyter-widgets/{module}"
    return {
        "model_name": f"{name}Model",
        "model_module": module,
        "model_module_version": "2.0.0",
        "state": values,
    }


PRINTED = [{"output_type": "stream", "name": "stdout", "text": "in the Output widget"}]
STATES = {
    "layout": state("Layout", "base"),
    "style": state("SliderStyle", description_width=""),
    "slider": state(
        "IntSlider",
        description="size",
        value=7,
        max=9,
        style="IPY_MODEL_style",
        layout="IPY_MODEL_layout",
    ),
    "text": state("Text", value="typed", layout="IPY_MODEL_layout"),
    "image": state("Image", format="png", layout="IPY_MODEL_layout")
    | {"buffers": [{"path": ["value"], "encoding": "base64", "data": PICTURE}]},
    "out": state("Output", "output", outputs=PRINTED, layout="IPY_MODEL_layout"),
    "box": state(
        "VBox",
        children=[f"IPY_MODEL_{one}" for one in ("slider", "text", "image", "out")],
        layout="IPY_MODEL_layout",
    ),
    "map": state("Map", "jupyter-leaflet"),
}


#: A hidden tab draws nothing, in its frames too. Headless tabs are never hidden.
HIDDEN = """
  globalThis.requestAnimationFrame = () => 0;
  globalThis.IntersectionObserver = class { observe() {} unobserve() {} disconnect() {} };
"""


def test_a_downloaded_page_shows_widgets_as_they_were_saved_in_a_hidden_tab(
    visit: Visit, context: BrowserContext, lab: Lab, tmp_path: Path
) -> None:
    context.add_init_script(HIDDEN)
    address = "https://example.org/sliders.ipynb"
    saved = json.loads(notebook_text(view("box"), view("map"), view("gone")))
    states = {"version_major": 2, "version_minor": 0, "state": STATES}
    saved["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": states}
    notebook = visit(f"?notebook={address}", {address: json.dumps(saved)})
    with notebook.page.expect_download() as download:
        notebook.share("Download page with outputs")
    file = tmp_path / "page.html"
    download.value.save_as(file)
    reading = lab.browser.new_context(java_script_enabled=False)
    page = reading.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    # The reader of the page needs neither scripts nor a network.
    frame = page.locator("iframe")
    expect(frame).to_have_attribute("sandbox", "")
    shown = frame.content_frame
    expect(shown.get_by_role("slider", name="size")).to_have_attribute("aria-valuenow", "7.0")
    expect(shown.locator(".widget-readout")).to_have_text("7")
    expect(shown.locator(".noUi-handle")).to_have_css("position", "absolute")
    expect(shown.get_by_role("textbox")).to_have_value("typed")
    expect(shown.locator("img")).to_have_js_property("naturalWidth", 1)
    expect(page.get_by_text("in the Output widget")).to_be_visible()
    expect(page.get_by_text("The widget as it was saved.")).to_have_count(1)
    # Widgets without scripts or states are named, and have their text.
    expect(page.get_by_text("A widget was here, which this page cannot show.")).to_have_count(2)
    expect(page.get_by_text("the text of map")).to_be_visible()
    expect(page.get_by_text("the text of gone")).to_be_visible()
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:"))] == []
    reading.close()
