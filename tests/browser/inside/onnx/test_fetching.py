"""Models at addresses: chunks, progress, errors and memory."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from browsergpu.engine.gpu import content, platform
from inside.onnx import making
from inside.onnx.making import node, value

pytestmark = pytest.mark.native

_MIB = 1 << 20
Serve = Callable[[bytes], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A function that returns an address for content: of a blob in a page, or of a server."""
    ends: list[Callable[[], None]] = []
    yield lambda data: _blob(data, ends) if platform.IN_PYODIDE else _served(data, ends)
    for end in ends:
        end()


def _blob(data: bytes, ends: list[Callable[[], None]]) -> str:
    import js
    from pyodide.ffi import to_js

    address = js.URL.createObjectURL(js.Blob.new(to_js([to_js(data)])))
    ends.append(lambda: js.URL.revokeObjectURL(address))
    return str(address)


gone = threading.Event()  # lets the server send the content of "/slow"


def _served(data: bytes, ends: list[Callable[[], None]]) -> str:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/elsewhere":
                self.send_response(302)
                self.send_header("Location", "file:///etc/hostname")
                self.end_headers()
                return
            self.send_response(200 if "missing" not in self.path else 404)
            extra = 5 if self.path == "/cut" else 0
            if self.path != "/unknown":
                self.send_header("Content-Length", str(len(data) + extra))
            self.end_headers()
            if self.path == "/slow":
                gone.wait(10)
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ends += [server.shutdown, server.server_close]
    return f"http://127.0.0.1:{server.server_address[1]}/m.onnx"


def fetched(url: str, report: Any = None) -> bytes:
    return bytes(platform.block_on(content.fetch(url, report), "test"))


def large(count: int = 8) -> tuple[bytes, int]:
    """Return a model with matrices of one MiB, and the bytes of its weights."""
    weights = {f"w{at}": np.full((512, 512), at, np.float32) for at in range(count)}
    nodes = [node("MatMul", f"x{at} w{at}", f"x{at + 1}") for at in range(count)]
    return making.model(nodes, [value("x0")], f"x{count}", weights), count * _MIB


def test_the_content_at_an_address(serve: Serve) -> None:
    given = np.random.default_rng(0).bytes(3 * _MIB + 5)
    told: list[tuple[int, int | None]] = []
    assert fetched(serve(given), lambda done, total: told.append((done, total))) == given
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[-1] == (len(given), len(given))
    assert len(told) > 1
    assert fetched(serve(b"")) == b""


@pytest.mark.skipif(platform.IN_PYODIDE, reason="browsers follow their own rules")
def test_servers_that_fail(serve: Serve) -> None:
    address = serve(b"abc").removesuffix("/m.onnx")
    assert fetched(f"{address}/unknown") == b"abc"
    for path, wrong in (
        ("missing", "status 404"), ("cut", "3 bytes of 8"), ("elsewhere", "status 302"),
    ):  # fmt: skip
        with pytest.raises(OSError, match=wrong):
            fetched(f"{address}/{path}")
    with pytest.raises(OSError, match="unknown url type"):
        fetched("file:///etc/hostname")


@pytest.mark.skipif(platform.IN_PYODIDE, reason="the page's loop runs the tests")
def test_other_tasks_run_during_a_download(bg: Any, serve: Serve) -> None:
    gone.clear()
    data, _ = large(1)
    address = serve(data).replace("/m.onnx", "/slow")

    async def both() -> Any:
        loading = asyncio.create_task(bg.onnx.load_async(address))
        await asyncio.sleep(0.2)
        assert not loading.done()  # a blocked loop gets here after the server's patience
        gone.set()
        return await loading

    model = asyncio.run(both())
    assert model(np.zeros((2, 512), np.float32)).shape == (2, 512)


def test_progress(bg: Any, serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    data, size = large()
    told: list[tuple[int, int | None, str]] = []
    bg.onnx.load(data, progress=lambda *now: told.append(now))
    assert told == [(at * _MIB, size, "weights") for at in range(1, 9)]
    bg.onnx.load(data, progress=True)
    assert "weights, 8.0 of 8.0 MiB" in capsys.readouterr().err
    with pytest.raises(TypeError, match="progress must be True, False, or a function, got 3"):
        bg.onnx.load(data, progress=3)


def test_an_address_reports_its_download(
    bg: Any, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, size = large()
    address = serve(data)
    if platform.IN_PYODIDE:  # a blob's address, as one of a server
        fetch = content.fetch
        monkeypatch.setattr(content, "fetch", lambda url, report: fetch(address, report))
        url = "https://host/m.onnx?version=2"
    else:
        url = f"{address}?version=2"
    told: list[tuple[int, int | None, str]] = []
    bg.onnx.load(url, progress=lambda *now: told.append(now))
    names = [what for _, _, what in told]
    assert names == ["m.onnx"] * names.count("m.onnx") + ["weights"] * 8
    assert (len(data), len(data), "m.onnx") in told
    assert told[-1] == (size, size, "weights")


def test_weights_are_not_copied(bg: Any, serve: Serve, tmp_path: Any) -> None:
    data, size = large(16)
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    bg.onnx.load(data)  # what is imported at first use
    address = serve(data)

    def peak(load: Callable[[], Any]) -> int:
        tracemalloc.start()
        try:
            load()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(lambda: bg.onnx.load(data)) < 2 * _MIB
    # A page's file system cannot map files, and holds a download in memory.
    whole = size if platform.IN_PYODIDE else 0
    assert peak(lambda: bg.onnx.load(path)) < whole + 4 * _MIB
    assert peak(lambda: fetched_memory(address)) < whole + 4 * _MIB


def fetched_memory(url: str) -> memoryview:
    return platform.block_on(content.fetch(url), "test")
