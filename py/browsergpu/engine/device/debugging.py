"""Debug mode: validates each operation separately, and optionally checks results for NaN."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from weakref import proxy

import numpy as np

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.errors import ValidationError
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.port import Pipeline
from browsergpu.engine.kernels.base.chains import without_chain
from browsergpu.engine.kernels.base.family import WRITE, Kernel
from browsergpu.engine.kernels.networks.embedding import MISSING
from browsergpu.engine.kernels.ordering.scan import FLOAT_SCANS
from browsergpu.engine.kernels.table import KERNELS
from browsergpu.engine.kernels.text import shaders
from browsergpu.engine.kernels.text.reflect import reflect
from browsergpu.engine.kernels.text.wgsl_types import F16, F32, NO_FLOATS, Floats, floats_of

#: Kernels that write floats of one type in all configurations, to buffers declared as words.
_IN_WORDS = {
    "gemm_f16": F16,
    "gemm_f16_tile": F16,
    "gemm_f16_matrix32": F16,
    "gemm_f16_matrix64": F16,
    "gemm_f16_matrix128": F16,
    "gemm_f16_rows": F16,
    "conv2d_matrix32": F16,
    "conv2d_matrix64": F16,
    "conv2d_matrix128": F16,
    "conv2d_matrix32_uneven": F16,
    "conv2d_matrix64_uneven": F16,
    "conv2d_matrix128_uneven": F16,
    "conv2d_matrix32_packed": F16,
    "conv2d_matrix64_packed": F16,
    "conv2d_matrix128_packed": F16,
    "attention_matrix": F16,
    "batch_norm_halves": F16,
    "batch_norm_eights": F16,
    "layer_norm_halves": F16,
    "pool_halves": F16,
    "conv2d_depthwise_halves": F16,
    "split_halves": F16,
    "normal": F32,
    "cached_attention_tiled": F32,
}
#: Kernels that move words of any type, or write integers.
NO_FLOATS_IN_WORDS = frozenset(
    {
        *("strided", "strided_vectors", "transpose", "transpose_halves", "repitch", "fill"),
        *("merge_word", "windows_halves"),
        "pool_indices",
        *("sort", "sort_pairs", "sort_small", "sort_count", "compact", "compact_counts", "search"),
        "split_largest",
        "cache_int8",
        *("quantized_halves", "vector_halves"),  # whose floats are finite
        *("arg_rows", "arg_columns", "arg_merge"),
    }
)


class Debugger(Shown):
    """An observer of a device's dispatches.

    It looks for NaN in whole buffers. check_nan clears them when they are allocated. If Python can
    block, the call that caused an error raises it. Otherwise the next call that waits raises it, in
    its own name.
    """

    def __init__(self, device: Device) -> None:
        self._device: Device = proxy(device)  # it holds the recorder, which holds this object

    def __call__(self, pipeline: Pipeline, fields: tuple[float, ...]) -> None:
        recorder = self._device.recorder
        recorder.submit()
        if not platform.can_block():
            return
        platform.block_on(recorder.synchronize(), pipeline.label)
        if self._device.config.check_nan:
            self._check_nan(pipeline, fields)

    def _check_nan(self, pipeline: Pipeline, fields: tuple[float, ...]) -> None:
        for name, identity, floats in self._written(pipeline, fields):
            nbytes = self._device.memory.nbytes_of(identity)
            contents = np.empty(-(-nbytes // 4) * 4, np.uint8)
            if contents.size == 0:
                continue
            reading = self._device.recorder.read(identity, 0, contents.data, contents.size)
            platform.block_on(reading, pipeline.label)
            found = floats.are_nan(contents, nbytes)
            if found.any():
                raise ValidationError(
                    pipeline.label,
                    f"{int(found.sum())} of {found.size} elements of {name!r} are NaN, "
                    f"the first at {int(found.argmax())}",
                )

    def _written(
        self, pipeline: Pipeline, fields: tuple[float, ...]
    ) -> Iterable[tuple[str, int, Floats]]:
        source = self._device.generated.sources.get(pipeline)
        if source is None:
            return written_floats(pipeline, fields)
        return [(name, int(fields[3 + place]), floats) for place, name, floats in source.floats]


def written_floats(
    pipeline: Pipeline, fields: tuple[float, ...]
) -> Iterator[tuple[str, int, Floats]]:
    """Iterate over the buffers with floats that a dispatch writes.

    Yields
    ------
    tuple
        The buffer's name in the shader, its id, and the layout of the floats.
    """
    kernel = KERNELS.get(pipeline.kernel)
    names = _written_by_users(pipeline.code) if kernel is None else _written(kernel.name)
    for place, name, declared in names:
        floats = declared
        if kernel is not None and declared is NO_FLOATS:
            floats = _in_words(kernel, pipeline, fields)
        if floats is not NO_FLOATS:
            yield name, int(fields[3 + place]), floats


@cache
def _written(name: str) -> list[tuple[int, str, Floats]]:
    """Return the buffers that a kernel of the table writes.

    Each entry has the position among the bindings, the name, and the floats that the shader
    declares.
    """
    kernel = KERNELS[name]
    source = shaders.load(kernel.shader)
    return [
        (place, binding.name, floats_of(source, binding.name))
        for place, binding in enumerate(kernel.bindings)
        if binding.access == WRITE
    ]


@cache
def _written_by_users(code: str) -> list[tuple[int, str, Floats]]:
    """Return the buffers that a custom kernel writes, by binding, as :func:`_written` does."""
    resources = sorted(reflect(code).resources, key=lambda resource: resource.binding or 0)
    return [
        (place, resource.name, floats_of(code, resource.name))
        for place, resource in enumerate(resources)
        if resource.access == "w"
    ]


def _in_words(kernel: Kernel, pipeline: Pipeline, fields: tuple[float, ...]) -> Floats:
    """Return the floats that a kernel writes to a buffer that its shader declares as words."""
    configuration = without_chain(pipeline.label.removeprefix(kernel.name).removeprefix("."))

    def parameter(name: str) -> int:
        at = [known for known, _ in kernel.params.fields].index(name)
        return int(fields[3 + len(kernel.bindings) + at])

    match kernel.name.removesuffix("_in_place"):
        case "cast":
            return {"f32": F32, "f16": F16}.get(configuration.split("_")[1], NO_FLOATS)
        case "scan_rows" | "scan_row_totals" | "scan_columns" | "scan_column_totals":
            return F32 if configuration in FLOAT_SCANS else NO_FLOATS
        case "attention_tiled" | "attention_query_gradients" | "attention_key_gradients":
            return F16 if configuration.endswith("f16") else F32
        case "gemm_f16" | "gemm_f16_tile" | "gemm_f16_rows" if configuration.endswith("wide"):
            return F32
        case "gemm_f16_matrix32" | "gemm_f16_matrix64" | "gemm_f16_matrix128" if (
            configuration.endswith("wide")
        ):
            return F32
        case "philox":
            return F32 if configuration == "uniform" else NO_FLOATS
        case "embedding" | "embedding_vectors":  # 0 for integers
            missing = parameter("missing")
            return (F16 if missing == MISSING[DType.F16] else F32) if missing else NO_FLOATS
        case name:
            return _IN_WORDS.get(name, NO_FLOATS)
