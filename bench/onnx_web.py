"""Measures ONNX models beside onnxruntime-web, each in its own page of the same browser.

    python3 bench/onnx_web.py run FOLDER                    # makes the pages, measures, prints
    python3 bench/onnx_web.py run FOLDER --sizes small --software --only "magika|ResNet"

Both libraries get the same bytes: files of packages (silero-vad, magika, rapidocr, basic-pitch),
and networks whose random weights the page makes. Each row is measured in two new browsers, one
for each library. Lines with ``first_ms`` have the time from bytes in JavaScript to the first
result on the host, with compilation. ``ms`` is the median of batches of calls that wait once for
the GPU. ``wait_ms`` is the median of calls that each wait.

On a GPU machine without a network or a browser, of which one transfer carries at most 64 MiB:

    /work/shared/gpu/pack.sh                  # here: .gpu/a, 54 MiB, and .gpu/b, 23 MiB
    python3 bench/onnx_web.py pack .gpu       # here: 9 MiB more in .gpu/b, and .gpu/c, 37 MiB

Then three calls there, with .gpu/unpack.sh and one of the folders each. onnx.sh takes parts of the
rows' names, and a limit in seconds (540). It prints lines and writes them to $OUT/onnx-TIME.jsonl:

    cd .gpu && . ./unpack.sh                                                              # a
    cd .gpu && . ./unpack.sh && cd b && bash onnx.sh "ResNet|MobileNet|YOLO|BERT"         # b
    cd .gpu && . ./unpack.sh && cd c && bash onnx.sh "silero|magika|rapidocr|basic"       # c

    python3 bench/onnx_web.py report onnx-*.jsonl                                         # here
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
sys.path[:0] = [str(ROOT / "tools"), str(BENCH)]

from onnx_suite.packages import unpacked  # noqa: E402

_SOFTWARE = ["warm=0", "ms=1", "repeats=3"]

_SITE = "/opt/onnx-bench"
_SCRIPT = f"""\
# onnx.sh [PART OF A NAME|…] [SECONDS]: unpacks the files beside it and measures ONNX models.
# See bench/onnx_web.py.
set -e
mkdir -p {_SITE}
for archive in *.tar.xz; do
  case $archive in rest.tar.xz) ;; *) tar -C {_SITE} -xJf "$archive" ;; esac
done
python3 {_SITE}/onnx_pages.py "$1" > /tmp/onnx-pages.txt
python3 {_SITE}/drive.py --out "${{OUT:-.}}/onnx-$(date +%s).jsonl" --seconds "${{2:-540}}" \\
  --page-seconds 120 --addresses $(cat /tmp/onnx-pages.txt)
