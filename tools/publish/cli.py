"""The command line of tools/publish."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from devsite.errors import SiteError
from devsite.layout import Layout
from devsite.progress import Console
from devsite.site import prepare
from publish.folder import publish
from snapshot.maker import ensure_snapshot


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare the site, write it into a folder, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="tools/publish",
        description="Writes the page, its packages and the documentation as static files.",
    )
    parser.add_argument("folder", type=Path, help="an empty or new folder")
    parser.add_argument("--offline", action="store_true", help="use only what is in .cache/")
    parser.add_argument(
        "--jupyterlite",
        type=Path,
        metavar="SITE",
        help="a site of tools/jupyterlite, published at lite/ and linked from the Help menu",
    )
    options = parser.parse_args(arguments)
    if options.jupyterlite and not (options.jupyterlite / "index.html").is_file():
        parser.error(f"{options.jupyterlite} has no index.html: build it with tools/jupyterlite")
    try:
        progress = Console(sys.stderr)
        site = prepare(offline=options.offline, progress=progress)
        ensure_snapshot(Layout(), progress)
        publish(site.roots, options.folder, options.jupyterlite)
    except (SiteError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    print(f"The page is in {options.folder}. Any static host with https serves it.")
    return 0
