"""Loads WGSL files and makes the few changes to their text that WGSL cannot express itself.

What several files share stands in ``shaders/lib/``. A line ``//#include lib/halves.wgsl`` brings a
file of it in, once, however often it is asked for; files of the library may include others. The
included text follows after the file's own, as the order of declarations means nothing in WGSL, so
that all lines keep their numbers: :func:`sections` tells where each file begins. ``lib/math/`` has
NumPy's elementwise functions, ``fn np_sin(v: vec4f) -> vec4f`` and so on, for kernels whose text is
put together by a program.

A file's parameters are declared by the line ``PARAMETERS``; where the browser has immediates, that
line becomes an immediate of the same name and type, which costs no buffer. Everything else that
varies is an ``override`` constant, set when the pipeline is made; but those that size workgroup
arrays are written into the text as ``const``, since Safari is said to fail silently on arrays
sized by an override. The lines from ``//#if NAME`` to ``//#endif`` are left empty where that
constant is set to 0: for code that costs registers even where it never runs, and for alternatives,
of which one is left (``lib/numbers.wgsl``). The lines from ``//#repeat NAME 16`` to ``//#end`` come
16 times, with NAME as 0 to 15, on the first one's line: a loop that compilers do not unroll. These
changes keep the numbers of the lines, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

PARAMETERS = "@group(1) @binding(0) var<uniform> params: Params;"
_IMMEDIATES = "var<immediate> params: Params;"

_INCLUDE = re.compile(r"^//#include (.+)$", re.MULTILINE)
# Declarations begin their lines, a test sees to it.
_WORKGROUP_TYPE = re.compile(r"^var<workgroup> \w+: ([^;]+);", re.MULTILINE)
_ONLY_IF = re.compile(r"^[ \t]*//#if (\w+)\n.*?^[ \t]*//#endif\n", re.MULTILINE | re.DOTALL)
_REPEAT = re.compile(
    r"^[ \t]*//#repeat (\w+) (\d+)\n(.*?)^[ \t]*//#end\n", re.MULTILINE | re.DOTALL
)
_OVERRIDE = re.compile(r"^override (?P<name>\w+)(?:: (?P<type>\w+))? = (?P<value>[^;]+);", re.M)
_NAME = re.compile(r"[A-Za-z_]\w*")


@cache
def directory() -> Path:
    """Where the shader files are: inside the wheel, or at the top of a source checkout."""
    package = Path(str(files("browsergpu")))
    for place in (package / "shaders", package.parent.parent / "shaders"):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"the shaders of browsergpu are missing beside {package}")


@cache
def load(*names: str) -> str:
    """The text of ``shaders/<name>``, of all of them, with what they include: each file once."""
    return "".join(map(_read, _files(*names)))


@cache
def sections(name: str) -> tuple[tuple[str, int], ...]:
    """The files that :func:`load` joins, each with the number of its first line there."""
    begins, line = [], 1
    for file in _files(name):
        begins.append((file, line))
        line += _read(file).count("\n")
    return tuple(begins)


@cache
def _files(*names: str) -> tuple[str, ...]:
    """The files, and those that they include."""
    files = [*names]
    for file in files:
        for included in _INCLUDE.findall(_read(file)):
            if included not in files:
                files.append(included)
    return tuple(files)


def _read(name: str) -> str:
    return (directory() / name).read_text(encoding="utf-8")


def to_compile(
    name: str, constants: Mapping[str, int], *, immediates: bool
) -> tuple[str, dict[str, int]]:
    """What a pipeline of ``shaders/<name>`` with these override constants is made from: the text,
    with its parameters as ``immediates`` or as a uniform buffer, and the constants that are left
    to be set."""
    written = _sizing(name)

    def as_const(found: re.Match[str]) -> str:
        if found["name"] not in written:
            return found[0]
        value = found["value"]
        if found["name"] in constants:
            value = f"{found['type']}({constants[found['name']]})"
        kind = f": {found['type']}" if found["type"] else ""
        return f"const {found['name']}{kind} = {value};"

    text = _OVERRIDE.sub(as_const, load(name)) if written else load(name)
    text = _ONLY_IF.sub(lambda found: _left_out(found, constants), text)
    text = _REPEAT.sub(_written_out, text)
    if immediates:
        text = with_immediates(text)
    return text, {key: value for key, value in constants.items() if key not in written}


def _left_out(found: re.Match[str], constants: Mapping[str, int]) -> str:
    """Lines between ``//#if NAME`` and ``//#endif``, empty where that constant is set to 0."""
    return found[0] if constants.get(found[1], 1) else "\n" * found[0].count("\n")


def _written_out(found: re.Match[str]) -> str:
    """Lines between ``//#repeat NAME n`` and ``//#end``, n times on one line."""
    name, times, lines = found.groups()
    one = " ".join(line.strip() for line in lines.splitlines())
    all_of_them = (re.sub(rf"\b{name}\b", f"{i}u", one) for i in range(int(times)))
    return " ".join(all_of_them) + "\n" * found[0].count("\n")


def with_immediates(source: str) -> str:
    """The same shader with its parameters as immediates.

    WGSL asks for no ``requires immediate_address_space``, and naga does not know that name.
    """
    return source.replace(PARAMETERS, _IMMEDIATES)


@cache
def _sizing(name: str) -> frozenset[str]:
    """The overrides of a file that the sizes of its workgroup arrays depend on."""
    source = load(name)
    values = {found["name"]: found["value"] for found in _OVERRIDE.finditer(source)}
    found: set[str] = set()
    waiting = _WORKGROUP_TYPE.findall(source)
    while waiting:
        names = {word for word in _NAME.findall(waiting.pop()) if word in values} - found
        found |= names
        waiting += [values[word] for word in names]
    return frozenset(found)
