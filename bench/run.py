"""Measures browsergpu, its peers and the device itself, in the same browser.

    python3 bench/run.py                        # everything, on this machine's GPU, sizes big
    python3 bench/run.py --sizes small --only "matmul|conv" --pages ours --software

or in three steps, for a GPU machine without network or packages:

    python3 bench/run.py prepare FOLDER --sizes big     # here: 44 MB
    python3 FOLDER/drive.py --out lines.jsonl           # there: Python and Chrome alone
    python3 bench/run.py report lines.jsonl             # here

A report writes bench/results/DATE-DEVICE.json, .md and .svg. It also replaces the tables in
README.md, docs/performance.md and docs/arrays.md if their rows were measured. Lines of
bench/cuda.py add a column for PyTorch. The pages are ours, device (no library), tfjs, jaxjs, ort
and numpy. wllama has no rows: bench/language.py tells how to open its page. The peers come from
npm. `--only arrays:` selects the programs of bench/page/programs.py, which use each library's
arrays. WgPy is not in a registry: `--wgpy DIST` takes the folder with its build (mil-tokyo/wgpy on
GitHub: npm run build:js, python setup_webgpu.py bdist_wheel).
bench/page/common.mjs describes the timing, and bench/page/ours.py the column "kernels alone".

Run it with .cache/venv/bin/python, after tests/run.py has created that environment.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
sys.path[:0] = [str(ROOT / "tools"), str(BENCH)]

import drive  # noqa: E402
from suite import plot, report, table  # noqa: E402
from suite.folder import all_pages, make_folder  # noqa: E402
from suite.rows import SIZES  # noqa: E402

FOLDER = ROOT / ".cache" / "bench" / "site"


def main(arguments: Sequence[str] | None = None) -> None:
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = given.pop(0) if given[:1] in (["prepare"], ["report"]) else "all"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", choices=SIZES, default="big", help="sizes of the rows (big)")
    if command == "report":
        parser.add_argument("lines", nargs="+", type=Path, help="the last file with a row counts")
        _results_options(parser)
        options = parser.parse_args(given)
        make_report(options.lines, options)
        return
    parser.add_argument("--pages", nargs="*", choices=all_pages(), default=all_pages())
    parser.add_argument("--wgpy", type=Path, help="the folder dist of a WgPy build")
    if command == "prepare":
        parser.add_argument("folder", type=Path)
        parser.add_argument("--models", action="store_true", help="add the models of models.html")
        options = parser.parse_args(given)
        make_folder(options.folder, options.sizes, options.pages, options.wgpy, options.models)
        return
    parser.add_argument("--only", default="", help="rows whose names contain one of these|parts")
    parser.add_argument("--no-first", action="store_true", help="skip the first results")
    parser.add_argument("--no-arrays", action="store_true", help="skip the programs of arrays")
    parser.add_argument("--software", action="store_true", help="SwiftShader instead of a GPU")
    _results_options(parser)
    options = parser.parse_args(given)
    make_folder(FOLDER, options.sizes, options.pages, options.wgpy)
    lines = FOLDER / "lines.jsonl"
    lines.unlink(missing_ok=True)
    how = ["--software", "--options", "warm=0&ms=1&repeats=3"] if options.software else []
    how += ["--no-first"] if options.no_first else []
    how += ["--no-arrays"] if options.no_arrays else []
    drive.main(
        [str(FOLDER), "--out", str(lines), "--only", options.only, "--seconds", "3600", *how]
    )
    make_report([lines], options)


def _results_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=BENCH / "results", help="a folder")
    docs = ROOT / "docs"
    parser.add_argument(
        "--readme", type=Path, default=ROOT / "README.md", help="the file for the six-row table"
    )
    parser.add_argument(
        "--performance",
        type=Path,
        default=docs / "performance.md",
        help="the file for the long table",
    )
    parser.add_argument(
        "--guide", type=Path, default=docs / "arrays.md", help="the file for the table of arrays"
    )


def make_report(lines: Sequence[Path], options: argparse.Namespace) -> None:
    """Write the report of files of lines."""
    found, out = report.read(lines, options.sizes), options.out
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found.as_json(), ensure_ascii=False, indent=1)
    (out / f"{found.name}.json").write_text(text + "\n", "utf-8")
    (out / f"{found.name}.md").write_text(table.full(found), "utf-8")
    (out / f"{found.name}.svg").write_text(plot.plot(found), "utf-8")
    if options.sizes == "big":
        if not all(result.row.array for result in found.measured):
            table.insert(options.readme, _in_readme(found))
            table.insert(options.performance, _in_performance(found))
        if any(result.row.array for result in found.measured):
            table.insert(options.guide, _in_guide(found))
    print(out / f"{found.name}.md")


def _in_readme(found: report.Report) -> str:
    return f"{_where(found)}:\n\n{table.brief(found)}"


def _in_performance(found: report.Report) -> str:
    results = f"../bench/results/{found.name}"
    return (
        f"{_where(found)} ([every row]({results}.md)):\n\n{table.chief(found)}\n"
        f"![Each row's speed against the best peer]({results}.svg)\n"
    )


def _in_guide(found: report.Report) -> str:
    every = f"[every row](../bench/results/{found.name}.md)"
    return f"{_where(found)} ({every}):\n\n{table.arrays(found)}"


def _where(found: report.Report) -> str:
    about = found.about
    return f"On an {about['device']}, {about['browser']}, {about['date']}"


if __name__ == "__main__":
    main()
