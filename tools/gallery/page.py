"""The notebook page in Chromium on a software GPU, which runs notebooks of the gallery."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page as Tab
from playwright.sync_api import Route, expect, sync_playwright

from devsite import chromium

_PATIENCE_MS = 900_000


class Page:
    """A tab with the notebook page."""

    def __init__(self, tab: Tab, address: str, files: list[Path]) -> None:
        self._tab, self._address, self._files = tab, address, files

    def run(self, name: str, notebook: Any) -> Any:
        """Run a notebook, and return it with its outputs."""
        tab = self._tab
        body = json.dumps(notebook)
        pattern = f"**/gallery/{name}.ipynb"

        def serve(route: Route) -> None:
            route.fulfill(body=body, content_type="application/json")

        tab.route(pattern, serve)
        tab.goto(f"{self._address}/?notebook=gallery/{name}.ipynb")
        state = tab.locator("footer .kernel-state")
        expect(state).to_have_attribute("data-state", "idle", timeout=_PATIENCE_MS)
        expect(tab.locator(".title-input")).to_have_value(name)
        if self._files:
            with tab.expect_file_chooser() as chooser:
                tab.get_by_role("button", name="choose files").click()
            chooser.value.set_files(self._files)
            for file in self._files:
                expect(tab.get_by_role("tabpanel", name="Files")).to_contain_text(
                    file.name, timeout=_PATIENCE_MS
                )
        tab.locator("header").get_by_role("button", name="Run all", exact=True).click()
        busy = tab.locator('.cell[aria-busy="true"]')
        expect(busy.first).to_be_visible()
        expect(busy).to_have_count(0, timeout=_PATIENCE_MS)
        errors = tab.locator(".output-traceback").all_inner_texts()
        if errors:
            raise RuntimeError(f"{name}: {errors[0]}")
        tab.unroute(pattern)
        return self._downloaded()

    def _downloaded(self) -> Any:
        tab = self._tab
        with tab.expect_download() as download:
            tab.locator("header").get_by_role("button", name="Share", exact=True).click()
            tab.get_by_role("menuitem", name="Download notebook").click()
        return json.loads(Path(download.value.path()).read_text(encoding="utf-8"))


@contextlib.contextmanager
def open_page(address: str, files: list[Path], *, own_gpu: bool) -> Iterator[Page]:
    """Open the page in a browser, with a software GPU or this machine's own.

    ``files`` are dropped on it before each run.
    """
    with sync_playwright() as playwright:
        browser = (chromium.launch_own_gpu if own_gpu else chromium.launch)(playwright)
        try:
            context = browser.new_context(viewport={"width": 1360, "height": 900})
            yield Page(context.new_page(), address, files)
        finally:
            browser.close()
