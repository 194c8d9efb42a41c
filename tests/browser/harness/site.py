"""The site under test: the files of serve.py, plus pages and wheels for the tests."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from devsite.server import make_server, server_url
from devsite.site import prepare

BROWSER_TESTS = Path(__file__).resolve().parent.parent
REPOSITORY = BROWSER_TESTS.parent.parent
TEST_WHEELS = REPOSITORY / ".cache" / "test-wheels"


@contextlib.contextmanager
def start_site(more: Mapping[str, Path]) -> Iterator[str]:
    """Serve the site, and more folders under their prefixes, on a free port.

    Yields the address, without a trailing slash.
    """
    site = prepare()
    roots = {
        **site.roots,
        "/tests/": BROWSER_TESTS / "pages",
        "/test-wheels/": TEST_WHEELS,
        **more,
    }
    server = make_server(roots)
    thread = threading.Thread(target=server.serve_forever, name="site", daemon=True)
    thread.start()
    try:
        yield server_url(server).rstrip("/")
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)


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
