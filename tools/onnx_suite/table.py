"""The table of operators in docs/onnx.md.

``python -m onnx_suite.table [REPORT MICROSOFT]`` writes it. REPORT is a file of ``python -m
onnx_suite --report``, and MICROSOFT one of ``python -m onnx_suite.microsoft --report``. Their
counts and types are kept in results.json.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import browsergpu as bg

_HERE = Path(__file__).parent
PAGE = _HERE.parents[1] / "docs" / "onnx.md"
RESULTS = _HERE / "results.json"
BEGIN, END = "<!-- operators: from here -->\n", "<!-- operators: to here -->"


def counted(report: dict[str, Any]) -> dict[str, Any]:
    """Return the cases that pass, and all of them, by group and by operator, and the types.

    Types are those of inputs and outputs of cases that pass. Cases of one operator alone count, or
    all cases of an operator that is never alone.
    """
    groups: dict[str, list[int]] = {}
    operators: dict[str, list[int]] = {}
    for case in report.values():
        kept = [groups.setdefault(case["group"], [0, 0])]
        kept += [operators.setdefault(name, [0, 0]) for name in case["operators"]]
        for one in kept:
            one[0] += not case["reason"]
            one[1] += 1
    right = [case for case in report.values() if not case["reason"]]
    alone: dict[str, set[str]] = {}
    beside: dict[str, set[str]] = {}
    for case in right:
        kinds = alone if len(case["operators"]) == 1 else beside
        for name in case["operators"]:
            kinds.setdefault(name, set()).update(_NAMES.get(one, one) for one in case["types"])
    types = {name: sorted(found) for name, found in sorted({**beside, **alone}.items())}
    return {"groups": groups, "operators": operators, "types": types}


#: The names that this package has for ONNX's types.
_NAMES = {"float": "float32", "double": "float64", "sequence_type": "sequence",
          "optional_type": "optional"}  # fmt: skip


def _dtypes(types: Iterable[str]) -> str:
    """Return names of types as text, several sizes of integers as one: "int8–64"."""
    left = set(types)
    floats: tuple[str, ...] = ("float16", "float32", "float64")
    found = [name for name in floats if name in left]
    for kind in ("int", "uint"):
        sizes = [n for n in (8, 16, 32, 64) if f"{kind}{n}" in left]
        is_run = len(sizes) > 2 and sizes == [8, 16, 32, 64][-len(sizes) :]
        found += [f"{kind}{sizes[0]}–64"] if is_run else [f"{kind}{n}" for n in sizes]
        left -= {f"{kind}{n}" for n in sizes}
    return ", ".join([*found, *sorted(left - set(found))]) or "–"


def _opsets(known: list[Any]) -> str:
    ordered = sorted(known, key=lambda one: one.since)
    return ", ".join(map(_span, ordered))


def _span(one: Any) -> str:
    if one.until >= 1 << 30:
        return f"{one.since}+"
    return f"{one.since}–{one.until}" if one.until > one.since else str(one.since)


def table() -> str:
    """Return the table."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))
    results, types = kept["operators"], kept["types"]
    lines = (_HERE / "onnxruntime_web.txt").read_text(encoding="utf-8").splitlines()
    theirs = {name for line in lines if not line.startswith("#") for name in line.split()}
    found: dict[tuple[str, str], list[Any]] = {}
    for one in bg.onnx.list_operators():
        found.setdefault((one.domain, one.name), []).append(one)
    columns = ("operator", "opsets", "dtypes", "onnx's cases that pass",
               "on the GPU in onnxruntime-web")  # fmt: skip
    rows = [f"| {' | '.join(columns)} |", "| --- | --- | --- | --- | --- |"]
    for (domain, name), known in sorted(found.items()):
        if domain.startswith(("com.example", "org.example")):
            continue  # of examples in docstrings
        passed, total = results.get(name, (0, 0)) if domain != "com.microsoft" else (0, 0)
        cases = f"{passed} of {total}" if total else "–"
        whole = f"{domain}.{name}" if domain else name
        dtypes = _dtypes(types.get(whole if domain == "com.microsoft" else name, ()))
        web = "yes" if name in theirs else ""
        rows.append(f"| {whole} | {_opsets(known)} | {dtypes} | {cases} | {web} |")
    return "\n".join(rows) + "\n"


def page() -> str:
    """Return docs/onnx.md with the table."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Write the table, and the counts of a report."""
    if len(sys.argv) > 1:
        report, microsoft = (
            json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:3]
        )
        found = counted(report)
        found["types"] |= microsoft
        text = json.dumps(found, indent=1, sort_keys=True)
        RESULTS.write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
