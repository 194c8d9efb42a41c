"""The workgroup memory of each variant in the table equals the declarations in its WGSL."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from browsergpu.engine.kernels.base.family import Variant
from browsergpu.engine.kernels.table import KERNELS
from browsergpu.engine.kernels.text import shaders
from browsergpu.engine.kernels.variants import VARIANTS

pytestmark = pytest.mark.fast

_CONSTANT = re.compile(r"^(?:const|override) (\w+)(?:: \w+)? = ([^;]+);", re.MULTILINE)
_WORKGROUP = re.compile(r"^var<workgroup> \w+: (.+);", re.MULTILINE)
# An element type without calls, then a length, which may contain calls.
_ARRAY = re.compile(r"array<([^()]+?), ([^<>]+)>$")
_BYTES = {"f32": 4, "u32": 4, "i32": 4, "vec2f": 8, "vec4f": 16, "vec4u": 16}


def number(expression: str, constants: Mapping[str, str | int]) -> int:
    """Return the value of a whole-number WGSL expression of named constants."""
    plain = re.sub(r"\b(\d+)u\b", r"\1", expression).replace("/", "//")
    names = set(re.findall(r"\b[A-Z]\w*", plain))
    values = {name: number(str(constants[name]), constants) for name in names}
    return int(eval(plain, {"__builtins__": {}, "max": max, "min": min}, values))


def size(declared: str, constants: Mapping[str, str | int]) -> int:
    """Return the bytes of a type. https://www.w3.org/TR/WGSL/#alignment-and-size"""
    found = _ARRAY.match(declared)
    if found is None:
        return _BYTES[declared]
    return size(found[1], constants) * number(found[2], constants)


def workgroup_bytes(variant: Variant) -> int:
    """Return the workgroup memory as WebGPU counts it: each variable is rounded up to 16 bytes.

    https://www.w3.org/TR/webgpu/#dom-supported-limits-maxcomputeworkgroupstoragesize
    """
    kernel = KERNELS[variant.kernel]
    text = re.sub(r"//[^\n]*", "", shaders.load(kernel.shader))
    text = re.sub(r"[ \t]+\n", "\n", text)
    constants: dict[str, str | int] = dict(_CONSTANT.findall(text))
    constants |= kernel.configurations[variant.configuration]
    sizes = [size(declared, constants) for declared in _WORKGROUP.findall(text)]
    return sum((nbytes + 15) & ~15 for nbytes in sizes)


@pytest.mark.parametrize(
    "variant",
    [variant for variants in VARIANTS.values() for variant in variants],
    ids=lambda variant: f"{variant.kernel} {variant.name}",
)
def test_workgroup_bytes(variant: Variant) -> None:
    assert variant.workgroup_bytes == workgroup_bytes(variant)
