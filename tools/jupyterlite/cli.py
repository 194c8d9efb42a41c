"""The command line of tools/jupyterlite."""

import argparse
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from devsite.errors import SiteError
from devsite.layout import Layout
from devsite.progress import Console
from devsite.site import prepare
from jupyterlite.build import CONTENTS, CannotBuild, check_folders, ensure_site
from runner.problem import CannotPrepare


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site, print how to serve it, and return the exit status."""
    options = _parse(arguments)
    console = Console(sys.stderr)
    layout = Layout()
    try:
        check_folders(options.contents, options.out)
        built = ensure_site(layout, prepare(progress=console), options.contents, console)
        if options.out is not None:
            shutil.copytree(built, options.out, dirs_exist_ok=True)
    except (SiteError, CannotPrepare, CannotBuild, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    folder = shlex.quote(str(options.out or built))
    print(f"JupyterLite with browsergpu is in {folder}. Any static host serves it, for example:")
    print(f"python3 -m http.server --bind 127.0.0.1 --directory {folder}")
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 tools/jupyterlite",
        description="Builds a JupyterLite site with browsergpu, NumPy, SciPy, scikit-learn and "
        "Matplotlib in it. It needs no network afterwards, and no server but for static files.",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="an empty or new folder; default .cache/jupyterlite/site",
    )
    parser.add_argument(
        "--contents",
        type=Path,
        metavar="FOLDER",
        default=CONTENTS,
        help="folder with the site's first notebooks and files; by default one short notebook",
    )
    return parser.parse_args(arguments)
