"""Fixtures of the browser tests, and the items of the tests that run inside Pyodide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from harness import inside, problems
from harness.bare import BarePage
from harness.lab import Lab
from playwright.sync_api import Browser, Page

_LAB = pytest.StashKey[Lab]()


def pytest_configure(config: pytest.Config) -> None:
    for name, text in inside.MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {text}")
    lab = Lab()
    config.stash[_LAB] = lab
    config.stash[inside.RUNNERS] = inside.make_runners(lab)
    config.add_cleanup(lab.close)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    inside.replace_functions(items)


@pytest.fixture(scope="session")
def lab(pytestconfig: pytest.Config) -> Lab:
    """Chromium and the site, shared by the session."""
    return pytestconfig.stash[_LAB]


@pytest.fixture(scope="session")
def browser(lab: Lab) -> Browser:
    """Chromium with WebGPU on SwiftShader."""
    return lab.browser


@pytest.fixture(scope="session")
def site_url(lab: Lab) -> str:
    """The address of the site, without a slash at its end."""
    return lab.site_url


@pytest.fixture
def page_problems(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """The problems that the test's pages report; any of them fails the test that has not the
    marker `provokes_errors`."""
    found: list[str] = []
    yield found
    if request.node.get_closest_marker("provokes_errors") is None:
        problems.assert_none(found)


@pytest.fixture
def new_page(lab: Lab, page_problems: list[str]) -> Iterator[Callable[..., Page]]:
    """Makes pages, each in a context of its own; takes the options of `Browser.new_context`."""
    pages: list[Page] = []

    def make(**options: Any) -> Page:
        pages.append(lab.new_page(page_problems.append, **options))
        return pages[-1]

    yield make
    for page in pages:
        page.context.close()


@pytest.fixture
def new_bare_page(lab: Lab, page_problems: list[str]) -> Iterator[Callable[[str], BarePage]]:
    """Makes bare pages; takes the kernel, "worker" or "main". Pyodide is not booted yet."""
    bares: list[BarePage] = []

    def make(kernel: str) -> BarePage:
        bares.append(lab.new_bare_page(page_problems.append, kernel))
        return bares[-1]

    yield make
    for bare in bares:
        bare.page.context.close()
