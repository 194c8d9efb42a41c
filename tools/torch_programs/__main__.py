"""Run other people's PyTorch programs on browsergpu, with only the import replaced.

    python -m torch_programs nanoGPT=PATH minGPT=PATH examples=PATH micrograd=PATH [-k NAME]
        [--pytorch PYTHON] [--page] [--seconds N]

It fetches nothing: the paths are checkouts of karpathy/nanoGPT, karpathy/minGPT, pytorch/examples
and karpathy/micrograd. Each program runs in a copy of its folder, on small data, for a limited
time. ``--pytorch`` also runs it with a Python that has PyTorch. With ``--page``, Chromium and
Pyodide run the programs, on SwiftShader. Some programs get further arguments there, for both
packages, and the table shows them. The table has the first and the last loss that each program
printed.
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
    program: Program, folder: Path, python: str, is_theirs: bool, seconds: int, args: str
) -> tuple[str, str]:
    there, script = _prepared(program, folder)
    command = [python, "-u", "-m", "torch_programs", "--run", str(script)]
    command += ["--theirs"] if is_theirs else []
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
    parser.add_argument("--page", action="store_true", help="run the programs in Chromium")
    parser.add_argument("--seconds", type=int, help="the most seconds for each program")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--theirs", action="store_true", help=argparse.SUPPRESS)
    given, rest = sys.argv[1:], []
    if "--" in given:
        at = given.index("--")
        given, rest = given[:at], given[at + 1 :]
    chosen = parser.parse_args(given)
    if chosen.run:
        run_program(chosen.run, rest, is_theirs=chosen.theirs)
        return
    page = ProgramPage() if chosen.page else None
    try:
        _compare(chosen, page)
    finally:
        if page is not None:
            page.stop()


def _compare(chosen: argparse.Namespace, page: ProgramPage | None) -> None:
    checkouts = dict(one.split("=", 1) for one in chosen.checkouts)
    count = passed = 0
    with TemporaryDirectory() as made:
        for program in PROGRAMS:
            if program.checkout not in checkouts or chosen.k not in program.name:
                continue
            count += 1
            cells = []
            args = program.arguments(in_page=page is not None)
            seconds = min(chosen.seconds or program.seconds, program.seconds)
            for python, is_theirs in ((sys.executable, False), (chosen.pytorch, True)):
                if python is None:
                    continue
                folder = Path(made) / ("pytorch" if is_theirs else "own") / program.checkout
                if not folder.exists():
                    shutil.copytree(checkouts[program.checkout], folder)
                if page is None or is_theirs:
                    out, errors = _called(program, folder, python, is_theirs, seconds, args)
                else:
                    there, script = _prepared(program, folder)
                    group = program.name if program.checkout == "examples" else program.checkout
                    out, errors = page.run(group, there, script, args, seconds)
                cells.append(_shown(out, errors))
                if not is_theirs:
                    passed += not errors
            changes = f"{len(program.changes)} lines"
            print(f"{program.name:34} {changes:8} {' | PyTorch: '.join(cells)}", flush=True)
            if args != program.args:
                print(f"{'':34} with {program.page_args} in the page", flush=True)
    print(f"{passed} of {count} programs run")


if __name__ == "__main__":
    main()
