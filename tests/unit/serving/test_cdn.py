"""Downloads from a CDN are complete or raise an error, and do not wait for an unreachable CDN."""

import socket
import threading

import pytest
from cdn_server import CdnServer, Reply
from sample import NO_CDN, Notes, fetch, files_below, manifest_file

from devsite.cdn import Cdn
from devsite.store import Store

pytestmark = pytest.mark.fast

FILES = {f"pyodide/{n}.bin": bytes([n]) * (n * 1000 + 1) for n in range(20)}
ENTRIES = [manifest_file(path, content, cdn=path) for path, content in FILES.items()]


@pytest.fixture
def full_cdn(cdn: CdnServer) -> CdnServer:
    cdn.replies = {path: Reply(content) for path, content in FILES.items()}
    return cdn


def test_fetches_every_file(full_cdn: CdnServer, store: Store, notes: Notes) -> None:
    assert fetch(ENTRIES, store, notes, Cdn(full_cdn.url)) == {}
    assert store.missing(ENTRIES) == []
    assert sorted(notes.files) == sorted((path, "127.0.0.1") for path in FILES)


def test_paths_of_scoped_packages(cdn: CdnServer, store: Store, notes: Notes) -> None:
    path = "npm/@codemirror/state@6.7.6/dist/index.js"
    cdn.replies[path] = Reply(b"export {}")
    entry = manifest_file("vendor/@codemirror/state/dist/index.js", b"export {}", cdn=path)
    assert fetch([entry], store, notes, Cdn(f"{cdn.url}/")) == {}
    assert store.holds(entry)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(b"gone", status=404), "404"),
        (Reply(b"sorry", status=503), "503"),
        (Reply(b"\x03" * 3000 + b"?"), "sha256"),
        (Reply(b"\x03" * 99, length=3001), "3.bin"),
        (Reply(b"\x03" * 99), "ended after 99 of 3001 bytes"),
        (Reply(b"<html>a portal's page</html>" * 1000), "longer"),
    ],
)
def test_a_bad_file_is_named_and_the_others_come(
    full_cdn: CdnServer, store: Store, notes: Notes, reply: Reply, reason: str
) -> None:
    full_cdn.replies["pyodide/3.bin"] = reply
    failures = fetch(ENTRIES, store, notes, Cdn(full_cdn.url))
    assert list(failures) == ["pyodide/3.bin"]
    assert reason in failures["pyodide/3.bin"]
    assert store.missing(ENTRIES) == [ENTRIES[3]]
    assert files_below(store.temporary) == []


def test_a_file_that_broke_off_once_is_asked_for_again(
    full_cdn: CdnServer, store: Store, notes: Notes
) -> None:
    full_cdn.replies["pyodide/3.bin"] = Reply(b"", length=3001)
    source = Cdn(full_cdn.url)
    failures = fetch(ENTRIES, store, notes, source, source)
    assert list(failures) == ["pyodide/3.bin"]
    assert full_cdn.requests["pyodide/3.bin"] == 2
    assert full_cdn.requests["pyodide/4.bin"] == 1
    assert len(notes.notes) == 2


def test_files_of_no_cdn_are_left_to_others(cdn: CdnServer, store: Store, notes: Notes) -> None:
    entry = manifest_file("build/a.whl", b"a")
    assert fetch([entry], store, notes, Cdn(cdn.url)) == {"build/a.whl": "no source has it"}
    assert not cdn.requests


def test_an_absent_cdn_is_reported_once(store: Store, notes: Notes) -> None:
    source = Cdn(NO_CDN)
    failures = fetch(ENTRIES, store, notes, source, source)
    assert set(failures) == set(FILES)
    begun, told = notes.notes
    assert begun.startswith("20 files")
    assert "cannot be reached" in told


def test_a_cdn_that_never_answers_is_asked_once(store: Store, notes: Notes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(20)
        connections = []

        def accept() -> None:
            try:
                while True:
                    connections.append(silent.accept()[0])
            except OSError:
                pass

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        failures = fetch(ENTRIES, store, notes, Cdn(url, answer_timeout=0.2))
        silent.shutdown(socket.SHUT_RDWR)
        thread.join(20)
    for connection in connections:
        connection.close()
    assert set(failures) == set(FILES)
    assert len(connections) == 1
