"""The bare page (tests/browser/pages): Pyodide in a page or a worker, without files of web/."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Error, Page

from .patience import PATIENCE_MS, PATIENCE_S, pause_ms

KERNELS = ("worker", "main")

WEBGPU = "BROWSERGPU_WEBGPU"


class PythonFailed(AssertionError):
    """A call into the bare page failed. The message contains the traceback."""


class BarePage:
    """A bare page with Pyodide.

    A short evaluation starts each call, and a binding returns its result. Every wait therefore
    happens on the host with its own time-out, even while the page's thread is busy.
    """

    def __init__(self, page: Page, site_url: str, kernel: str, webgpu: str = "") -> None:
        """Open the page.

        ``webgpu`` "plain" means no optional features; the default is $BROWSERGPU_WEBGPU.
        """
        if kernel not in KERNELS:
            raise ValueError(f"kernel is {kernel!r}, expected one of {KERNELS}")
        self.page = page
        self.kernel = kernel
        self.on_report: Callable[[str], None] = lambda report: None
        self._ids = itertools.count(1)
        self._outcomes: dict[int, tuple[bool, Any]] = {}
        self._crashed = False
        page.on("crash", lambda _page: self._note_crash())
        page.expose_binding("bareSettled", self._settled)
        page.expose_binding("bareReport", lambda _source, report: self.on_report(report))
        webgpu = webgpu or os.environ.get(WEBGPU, "")
        page.goto(
            f"{site_url}/tests/bare.html?kernel={kernel}&webgpu={webgpu}", timeout=PATIENCE_MS
        )
        page.wait_for_function("() => globalThis.bare !== undefined", timeout=PATIENCE_MS)

    def boot(self, packages: list[str]) -> None:
        """Load Pyodide and some of its packages."""
        self.call("boot", packages, what="Pyodide to boot")

    def install(self, urls: list[str], *, deps: bool = True) -> None:
        """Install wheels with micropip."""
        what = f"micropip to install {', '.join(url.rsplit('/', 1)[-1] for url in urls)}"
        self.call("install", urls, deps, what=what)

    def write_files(self, files: dict[str, str]) -> None:
        """Write text files into Pyodide's file system."""
        self.call("writeFiles", files, what="files to be written")

    def run(self, code: str, *, timeout: float = PATIENCE_S) -> Any:
        """Run Python in the page and return its last expression as plain data."""
        return self.call("run", code, timeout=timeout, what=f"Python to run:\n{code}")

    def call(self, method: str, *args: Any, what: str, timeout: float = PATIENCE_S) -> Any:
        """Call one function of pages/kernel.mjs and wait for its result."""
        return self.end(self.start(method, *args), what=what, timeout=timeout)

    def start(self, method: str, *args: Any) -> int:
        """Start a call; `settled` and `outcome` report how it ended."""
        call = next(self._ids)
        self.page.evaluate(
            "([id, method, args]) => bare.start(id, method, ...args)", [call, method, list(args)]
        )
        return call

    def end(self, call: int, *, what: str, timeout: float = PATIENCE_S) -> Any:
        """Wait for a started call and return its value. Raises PythonFailed if the call failed."""
        self.wait_until(lambda: self.settled(call), timeout=timeout, what=what)
        return self.outcome(call)

    def settled(self, call: int) -> bool:
        """Return whether a started call has ended."""
        return call in self._outcomes

    def outcome(self, call: int) -> Any:
        """Return the value of an ended call. Raises PythonFailed if the call failed."""
        succeeded, value = self._outcomes.pop(call)
        if not succeeded:
            raise PythonFailed(value)
        return value

    def wait_until(
        self, done: Callable[[], bool], *, what: str, timeout: float = PATIENCE_S
    ) -> None:
        """Handle the page's events until `done()` is true, for at most `timeout` seconds."""
        begin = time.monotonic()
        while not done():
            waited = time.monotonic() - begin
            if self._crashed:
                raise PythonFailed(f"the page crashed while the test waited for {what}")
            if waited > timeout:
                raise TimeoutError(f"waited {timeout:g} s for {what} ({self.kernel} kernel)")
            try:
                self.page.wait_for_timeout(pause_ms(waited))
            except Error:
                if not self.page.is_closed():
                    raise
                self._note_crash()  # the whole browser crashed

    def _settled(self, _source: Any, call: int, succeeded: bool, value: Any) -> None:
        self._outcomes[call] = (succeeded, value)

    def _note_crash(self) -> None:
        self._crashed = True
