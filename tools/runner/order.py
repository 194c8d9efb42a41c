"""Order in which parallel workers start test files, so that they finish at the same time.

tests/durations.json has the seconds of each file by place: "page" (the host and the browser), or an
engine outside the browser. A pytest run with BROWSERGPU_MEASURE=1 updates it.
"""

import json
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from devsite.layout import REPOSITORY

FILE = REPOSITORY / "tests" / "durations.json"
MEASURE = "BROWSERGPU_MEASURE"
#: Shorter durations are not stored, since their order matters little.
_LEAST = 1.0


def place() -> str:
    """Return the place where this pytest run executes its tests."""
    return os.environ.get("BROWSERGPU_NATIVE") or "page"


def seconds(file: Path = FILE) -> Mapping[str, float]:
    """Return the seconds of each test file in this place, by path in the repository."""
    return _read(file).get(place(), {})


def _read(file: Path) -> dict[str, dict[str, float]]:
    if not file.exists():
        return {}
    found: dict[str, dict[str, float]] = json.loads(file.read_text(encoding="utf-8"))
    return found


class Measurement:
    """Total seconds of the tests per file."""

    def __init__(self) -> None:
        self._taken: dict[str, float] = defaultdict(float)

    def add(self, node: str, duration: float) -> None:
        """Add the duration of a test, or of a part of one, by pytest's node id."""
        self._taken[node.partition("::")[0]] += duration

    def write(self, file: Path = FILE) -> None:
        """Write the durations to the file. Files that did not run keep theirs."""
        known = _read(file)
        measured = {name: round(taken, 1) for name, taken in self._taken.items()}
        here = known.get(place(), {}) | measured
        known[place()] = {
            name: taken
            for name, taken in sorted(here.items())
            if taken >= _LEAST and (REPOSITORY / name).exists()
        }
        file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
