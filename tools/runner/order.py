"""The order in which test files start, so that workers that run them side by side end together.

tests/durations.json has the seconds of each file, by the place where it ran: "page" (the host and
the browser), or an engine outside it. With BROWSERGPU_MEASURE=1 a run of pytest writes them anew.
"""

import json
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from devsite.layout import REPOSITORY

FILE = REPOSITORY / "tests" / "durations.json"
MEASURE = "BROWSERGPU_MEASURE"
#: What takes less is not kept: its place matters little.
_LEAST = 1.0


def place() -> str:
    """Where this run of pytest runs its tests."""
    return os.environ.get("BROWSERGPU_NATIVE") or "page"


def seconds(file: Path = FILE) -> Mapping[str, float]:
    """What the test files take here, by their paths in the repository."""
    return _read(file).get(place(), {})


def _read(file: Path) -> dict[str, dict[str, float]]:
    if not file.exists():
        return {}
    found: dict[str, dict[str, float]] = json.loads(file.read_text(encoding="utf-8"))
    return found


class Measurement:
    """Sums up how long the tests of each file take."""

    def __init__(self) -> None:
        self._taken: dict[str, float] = defaultdict(float)

    def add(self, node: str, duration: float) -> None:
        """Count a test, by pytest's name for it, or a part of one."""
        self._taken[node.partition("::")[0]] += duration

    def write(self, file: Path = FILE) -> None:
        """Put what was measured into the file; files that did not run keep their numbers."""
        known = _read(file)
        measured = {name: round(taken, 1) for name, taken in self._taken.items()}
        here = known.get(place(), {}) | measured
        known[place()] = {
            name: taken
            for name, taken in sorted(here.items())
            if taken >= _LEAST and (REPOSITORY / name).exists()
        }
        file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
