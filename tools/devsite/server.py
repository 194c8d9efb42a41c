"""HTTP server for the site's files only, with cross-origin isolation."""

import contextlib
import errno
import http.server
import ipaddress
import os
import shutil
import socket
import socketserver
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from email.utils import formatdate
from http import HTTPStatus
from pathlib import Path
from typing import Any

from devsite.errors import AddressUnavailable
from devsite.mime import mime_type
from devsite.resolve import resolve

_ISOLATION = {
    # Both make the page cross-origin isolated, as SharedArrayBuffer requires. Interrupts need it.
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_IDLE_TIMEOUT = 60.0

Late = Callable[[str], Path | None]


def nothing_late(_target: str) -> None:
    """Return None: no file is fetched on request."""


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True
    # On Windows, this option would let a second server take over the port unnoticed.
    allow_reuse_address = os.name == "posix"
    allow_reuse_port = False

    def __init__(self, address: tuple[str, int], roots: Mapping[str, Path], late: Late) -> None:
        self.roots = roots
        self.late = late
        self.only_local_names = is_loopback(address[0])
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        # HTTPServer's version asks the name service for a name that is not needed.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that closes a connection early."""
        with contextlib.suppress(ConnectionError, TimeoutError):
            super().handle_error(request, client_address)


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    server_version = "browsergpu"
    sys_version = ""
    timeout = _IDLE_TIMEOUT
    # Headers and body are two writes; the second would wait for an acknowledgement of the first.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _refuse_method(self) -> None:
        # The request's body is not read, so the connection cannot carry another request.
        self.close_connection = True
        self._answer_error(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET and HEAD", allow="GET, HEAD")

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _refuse_method

    def _answer(self, with_body: bool) -> None:
        if self.server.only_local_names and not is_local_name(self.headers.get("Host", "")):
            # A foreign host name means DNS rebinding, with which another site could read this one.
            self._answer_error(HTTPStatus.MISDIRECTED_REQUEST, "This server is for localhost")
            return
        path = resolve(self.path, self.server.roots) or self.server.late(self.path)
        if path is None:
            self._answer_error(HTTPStatus.NOT_FOUND, "No such file")
            return
        try:
            stream = path.open("rb")
        except OSError:
            self._answer_error(HTTPStatus.NOT_FOUND, "No such file")
            return
        with stream:
            status = os.fstat(stream.fileno())
            etag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
            if etag in self._known_etags():
                self.send_response(HTTPStatus.NOT_MODIFIED)
                self._send_headers({"ETag": etag, "Cache-Control": "no-cache"})
                return
            self.send_response(HTTPStatus.OK)
            self._send_headers(
                {
                    "Content-Type": mime_type(path),
                    "Content-Length": str(status.st_size),
                    "Last-Modified": formatdate(status.st_mtime, usegmt=True),
                    "ETag": etag,
                    "Cache-Control": "no-cache",
                }
            )
            if with_body:
                shutil.copyfileobj(stream, self.wfile, 1 << 18)

    def _known_etags(self) -> set[str]:
        """Return the versions that the browser has cached."""
        field = self.headers.get("If-None-Match", "")
        return {etag.strip().removeprefix("W/") for etag in field.split(",")}

    def _answer_error(self, status: HTTPStatus, text: str, allow: str = "") -> None:
        body = f"{status.value} {text}\n".encode()
        self.send_response(status)
        headers = {
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
        }
        if allow:
            headers |= {"Allow": allow, "Connection": "close"}
        self._send_headers(headers)
        if self.command != "HEAD":
            self.wfile.write(body)

    def _send_headers(self, headers: Mapping[str, str]) -> None:
        for name, value in {**_ISOLATION, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, since the terminal is for messages to the user."""


def make_server(
    roots: Mapping[str, Path],
    host: str = "127.0.0.1",
    port: int = 0,
    late: Late = nothing_late,
) -> http.server.ThreadingHTTPServer:
    """Return a server that is listening. Port 0 selects a free one. Call serve_forever() on it.

    ``late`` is called for the path of a missing file, and may take long.
    """
    try:
        return _Server((host, port), roots, late)
    except (OSError, OverflowError) as error:
        raise AddressUnavailable(_listen_problem(host, port, error)) from error


@contextlib.contextmanager
def serving(roots: Mapping[str, Path]) -> Iterator[str]:
    """Serve in a thread, on a free port. Yields the address, without a trailing slash."""
    server = make_server(roots)
    thread = threading.Thread(target=server.serve_forever, name="site", daemon=True)
    thread.start()
    try:
        yield server_url(server).rstrip("/")
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)


def server_url(server: http.server.ThreadingHTTPServer) -> str:
    """Return the address for a browser on this machine."""
    host, port = str(server.server_address[0]), server.server_address[1]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server bound to ``host``."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_local_name(host_header: str) -> bool:
    """Whether a Host header names this machine by a name that no other site can have."""
    try:
        name = urllib.parse.urlsplit(f"//{host_header}").hostname or ""
    except ValueError:
        return False
    return is_loopback(name) or name.endswith(".localhost")


def _listen_problem(host: str, port: int, error: Exception) -> str:
    code = error.errno if isinstance(error, OSError) else None
    if code == errno.EADDRINUSE:
        return f"Port {port} is in use. Choose another with --port, or --port 0 for any free one."
    if code == errno.EACCES:
        return f"Port {port} is reserved for the system. Choose one above 1023 with --port."
    if isinstance(error, socket.gaierror) or code == errno.EADDRNOTAVAIL:
        return f"{host!r} is not an address of this machine. Use --host 127.0.0.1, or leave it out."
    return f"Cannot listen on {host} port {port}: {error}"
