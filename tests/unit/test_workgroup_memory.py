"""No kernel keeps bools in workgroup memory.

naga's code for them gives wrong values on NVIDIA's GPUs, which no GPU in software shows.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from browsergpu.core.element_types import BOOL
from browsergpu.kernels.fused.operations import overload
from browsergpu.kernels.fused.reduction import (
    ALIGNED_ROWS,
    COLUMNS,
    FOUR_COLUMNS,
    ROWS,
    reduction,
)
from browsergpu.kernels.fused.source import leaf

pytestmark = pytest.mark.fast

SHADERS = Path(__file__).resolve().parents[2] / "shaders"
#: Types of what stands in workgroup memory, and the names of other types.
_KEPT = re.compile(r"var<workgroup>\s*\w+\s*:\s*([^;=]+)")
_NAMED = re.compile(r"(?:alias|struct)\s+(\w+)\s*(?:=\s*([^;]+);|\{([^}]*)\})")


def has_bools(code: str) -> bool:
    """Return whether workgroup memory holds bools, by its types and the types that these name."""
    types = {name: text or members for name, text, members in _NAMED.findall(code)}
    kept = _KEPT.findall(code)
    for _ in types:
        kept += [types[word] for text in kept for word in re.findall(r"\w+", text) if word in types]
        kept = [*{*kept}]
    return any(re.search(r"\bbool\b", text) for text in kept)


def test_bools_are_found() -> None:
    assert has_bools("var<workgroup> seen: array<bool, 4>;")
    assert has_bools("alias Kept = vec4<bool>;\nvar<workgroup> seen: array<Kept, 4>;")
    assert has_bools("struct One { yes: bool, n: u32 }\nvar<workgroup> seen: array<One, 4>;")
    assert not has_bools("alias Four = vec4<bool>;\nvar<workgroup> seen: array<u32, 4>;")


@pytest.mark.parametrize("path", sorted(SHADERS.rglob("*.wgsl")), ids=lambda path: path.name)
def test_of_a_file(path: Path) -> None:
    assert not has_bools(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("dealt", [ROWS, ALIGNED_ROWS, FOUR_COLUMNS, COLUMNS])
@pytest.mark.parametrize("name", ["logical_and", "logical_or"])
def test_of_a_generated_reduction(name: str, dealt: str) -> None:
    made = overload(name, (BOOL, BOOL))
    assert made is not None
    code = reduction((leaf(BOOL),), "W", 1, dealt != ROWS, made.number, dealt, False).code
    assert "var<workgroup>" in code
    assert not has_bools(code)
