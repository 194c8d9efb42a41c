"""Run the examples of PyTorch's own docstrings on browsergpu.

    python -m torch_programs.doctests PATH [--part torch.nn] [-k NAME] [-v]

``PATH`` is the folder ``torch`` of an installed PyTorch, or of its source. The script reads the
docstrings there and imports nothing of it. It runs the examples of classes, methods and functions
that are in ``browsergpu.torch``. The examples of a docstring have run when they raised nothing and
the GPU has computed their tensors. As PyTorch's tests do, it leaves out examples that are marked
``+SKIP`` or ``+REQUIRES``. With ``-v`` it prints results that are not as shown.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import doctest
import io
import re
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from functools import partial
from os import chdir
from pathlib import Path
from typing import Any

#: The folder of each namespace, in the folder ``torch``.
PARTS = {
    "torch.nn": "nn/modules",
    "torch.nn.init": "nn/init.py",
    "torch.nn.utils": "nn/utils",
    "torch.optim": "optim",
    "torch.optim.lr_scheduler": "optim/lr_scheduler.py",
    "torch.utils.data": "utils/data",
    "torch.distributions": "distributions",
    "torch.autograd": "autograd",
    "torch.func": "_functorch",
}
#: Modules of a namespace whose names PyTorch defines in the same folder.
_BELOW = ("rnn", "parametrize", "parametrizations", "lr_scheduler", "functional")
#: The seconds that one docstring may take on a software GPU.
SECONDS = 400
_SETUP = """\
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim, Tensor
from torch.nn import *
from torch.optim import *
from torch.distributions import *
"""
_MARK = re.compile(r"doctest: *\+(SKIP|REQUIRES)")
_CHECK = doctest.OutputChecker()
_ALIKE = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def docstrings(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the file, name and docstring of a file's or folder's public definitions."""
    for file in [path] if path.suffix else sorted(path.glob("*.py")):
        for name, text in _of_body("", ast.parse(file.read_text(encoding="utf-8")).body):
            yield file.stem, name, text


def _of_body(outer: str, body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for node in body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name.startswith("_"):
            continue
        text = ast.get_docstring(node)
        if text and ">>>" in text:
            yield outer + node.name, text
        if isinstance(node, ast.ClassDef):
            yield from _of_body(f"{outer}{node.name}.", node.body)


def is_there(namespace: Any, name: str) -> bool:
    """Whether browsergpu has a class, function or method."""
    try:
        for part in name.split("."):
            namespace = getattr(namespace, part)
    except AttributeError:
        return False
    return True


def _raise_timeout(seconds: int, *_: object) -> None:
    raise TimeoutError(f"it took more than {seconds} s")


def chunks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the code of a docstring, up to a shown result, and the result."""
    code: list[str] = []
    shown: list[str] = []
    is_beside = False
    for line in [*text.splitlines(), ""]:
        words = line.strip()
        if words.startswith((">>>", "...")):
            if shown:
                yield "\n".join(code), "\n".join(shown)
                code, shown = [], []
            if _MARK.search(words):
                break
            code.append(words[4:])
        elif words and code and is_beside:
            (code if is_open(code) else shown).append(words)
        elif shown:
            yield "\n".join(code), "\n".join(shown)
            code, shown = [], []
        is_beside = bool(words)  # a paragraph that follows a blank line is text
    if code:
        yield "\n".join(code), "\n".join(shown)


def is_open(code: list[str]) -> bool:
    """Whether the last statement ends in a later line, as within brackets."""
    try:
        ast.parse("\n".join(code))
    except SyntaxError as error:
        return "never closed" in error.msg
    return False


def evaluated(code: str, values: dict[str, Any]) -> str:
    """Run code, and return what it and its last expression print."""
    tree = ast.parse(code)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "<docstring>", "exec"), values)
        if isinstance(last, ast.Expr):
            found = eval(compile(ast.Expression(last.value), "<docstring>", "eval"), values)
            if found is not None:
                print(repr(found))
    return out.getvalue()


def run(text: str, torch: Any, names: dict[str, Any], *, is_verbose: bool = False) -> str:
    """Run the examples of a docstring, and return the error, if any."""
    values: dict[str, Any] = {"__name__": "__main__"}
    exec(_SETUP, values)
    values |= {name: x for name, x in names.items() if not name.startswith("_")}
    torch.manual_seed(0)
    signal.signal(signal.SIGALRM, partial(_raise_timeout, SECONDS))
    signal.alarm(SECONDS)
    code = ""
    try:
        for code, shown in chunks(text):
            found = evaluated(code, values)
            if is_verbose and shown and not _CHECK.check_output(shown, found, _ALIKE):
                print(f"shown:\n{shown}\nfound:\n{found}")
        code = "reading the tensors"
        for value in list(values.values()):
            if isinstance(value, torch.Tensor):
                value.detach().numpy()
    except Exception as error:
        if is_verbose:
            traceback.print_exc()
        lines = str(error).strip().splitlines() or [""]
        return f"{code.strip().splitlines()[-1][:80]}: {type(error).__name__}: {lines[0]}"
    finally:
        signal.alarm(0)
    return ""


def main() -> None:
    """Run the docstrings, and print those that fail and the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, help="the folder torch of PyTorch")
    parser.add_argument("-k", default="", help="only names that contain this")
    parser.add_argument("--part", action="append", choices=PARTS, help="only these namespaces")
    parser.add_argument("-v", action="store_true", help="print the traceback of each error")
    chosen = parser.parse_args()
    root = chosen.path.resolve()
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "py"))
    import browsergpu.torch

    browsergpu.torch.install()
    import torch  # type: ignore[import-not-found,unused-ignore]

    warnings.simplefilter("ignore")
    table = []
    with tempfile.TemporaryDirectory() as folder:
        chdir(folder)
        for part in chosen.part or PARTS:
            namespace: Any = torch
            for name in part.split(".")[1:]:
                namespace = getattr(namespace, name)
            count = passed = absent = 0
            for file, name, text in docstrings(root / PARTS[part]):
                if chosen.k not in name or not list(chunks(text)):
                    continue
                own = getattr(namespace, file, None) if file in _BELOW else namespace
                if not is_there(own, name):
                    absent += 1
                    print(f"{part}.{name}: absent", flush=True)
                    continue
                error = run(text, torch, vars(own), is_verbose=chosen.v)
                count += 1
                passed += not error
                if error:
                    print(f"{part}.{name}: {error}", flush=True)
            table.append(f"| `{part}` | {passed} of {count} | {absent} |")
    print("\n| namespace | docstrings that run | absent |\n| --- | --- | --- |")
    print("\n".join(table))


if __name__ == "__main__":
    main()
