"""A plain static host, without the headers that isolate a page."""

from __future__ import annotations

import contextlib
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class _Handler(http.server.SimpleHTTPRequestHandler):
    is_open = False

    def do_GET(self) -> None:
        # Browsers request an icon from every host; a missing icon is not a problem of the page.
        if self.path == "/favicon.ico":
            self.send_response(http.HTTPStatus.NO_CONTENT)
            self.end_headers()
        else:
            super().do_GET()

    def end_headers(self) -> None:
        if self.is_open:
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Cross-Origin-Resource-Policy", "cross-origin")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, to keep the tests' output short."""


@contextlib.contextmanager
def static_host(folder: Path, *, is_open: bool = False) -> Iterator[str]:
    """Serve a folder on a free port. Yields the address, without a trailing slash.

    If ``is_open``, other pages may read the files (CORS), as GitHub's raw files.
    """
    kind = type("_OpenHandler", (_Handler,), {"is_open": True}) if is_open else _Handler
    handler = functools.partial(kind, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, name="static", daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join(timeout=10)
