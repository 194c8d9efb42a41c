#!/usr/bin/env python3
"""Prepares and runs the tests: python3 tests/run.py [-h] [options] [pytest arguments]"""

import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - this line is for older ones
    sys.exit(f"tests/run.py needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from runner.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
