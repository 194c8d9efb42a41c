"""The report of a run of the suite, for the terminal and as docs/array-api.md."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NUMPY = "NumPy passes 1,331 of 1,384 in the same page (commit 55fcc60, 3 examples for each test)"


def known_reasons(path: Path) -> dict[str, str]:
    """Reasons of known failures, by test name or by its beginning before ``[``."""
    reasons: dict[str, str] = tomllib.loads(path.read_text(encoding="utf-8"))["reasons"]
    return reasons


@dataclass(frozen=True)
class Outcome:
    """The tests of a run by outcome, with reasons."""

    counts: Mapping[str, int]
    failed: Mapping[str, str]
    skipped: Mapping[str, str]
    unexplained: tuple[str, ...]

    @classmethod
    def of(cls, reports: Iterable[dict[str, Any]], reasons: Mapping[str, str]) -> Outcome:
        """Sort reports by outcome. A test fails if any of its reports failed."""
        counts: Counter[str] = Counter()
        failed: dict[str, str] = {}
        skipped: dict[str, str] = {}
        unexplained = []
        for one in reports:
            name = one["nodeid"].removeprefix("array_api_tests/")
            counts[one["outcome"]] += 1
            if one["outcome"] == "skipped":
                skipped[name] = one["text"].removeprefix("Skipped: ")
            elif one["outcome"] != "passed":
                reason = reasons.get(name) or reasons.get(name.partition("[")[0])
                failed[name] = reason or "no reason is known"
                if reason is None:
                    unexplained.append(name)
        return cls(counts, failed, skipped, tuple(unexplained))

    def text(self, minutes: float) -> str:
        """Return a short summary for the terminal."""
        lines = [", ".join(f"{count} {how}" for how, count in self.counts.items())]
        lines += [f"without a known reason: {name}" for name in self.unexplained]
        return "\n".join([*lines, f"{minutes:.1f} minutes"])

    def page(self, version: str, examples: int, device: str) -> str:
        """Return the text of docs/array-api.md for a run on the named device."""
        total = sum(self.counts.values())
        lines = [
            "# The Array API standard",
            "",
            f"browsergpu passes **{self.counts['passed']:,} of {total:,}** tests of "
            f"data-apis/array-api-tests for version {version} of the standard. {NUMPY}.",
            "",
            f"The suite ran against the wheel in headless Chromium on {device}, with {examples} "
            "examples for each test. Special cases that ask for float64 by name get float32.",
            "",
            "```bash",
            ".cache/venv/bin/python tests/standard/run.py   # after tests/run.py; writes this page",
            "```",
            "",
        ]
        for title, tests in (("Failing", self.failed), ("Skipped", self.skipped)):
            if not tests:
                continue
            lines += [f"## {title}: {len(tests)}", ""]
            lines += _by_reason(tests)
        return "\n".join(lines).rstrip() + "\n"


def _by_reason(tests: Mapping[str, str]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for name, reason in tests.items():
        groups.setdefault(reason, []).append(name)
    lines = []
    for reason, names in groups.items():
        lines += [f"- {reason}", *(f"  - `{name}`" for name in names)]
    return [*lines, ""]
