"""Collects the results of each row and library from posted lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from suite.row import Row
from suite.rows import rows

PEERS = {"ort": "onnxruntime-web", "tfjs": "TensorFlow.js", "jaxjs": "jax-js"}
ARRAY_PEERS = {"tfjs": "TensorFlow.js", "jaxjs": "jax-js", "wgpy": "WgPy", "numpy": "NumPy"}
BESIDE = {"torch": "PyTorch on CUDA"}  # outside the browser: shown, but not counted as a peer
NAMES = {"ours": "browsergpu", **PEERS, **ARRAY_PEERS, **BESIDE}
_NO_PEERS = ("ours", "numpy", *BESIDE)
LOWER_IS_BETTER = ("µs", "ms")
_LIBRARY = re.compile(r"arrays\.html\?library=(\w+)")


@dataclass
class Result:
    """The results of one row, in its unit.

    Attributes
    ----------
    reached
        The result of each library. "ours" is browsergpu, called from Python.
    problems
        The reason for each missing result, by library.
    replayed
        browsergpu with ``capture()``.
    kernels
        browsergpu without Python.
    parts
        The separate operations of a fused one, in browsergpu.
    limit
        The limit of the device.
    dispatches
        The number of browsergpu's dispatches.
    """

    row: Row
    reached: dict[str, float] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    replayed: float | None = None
    kernels: float | None = None
    parts: float | None = None
    limit: float | None = None
    dispatches: float | None = None

    @property
    def best_peer(self) -> float | None:
        """The best result of a peer on the GPU in the browser, or None."""
        peers = [value for name, value in self.reached.items() if name not in _NO_PEERS]
        if not peers:
            return None
        return min(peers) if self.row.unit in LOWER_IS_BETTER else max(peers)

    @property
    def baseline(self) -> float | None:
        """The result to compare with: the best peer, or the sum of the separate operations."""
        return self.parts if self.row.ours_only else self.best_peer

    def speed(self, value: float | None) -> float | None:
        """Return the speed of a result relative to the baseline."""
        return self.compared(value, self.baseline)

    def compared(self, value: float | None, other: float | None) -> float | None:
        """Return the speed of a result relative to another."""
        if value is None or other is None:
            return None
        return other / value if self.row.unit in LOWER_IS_BETTER else value / other


@dataclass
class Report:
    """All results of a run, and its device and browser."""

    about: dict[str, Any]
    results: list[Result]
    limits: dict[str, float]
    lines: list[dict[str, Any]]

    @property
    def name(self) -> str:
        """The name of the report's files: date, device, and "arrays" if it has only these."""
        device = re.sub(r"[^a-z0-9]+", "-", self.about["device"].lower()).strip("-")
        only = "-arrays" if self.measured and all(r.row.array for r in self.measured) else ""
        return f"{self.about['date']}-{device}{only}"

    @property
    def measured(self) -> list[Result]:
        """The results of rows that at least one library tried."""
        return [result for result in self.results if result.reached or result.problems]

    def as_json(self) -> dict[str, Any]:
        """Return the stored form."""
        told = [
            {
                "row": result.row.id,
                "unit": result.row.unit,
                "goal": result.row.goal,
                "limit": result.limit,
                "reached": result.reached,
                "replayed": result.replayed,
                "kernels_alone": result.kernels,
                "parts": result.parts,
                "dispatches": result.dispatches,
                "problems": result.problems,
            }
            for result in self.results
        ]
        return {**self.about, "limits": self.limits, "rows": told, "lines": self.lines}


def read(files: Iterable[Path], sizes: str) -> Report:
    """Return the report of files of lines. The last file that measured a row counts."""
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    stopped: dict[str, str] = {}  # libraries whose page of arrays did not finish
    about: dict[str, Any] = {"date": "", "browser": "", "device": "", "flags": [], "versions": {}}
    for file in files:
        for text in file.read_text("utf-8").splitlines():
            line = json.loads(text)
            _learn(about, line)
            if "error" in line and (page := _LIBRARY.match(line.get("page", ""))):
                stopped[page[1]] = line["error"]
            if line.get("row"):
                key = (line["peer"], line["row"], line.get("way", ""))
                if "ms" in line or "ms" not in lines.get(key, {}):
                    lines[key] = line
    limits = _limits(lines.values())
    results = [_result(row, list(lines.values()), limits) for row in rows(sizes)]
    for result in results:
        if result.row.array and (result.reached or result.problems):
            missing = stopped.keys() - result.reached.keys() - result.problems.keys()
            result.problems |= {peer: stopped[peer] for peer in missing}
    return Report(about, results, limits, list(lines.values()))


