"""The unchanged pages of docs/embedding.md on a plain static host."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness.patience import PATIENCE_MS
from harness.static import static_host
from playwright.sync_api import Page, Route, expect

from devsite.layout import Layout
from devsite.site import prepare

pytestmark = pytest.mark.all

_PAGE, _WORKERS_PAGE = 0, 1
CDN = "https://cdn.jsdelivr.net/pyodide/v314.0.3/full/"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A host with only the pages and the wheel."""
    folder = tmp_path_factory.mktemp("host")
    text = (Layout().repository / "docs" / "embedding.md").read_text(encoding="utf-8")
    pages = re.findall(r"```html\n(.*?)```", text, re.DOTALL)
    (script,) = re.findall(r"```js\n(.*?)```", text, re.DOTALL)
    (folder / "page.html").write_text(pages[_PAGE], encoding="utf-8")
    (folder / "workers-page.html").write_text(pages[_WORKERS_PAGE], encoding="utf-8")
    (folder / "python.mjs").write_text(script, encoding="utf-8")
    shutil.copy2(prepare().wheel, folder)
    with static_host(folder) as url:
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
