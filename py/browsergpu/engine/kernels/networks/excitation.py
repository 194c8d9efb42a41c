"""Squeeze-and-excite: gates of channels from their means, and their product with the image.

Source: Hu et al., "Squeeze-and-Excitation Networks", arXiv 1709.01507.
"""

from __future__ import annotations

from dataclasses import dataclass

from browsergpu.engine.core.grids import MAX_PER_DIMENSION, blocks
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Fields, Kernel, KernelFamily, Work, bindings

#: Maximum channels, a multiple of 4, and hidden values: what the workgroup's memory holds.
_MOST_CHANNELS, _MOST_HIDDEN = 1024, 128
_MOST_SHARES = 2048  # sums of parts of channels
_MOST_LANES = 64  # threads that add up a channel
_FILTERS = 64  # most gates of a workgroup
_PART = 1 << 13  # elements of the product that a workgroup writes
#: Most numbers that each workgroup adds up, and all of them. Otherwise a kernel for the means takes
#: less time.
_MOST_SQUEEZED, _MOST_READS = 1 << 15, 1 << 21


@dataclass(frozen=True, slots=True)
class Excitation:
    """A problem: extents, and what the kernel reads and writes.

    Attributes
    ----------
    images, channels, hidden, filters
        Extents of the means [images, channels], of w1 [hidden, channels] and w2 [filters, hidden].
    pixels
        The elements of a channel of the image, 0 without an image.
    terms
        Numbers for each channel whose sum is that of its pixels: these or sums of rows. 0 if the
        kernel gets the means.
    product
        "" writes the gates [images, filters]. "multiply" writes the image times the gates, "add"
        the image plus this product.
    """

    images: int
    channels: int
    hidden: int
    filters: int
    pixels: int = 0
    terms: int = 0
    product: str = ""

    @property
    def span(self) -> int:
        """Filters of a workgroup."""
        return min(max(_PART // self.pixels, 1), _FILTERS) if self.product else _FILTERS

    @property
    def splits(self) -> int:
        """Workgroups that share the elements of these filters."""
        return max(blocks(self.pixels, _PART), 1) if self.product else 1

    @property
    def grid(self) -> tuple[int, int, int]:
        """Workgroups along each axis."""
        return blocks(self.filters, self.span) * self.splits, self.images, 1


def takes(p: Excitation) -> bool:
    """Return whether :func:`excite` computes a problem."""
    fits = 0 < p.channels <= _MOST_CHANNELS and 0 < p.hidden <= _MOST_HIDDEN
    fits = fits and not p.channels % 4 and p.filters > 0 and p.images > 0
    reads = p.channels * p.terms
    if reads > _MOST_SQUEEZED or reads * p.grid[0] > _MOST_READS or (p.terms and not p.pixels):
        return False
    if p.product and not (p.pixels and p.filters == p.channels):
        return False
    return fits and max(p.grid) <= MAX_PER_DIMENSION


def excite(
    build: Build, p: Excitation, source: Slot, image: Slot | None, w1: Slot, b1: Slot | None,
    w2: Slot, b2: Slot | None, y: Slot, hard: tuple[float, float] | None,
) -> None:  # fmt: skip
    """Add the gates gate(relu(means w1ᵀ + b1) w2ᵀ + b2), or their product, all float32.

    ``source`` has the means, [images, channels], or the terms, [images, channels, terms]. It needs
    :func:`takes`. y is another buffer than the others. ``gate`` is the logistic function, or
    clip(alpha v + beta, 0, 1) if ``hard`` is (alpha, beta).
    """
    biases = int(b1 is not None) + 2 * int(b2 is not None)
    alpha, beta = hard or (0.0, 0.0)
    names = ("mean" if p.terms else "", "product" if p.product else "")
    lanes = min(_MOST_SHARES // p.channels, _MOST_LANES)
    part = _PART if p.splits > 1 else p.span * p.pixels
    read = [w1 if one is None else one for one in (source, image, w1, b1, w2, b2)]
    build.dispatch(
        "excitation", " ".join(filter(None, names)), p.grid, (*read, y), p.channels // 4, p.hidden,
        p.filters, biases, int(hard is not None), alpha, beta, p.pixels, p.terms, lanes, p.span,
        p.splits, part, int(p.product == "add"),
    )  # fmt: skip


def _work(f: Fields) -> Work:
    weights = f["hidden"] * (4 * f["vectors"] + f["filters"])
    image = 4 * f["vectors"] * f["pixels"]
    return 2 * weights + image, 4 * (weights + 4 * f["vectors"] + f["filters"] + 2 * image)


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "excitation",
            "excitation.wgsl",
            bindings("source", "image", "w1", "b1", "w2", "b2", "y"),
            params(
                "vectors: u32", "hidden: u32", "filters: u32", "biases: u32", "is_hard: u32",
                "alpha: f32", "beta: f32", "pixels: u32", "terms: u32", "lanes: u32", "span: u32",
                "splits: u32", "part: u32", "is_added: u32",
            ),
            configurations={
                "": {"MEAN": 0, "PRODUCT": 0},
                "mean": {"MEAN": 1, "PRODUCT": 0},
                "product": {"MEAN": 0, "PRODUCT": 1},
                "mean product": {"MEAN": 1, "PRODUCT": 1},
            },
            cost=_work,
        ),
    )
)  # fmt: skip
