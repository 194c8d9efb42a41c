"""%time and %%time for code that awaits, which IPython's versions cannot run, and %%gpu."""

import ast
import re
import time
from inspect import CO_COROUTINE
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magics.execution import _format_time
from IPython.display import display

CELL = re.compile(r"^%%time\s*$")
GPU = re.compile(r"^%%gpu\s*$")
LINE = re.compile(r"^(?P<before>\s*(?:\w+\s*=\s*)?)%time\s+(?P<code>await\b.*)$")
AWAITS = re.compile(r"\bawait\b|\basync (?:for|with)\b")
FILE = "<timed exec>"


def transform(lines: list[str]) -> list[str]:
    """Turn %%gpu, and a timed cell or line that awaits, into Python."""
    if lines and GPU.match(lines[0]):
        return [f"{_call(''.join(lines[1:]), 'profiled')}\n"]
    if lines and CELL.match(lines[0]):
        body = "".join(lines[1:])
        return [f"{_call(body)}\n"] if AWAITS.search(body) else lines
    return [_transformed(line) for line in lines]


def _transformed(line: str) -> str:
    match = LINE.match(line)
    return f"{match['before']}{_call(match['code'])}\n" if match else line


def _call(code: str, function: str = "timed") -> str:
    return f"await __import__('notebook_kernel.timing').timing.{function}({code!r})"


async def timed(code: str) -> Any:
    """Run `code` as a cell, print its duration, and return its last expression's value."""
    compiled = _compiled(code)
    started = time.perf_counter()
    try:
        return await _evaluated(compiled)
    finally:
        print(f"Wall time: {_format_time(time.perf_counter() - started)}")


async def profiled(code: str) -> Any:
    """Run `code` as a cell, show the kernels that it ran, and return its last value."""
    import browsergpu

    browsergpu.init()
    compiled = _compiled(code)
    async with browsergpu.profile() as profile:
        value = await _evaluated(compiled)
    display(profile)
    return value


def _compiled(code: str) -> list[Any]:
    shell = InteractiveShell.instance()
    tree = ast.parse(shell.transform_cell(code), FILE)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    parts: list[ast.Module | ast.Expression] = [tree]
    if isinstance(last, ast.Expr):
        parts.append(ast.Expression(last.value))
    return [
        compile(
            part,
            FILE,
            "eval" if isinstance(part, ast.Expression) else "exec",
            shell.compile.flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
        )
        for part in parts
    ]


async def _evaluated(compiled: list[Any]) -> Any:
    """Run the parts of a cell, and return the value of the last one."""
    namespace = InteractiveShell.instance().user_ns
    value = None
    for one in compiled:
        value = eval(one, namespace)
        if one.co_flags & CO_COROUTINE:
            value = await value
    return value
