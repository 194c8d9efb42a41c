"""Run the cases of the package onnx: ``python -m onnx_suite [--light] [part of a name]``.

It needs the package onnx beside browsergpu. ``--report FILE`` writes the results as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter

import browsergpu as bg
from onnx_suite.cases import light_cases, node_cases
from onnx_suite.running import PLAIN, run


def main() -> int:
    """Run cases and print counts. Returns the number of failed cases of plain types."""
    parser = argparse.ArgumentParser(prog="python -m onnx_suite")
    parser.add_argument("part", nargs="?", default="")
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--report")
    parser.add_argument("--quiet", action="store_true")
    chosen = parser.parse_args()
    bg.set_fallback("error")  # nothing is computed by NumPy on the host
    counts: Counter[tuple[str, bool]] = Counter()
    report = {}
    for case in light_cases() if chosen.light else node_cases():
        if chosen.part not in case.name:
            continue
        wrong = run(case)
        group = "floats, integers and bool" if case.types <= PLAIN else "others"
        counts[group, not wrong] += 1
        report[case.name] = {
            "group": group, "operators": sorted(case.operators), "reason": wrong,
            "types": sorted(case.types),
        }  # fmt: skip
        if wrong and not chosen.quiet:
            print(f"{case.name}: {wrong[:300]}", flush=True)
    for group in sorted({group for group, _ in counts}):
        passed, failed = counts[group, True], counts[group, False]
        share = 100 * passed / (passed + failed)
        print(f"{group}: {passed} of {passed + failed} pass ({share:.1f} %)")
    if chosen.report:
        with open(chosen.report, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1, sort_keys=True)
    return counts["floats, integers and bool", False]


if __name__ == "__main__":
    sys.exit(min(main(), 1))
