"""Notebooks of a published page, which the browser keeps."""

from __future__ import annotations

import time
from pathlib import Path

from playwright.sync_api import Page, expect

from harness.notebook import NotebookPage
from harness.patience import PATIENCE_S

RUN_MS = 600_000  # SwiftShader runs the networks


def run_all(notebook: NotebookPage, settings: str) -> str:
    """Run the notebook with other settings, and return its outputs."""
    notebook.fill(1, settings)
    notebook.press("Run all")
    notebook.wait_finished(RUN_MS)
    expect(notebook.page.locator(".output-traceback")).to_have_count(0)
    return "\n".join(notebook.page.locator(".cell-outputs").all_inner_texts())


def wait_for_files(page: Page, host: Path) -> None:
    """Wait until the browser has all files of the published page."""
    own = ("docs/", "service-worker.js", "published-files.js")
    files = [path for path in (host / "project").rglob("*") if path.is_file()]
    names = [path.relative_to(host / "project").as_posix() for path in files]
    wanted = len([name for name in names if not name.startswith(own)])
    deadline = time.monotonic() + PATIENCE_S
    count = """async () => {
      const [name] = (await caches.keys()).filter((one) => one.startsWith("browsergpu-published"));
      return (await (await caches.open(name)).keys()).length;
    }"""
    while page.evaluate(count) < wanted:
        assert time.monotonic() < deadline
        page.wait_for_timeout(500)
