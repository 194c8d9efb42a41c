"""Downloads from servers that cut the connection, change the file, refuse or cannot resume."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import browsergpu as bg
from browsergpu.networks.hub import download as downloads

pytestmark = pytest.mark.fast

DATA = np.random.default_rng(5).bytes(1_500_000)


class Server(http.server.ThreadingHTTPServer):
    """Serves ``data``. ``cuts`` holds how many bytes the next answers have before they end."""

    data, tag, ranges = DATA, '"a"', True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.cuts: list[int] = []
        self.statuses: list[int] = []
        #: The ranges that were requested.
        self.asked: list[str | None] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/models/tiny.gguf?x=1"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        own = self.server
        asked = self.headers["Range"]
        own.asked.append(asked)
        if own.statuses:
            self.send_error(own.statuses.pop(0))
            return
        begin = int(asked[6:-1]) if asked and own.ranges else 0
        if begin and begin >= len(own.data):
            self.send_error(416)
            return
        self.send_response(206 if asked and own.ranges else 200)
        self.send_header("Content-Length", str(len(own.data) - begin))
        self.send_header("ETag", own.tag)
        self.end_headers()
        end = begin + own.cuts.pop(0) if own.cuts else len(own.data)
        self.wfile.write(own.data[begin:end])

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(downloads, "_PAUSE_S", 0.001)
    with Server() as own:
        thread = threading.Thread(target=own.serve_forever, daemon=True)
        thread.start()
        yield own
        own.shutdown()
        thread.join(10)


def test_a_connection_that_is_cut(server: Server, tmp_path: Path) -> None:
    server.cuts = [400_000, 0, 300_000]
    told: list[tuple[int, int | None, str]] = []
    path = bg.hub.download(
        server.address, folder=tmp_path, progress=lambda *told_now: told.append(told_now)
    )
    assert path.read_bytes() == DATA
    assert path.name == "tiny.gguf"
    ranges = [None, "bytes=400000-", "bytes=400000-", "bytes=700000-"]
    assert server.asked == ranges
    assert told[-1] == (len(DATA), len(DATA), "tiny.gguf")
    assert [have for have, *_ in told] == sorted(have for have, *_ in told)
    (kept,) = bg.hub.files(folder=tmp_path)
    assert (kept.address, kept.path, kept.size) == (server.address, path, len(DATA))
    assert kept.sha256 == hashlib.sha256(DATA).hexdigest()
    # Without another request.
    assert bg.hub.download(server.address, folder=tmp_path, sha256=kept.sha256.upper()) == path
    assert server.asked == ranges
    assert bg.hub.delete(server.address, folder=tmp_path)
    assert not bg.hub.delete(server.address, folder=tmp_path)
    assert bg.hub.files(folder=tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_fails_and_goes_on_later(server: Server, tmp_path: Path) -> None:
    server.cuts = [500_000, 0, 0, 0, 0]
    with pytest.raises(OSError, match=r"500000 of 1500000 bytes\. Call hub.download again"):
        bg.hub.download(server.address, folder=tmp_path)
    assert bg.hub.files(folder=tmp_path) == []
    server.asked.clear()
    assert bg.hub.download(server.address, folder=tmp_path).read_bytes() == DATA
    assert server.asked == ["bytes=500000-"]


def test_a_file_that_changes_in_between(server: Server, tmp_path: Path) -> None:
    server.cuts = [500_000, 0, 0, 0, 0]
    with pytest.raises(OSError, match="500000"):
        bg.hub.download(server.address, folder=tmp_path)
    server.data, server.tag = DATA[::-1], '"b"'
    assert bg.hub.download(server.address, folder=tmp_path).read_bytes() == DATA[::-1]
    # Shorter than the part that is there.
    bg.hub.delete(server.address, folder=tmp_path)
    server.cuts = [500_000, 0, 0, 0, 0]
    with pytest.raises(OSError, match="500000"):
        bg.hub.download(server.address, folder=tmp_path)
    server.data = b"short"
    assert bg.hub.download(server.address, folder=tmp_path).read_bytes() == b"short"


def test_a_server_without_ranges(server: Server, tmp_path: Path) -> None:
    server.ranges, server.cuts = False, [400_000]
    assert bg.hub.download(server.address, folder=tmp_path).read_bytes() == DATA


def test_refusals_of_the_server(server: Server, tmp_path: Path) -> None:
    server.statuses = [503, 404]
    with pytest.raises(OSError, match=r"tiny\.gguf.*: status 404"):
        bg.hub.download(server.address, folder=tmp_path)
    assert len(server.asked) == 2
    with pytest.raises(OSError, match=r"Call hub\.download again to go on"):
        bg.hub.download("http://127.0.0.1:9/file", folder=tmp_path)


def test_another_hash(server: Server, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="sha256 must be the hash of the file"):
        bg.hub.download(server.address, folder=tmp_path, sha256="0" * 64)
    assert bg.hub.files(folder=tmp_path) == []
    path = bg.hub.download(server.address, folder=tmp_path)
    path.write_bytes(b"damaged")
    assert bg.hub.download(server.address, folder=tmp_path).read_bytes() == DATA


def test_progress_that_raises(server: Server, tmp_path: Path) -> None:
    def stop(have: int, size: int | None, what: str) -> None:
        if have > 600_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bg.hub.download(server.address, folder=tmp_path, progress=stop)
    server.asked.clear()
    assert bg.hub.download(server.address, folder=tmp_path).read_bytes() == DATA
    (asked,) = server.asked
    assert asked is not None
    assert int(asked[6:-1]) > 600_000


def test_a_bar_shows_the_bytes(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bg.hub.download(server.address, folder=tmp_path, progress=True)
    size = f"{len(DATA) / 2**20:.1f}"
    assert f"tiny.gguf, {size} of {size} MiB" in "".join(capsys.readouterr())


def test_two_downloads_of_one_file(server: Server, tmp_path: Path) -> None:
    found: list[BaseException] = []

    def again(have: int, size: int | None, what: str) -> None:
        with contextlib.suppress(BlockingIOError):
            bg.hub.download(server.address, folder=tmp_path)
            raise AssertionError
        found.append(BlockingIOError())

    bg.hub.download(server.address, folder=tmp_path, progress=again)
    assert found


def test_repositories(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = server.address.split("/models")[0]
    monkeypatch.setenv("HF_ENDPOINT", host + "/")
    path = bg.hub.download("owner/name", "a b/tiny.gguf", revision="v1", folder=tmp_path)
    (kept,) = bg.hub.files(folder=tmp_path)
    assert kept.address == f"{host}/owner/name/resolve/v1/a%20b/tiny.gguf"
    assert kept.path == path
    assert bg.hub.delete("owner/name", "a b/tiny.gguf", revision="v1", folder=tmp_path)


def test_what_is_stored_may_be_malformed(server: Server, tmp_path: Path) -> None:
    path = bg.hub.download(server.address, folder=tmp_path)
    for text in ("", "[1]", '{"address": 1}', '{"address": "x", "name": "../../etc"}'):
        (path.parent / "about.json").write_text(text)
        assert bg.hub.files(folder=tmp_path) == []
        assert bg.hub.download(server.address, folder=tmp_path).read_bytes() == DATA


def test_bad_arguments(tmp_path: Path) -> None:
    for arguments, options, match in (
        (("ftp://host/file",), {}, "source must be an http address, or a repository owner/name"),
        (("https:///file",), {}, "source must be an address with a host"),
        (("https://host/file", "x"), {}, "file must be left out, as source is an address"),
        (("https://host/file",), {"revision": "x"}, "revision must be left out"),
        (("owner/name",), {}, "file must be a path in the repository"),
        (("owner/name", "../x"), {}, "file must be a path in the repository"),
        (("https://host/file",), {"sha256": "12"}, "sha256 must be 64 hexadecimal digits"),
        (("https://host/file",), {"progress": 1}, "progress must be True, False, or a function"),
        (("https://host/file",), {"folder": 1}, "folder must be a path"),
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError), match=match):
            bg.hub.download(*arguments, **{"folder": tmp_path, **options})
    assert list(tmp_path.iterdir()) == []


def test_names_of_files() -> None:
    from browsergpu.networks.hub.store import name_of

    assert name_of("https://h/a/b.gguf?download=true#x") == "b.gguf"
    assert name_of("https://h/") == "file-"
    assert name_of("https://h/..%2f..%2fetc") == "etc"
    assert name_of("https://h/%00%0aname") == "__name"
    assert name_of("https://h/about.json") == "file-about.json"
    assert len(name_of("https://h/" + "x" * 500 + ".gguf")) == 120
