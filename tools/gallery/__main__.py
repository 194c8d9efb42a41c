"""``python tools/gallery [NAME …]``: run notebooks of the gallery and save their outputs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gallery.cli import main

if __name__ == "__main__":
    sys.exit(main())
