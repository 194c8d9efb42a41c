"""The site under test: the files of serve.py, plus pages and wheels for the tests."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from devsite.server import serving
from devsite.site import prepare

BROWSER_TESTS = Path(__file__).resolve().parent.parent
REPOSITORY = BROWSER_TESTS.parent.parent
TEST_WHEELS = REPOSITORY / ".cache" / "test-wheels"


def start_site(more: Mapping[str, Path]) -> AbstractContextManager[str]:
    """Serve the site, and more folders under their prefixes, on a free port.

    The context yields the address, without a trailing slash.
    """
    own = {"/tests/": BROWSER_TESTS / "pages", "/test-wheels/": TEST_WHEELS}
    return serving({**prepare().roots, **own, **more})


def urls_of_test_wheels(site_url: str) -> list[str]:
    """Return the addresses of the wheels that in-page tests need (pytest, hypothesis …)."""
    if not any(TEST_WHEELS.glob("pytest-*.whl")):
        raise FileNotFoundError(
            f"no pytest wheel in {TEST_WHEELS}: run `python3 tests/run.py`, which fetches them"
        )
    return urls_of_wheels(TEST_WHEELS, f"{site_url}/test-wheels")


def urls_of_wheels(folder: Path, url: str) -> list[str]:
    """Return the addresses of a folder's wheels below `url`."""
    return [f"{url}/{wheel.name}" for wheel in sorted(folder.glob("*.whl"))]
