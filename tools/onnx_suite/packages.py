"""The packages of requirements.txt, in a folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).parent / "requirements.txt"
#: What they need to be imported. The rest of their requirements is large and not needed.
_NEEDED = ("ml_dtypes", "protobuf", "flatbuffers", "packaging", "typing_extensions")


def unpacked(folder: Path) -> Path:
    """Return a folder with the packages. They are downloaded once for each requirements.txt."""
    wanted = REQUIREMENTS.read_text(encoding="utf-8")
    stamp = folder / "requirements.txt"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--no-deps",
                   "--target", str(folder)]  # fmt: skip
        for packages in (["-r", str(REQUIREMENTS)], _NEEDED):
            subprocess.run([*install, *packages], check=True, timeout=600)
        stamp.write_text(wanted, encoding="utf-8")
    return folder
