"""The command line: which notebooks run, and where the browser is."""

import argparse
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from devsite.server import make_server, server_url
from devsite.site import prepare
from gallery.page import Page, open_page
from gallery.pictures import save_pictures
from gallery.saved import GALLERY, read, with_outputs, write
from gallery.sizes import SIZES


@contextmanager
def _site() -> Iterator[str]:
    """Serve the site. Yields its address."""
    server = make_server(prepare().roots)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server_url(server).rstrip("/")
    finally:
        server.shutdown()
        server.server_close()


def main(arguments: list[str] | None = None) -> int:
    """Run the named notebooks, by default all that have sizes. Return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python tools/gallery",
        description="Run the gallery's notebooks in Chromium, and save outputs and pictures.",
    )
    parser.add_argument("name", nargs="*", help="a notebook, by default all")
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser")
    options = parser.parse_args(arguments)
    unknown = set(options.name) - set(SIZES)
    if unknown:
        parser.error(f"name must be one of {', '.join(SIZES)}, got {', '.join(sorted(unknown))}")
    with _site() as address, open_page(address, options.chromium) as page:
        for name in options.name or SIZES:
            _save(page, name)
    return 0


def _save(page: Page, name: str) -> None:
    path = GALLERY / f"{name}.ipynb"
    source = read(path)
    ran = page.run(name, source, SIZES[name])
    made = with_outputs(source, ran)
    write(path, made)
    save_pictures(name, made)
    print(f"{name}: {path.stat().st_size // 1000} kB")