def _learn(about: dict[str, Any], line: Mapping[str, Any]) -> None:
    if "browser" in line:
        about |= {name: line[name] for name in ("browser", "date", "flags")}
        if line["gpu"]:
            about["device"], about["driver"] = line["gpu"].split(", ")
    if "version" in line:
        about["versions"][line["peer"]] = line["version"]
    if "adapter" in line:
        names = line["adapter"]
        about["adapter"] = names
        told = names["description"] or f"{names['vendor']} {names['architecture']}"
        about["device"] = about["device"] or told


def _limits(lines: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the device's own limits in TFLOP/s, TB/s, GB/s, µs and ms, by name."""
    found = {}
    for line in lines:
        if not line["row"].startswith("limit: ") or "ms" not in line:
            continue
        name = line["row"].removeprefix("limit: ")
        if "flops" in line:
            found[f"{name}, TFLOP/s"] = line["flops"] / line["ms"] / 1e9
        elif "nbytes" in line:
            found[f"{name}, GB/s"] = line["nbytes"] / line["ms"] / 1e6
        else:
            found[f"{name}, µs"] = 1e3 * line["ms"] / line.get("divided_by", 1)
    return found


def _limit(row: Row, limits: Mapping[str, float]) -> float | None:
    """Return the device's limit for a row in the row's unit, or None if it was not measured."""

    def best(start: str, *parts: str) -> float | None:
        of_kind = ((name, value) for name, value in limits.items() if name.startswith(start))
        found = [value for name, value in of_kind if any(part in name for part in parts or ("",))]
        return max(found, default=None)

    if row.op == "chain":
        return limits.get("dispatch after dispatch, µs")
    if row.unit == "GB/s":
        return best("memory copy in WebAssembly")
    if row.unit == "TFLOP/s":
        half = row.dtype == "f16"
        return best("multiply-adds", "f16") if half else best("multiply-adds", "f32", "vec4f")
    if row.unit == "G elements/s":
        # Only for rows that read and write once. A sort moves more.
        value = best("read" if row.op == "histogram" else "copy", "MiB")
        return value * row.elements / row.nbytes if value and row.nbytes else None
    if row.unit == "TB/s":
        # At 64 MiB, the start and end of a dispatch limit a plain kernel. At 512 MiB, memory does.
        reading = row.op in ("sum", "variance", "matmul")
        value = best("read" if reading else "copy", "MiB")
        return None if value is None else value / 1e3
    return None


def _result(row: Row, lines: Sequence[Mapping[str, Any]], limits: Mapping[str, float]) -> Result:
    result = Result(row, limit=_limit(row, limits))
    for line in (line for line in lines if line["row"] == row.id):
        peer = line["peer"]
        if peer == "ours" and "parts_ms" in line:
            result.parts = _value(row, line["parts_ms"])
        if "ms" not in line:
            result.problems.setdefault(peer, line.get("skip") or line.get("error", "no result"))
        elif not line["check"]["ok"]:
            result.problems[peer] = f"wrong result (off by {line['check']['error']})"
        else:
            value = _value(row, line["ms"])
            known = result.reached.get(peer)
            best = min if row.unit in LOWER_IS_BETTER else max
            result.reached[peer] = value if known is None else best(known, value)
            if peer == "ours":
                result.dispatches = line.get("dispatches")
            if peer == "ours" and "replayed_ms" in line:
                result.replayed = _value(row, line["replayed_ms"])
            if peer == "ours" and "kernel_ms" in line:
                result.kernels = _value(row, line["kernel_ms"])
    for peer in result.reached:
        result.problems.pop(peer, None)
    return result


def _value(row: Row, ms: float) -> float:
    if row.unit == "µs":
        return 1e3 * ms / row.options["length"]
    if row.unit == "ms":
        return ms
    if row.unit == "TFLOP/s":
        return row.flops / ms / 1e9
    if row.unit == "G elements/s":
        return row.elements / ms / 1e6
    return row.nbytes / ms / (1e9 if row.unit == "TB/s" else 1e6)


def middle(values: Iterable[float | None]) -> float | None:
    """Return the median of the known values."""
    known = [value for value in values if value is not None]
    return median(known) if known else None
