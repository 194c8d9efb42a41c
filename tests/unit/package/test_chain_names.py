"""Kernels with a chain include the files of its operations: no name may be declared twice."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from browsergpu.engine.kernels.fused.operations import OPERATIONS
from browsergpu.engine.kernels.table import KERNELS
from browsergpu.engine.kernels.text import shaders

pytestmark = pytest.mark.fast

_DECLARED = re.compile(
    r"^(?:@[^\n]* )?(?:fn|const|override|struct|alias|var(?:<[^>]*>)?) (\w+)", re.MULTILINE
)
_WITH_CHAIN = sorted(
    {one.shader for one in KERNELS.values() if "fn chained" in shaders.load(one.shader)}
)
_FILES = sorted({file for one in OPERATIONS.values() for file in one.includes})


@pytest.mark.parametrize("shader", _WITH_CHAIN)
def test_no_name_is_declared_twice(shader: str) -> None:
    text = shaders.load(shader, *_FILES, "lib/halves.wgsl", "lib/fused/conversions.wgsl")
    text = re.sub(r"//#if.*?//#else", "", text, flags=re.DOTALL)
    twice = [name for name, times in Counter(_DECLARED.findall(text)).items() if times > 1]
    assert not twice


def test_products_and_convolutions_have_chains() -> None:
    assert {"gemm.wgsl", "gemm_thin.wgsl", "conv2d.wgsl", "conv2d_depthwise.wgsl"} <= {*_WITH_CHAIN}
