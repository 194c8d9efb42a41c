"""A first visit, which starts Python from the files in the site's folder start/."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from harness.notebook import NotebookPage
from harness.snapshots import starts_from_a_snapshot
from playwright.sync_api import Page, Route

from devsite.layout import Layout
from devsite.progress import Progress
from snapshot.maker import ensure_snapshot

pytestmark = pytest.mark.all

# What Python reads from the browser when it starts, and a snapshot has from another machine.
_OF_THE_BROWSER = """import json, locale, os, sys, time
names = time.tzname, time.strftime("%Z %z", time.localtime(1783000000))
json.dumps([names, time.timezone, time.altzone, time.daylight, os.environ["LANG"],
    locale.getlocale(), sys._emscripten_info.runtime, sys.executable, sys.path.count("")])"""

_READ = """async ([others, listed]) => {
  const { keyOf, openKept, siteName } = await import("/kernel/kept.js");
  const key = await keyOf(["these", "sources"]);
  const file = await openKept("kind", others, listed ? [siteName("kind", key)] : []);
  const bytes = await file.read();
  return bytes && new TextDecoder().decode(bytes);
}"""


@pytest.fixture(scope="module", autouse=True)
def snapshot() -> None:
    assert ensure_snapshot(Layout(), Progress())


@pytest.mark.firefox
def test_python_starts_from_the_sites_snapshot_with_the_browsers_facts(
    new_page: Callable[..., Page], site_url: str
) -> None:
    page = new_page(timezone_id="Pacific/Auckland", locale="de-DE")
    NotebookPage(page, site_url).open()
    assert starts_from_a_snapshot(page)
    facts = json.loads(page.evaluate("(code) => browsergpu.run(code)", _OF_THE_BROWSER))
    standard, summer = "UTC+1200", "UTC+1300"
    assert facts == [
        [[standard, summer], f"{standard} +1200"],
        *(-12 * 3600, -13 * 3600, 1),
        *("de_DE.UTF-8", ["de_DE", "UTF-8"]),
        page.evaluate("navigator.userAgent"),
        *("/home/pyodide/this.program", 1),
    ]


def test_a_damaged_snapshot_of_the_site_is_not_used(
    new_page: Callable[..., Page], site_url: str
) -> None:
    def damage(route: Route) -> None:
        if route.request.method == "HEAD":  # asks for the size
            route.continue_()
            return
        response = route.fetch()
        body = bytearray(response.body())
        body[len(body) // 2] ^= 1
        route.fulfill(response=response, body=bytes(body))

    page = new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.route("**/start/*.bin", damage)
    NotebookPage(page, site_url).open()
    assert not starts_from_a_snapshot(page)
    unused = [text for text in said if text.startswith("The site's browsergpu-")]
    assert len(unused) == 2, said  # the snapshot and the bytecode


def test_only_files_of_the_same_sources_are_used(
    new_page: Callable[..., Page], site_url: str
) -> None:
    page = new_page()
    page.route("**/favicon.ico", lambda route: route.fulfill(status=204))
    page.goto(f"{site_url}/favicon.svg")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    assert page.evaluate(_READ, [["these", "others"], True]) is None
    assert page.evaluate(_READ, [["these", "sources"], False]) is None
    assert not any("/start/" in url for url in asked)
