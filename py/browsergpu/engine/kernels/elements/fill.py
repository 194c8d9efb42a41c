"""Fill memory with a constant, and replace bits of a word."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import float_word, params
from browsergpu.engine.gpu.program import Grid, Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    Kernel,
    KernelFamily,
    bindings,
)


def fill(build: Build, y: Slot, value: float, n: int) -> None:
    """Write a float32 to the first n elements of y. n may be 0."""
    if n > 0:
        build.dispatch("fill", "", _fill_grid(build, n), (y,), n, float_word(value))


def fill_words(build: Build, y: Slot, n: int) -> None:
    """Write a word that is passed when the program runs to the first n words of y. n may be 0."""
    if n > 0:
        build.dispatch("fill", "", _fill_grid(build, n), (y,), n, open=True)


def _fill_grid(build: Build, n: int) -> Grid:
    return fold(blocks(n, 4 * build.facts.workgroup_sizes.elementwise))


def merge_word(build: Build, y: Slot) -> None:
    """Replace bits of a word of y. The word, mask and value are passed when the program runs."""
    build.dispatch("merge_word", "", (1, 1, 1), (y,), open=True)


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "fill", "fill.wgsl", bindings("y"), params("n: u32", "bits: u32"),
            family="elementwise",
        ),
        Kernel(
            "merge_word", "merge_word.wgsl", bindings("y"),
            params("word: u32", "mask: u32", "value: u32"),
        ),
    ),
)  # fmt: skip
