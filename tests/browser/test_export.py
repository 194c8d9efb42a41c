"""The page that `serve.py --export` writes, below a path of a static host."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from harness.lab import Lab
from harness.patience import PATIENCE_MS
from playwright.sync_api import expect

from devsite.errors import ExportRefused
from devsite.export import export
from devsite.site import prepare

pytestmark = pytest.mark.all


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the exported page."""
    host = tmp_path_factory.mktemp("host")
    export(prepare().roots, host / "project")
    handler = functools.partial(_Quiet, directory=str(host))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/project/"
        server.shutdown()


def test_the_exported_page_computes_and_leads_to_the_documentation(lab: Lab, address: str) -> None:
    page = lab.new_context().new_page()
    missing: list[str] = []
    page.on("response", lambda response: missing.append(response.url) if not response.ok else None)
    page.goto(address)
    # Such a host sends no headers for isolation.
    page.get_by_role("button", name="Open the notebook without it").click()
    kernel = page.locator("footer .kernel-state")
    expect(kernel).to_have_attribute("data-state", "idle", timeout=PATIENCE_MS)
    code = "import browsergpu as bg\nfloat(bg.sum(bg.ones(5)))"
    assert page.evaluate("code => browsergpu.run(code)", code) == "5.0"
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Docs").click()
    assert opened.value.url == f"{address}docs/"
    expect(opened.value).to_have_title(re.compile("browsergpu"))
    assert missing == []
    page.context.close()


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(ExportRefused, match="not empty"):
        export({}, tmp_path)
