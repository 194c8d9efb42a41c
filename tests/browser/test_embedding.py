"""The unchanged pages of docs/embedding.md on a plain static host."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness.notebook import NotebookPage
from harness.patience import PATIENCE_MS
from harness.static import static_host
from playwright.sync_api import Locator, Page, Route, expect

from devsite.layout import Layout
from devsite.site import prepare
from publish.folder import publish

pytestmark = pytest.mark.all

_LESSON, _PAGE, _WORKERS_PAGE = 0, 1, 2
CDN = "https://cdn.jsdelivr.net/pyodide/v314.0.3/full/"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A host with the pages, the wheel, and the published notebook page in a subfolder."""
    folder = tmp_path_factory.mktemp("host")
    text = (Layout().repository / "docs" / "embedding.md").read_text(encoding="utf-8")
    pages = re.findall(r"```html\n(.*?)```", text, re.DOTALL)
    (script,) = re.findall(r"```js\n(.*?)```", text, re.DOTALL)
    (folder / "index.html").write_text(pages[_LESSON], encoding="utf-8")
    (folder / "page.html").write_text(pages[_PAGE], encoding="utf-8")
    (folder / "workers-page.html").write_text(pages[_WORKERS_PAGE], encoding="utf-8")
    (folder / "python.mjs").write_text(script, encoding="utf-8")
    site = prepare()
    shutil.copy2(site.wheel, folder)
    publish(site.roots, folder / "browsergpu")
    with static_host(folder, is_open=True) as url:
        yield url


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """Another host with the files of ``tmp_path``."""
    with static_host(tmp_path) as url:
        yield url


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """Open a page that gets Pyodide's files from the cache instead of the CDN."""
    page = new_page()
    pyodide = Layout().files / "pyodide"

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(CDN)
        headers = {"access-control-allow-origin": "*"}
        route.fulfill(path=pyodide / Path(name).name, headers=headers)

    page.context.route(lambda url: url.startswith(CDN), answer)
    return page


def assert_not_isolated(page: Page) -> None:
    assert page.evaluate("[crossOriginIsolated, typeof SharedArrayBuffer]") == [False, "undefined"]


def test_a_page_of_your_own(host: str, page: Page) -> None:
    page.goto(f"{host}/page.html")
    expect(page.locator("#said")).to_contain_text("sum is", timeout=PATIENCE_MS)
    # The integral of exp(-4 r²) over the square, times 128² pixels per unit of area.
    assert page.inner_text("#said") == "google swiftshader: the pixels' sum is 12752.0"
    assert page.evaluate("document.querySelector('canvas').width") == 257
    assert_not_isolated(page)


def test_a_worker_of_your_own(host: str, page: Page) -> None:
    page.goto(f"{host}/workers-page.html")
    expect(page.locator("#said")).to_have_text("between 0.00 and 1.00", timeout=PATIENCE_MS)
    assert_not_isolated(page)


def run(page: Page, name: str) -> Locator:
    """Run a cell and return its output."""
    cell = page.locator(f"browsergpu-cell#{name}")
    cell.get_by_role("button", name="Run this cell").click()
    expect(cell.locator(".cell")).not_to_have_attribute("aria-busy", "true", timeout=PATIENCE_MS)
    return cell.locator(".cell-outputs")


@pytest.mark.firefox
def test_a_lesson_of_your_own(host: str, new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto(f"{host}/index.html")
    expect(run(page, "numbers")).to_be_empty()
    expect(run(page, "sum")).to_have_text("45.0")
    assert_not_isolated(page)


def test_a_lesson_that_takes_cells_from_another_site(
    host: str, elsewhere: str, new_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = new_page()
    text = (Layout().repository / "docs" / "embedding.md").read_text(encoding="utf-8")
    lesson = re.findall(r"```html\n(.*?)```", text, re.DOTALL)[_LESSON]
    (tmp_path / "index.html").write_text(lesson.replace('src="', f'src="{host}/'), "utf-8")
    page.goto(f"{elsewhere}/index.html")
    expect(run(page, "numbers")).to_be_empty()
    expect(run(page, "sum")).to_have_text("45.0")


def test_a_page_of_the_published_documentation_runs(
    host: str, new_page: Callable[..., Page]
) -> None:
    page = new_page()
    page.goto(f"{host}/browsergpu/docs/tutorials/arrays.html")
    cells = page.locator("browsergpu-cell")
    expect(cells.nth(1).locator(".cm-line").first).to_contain_text("positions = bg.asarray")
    cells.nth(1).get_by_role("button", name="Run from the top").click()
    expect(cells.nth(1).locator(".cell-outputs")).to_have_text("(64,)", timeout=PATIENCE_MS)


def test_an_exported_notebook_runs_in_its_page(
    host: str, elsewhere: str, new_page: Callable[..., Page], tmp_path: Path
) -> None:
    """The page is on another host than the site that exported it."""
    notebook = NotebookPage(new_page(), f"{host}/browsergpu")
    notebook.open()
    notebook.fresh()
    notebook.run("kept = 20 + 1\nkept")
    notebook.run("kept * 2")
    with notebook.page.expect_download() as download:
        notebook.share("Download page with outputs")
    file = tmp_path / "page.html"
    download.value.save_as(file)
    page = new_page()
    page.goto(file.as_uri())
    expect(page.get_by_role("link", name="Open in the notebook")).to_be_visible()
    expect(page.get_by_role("button")).to_have_count(0)
    page.goto(f"{elsewhere}/page.html")
    cells = page.locator("main .cell[data-type=code]")
    expect(cells.nth(1)).to_contain_text("42")
    page.get_by_role("button", name="Make the cells run").click()
    write = cells.nth(0).locator("browsergpu-cell .cm-content")
    expect(write).to_contain_text("20 + 1")
    expect(cells.nth(0)).to_contain_text("21")
    write.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("kept = 30")
    page.get_by_role("button", name="Run all").click()
    expect(cells.nth(1).locator("browsergpu-cell .cell-outputs")).to_have_text(
        "60", timeout=PATIENCE_MS
    )
    expect(cells.nth(1).get_by_text("42", exact=True)).to_have_count(0)
    expect(cells.nth(0).get_by_text("21", exact=True)).to_have_count(0)
