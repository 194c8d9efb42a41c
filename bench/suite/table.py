"""Formats results as Markdown tables.

bench/results gets all rows, docs/performance.md the main ones, README.md six, and docs/arrays.md
the rows of arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from suite.report import ARRAY_PEERS, BESIDE, NAMES, PEERS, Report, Result, middle

BEGIN, END = "<!-- bench/run.py report: from here -->", "<!-- bench/run.py report: to here -->"
_HEAD = ("work", "unit", "browsergpu", *PEERS.values(), "ours ÷ best", "device limit")
# The table of README.md: one row for each kind of work, including those where a peer is faster.
_BRIEF = (
    "matmul f32 4096×4096×4096",
    "conv 3×3, 64×56×56 → 64",
    "attention f32, 12 heads, 1024×64",
    "add, 64 MiB",
    "chain of 1000 small ops",
    "first result: matmul f32 1024×1024×1024",
)


def number(value: float | None) -> str:
    """Three digits."""
    if value is None:
        return "–"
    if value >= 100:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(result: Result) -> list[str]:
    peers = [number(result.reached.get(peer)) for peer in PEERS]
    if result.row.ours_only:
        peers = [f"parts: {number(result.parts)}", "", ""]
    speed = result.speed(result.reached.get("ours"))
    ours = number(result.reached.get("ours"))
    return [
        short(result),
        result.row.unit,
        f"**{ours}**" if speed is not None and speed >= 1 else ours,
        *peers,
        "–" if speed is None else f"{number(speed)}×",
        number(result.limit),
    ]


_ARRAYS_HEAD = (
    "program", "unit", "browsergpu", "replayed", "kernels", *ARRAY_PEERS.values(),
    "ours ÷ best on the GPU", "replayed ÷ best", "ours ÷ NumPy", "device limit", "goal",
)  # fmt: skip


def short(result: Result) -> str:
    """Return a row's name without that of its section."""
    return result.row.id.removeprefix("first result: ").removeprefix("arrays: ")


def _array_cells(result: Result) -> list[str]:
    ours = result.reached.get("ours")
    speeds = (
        result.speed(ours),
        result.speed(result.replayed),
        result.compared(ours, result.reached.get("numpy")),
    )
    first = next((speed for speed in speeds if speed is not None), None)
    return [
        short(result),
        result.row.unit,
        f"**{number(ours)}**" if first is not None and first >= 1 else number(ours),
        number(result.replayed),
        "–" if result.dispatches is None else f"{result.dispatches:g}",
        *(number(result.reached.get(peer)) for peer in ARRAY_PEERS),
        *("–" if speed is None else f"{number(speed)}×" for speed in speeds),
        number(result.limit),
        number(result.row.goal),
    ]


def arrays(report: Report) -> str:
    """Return the table of arrays."""
    lines = [_line(_ARRAYS_HEAD), _line(["---"] * len(_ARRAYS_HEAD))]
    lines += [_line(_array_cells(result)) for result in report.measured if result.row.array]
    return "\n".join(lines) + "\n"


def full(report: Report) -> str:
    """Return the full table, with goals, times without Python, and reasons for missing results."""
    about = report.about
    versions = ", ".join(f"{NAMES[name]} {version}" for name, version in about["versions"].items())
    out = [
        f"# {about['device']}, {about['date']}",
        "",
        f"{about['browser']}, driver {about.get('driver', 'unknown')}; {versions}.",
        f"Chrome's flags: `{' '.join(about['flags'])}`.",
        "",
        f"![Each row's speed against the best peer]({report.name}.svg)",
        "",
    ]
    beside = [peer for peer in BESIDE if any(peer in r.reached for r in report.measured)]
    section = ""
    for result in report.measured or report.results:
        if result.row.array:
            continue
        if result.row.section != section:
            section = result.row.section
            head = [*_HEAD, "replayed", "kernels alone", "goal", *(NAMES[peer] for peer in beside)]
            out += ["", f"## {section}", "", _line(head), _line(["---"] * len(head))]
        others = (result.reached.get(peer) for peer in beside)
        more = (result.replayed, result.kernels, result.row.goal, *others)
        out.append(_line([*_cells(result), *map(number, more)]))
    if any(result.row.array for result in report.measured):
        out += ["", "## arrays", "", arrays(report)]
    out += ["", "## The device itself", "", _line(["what", "reached"]), _line(["---"] * 2)]
    for name, value in report.limits.items():
        what, _, unit = name.rpartition(", ")
        out.append(_line([what, f"{number(value)} {unit}"]))
    out += ["", "## Missing results", ""]
    for result in report.results:
        for peer, why in result.problems.items():
            out.append(f"- {result.row.id}, {NAMES[peer]}: {' '.join(why.split())}")
    return "\n".join(out).replace("\n\n\n", "\n\n") + "\n"


def brief(report: Report) -> str:
    """Return the table with one row for each kind of work."""
    results = {result.row.id: result for result in report.results}
    rows = [_full_name(results[name]) for name in _BRIEF]
    return "\n".join([_line(_HEAD), _line(["---"] * len(_HEAD)), *rows]) + "\n"


def _full_name(result: Result) -> str:
    """Return a row whose name shows whether it is a first result."""
    return _line([result.row.id, *_cells(result)[1:]])


def chief(report: Report) -> str:
    """Return the rows with goals, with the convolutions of ResNet-50 joined into one."""
    out = [_line(_HEAD), _line(["---"] * len(_HEAD))]
    for result in report.results:
        row = result.row
        many = row.section.endswith("512 MiB") or row.section.startswith("matmul of odd")
        if row.array:
            continue
        if row.first or row.ours_only or (row.goal is not None and not many):
            out.append(_full_name(result))
    for name in ("convolutions of ResNet-50", "matmul of odd shapes"):
        results = [r for r in report.results if r.row.section == name]
        speeds = [r.speed(r.reached.get("ours")) for r in results]
        speed = middle(speeds)
        told = "–" if speed is None else f"{number(speed)}×"
        out.append(_line([f"{name}: median of {len(results)}", "", "", "", "", "", told, ""]))
    return "\n".join(out) + "\n"


def insert(readme: Path, text: str) -> None:
    """Replace the text between the markers in a file."""
    whole = readme.read_text("utf-8")
    before, _, rest = whole.partition(BEGIN)
    _, _, after = rest.partition(END)
    readme.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", "utf-8")
