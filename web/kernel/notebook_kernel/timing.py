"""%time and %%time for code that awaits, which IPython's versions cannot run."""

import ast
import re
import time
from inspect import CO_COROUTINE
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magics.execution import _format_time

CELL = re.compile(r"^%%time\s*$")
LINE = re.compile(r"^(?P<before>\s*(?:\w+\s*=\s*)?)%time\s+(?P<code>await\b.*)$")
AWAITS = re.compile(r"\bawait\b|\basync (?:for|with)\b")
FILE = "<timed exec>"


def transform(lines: list[str]) -> list[str]:
    """Turn a timed cell or line that awaits into Python."""
    if lines and CELL.match(lines[0]):
        body = "".join(lines[1:])
        return [f"{_call(body)}\n"] if AWAITS.search(body) else lines
    return [_transformed(line) for line in lines]


def _transformed(line: str) -> str:
    match = LINE.match(line)
    return f"{match['before']}{_call(match['code'])}\n" if match else line


def _call(code: str) -> str:
    return f"await __import__('notebook_kernel.timing').timing.timed({code!r})"


async def timed(code: str) -> Any:
    """Run `code` as a cell, print its duration, and return its last expression's value."""
    shell = InteractiveShell.instance()
    tree = ast.parse(shell.transform_cell(code), FILE)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    parts: list[ast.Module | ast.Expression] = [tree]
    if isinstance(last, ast.Expr):
        parts.append(ast.Expression(last.value))
    compiled = [
        compile(
            part,
            FILE,
            "eval" if isinstance(part, ast.Expression) else "exec",
            shell.compile.flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
        )
        for part in parts
    ]
    value = None
    started = time.perf_counter()
    try:
        for one in compiled:
            value = eval(one, shell.user_ns)
            if one.co_flags & CO_COROUTINE:
                value = await value
    finally:
        print(f"Wall time: {_format_time(time.perf_counter() - started)}")
    return value
