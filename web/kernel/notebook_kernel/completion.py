"""Completions from the live interpreter: names, attributes, keys, modules and magics."""

import builtins
import inspect
import io
import keyword
import os
import pkgutil
import re
import sys
import tokenize
from collections.abc import Iterable, Mapping
from inspect import getattr_static
from typing import Any

MAX_OPTIONS = 500

IMPORT = re.compile(r"^\s*(?:import|from)\s+(?:[\w.]+\s*,\s*)*(?P<path>[\w.]*)$")
IMPORT_NAME = re.compile(r"^\s*from\s+(?P<module>[\w.]+)\s+import\s+(?:\w+\s*,\s*)*(?P<name>\w*)$")
KEY = re.compile(r"(?P<owner>[A-Za-z_][\w.]*)\[(?P<quote>['\"])(?P<key>[^'\"\]]*)$")
# A path as the first argument of a function that reads or writes files.
FILE = re.compile(
    r"\b(?:open|Path|load|loadtxt|genfromtxt|imread|read_\w+)\(\s*(['\"])(?P<path>[^'\"]*)$"
)
CALL = re.compile(r"(?P<owner>[A-Za-z_][\w.]*)\((?:[^()]*,)?\s*(?P<name>[A-Za-z_]\w*)$")
DOTTED = re.compile(r"(?P<owner>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\.(?P<name>\w*)$")
MAGIC = re.compile(r"^\s*(?P<name>%%?\w*)$")
# An attribute of an unnamed value: of a call, an element, a literal.
OTHER_ATTRIBUTE = re.compile(r"[)\]}'\"]\s*\.(?P<name>\w*)$")
NAME = re.compile(r"(?<![\w.)\]'\"])(?P<name>[A-Za-z_]\w*)$")


def complete(before: str, namespace: dict[str, Any], magics: Iterable[str]) -> dict[str, Any]:
    """Return completions for the code `before` the cursor.

    The result is `{"typed", "options": [{"label", "type"}]}`. It has "unresolved" if only an
    analysis of the code can tell. `typed` is the number of characters before the cursor that an
    option replaces. `magics` are names with their per cent signs.

    Nothing is called. The text before the cursor is looked up name by name, and properties are
    reported without running them.
    """
    line = before[before.rfind("\n") + 1 :]
    if match := MAGIC.match(line):
        return _answer(match["name"], ((name, "keyword") for name in magics))
    if match := IMPORT_NAME.match(line):
        return _answer(match["name"], _module_members(match["module"]))
    if match := IMPORT.match(line):
        parent, _, name = match["path"].rpartition(".")
        return _answer(name, _modules(parent))
    if match := KEY.search(line):
        return _answer(match["key"], _keys(resolve(match["owner"], namespace)))
    if match := FILE.search(line):
        folder, _, name = match["path"].rpartition("/")
        return _answer(name, _files(folder))
    if _in_text(before):
        return _answer("", [])
    if match := DOTTED.search(line):
        found = resolve(match["owner"], namespace)
        if found is MISSING:
            return {**_answer("", []), "unresolved": True}
        return _answer(match["name"], attributes(found, match["name"]))
    if OTHER_ATTRIBUTE.search(line):
        return {**_answer("", []), "unresolved": True}
    if match := NAME.search(line):
        call = CALL.search(line)
        parameters = _parameters(resolve(call["owner"], namespace)) if call else ()
        return _answer(match["name"], [*parameters, *_names(namespace)])
    return _answer("", [])


def _answer(typed: str, options: Iterable[tuple[str, str]]) -> dict[str, Any]:
    wanted = typed.lower()
    kinds = {label: kind for label, kind in options if label.lower().startswith(wanted)}
    ordered = sorted(kinds, key=lambda label: (label.startswith("_"), label.lower()))
    return {
        "typed": len(typed),
        "options": [{"label": label, "type": kinds[label]} for label in ordered[:MAX_OPTIONS]],
    }


class MISSING:
    """Result for a name that does not resolve."""


def resolve(path: str, namespace: Mapping[str, Any]) -> Any:
    """Return the value of a dotted name without calling anything, or MISSING."""
    first, *rest = path.split(".")
    found = namespace.get(first, getattr(builtins, first, MISSING))
    for name in rest:
        if found is MISSING or isinstance(getattr_static(type(found), name, None), property):
            return MISSING
        found = getattr(found, name, MISSING)
    return found


def attributes(owner: Any, typed: str) -> Iterable[tuple[str, str]]:
    """Return attribute names and their kinds. Private ones need a `typed` that begins like one."""
    if owner is MISSING:
        return
    try:
        names = dir(owner)
    except Exception:
        return
    for name in names:
        if typed.startswith("_") or not name.startswith("_"):
            yield name, kind(getattr_static(owner, name, None))


def _names(namespace: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    yield from ((name, "keyword") for name in [*keyword.kwlist, *keyword.softkwlist])
    yield from ((name, kind(value)) for name, value in vars(builtins).items() if name[0] != "_")
    for name, value in namespace.items():
        if not name.startswith("__"):
            yield name, kind(value)


def _keys(owner: Any) -> Iterable[tuple[str, str]]:
    package = type(owner).__module__.partition(".")[0]
    keys: Iterable[Any] = ()
    if isinstance(owner, Mapping):
        keys = owner
    elif package == "pandas":
        keys = getattr(owner, "columns", ())
    elif package == "numpy":
        keys = getattr(getattr(owner, "dtype", None), "names", None) or ()
    yield from ((key, "property") for key in keys if isinstance(key, str))


def _files(folder: str) -> Iterable[tuple[str, str]]:
    try:
        with os.scandir(folder or ".") as entries:
            yield from ((f"{one.name}/" if one.is_dir() else one.name, "text") for one in entries)
    except OSError:  # there is no such folder
        return


def _parameters(function: Any) -> Iterable[tuple[str, str]]:
    """Return the arguments that a call can name."""
    if function is MISSING or not callable(function):
        return
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # as of some built-in functions
        return
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    yield from ((f"{one.name}=", "property") for one in parameters if one.kind in named)


def _modules(parent: str) -> Iterable[tuple[str, str]]:
    if not parent:
        known = {*sys.stdlib_module_names, *(name.partition(".")[0] for name in sys.modules)}
        known.update(module.name for module in pkgutil.iter_modules())
        for finder in sys.meta_path:  # packages of the site load when they are imported
            known.update(getattr(finder, "importable", ()))
        yield from ((name, "namespace") for name in known)
        return
    package = sys.modules.get(parent)
    for module in pkgutil.iter_modules(getattr(package, "__path__", [])):
        yield module.name, "namespace"


def _module_members(name: str) -> Iterable[tuple[str, str]]:
    module = sys.modules.get(name)
    if module is not None:
        yield from attributes(module, "")
    yield from _modules(name)


def _in_text(before: str) -> bool:
    """Whether the cursor is inside a comment or a string."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(before).readline))
    except tokenize.TokenError as error:
        return "string" in str(error.args[0])
    except SyntaxError:
        return False
    texts = [token for token in tokens if token.string.strip()]
    return bool(texts) and texts[-1].type == tokenize.COMMENT


def kind(value: Any) -> str:
    """Return the kind of icon that the page draws beside a completion."""
    if isinstance(value, type):
        return "class"
    if type(value).__name__ == "module":
        return "namespace"
    if isinstance(value, property):
        return "property"
    if callable(value) or isinstance(value, staticmethod | classmethod):
        return "function"
    return "variable"
