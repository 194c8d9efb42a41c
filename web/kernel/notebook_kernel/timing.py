"""%time and %timeit that wait for the GPU, %%time for code that awaits, and %%gpu."""

import ast
import functools
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import CO_COROUTINE
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import line_cell_magic, magics_class
from IPython.core.magics import execution
from IPython.core.magics.execution import ExecutionMagics, _format_time
from IPython.display import display

from . import gpu_work

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
    """Run `code` as a cell, print its duration, and return its last expression's value.

    The duration includes the computation of arrays on the GPU.
    """
    compiled = _compiled(code)
    await gpu_work.finish_async()
    started = time.perf_counter()
    try:
        value = await _evaluated(compiled)
        await gpu_work.finish_async()
        return value
    finally:
        print(f"Wall time: {_format_time(time.perf_counter() - started)}")


async def profiled(code: str) -> Any:
    """Run `code` as a cell, show the kernels that it ran, and return its last value."""
    import browsergpu

    browsergpu.init()
    compiled = _compiled(code)
    async with browsergpu.profile() as profile:
        value = await _evaluated(compiled)
        gpu_work.compute()
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


# The names, in timed code, of a statement's value and of the function that computes its arrays.
VALUE = "__timed_value__"
COMPUTE = "__timed_compute__"


@magics_class
class TimingMagics(ExecutionMagics):
    """IPython's %time and %timeit, whose durations include the computation of arrays."""

    @line_cell_magic
    @functools.wraps(ExecutionMagics.timeit)
    def timeit(self, line: str = "", cell: str | None = None, local_ns: Any = None) -> Any:
        with _transformed_by(self.shell, _TimedLoop()):
            gpu_work.finish()
            return super().timeit(line, cell, local_ns)

    @line_cell_magic
    @functools.wraps(ExecutionMagics.time)
    def time(self, line: str = "", cell: str | None = None, local_ns: Any = None) -> Any:
        with _transformed_by(self.shell, _TimedCode()):
            gpu_work.finish()
            return super().time(line, cell, local_ns)


class _WaitingTimer(execution.Timer):
    """Timer of %timeit that waits for the GPU before it reads the clock."""

    def __init__(self, *arguments: Any, timer: Callable[[], float], **options: Any) -> None:
        def read() -> float:
            gpu_work.finish()
            return timer()

        super().__init__(*arguments, timer=read, **options)


class _TimedLoop(ast.NodeTransformer):
    """Computes recorded arrays after each execution of the code, while its value is alive.

    The timer waits for the GPU once, after all executions.
    """

    _is_setup_seen = False

    def visit_Module(self, module: ast.Module) -> ast.Module:
        """Return %timeit's setup, then its code with a call at the end."""
        if not self._is_setup_seen:
            self._is_setup_seen = True
            return module
        last = module.body[-1] if module.body else None
        if isinstance(last, ast.Expr):
            module.body[-1] = ast.Assign([ast.Name(VALUE, ast.Store())], last.value)
        after = f"if {COMPUTE}: {COMPUTE}()"
        if isinstance(last, ast.Expr):
            after += f"\n{VALUE} = None"
        module.body += ast.parse(after).body
        return ast.fix_missing_locations(module)

    @staticmethod
    def name_in(namespace: dict[str, Any]) -> None:
        """Define the function in `namespace`."""

        def compute() -> None:
            if gpu_work.is_array_recorded():
                namespace[COMPUTE] = gpu_work.compute
                gpu_work.compute()
            else:
                # Spares other code the call.
                namespace[COMPUTE] = None

        namespace[COMPUTE] = compute


class _TimedCode(ast.NodeTransformer):
    """Waits for recorded arrays at the end of the code, while its value is alive."""

    def visit_Module(self, module: ast.Module) -> ast.Module:
        """Return the code with a call that returns the same value."""
        finish = ast.Name(COMPUTE, ast.Load())
        if module.body and isinstance(module.body[-1], ast.Expr):
            last = module.body[-1]
            last.value = ast.Call(finish, [last.value], [])
        else:
            module.body.append(ast.Expr(ast.Call(finish, [], [])))
        return ast.fix_missing_locations(module)

    @staticmethod
    def name_in(namespace: dict[str, Any]) -> None:
        """Define the function in `namespace`."""

        def finish(value: Any = None) -> Any:
            gpu_work.finish()
            return value

        namespace[COMPUTE] = finish


@contextmanager
def _transformed_by(
    shell: InteractiveShell, transformer: _TimedLoop | _TimedCode
) -> Iterator[None]:
    # Timed code may time code.
    before = shell.ast_transformers, shell.user_ns.get(COMPUTE)
    others = [one for one in before[0] if not isinstance(one, _TimedLoop | _TimedCode)]
    shell.ast_transformers = [*others, transformer]
    transformer.name_in(shell.user_ns)
    try:
        yield
    finally:
        shell.ast_transformers, shell.user_ns[COMPUTE] = before


def install(shell: InteractiveShell) -> None:
    """Replace the shell's %time and %timeit."""
    execution.Timer = _WaitingTimer
    shell.register_magics(TimingMagics)
