#!/usr/bin/env python3
"""Builds the documentation site: python3 tools/docsite [--help]"""

import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - this line is for older ones
    sys.exit(f"This needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from docsite.cli import main

if __name__ == "__main__":
    sys.exit(main())
