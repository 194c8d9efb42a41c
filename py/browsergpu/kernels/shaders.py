"""Loads WGSL files and makes the one change to their text that WGSL cannot express itself.

A file is valid WGSL as it stands. Its parameters are declared by the line ``PARAMETERS``; where
the browser has immediates, that line becomes an immediate of the same name and type, which costs
no buffer. Everything else that varies is an ``override`` constant, set when the pipeline is made.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

PARAMETERS = "@group(1) @binding(0) var<uniform> params: Params;"
_IMMEDIATES = "var<immediate> params: Params;"


@cache
def directory() -> Path:
    """Where the shader files are: inside the wheel, or at the top of a source checkout."""
    package = Path(str(files("browsergpu")))
    for place in (package / "shaders", package.parent.parent / "shaders"):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"the shaders of browsergpu are missing beside {package}")


@cache
def load(name: str) -> str:
    """The text of ``shaders/<name>``."""
    return (directory() / name).read_text(encoding="utf-8")


def with_immediates(source: str) -> str:
    """The same shader with its parameters as immediates; lines keep their numbers.

    WGSL asks for no ``requires immediate_address_space``, and naga does not know that name.
    """
    return source.replace(PARAMETERS, _IMMEDIATES)
