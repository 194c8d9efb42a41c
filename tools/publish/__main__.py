#!/usr/bin/env python3
"""Writes the page as static files: python3 tools/publish FOLDER"""

import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - this line is for older ones
    sys.exit(f"This needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from publish.cli import main

if __name__ == "__main__":
    sys.exit(main())
