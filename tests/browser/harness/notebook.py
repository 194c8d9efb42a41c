"""User actions on the notebook page: typing, keys, clicks, and reading outputs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from .lab import Lab
from .patience import GLANCE_MS, PATIENCE_MS

# Playwright's default of five seconds is too short on a machine with two busy cores.
expect.set_options(timeout=GLANCE_MS)


#: The entries of the header's menus.
_MENUS = {"File": ("New", "Open", "Notebooks", "Save"), "Help": ("Tour", "Docs", "Keys")}


class NotebookPage:
    """A user's actions on the page, and what the page shows."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url

    def open(self) -> None:
        """Load the page and wait for its kernel."""
        self.page.goto(f"{self.url}/")
        self.wait_idle()

    # -- the kernel ------------------------------------------------------------------------------

    @property
    def kernel(self) -> Locator:
        return self.page.locator("footer .kernel-state")

    def wait_state(self, state: str, timeout: float = PATIENCE_MS) -> None:
        """Wait for a kernel state: loading, idle, busy, interrupting or dead."""
        expect(self.kernel).to_have_attribute("data-state", state, timeout=timeout)

    def wait_idle(self, timeout: float = PATIENCE_MS) -> None:
        self.wait_state("idle", timeout)

    def wait_finished(self, timeout: float = PATIENCE_MS) -> None:
        """Wait until no cell runs or is queued."""
        expect(self.page.locator('.cell[aria-busy="true"]')).to_have_count(0, timeout=timeout)

    # -- cells -----------------------------------------------------------------------------------

    @property
    def cells(self) -> Locator:
        return self.page.locator(".cell")

    def cell(self, index: int) -> Locator:
        return self.cells.nth(index)

    def editor(self, index: int) -> Locator:
        return self.cell(index).locator(".cm-content")

    def output(self, index: int) -> Locator:
        return self.cell(index).locator(".cell-outputs")

    def source(self, index: int) -> str:
        """Return the text of a cell's editor."""
        lines = self.cell(index).locator(".cm-line").all_inner_texts()
        return "\n".join(line.removesuffix("\n") for line in lines)

    def sources(self) -> list[str]:
        return [self.source(index) for index in range(self.cells.count())]

    def fill(self, index: int, code: str) -> None:
        """Replace a cell's code, as by pasting."""
        self.editor(index).click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(code)

    def start(self, code: str) -> int:
        """Put code into the last cell, run it, and return the cell's index."""
        index = self.cells.count() - 1
        self.fill(index, code)
        self.page.keyboard.press("Shift+Enter")
        return index

    def run(self, code: str, timeout: float = PATIENCE_MS) -> Locator:
        """Run code in the last cell to its end and return its output."""
        index = self.start(code)
        self.wait_finished(timeout)
        return self.output(index)

    # -- the rest of the page --------------------------------------------------------------------

    def press(self, name: str) -> None:
        """Click a button of the header, or an entry of its menus File and Help."""
        menu = next((menu for menu, entries in _MENUS.items() if name in entries), None)
        if menu is not None:
            self.press(menu)
            self.page.get_by_role("menu", name=menu).get_by_role(
                "menuitem", name=name, exact=True
            ).click()
            return
        self.page.locator("header").get_by_role("button", name=name, exact=True).click()

    def choose(self, name: str) -> None:
        """Click an entry of the More menu."""
        self.press("More")
        self.page.get_by_role("menuitem", name=name, exact=True).click()

    def save_file(self) -> tuple[str, dict[str, Any]]:
        """Download the notebook and return the file's name and content."""
        with self.page.expect_download() as download:
            self.share("Download notebook")
        text = Path(download.value.path()).read_text(encoding="utf-8")
        return download.value.suggested_filename, json.loads(text)

    def share(self, name: str) -> None:
        """Click an entry of the Share menu."""
        self.press("Share")
        self.page.get_by_role("menuitem", name=name).click()

    @property
    def restart_question(self) -> Locator:
        """The dialog that warns that variables will be lost."""
        return self.page.get_by_role("dialog", name="Restart the kernel?")

    def restart(self) -> None:
        """Restart the kernel, and confirm if the page asks."""
        self.press("Restart")
        if self.restart_question.is_visible():
            self.restart_question.get_by_role("button", name="Restart", exact=True).click()

    def new(self) -> None:
        """Open an empty notebook in the same kernel, since a fresh one takes seconds."""
        self.choose("New notebook with this kernel")
        expect(self.cells).to_have_count(1)
        self.close_messages()

    def fresh(self) -> None:
        """Open an empty notebook with a ready kernel, whatever state the previous test left."""
        if self.kernel.get_attribute("data-state") != "idle":
            self.open()
        self.new()

    @property
    def messages(self) -> Locator:
        return self.page.locator(".toast")

    def wait_kept(self) -> None:
        """Wait until the browser has stored the current notebook."""
        expect(self.page.locator("footer")).to_contain_text("Kept in this browser")

    def close_messages(self) -> None:
        while self.messages.count():
            self.messages.first.get_by_role("button", name="Close this message").click()

    def drop(self, files: list[dict[str, Any]]) -> None:
        """Drop files on the page, each with `name`, `type` and `bytes` (a list of numbers)."""
        self.page.evaluate(
            """(files) => {
              const transfer = new DataTransfer();
              for (const { name, type, bytes } of files) {
                transfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
              }
              const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
              for (const event of ["dragenter", "dragover", "drop"]) {
                document.body.dispatchEvent(new DragEvent(event, options));
              }
            }""",
            files,
        )


def hold_kernels(page: Page) -> None:
    """Block the page's requests for Pyodide: no kernel starts, which saves seconds."""
    page.route("**/pyodide/**", lambda _route: None)


@contextlib.contextmanager
def open_notebook(lab: Lab, **options: Any) -> Iterator[tuple[NotebookPage, list[str]]]:
    """Open a notebook page with a running kernel. Yields the page and the list of its problems."""
    problems: list[str] = []
    page = lab.new_page(problems.append, visited=True, **options)
    notebook = NotebookPage(page, lab.site_url)
    notebook.open()
    yield notebook, problems
    page.context.close()
