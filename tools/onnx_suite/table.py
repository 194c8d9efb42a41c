"""The table of operators in docs/onnx.md.

``python -m onnx_suite.table [REPORT]`` writes it. REPORT is a file of ``python -m onnx_suite
--report``, whose counts are kept in results.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import browsergpu as bg

_HERE = Path(__file__).parent
PAGE = _HERE.parents[1] / "docs" / "onnx.md"
RESULTS = _HERE / "results.json"
BEGIN, END = "<!-- operators: from here -->\n", "<!-- operators: to here -->"


def counted(report: dict[str, Any]) -> dict[str, Any]:
    """Return the cases that pass, and all of them, by group and by operator."""
    groups: dict[str, list[int]] = {}
    operators: dict[str, list[int]] = {}
    for case in report.values():
        kept = [groups.setdefault(case["group"], [0, 0])]
        kept += [operators.setdefault(name, [0, 0]) for name in case["operators"]]
        for one in kept:
            one[0] += not case["reason"]
            one[1] += 1
    return {"groups": groups, "operators": operators}


def _opsets(known: list[Any]) -> str:
    ordered = sorted(known, key=lambda one: one.since)
    return ", ".join(map(_span, ordered))


def _span(one: Any) -> str:
    if one.until >= 1 << 30:
        return f"{one.since}+"
    return f"{one.since}–{one.until}" if one.until > one.since else str(one.since)


def table() -> str:
    """Return the table."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))["operators"]
    lines = (_HERE / "onnxruntime_web.txt").read_text(encoding="utf-8").splitlines()
    theirs = {name for line in lines if not line.startswith("#") for name in line.split()}
    found: dict[tuple[str, str], list[Any]] = {}
    for one in bg.onnx.list_operators():
        found.setdefault((one.domain, one.name), []).append(one)
    rows = ["| operator | opsets | onnx's cases that pass | on the GPU in onnxruntime-web |",
            "| --- | --- | --- | --- |"]  # fmt: skip
    for (domain, name), known in sorted(found.items()):
        if domain.startswith(("com.example", "org.example")):
            continue  # of examples in docstrings
        passed, total = results.get(name, (0, 0)) if domain != "com.microsoft" else (0, 0)
        cases = f"{passed} of {total}" if total else "–"
        whole = f"{domain}.{name}" if domain else name
        rows.append(f"| {whole} | {_opsets(known)} | {cases} | {'yes' if name in theirs else ''} |")
    return "\n".join(rows) + "\n"


def page() -> str:
    """Return docs/onnx.md with the table."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Write the table, and the counts of a report."""
    if len(sys.argv) > 1:
        report = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
        text = json.dumps(counted(report), indent=1, sort_keys=True)
        RESULTS.write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
