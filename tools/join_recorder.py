"""Hatchling build hook that joins the recorder's ES modules into one script.

The wheel has ``recorder.js`` instead of the modules of ``recorder/``, and ``recorder.py`` evaluates
it. The modules become the body of one function, each after the modules that it imports. Import and
export lines are removed, and all top-level names share one scope. Two modules therefore must not
declare the same name, and imports must not rename. The hook checks both.
"""

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "py/browsergpu/engine/gpu/browser/recorder"
TARGET = "browsergpu/engine/gpu/browser/recorder.js"
MAIN = "main.js"

_BEGIN = """\
// Joined from {folder}/ when the wheel was built. Evaluates to createRecorder.
(function createRecorder(device, ring, options) {{
"use strict";
"""
_END = "})\n"
_IMPORT = re.compile(r'^import \{([^{}]*)\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|const|let|class)\b)", re.MULTILINE)
_DEFAULT = re.compile(r"^export default (?=\{)", re.MULTILINE)
# Beginnings of top-level statements that declare names, and the only supported continuation.
_DECLARATION = re.compile(
    r"^(?P<export>export )?(?:async function|function|const|let|var|class)\b(?P<rest>.*)",
    re.MULTILINE,
)
_NAMES = re.compile(r"\*? (?:(\w+)|\{ (\w+(?:, \w+)*) \})(?: =|;|\(| \{| extends )")


class CannotJoin(Exception):
    """A module uses syntax that the joined script would change in meaning."""


@dataclass(frozen=True)
class Module:
    """A file: the modules that it imports, its top-level names, and its text to join."""

    name: str
    imports: Mapping[str, frozenset[str]]
    declared: frozenset[str]
    exported: frozenset[str]
    body: str


def join(folder: Path) -> str:
    """Return the script of all modules in a folder, or raise CannotJoin."""
    modules = {
        path.name: read_module(path.name, path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.js"))
    }
    if MAIN not in modules:
        raise CannotJoin(f"{folder} has no {MAIN}")
    ordered: list[Module] = []
    _append(modules, MAIN, ordered, ())
    if unused := modules.keys() - {module.name for module in ordered}:
        raise CannotJoin(f"nothing imports {', '.join(sorted(unused))}")
    _check_names(ordered)
    parts = [f"\n// ---- {module.name} ----\n{module.body}" for module in ordered]
    return "".join([_BEGIN.format(folder=FOLDER), *parts, _END])


def read_module(name: str, text: str) -> Module:
    """Parse the text of a module, or raise CannotJoin."""
    imports = {}
    for names, source in _IMPORT.findall(text):
        if source in imports:
            raise CannotJoin(f"{name} imports twice from {source}")
        imports[source] = frozenset(filter(None, re.split(r"[\s,]+", names)))
        if " as " in names:
            raise CannotJoin(f"{name} renames what it imports from {source}")
    declared: dict[str, bool] = {}
    for declaration in _DECLARATION.finditer(text):
        found = _NAMES.match(declaration["rest"])
        if found is None:
            raise CannotJoin(f"{name}: its declaration is not of a known form: {declaration[0]}")
        for one in (found[1] or found[2]).split(", "):
            declared[one] = declaration["export"] is not None
    body = _EXPORT.sub("", _IMPORT.sub("", text))
    if name == MAIN:
        body, returned = _DEFAULT.subn("return ", body)
        if returned != 1:
            raise CannotJoin(f"{name} must have one `export default {{`")
    if left := re.search(r"^(?:import|export)\b.*|.*\bimport[.(].*", body, re.MULTILINE):
        raise CannotJoin(f"{name}: only named imports and exports can be joined, not: {left[0]}")
    exported = frozenset(one for one, is_exported in declared.items() if is_exported)
    return Module(name, imports, frozenset(declared), exported, body.strip("\n") + "\n")


def _append(
    modules: Mapping[str, Module], name: str, ordered: list[Module], importers: tuple[str, ...]
) -> None:
    """Append the module after all modules that it imports."""
    if name in importers:
        raise CannotJoin(f"imports go in a circle: {' -> '.join([*importers, name])}")
    module = modules[name]
    if module in ordered:
        return
    for source, names in module.imports.items():
        if source not in modules:
            raise CannotJoin(f"{name} imports from {source}, which is not there")
        _append(modules, source, ordered, (*importers, name))
        if missing := names - modules[source].exported:
            raise CannotJoin(f"{source} does not export {', '.join(sorted(missing))} to {name}")
    ordered.append(module)


def _check_names(modules: list[Module]) -> None:
    owners = dict.fromkeys(("device", "ring", "options"), "createRecorder")
    for module in modules:
        for name in sorted(module.declared):
            if name in owners:
                raise CannotJoin(f"{module.name} and {owners[name]} both declare {name}")
            owners[name] = module.name


class JoinRecorder(BuildHookInterface):  # type: ignore[type-arg]
    """Hook that puts the joined script into the wheel, except into an editable one."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the joined script before the wheel is built."""
        script = join(Path(self.root, FOLDER))
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name, "recorder.js")
        path.write_text(script, encoding="utf-8", newline="\n")
        build_data["force_include"][str(path)] = TARGET

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the script after the wheel was built."""
        self._folder.cleanup()
