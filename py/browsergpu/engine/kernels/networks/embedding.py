"""Lookup of matrix rows by index."""

from __future__ import annotations

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import float_word, params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Kernel, KernelFamily, bindings

_THREADS = 256
#: The words of a row whose index is out of range, by dtype; 0 for integers.
MISSING = {DType.F32: float_word(float("nan")), DType.F16: 0x7E007E00}


def look_up(
    build: Build,
    indices: Slot,
    weight: Slot,
    y: Slot,
    rows: int,
    words: int,
    entries: int,
    dtype: DType,
) -> None:
    """Add y[r] = weight[indices[r]].

    Rows are whole words with elements of ``dtype``, and indices are int32. No size may be 0, and y
    must be a different buffer from the others.
    """
    vectors = words % 4 == 0
    elements = words // 4 if vectors else words
    build.dispatch(
        "embedding_vectors" if vectors else "embedding", "",
        fold(blocks(rows * elements, _THREADS)), (indices, weight, y),
        rows, elements, entries, MISSING.get(dtype, 0),
    )  # fmt: skip


_PARAMS = params("rows: u32", "elements: u32", "entries: u32", "missing: u32")

FAMILY = KernelFamily(
    kernels=(
        Kernel("embedding", "embedding.wgsl", bindings("indices", "weight", "y"), _PARAMS),
        Kernel(
            "embedding_vectors",
            "embedding.wgsl",
            bindings("indices", "weight_vectors", "y_vectors"),
            _PARAMS,
            "main_vectors",
        ),
    )
)
