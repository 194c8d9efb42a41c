"""The command line of serve.py."""

import argparse
import contextlib
import os
import signal
import sys
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from typing import NoReturn

from devsite.errors import SiteError
from devsite.layout import Layout
from devsite.progress import Console, Progress
from devsite.server import is_loopback, make_server, server_url
from devsite.site import prepare
from snapshot.maker import ensure_snapshot


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare the site, serve it until Ctrl-C, and return the exit status."""
    options = _parse(arguments)
    signal.signal(signal.SIGTERM, _stop)
    progress = Console(sys.stderr)
    try:
        site = prepare(offline=options.offline, refresh=options.refresh, progress=progress)
        server = make_server(site.roots, options.host, options.port, site.late)
    except SiteError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    try:
        with server, _making_snapshot(progress):
            _announce(server_url(server), options)
            server.serve_forever()
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
    return 0


@contextlib.contextmanager
def _making_snapshot(progress: Progress) -> Iterator[None]:
    """Make the snapshot for first visits while the site is served."""
    cancelled = threading.Event()
    maker = threading.Thread(target=_make_snapshot, args=(progress, cancelled), daemon=True)
    maker.start()
    try:
        yield
    finally:
        cancelled.set()
        maker.join(timeout=5)  # it may also be waiting for another process


def _make_snapshot(progress: Progress, cancelled: threading.Event) -> None:
    try:
        ensure_snapshot(Layout(), progress, cancelled)
    except (SiteError, OSError) as error:
        progress.note(f"First visits start slower: {error}")


def _announce(url: str, options: argparse.Namespace) -> None:
    print(f"Serving browsergpu at {url}", flush=True)
    if not is_loopback(options.host):
        print(_NOT_SECURE, file=sys.stderr)
    if not options.no_browser:
        _open_browser(url)


_NOT_SECURE = (
    "Other machines can reach this server. Browsers give WebGPU only to https and to localhost, "
    "so from another machine use a tunnel, for example: ssh -L 8000:localhost:8000 HOST"
)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="serve.py",
        description="Prepares everything that the browsergpu page needs, serves it and opens it.",
    )
    parser.add_argument(
        "--port", type=_port, default=8000, help="default 8000; 0 selects a free port"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on; by default only this machine's"
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open the browser")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--offline", action="store_true", help="use only what is in .cache/")
    source.add_argument("--refresh", action="store_true", help="fetch and build everything again")
    return parser.parse_args(arguments)


def _port(text: str) -> int:
    try:
        port = int(text)
    except ValueError:
        port = -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: expected 0 to 65535")
    return port


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _open_browser(url: str) -> None:
    has_display = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if has_display:
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    else:
        print("No display here: open the address yourself.", file=sys.stderr)
