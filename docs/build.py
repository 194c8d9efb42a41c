#!/usr/bin/env python3
"""Makes the API reference from the docstrings, as HTML: python3 docs/build.py [--to FOLDER]

It runs in .cache/venv, which tests/run.py makes, on a machine without any GPU.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pdoc.doc import Class, Module

REPOSITORY = Path(__file__).resolve().parents[1]
TARGET = REPOSITORY / ".cache" / "docs"
_BIN = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
PYTHON = REPOSITORY / ".cache" / "venv" / _BIN


def main(arguments: list[str]) -> int:
    """Write the reference, and say where it begins."""
    parser = argparse.ArgumentParser(prog="docs/build.py", description=__doc__)
    parser.add_argument("--to", type=Path, default=TARGET, metavar="FOLDER", help="%(default)s")
    target: Path = parser.parse_args(arguments).to
    if find_spec("pdoc") is None:
        return _start_over(arguments)
    sys.path.insert(0, str(REPOSITORY / "py"))
    build(target)
    print(f"The API reference: {target / 'browsergpu.html'}")
    return 0


def _start_over(arguments: list[str]) -> int:
    """The same in the environment that has pdoc."""
    if not PYTHON.exists() or Path(sys.prefix) == PYTHON.parents[1]:
        print(
            f"There is no pdoc in {PYTHON.parents[1]}; run python3 tests/run.py once, which makes "
            "that environment.",
            file=sys.stderr,
        )
        return 1
    command = [str(PYTHON), str(Path(__file__).resolve()), *arguments]
    if sys.platform == "win32":  # where exec returns to the shell at once
        return subprocess.run(command).returncode
    os.execv(PYTHON, command)


def build(target: Path) -> None:
    """Write the pages of the public names into a folder."""
    from pdoc import render

    # Private attributes are not shown, and what type checkers alone understand is right for them.
    warnings.filterwarnings("ignore", r"Error parsing type annotation .* for [\w.]+\._\w+:")
    render.configure(docformat="restructuredtext", show_source=False, search=True)
    modules = {module.modulename: module for module in public_modules()}
    pages = {
        f"{name.replace('.', '/')}.html": render.html_module(module, modules)
        for name, module in modules.items()
    }
    pages["index.html"] = render.html_index(modules)
    pages["search.js"] = render.search_index(modules)
    for name, text in pages.items():
        page = target / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")


def public_modules() -> list[Module]:
    """The package and the modules among its public names, such as ``browsergpu.errors``."""
    from pdoc.doc import Module

    import browsergpu

    modules = [Module(found) for found in _with_modules(browsergpu)]
    for module in modules:
        for cls in module.classes:
            _show_inherited(cls)
    return modules


def _with_modules(module: ModuleType) -> list[ModuleType]:
    """A module and those among its public names, and theirs, such as ``browsergpu.nn.init``."""
    public = [getattr(module, name) for name in getattr(module, "__all__", ())]
    own = [_with_modules(found) for found in public if isinstance(found, ModuleType)]
    return [module, *(one for found in own for one in found)]


def _show_inherited(cls: Class) -> None:
    """A class's page has all methods that users call, whichever of its bases they come from:
    where the package has those bases is nothing that users need to know."""
    shown = [
        member
        for member in cls.members.values()
        if member.taken_from[0].partition(".")[0] == "browsergpu"
        # Whose arguments are the fields, which stand below it.
        and not (member.name == "__init__" and issubclass(cls.obj, tuple))
    ]
    # Both are cached properties, which pdoc reads when it writes the page.
    cls.__dict__["own_members"] = shown
    cls.__dict__["inherited_members"] = {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
