"""The page reports missing requirements: a secure address, isolation, JSPI, WebGPU, an adapter."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage
from harness.patience import PATIENCE_MS
from playwright.sync_api import Page, Route, expect

from devsite import chromium


def shown(page: Page) -> list[str]:
    """The problems shown on the page."""
    expect(page.get_by_role("heading", level=1)).to_contain_text("missing")
    problems = page.locator("[data-problem]")
    for index in range(problems.count()):
        expect(problems.nth(index).locator("li").first).to_be_visible()
    return [str(one.get_attribute("data-problem")) for one in problems.all()]


def test_nothing_is_missing_here(new_page: Callable[..., Page], site_url: str) -> None:
    page = new_page()
    page.goto(f"{site_url}/?notebook=none")
    expect(page.locator(".machine")).to_be_visible()


@pytest.mark.provokes_errors  # Chromium logs that it ignores the COOP header
def test_an_insecure_address(new_page: Callable[..., Page], site_url: str) -> None:
    page = new_page()
    insecure = "http://browsergpu.test"

    def pass_on(route: Route) -> None:
        path = route.request.url.removeprefix(insecure)
        route.fulfill(response=page.request.get(site_url + path))

    page.route(f"{insecure}/**", pass_on)
    page.goto(f"{insecure}/")
    assert shown(page) == ["insecure"]
    expect(page.locator("main")).to_contain_text("http://127.0.0.1")
    page.unroute_all(behavior="ignoreErrors")  # answers under way fail the next test


def without_isolation(page: Page, site_url: str) -> None:
    """Serve the page without isolation headers."""

    def strip(route: Route) -> None:
        answer = route.fetch()
        headers = {
            name: value
            for name, value in answer.headers.items()
            if not name.startswith("cross-origin-")
        }
        route.fulfill(response=answer, headers=headers)

    page.route(f"{site_url}/", strip)


def test_no_isolation(new_page: Callable[..., Page], site_url: str) -> None:
    page = new_page()
    without_isolation(page, site_url)
    page.goto(f"{site_url}/")
    assert shown(page) == ["isolation"]
    expect(page.locator("main")).to_contain_text("Cross-Origin-Opener-Policy")


@pytest.mark.all
def test_the_notebook_works_without_isolation_where_wanted(
    new_page: Callable[..., Page], site_url: str
) -> None:
    page = new_page()
    without_isolation(page, site_url)
    page.goto(f"{site_url}/")
    page.get_by_role("button", name="Open the notebook without it").click()
    kernel = page.locator("footer .kernel-state")
    expect(kernel).to_have_attribute("data-state", "idle", timeout=PATIENCE_MS)
    assert page.evaluate("browsergpu.run('6 * 7')") == "42"
    # A blocked worker cannot be woken up, but ainput() can be awaited.
    notebook = NotebookPage(page, site_url)
    notebook.new()
    expect(notebook.run("input('Name? ')")).to_contain_text("await ainput('Name? ')")
    asking = notebook.start("await ainput('Name? ')")
    expect(page.get_by_label("Name?")).to_be_focused()
    page.keyboard.type("Ada")
    page.keyboard.press("Enter")
    expect(notebook.output(asking)).to_contain_text("'Ada'")


def test_no_jspi(new_page: Callable[..., Page], site_url: str) -> None:
    page = new_page()
    page.add_init_script("delete WebAssembly.Suspending")
    page.goto(f"{site_url}/")
    assert shown(page) == ["jspi"]
    expect(page.locator("main")).to_contain_text("Chrome or Edge 137")


def test_no_webgpu(new_page: Callable[..., Page], site_url: str) -> None:
    page = new_page()
    page.add_init_script("delete Navigator.prototype.gpu")
    page.goto(f"{site_url}/")
    assert shown(page) == ["webgpu"]


def test_no_adapter(lab: Lab) -> None:
    # Without the SwiftShader flags, Chromium has no adapter on a machine without a GPU.
    browser = lab.browser.browser_type.launch(
        executable_path=chromium.executable(), args=["--no-sandbox", "--disable-gpu"]
    )
    try:
        page = browser.new_page()
        page.goto(f"{lab.site_url}/")
        assert shown(page) == ["adapter"]
        expect(page.locator("main")).to_contain_text("chrome://gpu")
    finally:
        browser.close()


def test_all_problems_are_reported(new_page: Callable[..., Page], site_url: str) -> None:
    page = new_page()
    without_isolation(page, site_url)
    page.add_init_script("delete WebAssembly.Suspending; delete Navigator.prototype.gpu")
    page.goto(f"{site_url}/")
    assert shown(page) == ["isolation", "jspi", "webgpu"]


@pytest.mark.parametrize("address", ["/", "/?notebook=none"])
def test_the_machine_api_refuses_with_the_reason(
    new_page: Callable[..., Page], site_url: str, address: str
) -> None:
    page = new_page()
    page.add_init_script("delete Navigator.prototype.gpu")
    page.goto(site_url + address)
    for call in ("browsergpu.ready", "browsergpu.run('1')"):
        told = page.evaluate(f"{call}.then(() => 'ran', (error) => error.message)")
        assert "webgpu" in told
