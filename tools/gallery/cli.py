"""The command line: which notebooks run."""

import argparse
from pathlib import Path

from devsite.server import serving
from devsite.site import prepare
from gallery.page import Page, open_page
from gallery.pictures import save_pictures
from gallery.saved import GALLERY, read, with_outputs, with_sizes, write
from gallery.sizes import FILES, ON_GPU, SIZES

_GIVEN = "/given/"


def main(arguments: list[str] | None = None) -> int:
    """Run the named notebooks, by default all that have sizes. Return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python tools/gallery",
        description="Run the gallery's notebooks in Chromium, and save outputs and pictures.",
        epilog="Files of others: " + "; ".join(f"{name} {told}" for name, told in FILES.items()),
    )
    parser.add_argument("name", nargs="*", help="a notebook, by default all")
    parser.add_argument(
        "--gpu",
        metavar="MODEL",
        help="compute on this machine's GPU, with the notebooks' own sizes; MODEL is printed",
    )
    parser.add_argument(
        "--file",
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="a file that is dropped on the page before the run, such as a model; repeatable",
    )
    parser.add_argument(
        "--at",
        nargs=2,
        metavar=("ADDRESS", "FOLDER"),
        help="serve a folder in the place of an address in the first code cell",
    )
    options = parser.parse_args(arguments)
    known = ON_GPU if options.gpu else tuple(SIZES)
    unknown = set(options.name) - set(known)
    if unknown:
        parser.error(
            f"name must be one of {', '.join(known)} {'with' if options.gpu else 'without'} --gpu, "
            f"got {', '.join(sorted(unknown))}"
        )
    roots = prepare().roots
    if options.at:
        roots = {**roots, _GIVEN: Path(options.at[1]).resolve()}
    with (
        serving(roots) as address,
        open_page(address, options.file, own_gpu=bool(options.gpu)) as page,
    ):
        places = {options.at[0]: f"{address}{_GIVEN}"} if options.at else {}
        for name in options.name or known:
            _save(page, name, options.gpu, places)
    return 0


def _save(page: Page, name: str, gpu: str | None, places: dict[str, str]) -> None:
    path = GALLERY / f"{name}.ipynb"
    source = read(path)
    ran = page.run(name, with_sizes(source, "" if gpu else SIZES[name], gpu, places))
    made = with_outputs(source, ran)
    write(path, made)
    save_pictures(name, made)
    print(f"{name}: {path.stat().st_size // 1000} kB")
