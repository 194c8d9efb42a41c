"""Fixtures of the browser tests, and the collection of tests that run inside Pyodide."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import firefox, inside, native, problems
from harness.bare import BarePage
from harness.known_failures import expect_failures, known_failures
from harness.lab import Lab
from harness.notebook import NotebookPage, open_notebook
from playwright.sync_api import Browser, Page

_LAB = pytest.StashKey[Lab]()
_KEPT = "BROWSERGPU_KEPT"


def pytest_configure(config: pytest.Config) -> None:
    if _KEPT not in os.environ:  # pytest-xdist's workers share the folder
        folder = os.environ[_KEPT] = tempfile.mkdtemp()
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    if native.ENGINE:
        native.prepare()
        config.pluginmanager.register(native)
    lab = Lab(kept=Path(os.environ[_KEPT]))
    config.stash[_LAB] = lab
    config.stash[inside.RUNNERS] = inside.make_runners(lab)
    config.add_cleanup(lab.close)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if native.ENGINE:
        native.leave_out(items, inside.INSIDE)
    else:
        inside.replace_functions(items)
    if firefox.CHOSEN:
        expect_failures(items, known_failures())


@pytest.fixture(scope="session")
def lab(pytestconfig: pytest.Config) -> Lab:
    """The browser and the site, shared by the session."""
    return pytestconfig.stash[_LAB]


@pytest.fixture(scope="session")
def browser(lab: Lab) -> Browser:
    """The browser with WebGPU: Chromium, or Firefox if it is selected."""
    return lab.browser


@pytest.fixture(scope="session")
def site_url(lab: Lab) -> str:
    """The address of the site, without a trailing slash."""
    return lab.site_url


@pytest.fixture
def page_problems(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """The problems that the test's pages report. Each fails a test without `provokes_errors`."""
    found: list[str] = []
    yield found
    if request.node.get_closest_marker("provokes_errors") is None:
        problems.assert_none(found)


@pytest.fixture
def new_page(lab: Lab, page_problems: list[str]) -> Iterator[Callable[..., Page]]:
    """A function that opens pages, each in its own context, with the options of `Lab.new_page`."""
    pages: list[Page] = []

    def make(**options: Any) -> Page:
        pages.append(lab.new_page(page_problems.append, **options))
        return pages[-1]

    yield make
    for page in pages:
        page.context.close()


@pytest.fixture
def new_bare_page(lab: Lab, page_problems: list[str]) -> Iterator[Callable[[str], BarePage]]:
    """A function that opens bare pages without Pyodide, given the kernel, "worker" or "main"."""
    bares: list[BarePage] = []

    def make(kernel: str) -> BarePage:
        bares.append(lab.new_bare_page(page_problems.append, kernel))
        return bares[-1]

    yield make
    for bare in bares:
        bare.page.context.close()


@pytest.fixture(scope="module")
def shared(lab: Lab) -> Iterator[tuple[NotebookPage, list[str]]]:
    """The notebook page that a module's tests share, and the problems it reports."""
    with open_notebook(lab) as opened:
        yield opened


@pytest.fixture
def notebook(
    request: pytest.FixtureRequest, shared: tuple[NotebookPage, list[str]]
) -> Iterator[NotebookPage]:
    """An empty notebook in the module's page. A problem of the page fails the test.

    See ``page_problems``.
    """
    page, found = shared
    page.fresh()
    found.clear()
    yield page
    if request.node.get_closest_marker("provokes_errors") is None:
        problems.assert_none(found)
