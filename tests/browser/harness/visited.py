"""The browser storage of a first visit (web/kernel/kept.js), for other contexts of a test run.

A boot with this storage takes half as long, as for a returning visitor.
"""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

from devsite.layout import Layout
from devsite.lock import cache_lock
from devsite.progress import Progress
from snapshot.maker import ensure_snapshot

from .patience import PATIENCE_MS, PATIENCE_S

ADDRESS = "/tests/kept/"

_VISITS = 3

# The page stores the snapshot last, and bytecode only if the site has none.
_KEPT = ["browsergpu-bytecode", "browsergpu-python"]

_READ = """async (names) => {
  const found = [];
  for (const name of names) {
    const cache = await caches.open(name);
    const [key] = await cache.keys();
    if (!key) continue;
    const reader = new FileReader();
    reader.readAsDataURL(await (await cache.match(key)).blob());
    await new Promise((resolve) => (reader.onload = resolve));
    found.push([name, new URL(key.url).pathname, reader.result.split(",")[1]]);
  }
  return found.at(-1)?.[0] === names.at(-1) ? found : null;
}"""

_WRITE = """async (address) => {
  const kept = await (await fetch(`${address}index.json`)).json();
  await Promise.all(kept.map(async ([name, path]) => {
    const bytes = await (await fetch(`${address}${name}`)).arrayBuffer();
    await (await caches.open(name)).put(path, new Response(bytes));
  }));
}"""


class Visited:
    """Makes the first visit on first use, once for all that share the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def remember(self, context: BrowserContext, site_url: str) -> None:
        """Give a browser context the storage of a first visit."""
        if not (self.folder / "index.json").exists():
            assert context.browser is not None
            with cache_lock(self.folder / "lock", Progress()):
                if not (self.folder / "index.json").exists():
                    self._visit(context.browser, site_url)
        page = context.new_page()
        page.goto(f"{site_url}/favicon.svg")
        page.evaluate(_WRITE, site_url + ADDRESS)
        page.close()

    def _visit(self, browser: Browser, site_url: str) -> None:
        ensure_snapshot(Layout(), Progress())  # takes as long as the page's own
        # Firefox under WebDriver sometimes did not run the worker that makes the snapshot, when the
        # kernel started it (web/app/kernel/snapshot.js).
        for _ in range(_VISITS):
            page = browser.new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.goto(f"{site_url}/?notebook=none")
            page.evaluate("browsergpu.ready")
            kept = _wait_kept(page)
            page.context.close()
            if kept:
                break
        assert kept, f"{_VISITS} visits have not kept {_KEPT} for the next boot"
        for name, _path, data in kept:
            (self.folder / name).write_bytes(base64.b64decode(data))
        index = json.dumps([[name, path] for name, path, _data in kept])
        (self.folder / "index.json").write_text(index)


def _wait_kept(page: Page) -> Any:
    """Return what the page keeps for the next boot, or None if it takes too long."""
    end = time.monotonic() + PATIENCE_S / _VISITS
    while not (kept := page.evaluate(_READ, _KEPT)) and time.monotonic() < end:
        page.wait_for_timeout(1000)
    return kept
