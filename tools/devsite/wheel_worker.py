"""Runs hatchling from its wheels, nothing installed; a program of its own, started by wheel.py.

Usage: python -I -S wheel_worker.py TARGET_FOLDER WHEEL…, in the folder of pyproject.toml.
"""

import importlib
import sys


def main() -> None:
    """Build the wheel into the target folder."""
    target, *wheels = sys.argv[1:]
    # Python imports straight from a wheel, since a wheel is a zip file.
    sys.path[:0] = wheels
    importlib.import_module("hatchling.build").build_wheel(target)


if __name__ == "__main__":
    main()
