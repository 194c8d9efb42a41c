"""Resources that a test session starts on first use: Playwright, a browser, the site."""

from __future__ import annotations

import contextlib
import json
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from devsite import chromium

from . import firefox, problems
from .bare import BarePage
from .patience import GLANCE_MS, PATIENCE_S
from .site import start_site
from .visited import ADDRESS, Visited


class Lab:
    """Starts resources on first use and stops them in `close`.

    `folders`: more folders for the site to serve, by address prefix.
    `kept`: a folder for the browser storage of a first visit, which several labs can share.
    """

    def __init__(self, folders: Mapping[str, Path] | None = None, kept: Path | None = None) -> None:
        self._stack = contextlib.ExitStack()
        if kept is None:
            kept = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self._visited = Visited(kept)
        self._folders = {**(folders or {}), ADDRESS: kept}
        self._browser: Browser | None = None

    @property
    def browser(self) -> Browser:
        """Chromium, or Firefox if it is selected, with WebGPU. A crashed browser is replaced."""
        if self._browser is None or not self._browser.is_connected():
            self._browser = (firefox if firefox.CHOSEN else chromium).launch(self._playwright)
            self._stack.callback(self._browser.close)
        return self._browser

    @cached_property
    def _playwright(self) -> Playwright:
        starting = firefox.start_playwright() if firefox.CHOSEN else sync_playwright()
        return self._stack.enter_context(starting)

    @contextlib.contextmanager
    def own_browser(self, *flags: str) -> Iterator[Browser]:
        """Start a Chromium for a single test, with more flags than the shared one."""
        browser = chromium.launch(self._playwright, *flags)
        try:
            yield browser
        finally:
            browser.close()

    @cached_property
    def site_url(self) -> str:
        """The address of the site, without a trailing slash."""
        return self._stack.enter_context(start_site(self._folders))

    @cached_property
    def wheel_url(self) -> str:
        """The address of the project's wheel."""
        with urllib.request.urlopen(
            f"{self.site_url}/wheel/index.json", timeout=PATIENCE_S
        ) as answer:
            return f"{self.site_url}/wheel/{json.load(answer)['wheel']}"

    def new_context(self, *, visited: bool = False, **options: Any) -> BrowserContext:
        """Open a browser profile; if `visited`, it has the storage of a first visit and boots
        faster.
        """
        context = self.browser.new_context(**options)
        context.set_default_timeout(GLANCE_MS)
        if visited:
            self._visited.remember(context, self.site_url)
        return context

    def new_page(self, tell: Any, *, visited: bool = False, **options: Any) -> Page:
        """Open a page in its own context; `tell` gets its problems."""
        context = self.new_context(visited=visited, **options)
        # Playwright can only answer the file choosers of <input> elements.
        context.add_init_script("delete globalThis.showOpenFilePicker")
        page = context.new_page()
        problems.watch(page, tell)
        return page

    def new_bare_page(self, tell: Any, kernel: str) -> BarePage:
        """Open a bare page in its own context, without Pyodide."""
        return BarePage(self.new_page(tell), self.site_url, kernel)

    @contextlib.contextmanager
    def page_with_the_package(self, kernel: str) -> Iterator[BarePage]:
        """Open a bare page with NumPy and the project's wheel.

        Several tests share it, because booting takes seconds. Fails at the end if the page reported
        a problem.
        """
        found: list[str] = []
        bare = self.new_bare_page(found.append, kernel)
        bare.boot(["numpy", "micropip"])
        bare.install([self.wheel_url])
        yield bare
        bare.page.context.close()
        problems.assert_none(found)

    def close(self) -> None:
        """Stop everything that was started."""
        self._stack.close()
