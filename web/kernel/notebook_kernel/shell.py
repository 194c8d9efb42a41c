"""IPython's shell for the notebook: magics, `Out`, `?`, top-level await, one cell at a time."""

import codeop
import re
import warnings
from importlib.machinery import PathFinder
from typing import Any, NoReturn

# Imported first, since it imports IPython.
from . import without_terminal  # isort: skip # noqa: F401

from IPython.core import page
from IPython.core.compilerop import CachingCompiler
from IPython.core.debugger import InterruptiblePdb
from IPython.core.displayhook import DisplayHook
from IPython.core.error import UsageError
from IPython.core.formatters import BaseFormatter, MimeBundleFormatter, PlainTextFormatter
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from traitlets import Type
from traitlets.config import Config

from . import display, installing, outputs, processes, timing, tracebacks

FOLDER = "/tmp/ipython"
SCRIPTS = ("bash", "sh", "script", "perl", "ruby", "pypy", "python2", "python3", "system", "sx")


class _Compiler(CachingCompiler):
    """Compiler that names code as the page does: "Cell 3"."""

    name = "Cell"

    def __init__(self) -> None:
        super().__init__()
        # No more lines follow a cell, so its errors name what is not closed.
        self.flags &= ~codeop.PyCF_ALLOW_INCOMPLETE_INPUT  # type: ignore[attr-defined]

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        """Return the file name for tracebacks."""
        return self.name


class _Debugger(InterruptiblePdb):
    """Debugger that finds the lines of cells, whose names are not paths."""

    def canonic(self, filename: str) -> str:
        """Return the name under which the debugger looks up lines."""
        if filename.startswith(tracebacks.CELLS):
            return filename
        return str(super().canonic(filename))


class Shell(InteractiveShell):
    """IPython's shell. `run` returns errors and prints none."""

    compiler_class = Type(_Compiler)
    debugger_cls = _Debugger
    displayhook_class = Type(display.CellResults)
    display_pub_class = Type(display.CellDisplays)
    #: Whether the running code is a cell's. Only cells have results, `Out` and a history.
    in_cell = False
    # The latest code as written, and as Python reads it.
    _source: str | None = None
    _code = ""
    # The first error of a displayed value's text or bundle.
    _display_error: BaseException | None = None

    async def run(self, name: str, code: str) -> ExecutionResult:
        """Run `code`, named `name` in tracebacks. "Cell 3" has the number 3 in `Out`."""
        self.compile.name = name
        self._display_error = None
        cell = re.fullmatch(r"Cell (\d+)", name)
        self.in_cell = cell is not None
        if cell:
            self.execution_count = int(cell[1])
        if self._source != code:
            try:
                self._source, self._code = code, self.transform_cell(code)
            except SyntaxError as error:
                error.filename = name  # the tokenizer calls it "<string>"
                raise
        transformed = self._code
        return await self.run_cell_async(
            code, store_history=self.in_cell, transformed_cell=transformed
        )

    def as_python(self, code: str) -> str:
        """Return `code` without magics, as far as possible before it runs."""
        try:
            self._code = self.transform_cell(code)
        except Exception:
            # Running it reports its error.
            self._source = None
            return ""
        self._source = code
        return str(self._code)

    def magics(self) -> list[str]:
        """Return the names of magics with their per cent signs."""
        return [
            f"{sign}{name}"
            for kind, sign in (("line", "%"), ("cell", "%%"))
            for name in self.magics_manager.magics[kind]
        ]

    def after_run(self, result: ExecutionResult) -> None:
        """Trigger the events after a run, upon which Matplotlib shows its figures."""
        self.events.trigger("post_execute")
        self.events.trigger("post_run_cell", result)
        if result.success:
            result.error_in_exec = self._display_error

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
        """Show an error that does not end the run, such as in a script of %run.

        An error of a displayed value's text, or of its `_repr_mimebundle_`, fails the run once the
        code has ended.
        """
        _, error, frames = self._get_exc_info(exc_tuple)
        if frames is not None and "self" in frames.tb_frame.f_locals:
            formatter = frames.tb_frame.f_locals["self"]
            if isinstance(formatter, PlainTextFormatter | MimeBundleFormatter):
                self._display_error = self._display_error or error
                return
            if isinstance(formatter, BaseFormatter) and type(error) is type(self._display_error):
                return  # another form of the same value
        # GeneratorExit: an interrupt lost a step of the run's task, and the interpreter drops it.
        ends_the_run = running_compiled_code or exception_only or isinstance(error, GeneratorExit)
        if not ends_the_run:
            shown = outputs.active()
            if shown is not None:
                shown.error(tracebacks.fields(error))

    def showsyntaxerror(self, filename: Any = None, running_compiled_code: bool = False) -> None:
        """Store the error of code that cannot be compiled, which `run` returns."""
        self._get_exc_info()

    def _format_exception_for_storage(self, exception: BaseException, *_: Any, **__: Any) -> Any:
        # The page stores errors; IPython's own method is slow.
        return {}

    # -- unavailable in a browser ----------------------------------------------------------------

    def system(self, cmd: str) -> NoReturn:
        """Refuse `!command`."""
        processes.refuse(cmd)

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> NoReturn:
        """Refuse `files = !command`."""
        processes.refuse(cmd)

    def enable_matplotlib(self, gui: str | None = None) -> Any:
        """Select a backend of Matplotlib, also one that was installed after Matplotlib's import."""
        if gui in ("widget", "ipympl"):
            if PathFinder.find_spec("ipympl") is None:
                raise UsageError(
                    f"%matplotlib {gui} needs ipympl. "
                    "Run %pip install ipympl, then this cell again."
                )
            from matplotlib.backends.registry import backend_registry

            if gui not in backend_registry.list_all():
                backend_registry._clear()  # it has looked for packages before ipympl came
        return super().enable_matplotlib(gui)

    def enable_gui(self, gui: str | None = None) -> None:
        """Ignore `%gui NAME`, also from %matplotlib. Images appear below the cell anyway."""
        if gui not in (None, "inline", "auto"):
            raise UsageError(f"{gui} needs windows; here %matplotlib inline draws below the cell.")

    def init_completer(self) -> None:
        """Do nothing: the editor uses completion.py, and IPython's completer is slow to import."""

    def ask_exit(self) -> NoReturn:
        """Refuse `exit` and `quit`."""
        raise UsageError("A notebook cannot exit. Restart above starts a fresh kernel.")


def make_shell(module: Any) -> Shell:
    """Return the only shell, with the variables of `module`."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    with warnings.catch_warnings(action="ignore"):
        shell: Shell = Shell.instance(config=config, user_module=module, ipython_dir=FOLDER)
    warnings.filterwarnings("ignore", message="To exit: use")
    # tqdm warns about missing threads, which it does not need.
    warnings.filterwarnings("ignore", message="tqdm:disabling monitor support")
    shell.set_hook("show_in_pager", page.as_hook(page.display_page), 99)
    shell.input_transformers_cleanup.extend([installing.transform, timing.transform])
    timing.install(shell)
    for name in SCRIPTS:
        shell.register_magic_function(processes.refuse_script, "cell", name)
    return shell
