"""Loader and preprocessor of WGSL files.

Shared code is in ``shaders/lib/``. The line ``//#include lib/halves.wgsl`` includes such a file
once, even if several files ask for it. Library files may include others. Included text follows the
file's own text, because WGSL declarations may come in any order. Line numbers therefore do not
change, and :func:`sections` tells where each file begins. ``lib/math/`` has NumPy's elementwise
functions, such as ``fn np_sin(v: vec4f) -> vec4f``, for generated kernels.

The line ``PARAMETERS`` declares a file's parameters. If the browser has immediates, the line
becomes an immediate of the same name and type, which needs no buffer. Everything else that varies
is an ``override`` constant, which is set when the pipeline is created. Overrides that size
workgroup arrays are written into the text as ``const``, because Safari reportedly fails silently on
arrays sized by an override.

Two directives change the text and keep its line numbers:

- ``//#if NAME`` to ``//#endif``: the lines are blanked if that constant is 0. With ``//#else``, the
  lines before it are blanked if the constant is 0, and the lines after it otherwise. It removes
  code that costs registers even if it never runs, and selects one of several alternatives
  (``lib/numbers.wgsl``).
- ``//#repeat NAME 16`` to ``//#end``: the lines are repeated 16 times on the first line, with NAME
  as 0 to 15, also at the end of a name: ``sum_NAME`` becomes ``sum_0``. The number may be a
  constant's name. It replaces loops that compilers do not unroll, and may contain other repeats.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

PARAMETERS = "@group(1) @binding(0) var<uniform> params: Params;"
_IMMEDIATES = "var<immediate> params: Params;"
_NO_CHAIN = "fn chained(v: vec4f) -> vec4f { return v; }"  # in lib/chain.wgsl
_KEPT = "params.n >> 31u"  # in lib/kept.wgsl

_INCLUDE = re.compile(r"^//#include (.+)$", re.MULTILINE)
# Declarations begin their lines; a test checks it.
_WORKGROUP_TYPE = re.compile(r"^var<workgroup> \w+: ([^;]+);", re.MULTILINE)
_ONLY_IF = re.compile(r"^[ \t]*//#if (\w+)\n(.*?)^[ \t]*//#endif\n", re.MULTILINE | re.DOTALL)
_ELSE = re.compile(r"^[ \t]*//#else\n", re.MULTILINE)
_REPEAT = re.compile(
    r"^[ \t]*//#repeat (\w+) (\w+)\n((?:(?!^[ \t]*//#repeat).)*?)^[ \t]*//#end\n",
    re.MULTILINE | re.DOTALL,
)
_OVERRIDE = re.compile(r"^override (?P<name>\w+)(?:: (?P<type>\w+))? = (?P<value>[^;]+);", re.M)
_NAME = re.compile(r"[A-Za-z_]\w*")


@cache
def directory() -> Path:
    """Return the folder of shader files, inside the wheel or at the top of a source checkout."""
    package = Path(str(files("browsergpu")))
    for place in (package / "shaders", package.parent.parent / "shaders"):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"no folder of shaders in {package}. Install browsergpu again.")


@cache
def load(*names: str) -> str:
    """Return the text of ``shaders/<name>`` for all names and their includes, each file once."""
    return "".join(map(_read, _files(*names)))


@cache
def sections(*names: str) -> tuple[tuple[str, int], ...]:
    """Return the files that :func:`load` joins, each with the number of its first line."""
    begins, line = [], 1
    for file in _files(*names):
        begins.append((file, line))
        line += _read(file).count("\n")
    return tuple(begins)


@cache
def _files(*names: str) -> tuple[str, ...]:
    """Return the files and everything that they include."""
    files = [*names]
    for file in files:
        for included in _INCLUDE.findall(_read(file)):
            if included not in files:
                files.append(included)
    return tuple(files)


def _read(name: str) -> str:
    return (directory() / name).read_text(encoding="utf-8")


def to_compile(
    name: str, constants: Mapping[str, int], *, immediates: bool, includes: Sequence[str] = ()
) -> tuple[str, dict[str, int]]:
    """Return the text and the remaining constants for a pipeline of ``shaders/<name>``.

    ``immediates`` selects immediates or a uniform buffer for the parameters. ``includes`` are
    further files.
    """
    written = _sizing(name)

    def as_const(found: re.Match[str]) -> str:
        if found["name"] not in written:
            return found[0]
        value = found["value"]
        if found["name"] in constants:
            value = f"{found['type']}({constants[found['name']]})"
        kind = f": {found['type']}" if found["type"] else ""
        return f"const {found['name']}{kind} = {value};"

    text = load(name, *includes)
    if written:
        text = _OVERRIDE.sub(as_const, text)
    text = _ONLY_IF.sub(lambda found: _left_out(found, constants), text)
    found = 1
    while found:  # the innermost ones first
        text, found = _REPEAT.subn(lambda one: _written_out(one, constants), text)
    if immediates:
        text = with_immediates(text)
    return text, {key: value for key, value in constants.items() if key not in written}


def _left_out(found: re.Match[str], constants: Mapping[str, int]) -> str:
    """Blank the lines of the alternative of ``//#if NAME`` that the constant does not select."""
    parts = _ELSE.split(found[2])
    chosen = 0 if constants.get(found[1], 1) else 1
    texts = [one if i == chosen else "\n" * one.count("\n") for i, one in enumerate(parts)]
    return "\n" + "\n".join(texts) + "\n"  # the directives become empty lines


def _written_out(found: re.Match[str], constants: Mapping[str, int]) -> str:
    """Repeat the lines between ``//#repeat NAME n`` and ``//#end`` n times on one line."""
    name, number, lines = found.groups()
    times = int(number) if number.isdigit() else constants[number]
    one = " ".join(line.strip() for line in lines.splitlines())
    as_part = re.compile(rf"(?<=_){name}(?=_|\b)")
    all_of_them = (re.sub(rf"\b{name}\b", f"{i}u", as_part.sub(str(i), one)) for i in range(times))
    return " ".join(all_of_them) + "\n" * found[0].count("\n")


def with_chain(text: str, function: str, parameter: str) -> str:
    """Return a shader whose epilogue computes a generated chain.

    ``function`` replaces the one of ``lib/chain.wgsl``. ``parameter`` is a parameter below 2^31,
    for ``lib/kept.wgsl``.
    """
    return text.replace(_NO_CHAIN, function).replace(_KEPT, f"params.{parameter} >> 31u")


def with_immediates(source: str) -> str:
    """Return the shader with its parameters as immediates.

    WGSL does not need ``requires immediate_address_space``, and naga does not know that name.
    """
    return source.replace(PARAMETERS, _IMMEDIATES)


@cache
def _sizing(name: str) -> frozenset[str]:
    """Return the overrides that determine the sizes of a file's workgroup arrays."""
    source = load(name)
    values = {found["name"]: found["value"] for found in _OVERRIDE.finditer(source)}
    found: set[str] = set()
    waiting = _WORKGROUP_TYPE.findall(source)
    while waiting:
        names = {word for word in _NAME.findall(waiting.pop()) if word in values} - found
        found |= names
        waiting += [values[word] for word in names]
    return frozenset(found)
