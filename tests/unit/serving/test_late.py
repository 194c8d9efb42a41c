"""Wheels that are not on the site are downloaded on request, and stored."""

import hashlib
import http.client
import json
import threading
from contextlib import closing

import pytest
from cdn_server import CdnServer, Reply
from sample import NO_CDN, fill_cache, manifest_file, with_build_files

from devsite.layout import Layout
from devsite.manifest import Manifest
from devsite.server import make_server
from devsite.site import Site, prepare

pytestmark = pytest.mark.fast

WHEEL = b"PK" * 500
NAME = "lxml-6.0.2-cp314-cp314-pyemscripten_2026_0_wasm32.whl"
REMOTE = f"pyodide/v1.0/full/{NAME}"


def entry(content: bytes) -> dict[str, str]:
    return {
        "file_name": NAME,
        "sha256": hashlib.sha256(content).hexdigest(),
        "version": "6.0.2",
    }


LOCK = json.dumps({"info": {}, "packages": {"lxml": entry(WHEEL)}}).encode()


@pytest.fixture
def manifest(cdn: CdnServer, checkout: Layout) -> Manifest:
    """A site whose lock has one wheel more than the site. The CDN has the wheel."""
    fill_cache(checkout, "build/")
    cdn.replies = {"lock": Reply(LOCK), REMOTE: Reply(WHEEL)}
    return with_build_files(manifest_file("pyodide/pyodide-lock.json", LOCK, cdn="lock"))


def get(site: Site, path: str) -> tuple[int, bytes]:
    server = make_server(site.roots, late=site.late)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    host, port = server.server_address[:2]
    try:
        with closing(http.client.HTTPConnection(str(host), port, timeout=600)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def test_a_wheel_is_fetched_once_and_then_there_without_a_network(
    cdn: CdnServer, manifest: Manifest, checkout: Layout
) -> None:
    site = prepare(layout=checkout, manifest=manifest, cdn=cdn.url)
    cdn.requests.clear()
    assert get(site, f"/pyodide/{NAME}") == (200, WHEEL)
    assert get(site, f"/pyodide/{NAME}") == (200, WHEEL)
    assert cdn.requests[REMOTE] <= 2  # one tests whether the CDN is reachable
    offline = prepare(layout=checkout, manifest=manifest, offline=True)
    assert get(offline, f"/pyodide/{NAME}") == (200, WHEEL)


@pytest.mark.parametrize(
    ("reply", "path"),
    [
        (Reply(WHEEL[:-1] + b"!"), f"/pyodide/{NAME}"),  # differs from the lock
        (Reply(b"gone", status=404), f"/pyodide/{NAME}"),
        (Reply(WHEEL), "/pyodide/unknown.whl"),
        (Reply(WHEEL), f"/{NAME}"),
        (Reply(WHEEL), f"/pyodide/../{NAME}"),
    ],
)
def test_a_failed_download_gives_404_and_leaves_no_file(
    cdn: CdnServer, manifest: Manifest, checkout: Layout, reply: Reply, path: str
) -> None:
    cdn.replies[REMOTE] = reply
    site = prepare(layout=checkout, manifest=manifest, cdn=cdn.url)
    assert get(site, path)[0] == 404
    assert not list((checkout.files / "pyodide").glob("*.whl"))
    assert not list(checkout.temporary.iterdir())


@pytest.mark.parametrize("offline", [True, False])
def test_without_a_network_the_answer_is_no(
    cdn: CdnServer, manifest: Manifest, checkout: Layout, offline: bool
) -> None:
    prepare(layout=checkout, manifest=manifest, cdn=cdn.url)
    site = prepare(layout=checkout, manifest=manifest, cdn=NO_CDN, offline=offline)
    assert get(site, f"/pyodide/{NAME}")[0] == 404
