#!/usr/bin/env python3
"""Prepares the browsergpu page, serves it on this machine and opens it."""

import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - this line is for older ones
    sys.exit(f"serve.py needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

sys.path.insert(0, str(Path(__file__).resolve().parent / "tools"))

from devsite.cli import main

if __name__ == "__main__":
    sys.exit(main())
