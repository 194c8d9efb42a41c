"""The command line: which notebooks run."""

import argparse

from devsite.server import serving
from devsite.site import prepare
from gallery.page import Page, open_page
from gallery.pictures import save_pictures
from gallery.saved import GALLERY, read, with_outputs, write
from gallery.sizes import SIZES


def main(arguments: list[str] | None = None) -> int:
    """Run the named notebooks, by default all that have sizes. Return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python tools/gallery",
        description="Run the gallery's notebooks in Chromium, and save outputs and pictures.",
    )
    parser.add_argument("name", nargs="*", help="a notebook, by default all")
    options = parser.parse_args(arguments)
    unknown = set(options.name) - set(SIZES)
    if unknown:
        parser.error(f"name must be one of {', '.join(SIZES)}, got {', '.join(sorted(unknown))}")
    with serving(prepare().roots) as address, open_page(address) as page:
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