"""

_PAGES = '''\
"""Prints two pages for each row: onnx_pages.py [part of a name|…] [option …]."""
import json, pathlib, sys, urllib.parse
parts = (sys.argv[1] if len(sys.argv) > 1 else "").split("|")
rows = json.loads((pathlib.Path(__file__).parent / "rows.json").read_text("utf-8"))
chosen = [row for row in rows if any(one in row["id"] for one in parts)]
for row in chosen:
    at = urllib.parse.quote(row["id"])
    for library in ("ort", "ours"):
        print(f"onnx.html?library={library}&only={at}" + "".join(f"&{o}" for o in sys.argv[2:]))
'''


def prepare(folder: Path, sizes: str, only: str = "") -> None:
    """Write the pages, the files and the expected results."""
    packages = unpacked(ROOT / ".cache" / "onnx")
    sys.path.append(str(packages))
    from suite.folder import make_folder
    from suite.onnx_cases import cases, row_of

    make_folder(folder, "small", ["ort"])
    rows = []
    for index, case in enumerate(cases(sizes, packages)):
        if not any(part in case.id for part in only.split("|")):
            continue
        row, files = row_of(case, index)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        rows.append(row)
        print(row["id"], flush=True)
    (folder / "rows.json").write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    (folder / "onnx_pages.py").write_text(_PAGES, "utf-8")


def pack(target: Path, sizes: str) -> None:
    """Write the pages and networks to the folder b, and the files of packages to the folder c."""
    with tempfile.TemporaryDirectory() as temporary:
        site = Path(temporary)
        prepare(site, sizes)
        rows = json.loads((site / "rows.json").read_text("utf-8"))
        models = {name for row in rows if not row["weights"] for name in row["files"].values()}
        names = {path.name for path in site.iterdir()}
        for folder, kept in (("b", names - models), ("c", models)):
            (target / folder).mkdir(exist_ok=True)
            path = target / folder / "site.tar.xz"
            with tarfile.open(path, "w:xz") as archive:
                for name in sorted(kept):
                    archive.add(site / name, name)
            (target / folder / "onnx.sh").write_text(_SCRIPT, "utf-8")
            print(f"{path}: {path.stat().st_size / 2**20:.1f} MiB")


class _Best:
    """The fastest variant of a library with correct results, and its first result."""

    def __init__(self) -> None:
        self.ways: list[dict[str, Any]] = []
        self.first: dict[str, Any] = {}
        self.problems: list[str] = []

    def add(self, line: dict[str, Any]) -> None:
        if "skip" in line or "error" in line:
            name = f"{line['way']}: " if "way" in line else ""
            self.problems.append(f"{name}{line.get('skip') or line['error']}")
        elif not line["check"]["ok"]:
            self.problems.append(f"{line.get('way', 'first result')}: error {line['check']}")
        elif "first_ms" in line:
            self.first = line
        else:
            self.ways.append(line)

    def least(self, name: str) -> tuple[float, str]:
        return min(((way[name], way["way"]) for way in self.ways), default=(float("nan"), "–"))


def read_lines(paths: Iterable[Path]) -> dict[str, dict[str, _Best]]:
    """Return what lines say of each row, by library."""
    found: dict[str, dict[str, _Best]] = {}
    for path in paths:
        for text in path.read_text("utf-8").splitlines():
            line = json.loads(text)
            if line.get("row") and line.get("peer"):
                row = found.setdefault(line["row"], {"ort": _Best(), "ours": _Best()})
                row[line["peer"]].add(line)
    return found


def report(paths: Iterable[Path]) -> str:
    """Return a table, and the problems below it."""
    head = ("model", "ours, ms", "onnxruntime-web, ms", "its variant", "times as fast",
            "ours, waiting", "onnxruntime-web, waiting", "times as fast",
            "first result, ms", "of onnxruntime-web")  # fmt: skip
    lines = [_row(head), _row(["---"] * len(head))]
    problems, ratios = [], []
    for name, both in read_lines(paths).items():
        ours, ort = both["ours"], both["ort"]
        cells: list[str] = [name.removeprefix("onnx: ")]
        for kind in ("ms", "wait_ms"):
            (own, _), (peer, way) = ours.least(kind), ort.least(kind)
            cells += [_ms(own), _ms(peer), *([way] if kind == "ms" else []), f"{peer / own:.2f}"]
            if kind == "ms" and peer == peer and own == own:
                ratios.append(peer / own)
        cells += [_ms(one.first.get("first_ms", float("nan"))) for one in (ours, ort)]
        lines.append(_row(cells))
        problems += [f"- {name}, {k}: {text}" for k, one in both.items() for text in one.problems]
    if ratios:
        lines += ["", f"{len(ratios)} rows: least {min(ratios):.2f}, median {median(ratios):.2f}"]
    return "\n".join([*lines, "", *problems])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _ms(value: float) -> str:
    return f"{value:.3g}" if value == value else "–"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (("prepare", "a folder"), ("pack", "the folder .gpu"), ("run", "a folder")):
        one = commands.add_parser(name)
        one.add_argument("folder", type=Path, help=what)
        one.add_argument("--sizes", choices=("small", "big"), default="big")
    one.add_argument("--only", default="", help="rows whose names contain one of these|parts")
    one.add_argument("--software", action="store_true", help="SwiftShader instead of a GPU")
    commands.add_parser("report").add_argument("lines", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    if options.command == "report":
        print(report(options.lines))
        return
    if options.command == "pack":
        pack(options.folder, options.sizes)
        return
    prepare(options.folder, options.sizes, getattr(options, "only", ""))
    if options.command == "run":
        run(options.folder, options.only, options.software)


def run(folder: Path, only: str, software: bool) -> None:
    """Measure on this machine, and print the table."""
    lines = folder / "lines.jsonl"
    lines.unlink(missing_ok=True)
    listed = [sys.executable, str(folder / "onnx_pages.py"), only]
    listed += _SOFTWARE if software else []
    pages = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()
    command = [sys.executable, str(folder / "drive.py"), str(folder), "--out", str(lines)]
    command += ["--seconds", "3600", *(["--software"] if software else [])]
    subprocess.run([*command, "--addresses", *pages], check=True)
    print(report([lines]))


if __name__ == "__main__":
    main()
