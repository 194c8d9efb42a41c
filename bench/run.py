"""Measures browsergpu and its peers in one browser: bench/run.py --help."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCH.parent / "py"), str(BENCH)]

from suite.folder import PAGES, make_folder  # noqa: E402
from suite.rows import SIZES  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    prepare = commands.add_parser("prepare")
    prepare.add_argument("folder", type=Path)
    prepare.add_argument("--sizes", choices=SIZES, default="small")
    prepare.add_argument("--pages", nargs="*", choices=PAGES, default=list(PAGES))
    options = parser.parse_args()
    make_folder(options.folder, options.sizes, options.pages)


if __name__ == "__main__":
    main()
