"""The page that tools/publish writes, in a subfolder of a host that sends no headers."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage
from harness.patience import PATIENCE_MS, PATIENCE_S
from harness.snapshots import starts_from_a_snapshot
from harness.static import static_host
from playwright.sync_api import BrowserContext, Page, expect

from devsite.site import prepare
from publish.cli import main
from publish.folder import PublishRefused, publish

pytestmark = pytest.mark.all

# Returns the addresses of the stored files.
_KEPT = """async () => {
  const [name] = (await caches.keys()).filter((one) => one.startsWith("browsergpu-published"));
  return (await (await caches.open(name)).keys()).map(({ url }) => url);
}"""


def kept(page: Page) -> list[str]:
    found: list[str] = page.evaluate(_KEPT)
    return found


def files_of(folder: Path) -> int:
    """Return the number of stored files: all but the page's worker and the documentation."""
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    own = {"service-worker.js", "published-files.js"}
    return len([path for path in files if path.parts[0] != "docs" and path.name not in own])


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A host's folder with the page at project/."""
    host = tmp_path_factory.mktemp("host")
    assert main([str(host / "project"), "--offline"]) == 0
    return host


@pytest.fixture
def context(lab: Lab) -> Iterator[BrowserContext]:
    context = lab.new_context()
    yield context
    context.close()


@pytest.mark.firefox
def test_a_published_page_is_isolated_and_works_without_its_host(
    context: BrowserContext, host: Path
) -> None:
    page = context.new_page()
    missing: list[str] = []
    page.on("response", lambda response: missing.append(response.url) if not response.ok else None)
    with static_host(host) as address:
        notebook = NotebookPage(page, f"{address}/project")
        notebook.open()
        assert page.evaluate("crossOriginIsolated")
        notebook.new()
        expect(notebook.run("import browsergpu as bg\nfloat(bg.sum(bg.ones(5)))")).to_have_text(
            "5.0"
        )
        assert starts_from_a_snapshot(page)
        notebook.start("while True: pass")
        notebook.wait_state("busy")
        notebook.press("Interrupt")
        notebook.wait_idle()
        expect(notebook.output(1)).to_contain_text("KeyboardInterrupt")
        deadline = time.monotonic() + PATIENCE_S
        while len(kept(page)) < files_of(host / "project"):
            assert time.monotonic() < deadline
            page.wait_for_timeout(500)
    assert missing == []
    page.reload()
    notebook.wait_idle()
    assert page.evaluate("crossOriginIsolated")
    expect(notebook.output(0)).to_have_text("5.0")
    notebook.new()
    # A package that the first visit did not use.
    expect(notebook.run("import sympy\nsympy.Rational(1, 2) + 1")).to_contain_text("3")
    notebook.press("Gallery")
    notebook.page.get_by_role("dialog").get_by_role("button", name="Heat").click()
    expect(notebook.cell(0)).to_contain_text("Heat")


def test_a_page_that_is_published_again_shows_its_new_files(
    context: BrowserContext, tmp_path: Path
) -> None:
    roots = prepare().roots
    publish(roots, tmp_path / "old" / "project")
    web = tmp_path / "web"
    shutil.copytree(roots["/"], web)
    index = (web / "index.html").read_text(encoding="utf-8")
    (web / "index.html").write_text(index.replace("<head>", '<head><meta name="new">'), "utf-8")
    publish({**roots, "/": web}, tmp_path / "new" / "project")
    for name in ("published-files.js", "index.html"):  # a host distinguishes versions by the second
        os.utime(tmp_path / "new" / "project" / name, (2**31, 2**31))
    served = tmp_path / "served"
    served.symlink_to(tmp_path / "old")
    page = context.new_page()
    with static_host(served) as address:
        notebook = NotebookPage(page, f"{address}/project")
        notebook.open()
        before = kept(page)
        served.unlink()
        served.symlink_to(tmp_path / "new")
        page.evaluate("navigator.serviceWorker.ready.then((one) => one.update())")
        page.evaluate(
            """async () => {
              const registration = await navigator.serviceWorker.ready;
              const end = Date.now() + 60_000;
              while (!registration.waiting && Date.now() < end) {
                await new Promise((done) => setTimeout(done, 100));
              }
            }"""
        )
        page.close()
        page = context.new_page()
        notebook = NotebookPage(page, f"{address}/project")
        notebook.open()
        assert page.locator('meta[name="new"]').count() == 1
        after = kept(page)
    # Only changed files are downloaded again.
    assert set(before) - set(after) == {url for url in before if "/index.html?" in url}


def test_the_published_page_leads_to_the_documentation(context: BrowserContext, host: Path) -> None:
    page = context.new_page()
    with static_host(host) as address:
        page.goto(f"{address}/project/")
        page.get_by_role("button", name="Help").click(timeout=PATIENCE_MS)
        with context.expect_page() as opened:
            page.get_by_role("menuitem", name="Docs").click()
        expect(opened.value).to_have_url(f"{address}/project/docs/")
        expect(opened.value).to_have_title(re.compile("browsergpu"))


def test_a_folder_with_files_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(PublishRefused, match="must be new or empty"):
        publish({}, tmp_path)


def test_the_published_page_leads_to_jupyterlite(context: BrowserContext, tmp_path: Path) -> None:
    lite = tmp_path / "built"
    lite.mkdir()
    (lite / "index.html").write_text("<title>JupyterLite</title>")
    roots = {prefix: prepare().roots[prefix] for prefix in ("/", "/vendor/")}
    publish(roots, tmp_path / "host" / "project", lite)
    page = context.new_page()
    with static_host(tmp_path / "host") as address:
        page.goto(f"{address}/project/")
        page.get_by_role("button", name="Help").click(timeout=PATIENCE_MS)
        with context.expect_page() as opened:
            page.get_by_role("menuitem", name="JupyterLite").click()
        expect(opened.value).to_have_url(f"{address}/project/lite/")
        expect(opened.value).to_have_title("JupyterLite")


def test_without_jupyterlite_the_page_does_not_name_it(context: BrowserContext, host: Path) -> None:
    page = context.new_page()
    with static_host(host) as address:
        page.goto(f"{address}/project/")
        page.get_by_role("button", name="Help").click(timeout=PATIENCE_MS)
        expect(page.get_by_role("menuitem", name="Docs")).to_be_visible()
        expect(page.get_by_role("menuitem", name="JupyterLite")).to_be_hidden()
