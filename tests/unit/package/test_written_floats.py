"""check_nan checks the floats that every kernel writes."""

from __future__ import annotations

import pytest

from browsergpu.engine.device.debugging import NO_FLOATS_IN_WORDS, written_floats
from browsergpu.engine.gpu.browser.recorder import Pipeline
from browsergpu.engine.kernels.base.family import WRITE, Kernel
from browsergpu.engine.kernels.table import KERNELS
from browsergpu.engine.kernels.text.wgsl_types import F16, F32

pytestmark = pytest.mark.fast


def found(kernel: Kernel, configuration: str) -> dict[str, object]:
    """Return the floats in each buffer that a dispatch writes, if all its fields are 1."""
    label = f"{kernel.name}.{configuration}" if configuration else kernel.name
    pipeline = Pipeline(16, label, 0, print, kernel.name)
    fields = (1,) * (3 + len(kernel.bindings) + len(kernel.params.fields))
    return {name: floats for name, _, floats in written_floats(pipeline, fields)}


#: Integers and flags that linalg's kernels write besides floats.
WORDS = {"busy", "exchanges", "faults", "turned"}


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_that_writes_floats_is_known(name: str) -> None:
    kernel = KERNELS[name]
    written = {binding.name for binding in kernel.bindings if binding.access == WRITE}
    floats = set().union(*(found(kernel, each) for each in kernel.configurations))
    if name in ("pool_indices", "joined_heads_int8"):
        assert floats == {"y"}
    elif name in NO_FLOATS_IN_WORDS:
        assert not floats
    else:
        assert floats == written - WORDS


def test_floats_of_a_configuration() -> None:
    for name, configuration, expected in (
        ("cast", "f32_f16", {"y": F16}),
        ("cast", "u8_f32", {"y": F32}),
        ("cast", "f32_u32", {}),
        ("cast", "unorm8_f32", {"y": F32}),
        ("cast", "f32_unorm8", {}),
        ("attention_tiled", "64x96 f16", {"o": F16}),
        ("attention_tiled", "64x96", {"o": F32}),
        ("gemm_f16_rows", "4", {"c": F16}),
        ("gemm_f16_rows", "4_wide", {"c": F32}),
        ("gemm_f16_matrix64", "wide", {"c": F32}),
        ("split_halves", "left", {"parts": F16}),
        ("embedding", "", {"y": F32}),
        ("cast", "f32_unorm8", {}),
        ("scan_rows", "max", {"y": F32}),
        ("scan_rows", "whole_sum", {}),
    ):
        assert found(KERNELS[name], configuration) == expected
