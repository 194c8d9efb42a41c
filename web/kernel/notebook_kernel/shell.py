"""IPython's shell for the notebook: magics, `Out`, `?`, top-level await, one cell at a time."""

import re
import sys
import warnings
from typing import Any, NoReturn

# First: it imports IPython.
from . import without_terminal  # isort: skip # noqa: F401

from IPython.core import page
from IPython.core.compilerop import CachingCompiler
from IPython.core.debugger import InterruptiblePdb
from IPython.core.displayhook import DisplayHook
from IPython.core.error import UsageError
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from traitlets import Type
from traitlets.config import Config

from . import display, installing, processes, timing, tracebacks

FOLDER = "/tmp/ipython"
SCRIPTS = ("bash", "sh", "script", "perl", "ruby", "pypy", "python2", "python3", "system", "sx")


class _Compiler(CachingCompiler):
    """Names code as the page does: "Cell 3"."""

    name = "Cell"

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        """The name that stands for a file in tracebacks."""
        return self.name


class _Debugger(InterruptiblePdb):
    """Finds the lines of cells, whose names are no paths."""

    def canonic(self, filename: str) -> str:
        """The name under which the debugger looks for the lines."""
        if filename.startswith(tracebacks.CELLS):
            return filename
        return str(super().canonic(filename))


class Shell(InteractiveShell):
    """The shell. Tracebacks are the caller's: `run` returns errors and prints none."""

    compiler_class = Type(_Compiler)
    debugger_cls = _Debugger
    displayhook_class = Type(display.CellResults)
    display_pub_class = Type(display.CellDisplays)
    #: Whether the running code is a cell's: only those have results, `Out` and a history.
    in_cell = False
    # The latest code as it was written, and as Python reads it.
    _source: str | None = None
    _code = ""

    async def run(self, name: str, code: str) -> ExecutionResult:
        """Run `code`, which tracebacks call `name`: "Cell 3" has the number 3 in `Out`."""
        self.compile.name = name
        cell = re.fullmatch(r"Cell (\d+)", name)
        self.in_cell = cell is not None
        if cell:
            self.execution_count = int(cell[1])
        if self._source != code:
            self._source, self._code = code, self.transform_cell(code)
        transformed = self._code
        return await self.run_cell_async(
            code, store_history=self.in_cell, transformed_cell=transformed
        )

    def as_python(self, code: str) -> str:
        """`code` without magics, as far as that can be told before it runs."""
        try:
            self._code = self.transform_cell(code)
        except Exception:
            # Run, it tells its error.
            self._source = None
            return ""
        self._source = code
        return str(self._code)

    def magics(self) -> list[str]:
        """The magics' names, with their per cent signs."""
        return [
            f"{sign}{name}"
            for kind, sign in (("line", "%"), ("cell", "%%"))
            for name in self.magics_manager.magics[kind]
        ]

    def after_run(self, result: ExecutionResult) -> None:
        """Tell those who wait for the end of a run: Matplotlib shows its figures now."""
        self.events.trigger("post_execute")
        self.events.trigger("post_run_cell", result)

    def hushed(self, hook: DisplayHook) -> bool:
        """Whether a semicolon ends the running code."""
        return hook.semicolon_at_end_of_expression(self._code)

    # -- errors ----------------------------------------------------------------------------------

    def showtraceback(
        self,
        exc_tuple: Any = None,
        filename: Any = None,
        tb_offset: Any = None,
        exception_only: bool = False,
        running_compiled_code: bool = False,
    ) -> None:
        """Tell an error that does not end the run, as one in a script that %run runs."""
        _, error, _ = self._get_exc_info(exc_tuple)
        ends_the_run = running_compiled_code or exception_only
        if not ends_the_run and not isinstance(error, KeyboardInterrupt):
            sys.stderr.write(tracebacks.report(error).shown)

    def showsyntaxerror(self, filename: Any = None, running_compiled_code: bool = False) -> None:
        """Remember the error of code that cannot be compiled; `run` returns it."""
        self._get_exc_info()

    def _format_exception_for_storage(self, exception: BaseException, *_: Any, **__: Any) -> Any:
        # The page keeps errors; IPython's own way takes long.
        return {}

    # -- what a browser has not ------------------------------------------------------------------

    def system(self, cmd: str) -> NoReturn:
        """`!command`."""
        processes.refuse(cmd)

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> NoReturn:
        """`files = !command`."""
        processes.refuse(cmd)

    def enable_gui(self, gui: str | None = None) -> None:
        """`%gui NAME`, and what %matplotlib asks for: pictures come below the cell anyway."""
        if gui not in (None, "inline", "auto"):
            raise UsageError(f"{gui} needs windows; here %matplotlib inline draws below the cell.")

    def init_completer(self) -> None:
        """Nothing: the editor asks completion.py, and IPython's own takes long to import."""

    def ask_exit(self) -> NoReturn:
        """`exit` and `quit`."""
        raise UsageError("The notebook has no end; Restart above starts a fresh kernel.")


def make_shell(module: Any) -> Shell:
    """The one shell, whose variables are those of `module`."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    with warnings.catch_warnings(action="ignore"):
        shell: Shell = Shell.instance(config=config, user_module=module, ipython_dir=FOLDER)
    warnings.filterwarnings("ignore", message="To exit: use")
    # tqdm says once that there are no threads, which it does not need.
    warnings.filterwarnings("ignore", message="tqdm:disabling monitor support")
    shell.set_hook("show_in_pager", page.as_hook(page.display_page), 99)
    shell.input_transformers_cleanup.extend([installing.transform, timing.transform])
    for name in SCRIPTS:
        shell.register_magic_function(processes.refuse_script, "cell", name)
    return shell
