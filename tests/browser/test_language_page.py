"""Downloads and language models in the page, from a server of another origin."""

from __future__ import annotations

import ast
import http.server
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness.notebook import NotebookPage
from tests.unit.llm.conftest import smollm2 as smollm2  # the fixture

PROMPT, TOKENS = "The capital of France is", 3
LAVAPIPE = Path("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json")
MB = 1 << 20


class Server(http.server.ThreadingHTTPServer):
    """Serves bytes to pages of all origins. ``cuts`` shortens the next answers."""

    def __init__(self, data: Any) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.data = data
        self.cuts: list[int] = []
        self.asked: list[str | None] = []
        self.address = f"http://127.0.0.1:{self.server_address[1]}/tiny.gguf"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        own, asked = self.server, self.headers["Range"]
        own.asked.append(asked)
        begin = int(asked[6:-1]) if asked else 0
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(own.data) - begin))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        is_cut = bool(own.cuts)
        end = begin + own.cuts.pop(0) if is_cut else len(own.data)
        self.wfile.write(own.data[begin:end])
        if is_cut:  # the browser drops bytes that the page has not read before the end
            time.sleep(2)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture
def serve() -> Iterator[Any]:
    """A function that serves bytes."""
    servers: list[Server] = []

    def start(data: Any) -> Server:
        servers.append(Server(data))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return servers[-1]

    yield start
    for one in servers:
        one.shutdown()
        one.server_close()


@pytest.mark.provokes_errors  # the browser reports the answer that was cut
def test_a_download_that_is_cut(notebook: NotebookPage, serve: Any) -> None:
    data = np.random.default_rng(2).bytes(3 * MB)
    server = serve(data)
    server.cuts = [MB]
    out = notebook.run(
        "import browsergpu as bg, hashlib\n"
        f"path = bg.hub.download({server.address!r})\n"
        "(kept,) = bg.hub.files()\n"
        "print([str(path), kept.sha256, hashlib.sha256(path.read_bytes()).hexdigest()])"
    )
    path, kept, own = ast.literal_eval(out.inner_text().strip())
    assert path.startswith("/home/pyodide/models/")
    assert kept == own
    first, second = server.asked
    assert first is None
    assert 0 < int(second[6:-1]) <= MB
    # Kept by the browser: a new kernel has the file.
    notebook.restart()
    notebook.wait_idle()
    out = notebook.run(
        f"import browsergpu as bg\npath = bg.hub.download({server.address!r})\n"
        f"print([path.stat().st_size, bg.hub.delete({server.address!r}), bg.hub.files()])"
    )
    assert ast.literal_eval(out.inner_text().strip()) == [len(data), True, []]
    assert len(server.asked) == 2


def natives(file: Path) -> list[int]:
    """The tokens outside of the page."""
    code = (
        "import sys, json, browsergpu as bg; bg.init(); llm = bg.llm.load(sys.argv[1], context=64);"
        f"print(json.dumps(llm.generate({PROMPT!r}, max_tokens={TOKENS}).tokens))"
    )
    own = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "py")}
    if LAVAPIPE.exists():
        own |= {"BROWSERGPU_ENGINE": "wgpu", "VK_ICD_FILENAMES": str(LAVAPIPE)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)], env=own, stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.mark.all
def test_smollm2(notebook: NotebookPage, serve: Any, smollm2: Path) -> None:
    """Its tokens are those outside of the page, and Python's memory does not hold the file."""
    server = serve(np.memmap(smollm2, np.uint8, mode="r"))
    out = notebook.run(
        "import time, pyodide_js, browsergpu as bg\n"
        "from browsergpu.llm.files.gguf import GGUF\n"
        "heap = lambda: pyodide_js._module.HEAP8.length\n"
        "await bg.init_async()\n"
        "begin, start = heap(), time.perf_counter()\n"
        f"path = bg.hub.download({server.address!r})\n"
        "between, downloaded = heap(), time.perf_counter()\n"
        "llm = bg.llm.load(path, context=64)\n"
        "after, loaded = heap(), time.perf_counter()\n"
        f"text = llm.generate({PROMPT!r}, max_tokens={TOKENS})\n"
        "end = time.perf_counter()\n"
        "print([text.tokens, between - begin, after - begin, heap() - begin,\n"
        "       downloaded - start, loaded - downloaded, end - loaded])",
        timeout=400_000,
    )
    tokens, *figures = ast.literal_eval(out.inner_text().strip())
    print(figures)
    assert tokens == natives(smollm2)
    assert figures[2] < 64 * MB
    assert smollm2.stat().st_size > 90 * MB
