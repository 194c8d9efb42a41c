"""A local HTTP server in place of the CDN or the npm registry."""

import http.server
import threading
import urllib.parse
from collections import Counter
from dataclasses import dataclass


@dataclass
class Reply:
    """A reply of the server.

    ``length`` may be larger than ``body``. A reply that ``stalls`` keeps the connection open after
    the body without sending more.
    """

    body: bytes
    status: int = 200
    length: int | None = None
    content_type: str = "application/octet-stream"
    stalls: bool = False


class CdnServer:
    """Serves ``replies`` by path and counts the requests."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply] = {}
        self.requests: Counter[str] = Counter()
        self.stalled = threading.Event()
        self._closing = threading.Event()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = urllib.parse.unquote(self.path.partition("?")[0]).lstrip("/")
                owner.requests[path] += 1
                reply = owner.replies.get(path, Reply(b"no such file", status=404))
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.content_type)
                length = len(reply.body) if reply.length is None else reply.length
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(reply.body)
                if reply.stalls:
                    owner.stalled.set()
                    owner._closing.wait(120)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler
