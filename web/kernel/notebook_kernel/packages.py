"""Automatic loading of imported packages, with one clear error if that fails."""

import asyncio
import importlib
import sys
from collections.abc import Callable, Generator
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any

import micropip
import pyodide.ffi
import pyodide_js
from pyodide.code import find_imports

from . import tracebacks

#: The import of browsergpu that replaces a package without a wheel for the page.
_REPLACED = {
    "torch": "import browsergpu.torch as torch",
    "jax": "import browsergpu.jax as jax",
    "cupy": "import browsergpu as cupy",
}

#: Modules of pandas that import a package because the user called a function that needs it.
_ON_BEHALF = ("/pandas/plotting/", "/pandas/compat/_optional.py")
_NEEDED_BY_PANDAS = ("matplotlib", "jinja2", "scipy")


class SitePackages(MetaPathFinder):
    """Finder for modules of packages that are not loaded yet, for imports in the user's code."""

    def __init__(self, load: Callable[[str], Any]) -> None:
        """`load(name)` loads a package and resolves to an error text, or to nothing."""
        self._load = load
        self._packages: dict[str, str] = pyodide_js._api._import_name_to_package_name.to_py()
        self._reasons: dict[str, str] = {}

    @property
    def importable(self) -> set[str]:
        """The modules of the site's packages, loaded or not."""
        return {name.partition(".")[0] for name in self._packages}

    def imported_by(self, code: str) -> list[str]:
        """Return the packages that `code` imports and that are not loaded."""
        self._reasons.clear()
        try:
            modules = find_imports(code)
        except SyntaxError:
            return []
        found = {self._packages[name] for name in modules if name in self._packages}
        loaded = set(pyodide_js.loadedPackages.to_py())
        return sorted(found - loaded)

    def failed(self, package: str, reason: str) -> None:
        """Store why a package could not be loaded in this run."""
        self._reasons[package] = reason

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Load the package, or raise ModuleNotFoundError with the reason."""
        if "." in name or name in sys.stdlib_module_names or not _user_asks(name):
            return None
        package = self._packages.get(name)
        if package is None and name in _REPLACED:
            message = f"No module named {name!r}. Use: {_REPLACED[name]}"
            raise ModuleNotFoundError(message, name=name)
        if package is None:
            raise ModuleNotFoundError(
                f"No module named {name!r}. The site does not have it. If PyPI has a pure-Python "
                "wheel of it, %pip install installs it.",
                name=name,
            )
        if package not in self._reasons:
            if not pyodide.ffi.can_run_sync():
                return None
            self._reasons[package] = pyodide.ffi.run_sync(self._load(package)) or ""
            importlib.invalidate_caches()
        others = (finder.find_spec(name, path) for finder in sys.meta_path if finder is not self)
        found = next((spec for spec in others if spec is not None), None)
        if found is None:
            reason = self._reasons[package] or "it came without the module"
            raise ModuleNotFoundError(
                f"No module named {name!r}: the site could not load the package {package} "
                f"({reason})",
                name=name,
            )
        return found


def _user_asks(module: str) -> bool:
    """Whether the import is in the user's code, or in a magic's or in pandas on its behalf."""
    frame = sys._getframe(2)
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back  # type: ignore[assignment]
    name = frame.f_code.co_filename if frame is not None else ""
    if module in _NEEDED_BY_PANDAS and any(part in name for part in _ON_BEHALF):
        return True
    return name.startswith(tracebacks.USER_MARKS) or "/IPython/core/" in name


def install_finder(load: Callable[[str], Any]) -> SitePackages:
    """Make imports load packages from now on."""
    finder = SitePackages(load)
    sys.meta_path.append(finder)
    return finder


class Installation:
    """The result of `micropip.install`: it runs in the background, and can be awaited."""

    def __init__(self, work: Any) -> None:
        self._task = asyncio.ensure_future(work)
        self._awaited = False

    def __await__(self) -> Generator[Any, None, None]:
        self._awaited = True
        return self._task.__await__()

    async def finish(self) -> None:
        """Wait, unless somebody did, so that an error is raised and not lost."""
        if not self._awaited:
            await self


_begun: list[Installation] = []


def watch_installations() -> None:
    """Make `micropip.install` start immediately. `finish_installations` awaits the rest."""
    original = micropip.install

    def install(*requirements: Any, **options: Any) -> Installation:
        begun = Installation(original(*requirements, **options))
        _begun.append(begun)
        return begun

    install.__doc__ = original.__doc__
    micropip.install = install


async def finish_installations() -> None:
    """Wait for the installations of the run, and raise their errors."""
    while _begun:
        await _begun.pop(0).finish()
