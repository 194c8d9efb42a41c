"""The command line of tools/docsite."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from devsite.errors import SiteError
from devsite.layout import Layout
from devsite.lock import cache_lock
from devsite.progress import Console
from docsite.build import CannotBuild, build
from runner.environment import ensure_environment
from runner.problem import CannotPrepare


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site, print its path, and return the exit status."""
    layout = Layout()
    options = _parse(arguments, layout)
    console = Console(sys.stderr)
    try:
        python = _python(layout, console)
        console.note("Building the documentation")
        build(python, layout.repository, options.out)
    except (SiteError, CannotPrepare, CannotBuild, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    print(f"The documentation: {options.out / 'index.html'}")
    print("python3 serve.py serves .cache/docs at /docs/.")
    return 0


def _python(layout: Layout, console: Console) -> Path:
    """Return the Python of the tests' environment, which has MkDocs."""
    folder = layout.cache / "venv"
    if Path(sys.prefix).resolve() == folder.resolve():  # do not recreate the running environment
        return Path(sys.executable)
    with cache_lock(layout.cache / "tests.lock", console):  # the lock of tests/run.py
        return ensure_environment(
            folder, layout.repository / "tests" / "requirements.txt", console.note
        )


def _parse(arguments: Sequence[str] | None, layout: Layout) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 tools/docsite",
        description="Builds the documentation site. The first build makes .cache/venv; later "
        "builds need no network.",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        default=layout.docs,
        help="where the site goes, replacing what MkDocs wrote there before; .cache/docs by "
        "default",
    )
    return parser.parse_args(arguments)
