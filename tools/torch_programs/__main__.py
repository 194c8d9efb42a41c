"""Run other people's PyTorch programs on browsergpu, with only the import replaced.

    python -m torch_programs nanoGPT=PATH minGPT=PATH examples=PATH micrograd=PATH [-k NAME]
        [--native] [--page] [--pytorch PYTHON] [--same-draws] [--seconds N] [--out FILE]

It fetches nothing: the paths are checkouts of karpathy/nanoGPT, karpathy/minGPT, pytorch/examples
and karpathy/micrograd. Each program runs in a copy of its folder, on small data, for a limited
time: natively, unless there is ``--page`` without ``--native``. With ``--page``, Chromium and
Pyodide run it on SwiftShader. ``--pytorch`` also runs it with a Python that has PyTorch. Some
programs get further arguments with ``--page``, in each of these runs, and the table shows them. The
table has the first and the last loss that each program printed, and ``--out`` writes it as
Markdown. With ``--same-draws``, all runs begin with the same weights and draw the same random
numbers, and dropout does nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from torch_programs.launch import run_program
from torch_programs.page import ProgramPage
from torch_programs.programs import PROGRAMS, Program

_LOSS = re.compile(r"(?:[Ll]oss(?:_D)?|reward)[^0-9\n]*?(-?\d+\.\d+(?:e[-+]\d+)?)")
_ROOT = Path(__file__).resolve().parents[2]


def _prepared(program: Program, folder: Path) -> tuple[Path, Path]:
    """Prepare a program's data and script, and return the folder to run in, and the script."""
    script = folder / program.script
    there = folder if program.checkout != "examples" else script.parent
    program.prepare(there)
    text = script.read_text(encoding="utf-8")
    for old, new in program.changes.items():
        assert old in text, f"{program.name} has no line {old!r}"
        text = text.replace(old, new)
    script.write_text(text, encoding="utf-8")
    return there, script


def _called(
    program: Program,
    folder: Path,
    python: str,
    is_theirs: bool,
    seconds: int,
    args: str,
    draws_same: bool,
) -> tuple[str, str]:
    there, script = _prepared(program, folder)
    command = [python, "-u", "-m", "torch_programs", "--run", str(script)]
    command += ["--theirs"] if is_theirs else []
    command += ["--same-draws"] if draws_same else []
    command += ["--", *args.split()]
    paths = [str(_ROOT / "tools"), str(folder), *([] if is_theirs else [str(_ROOT / "py")])]
    settings = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    with subprocess.Popen(
        command, cwd=there, env=settings, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            out, errors = process.communicate(timeout=seconds)
            return out, errors if process.returncode else ""
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            return out, ""


def _shown(out: str, errors: str) -> str:
    if errors:
        return f"failed: {errors.strip().splitlines()[-1][:150]}"
    losses = _LOSS.findall(out)
    if losses:
        return f"{losses[0]} -> {losses[-1]} ({len(losses)} losses)"
    last = out.strip().splitlines()[-1:] or ["no output"]
    return last[0][:60]


def main() -> None:
    """Run the programs, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="*", help="NAME=PATH")
    parser.add_argument("-k", default="", help="only programs whose name contains this")
    parser.add_argument("--pytorch", help="a Python that has PyTorch")
    parser.add_argument("--native", action="store_true", help="with --page, also run natively")
    parser.add_argument("--out", type=Path, help="a file for the table")
    parser.add_argument("--page", action="store_true", help="run the programs in Chromium")
    parser.add_argument("--seconds", type=int, help="the most seconds for each program")
    parser.add_argument("--same-draws", action="store_true", help="the same weights and numbers")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--theirs", action="store_true", help=argparse.SUPPRESS)
    given, rest = sys.argv[1:], []
    if "--" in given:
        at = given.index("--")
        given, rest = given[:at], given[at + 1 :]
    chosen = parser.parse_args(given)
    if chosen.run:
        run_program(chosen.run, rest, is_theirs=chosen.theirs, draws_same=chosen.same_draws)
        return
    page = ProgramPage(draws_same=chosen.same_draws) if chosen.page else None
    try:
        _compare(chosen, page)
    finally:
        if page is not None:
            page.stop()


def _compare(chosen: argparse.Namespace, page: ProgramPage | None) -> None:
    checkouts = dict(one.split("=", 1) for one in chosen.checkouts)
    columns = ["natively"] if chosen.native or page is None else []
    columns += ["in the page"] if page is not None else []
    columns += ["PyTorch"] if chosen.pytorch else []
    rows: list[list[str]] = []
    passed = 0
    with TemporaryDirectory() as made:
        for program in PROGRAMS:
            if program.checkout not in checkouts or chosen.k not in program.name:
                continue
            args = program.arguments(in_page=page is not None)
            seconds = min(chosen.seconds or program.seconds, program.seconds)
            cells = {}
            has_run = True
            for column in columns:
                folder = Path(made) / column / program.checkout
                if not folder.exists():
                    shutil.copytree(checkouts[program.checkout], folder)
                is_theirs = column == "PyTorch"
                if page is not None and column == "in the page":
                    there, script = _prepared(program, folder)
                    group = program.name if program.checkout == "examples" else program.checkout
                    out, errors = page.run(group, there, script, args, seconds)
                else:
                    python = chosen.pytorch if is_theirs else sys.executable
                    out, errors = _called(
                        program, folder, python, is_theirs, seconds, args, chosen.same_draws
                    )
                cells[column] = _shown(out, errors)
                has_run = has_run and (is_theirs or not errors)
            passed += has_run
            name = program.name if args == program.args else f"{program.name} {program.page_args}"
            rows.append([name, str(len(program.changes)), *cells.values()])
            shown = " | ".join(f"{column}: {cell}" for column, cell in cells.items())
            print(f"{name:34} {len(program.changes)} lines  {shown}", flush=True)
            if chosen.out:
                chosen.out.write_text(_table(columns, rows, passed), "utf-8")
    print(f"{passed} of {len(rows)} programs run")


def _table(columns: list[str], rows: list[list[str]], passed: int) -> str:
    lines = [["program", "changed lines", *columns], ["---"] * (2 + len(columns)), *rows]
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{text}\n{passed} of {len(rows)} programs run.\n"


if __name__ == "__main__":
    main()
