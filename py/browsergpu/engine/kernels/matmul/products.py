"""Grids, parameters and divisions of k for the variants of gemm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from browsergpu.engine.core.grids import MAX_PER_DIMENSION, blocks, fold, layers
from browsergpu.engine.kernels.base.chains import CHAIN, is_chain, with_chain
from browsergpu.engine.kernels.base.family import Variant

BIAS, RESIDUAL = 1, 2  # bits of ``added`` for the operands that exist
# Bits for float16 operands. All others require that B is float16; A also requires no activation.
A_HALVES, B_HALVES, BIAS_HALVES, RESIDUAL_HALVES = 4, 8, 16, 32
# Bits of gemm_thin: the larger operand (the matrix) and the vectors are float16.
THIN_MATRIX_HALVES, THIN_VECTOR_HALVES = 8, 16
# The factor of the activation's code in gemm_thin's ``added``.
_THIN_ACTIVATION = 256
#: Activations of a product and their codes.
ACTIVATIONS: Mapping[str | None, int] = {None: 0, "relu": 1, "gelu": 2, "silu": 3, "gelu_erf": 4}
#: Tiles of gemm_quads: name, rows, columns, workgroups that an NVIDIA H200 finishes together, and
#: throughput of a full GPU relative to the first tile. Small ones only wait for their own SM.
_TILES_OF_QUADS = (
    ("128", 128, 128, 264, 1.0),
    ("128x64", 128, 64, 396, 0.96),
    ("64", 64, 64, 132, 0.9),
)
_TINY = 16  # maximum rows and columns of tiny matrices, which share a workgroup
_SHORT = 64  # maximum k of tiny matrices
_LITTLE = 512  # maximum multiplications of tiny matrices
_TINY_THREADS = 128
_THIN = 4  # maximum rows or columns for gemm_thin
_LINES = 4  # lines that one thread of gemm_thin sums
_ENOUGH = 200  # workgroups of tiles that keep a large GPU busy
_PLENTY = 512  # target number of workgroups when k is divided
_NEARLY = 180  # workgroups that keep it busy with k in two pieces of at least _LONG / 2 steps
_LONG = 2048
_SHORTEST = 256  # minimum steps of k per workgroup
_LARGEST = 2**24  # maximum elements of all partial products
_SUMMED = 256  # threads of a workgroup of gemm_sum

Fields = tuple[float, ...]
Grid = tuple[int, int, int]


def function_code(activation: str | None) -> int:
    """Return the code of an activation or chain in the shaders."""
    return CHAIN if is_chain(activation) else ACTIVATIONS[activation]


@dataclass(frozen=True, slots=True)
class Layout:
    """The dispatches with which one variant computes a product.

    Attributes
    ----------
    kernel, configuration : str
        Kernel and its configuration.
    dispatches : tuple
        Grid and parameters of each dispatch.
    exchanged : bool
        Whether the kernel binds B before A.
    twice : bool
        Whether the kernel binds its first operand twice.
    elements : int
        Elements of the partial products if k is divided, else 0.
    total : tuple
        The dispatch of gemm_sum, if there are partial products.
    """

    kernel: str
    configuration: str
    dispatches: tuple[tuple[Grid, Fields], ...]
    exchanged: bool = False
    twice: bool = False
    elements: int = 0
    total: tuple[str, Grid, Fields] = ("", (0, 0, 0), ())


#: Endings of a configuration of gemm_quads: whether A and B are contiguous along k.
QUADS_LIE = {(True, False): "", (True, True): " nt", (False, False): " tn", (False, True): " tt"}


def _suffix(added: int) -> str:
    """Return the ending of a configuration of gemm for float16 operands."""
    if added & A_HALVES:
        return " ab"
    return " b" if added & B_HALVES else ""


@dataclass(frozen=True, slots=True)
class Product:
    """C = alpha A B + beta C for row-major C: extents, strides and factors.

    The strides step between rows, columns and matrices of the batch.
    """

    m: int
    n: int
    k: int
    a_row: int
    a_col: int
    b_row: int
    b_col: int
    c_row: int
    a_batch: int
    b_batch: int
    c_batch: int
    count: int
    alpha: float
    beta: float

    @property
    def size_class(self) -> str:
        """The size class for tuned defaults."""
        own = self.size_class_of_halves
        if own == "large" and self._has_quads:
            return f"whole {self._quads_tile}"
        if own == "medium" and self._has_quads:
            if self._suits_medium_quads:
                return "whole 128x64"
            if self.a_col != 1:  # gemm loads transposed A slowly
                return "whole 64"
        return own

    @property
    def size_class_of_halves(self) -> str:
        """The size class with float16 operands, which gemm_quads does not support.

        Tiny matrices in a batch have a class. Products with vectors are classed by the layout of
        the matrix, all others by the number of tiles and the length of k.
        """
        if self.count > 1 and self._is_tiny:
            return "tiny"
        if self._vectors <= _THIN:
            way = "along" if self._line_and_step[1] == 1 else "across"
            return way if self._vectors == 1 else f"{way} few"
        tiles = self._tiles(64) * max(1, self.k // (2 * _SHORTEST))
        if tiles < 128 or self._vectors <= 32:
            return "small"
        return "medium" if self._tiles(128) < _ENOUGH else "large"

    @property
    def _has_quads(self) -> bool:
        """Whether all line lengths are divisible by 4, as gemm_quads requires."""
        fours = [*self._lines, self.n, self.c_row, self.a_batch, self.b_batch, self.c_batch]
        if self.a_col != 1:
            fours.append(self.m)
        lie_along = 1 in (self.a_row, self.a_col) and 1 in (self.b_row, self.b_col)
        return lie_along and self.k % 16 == 0 and not any(extent % 4 for extent in fours)

    @property
    def _lines(self) -> tuple[int, int]:
        """Strides of A and B between lines, along whichever of rows or columns is contiguous."""
        a = self.a_row if self.a_col == 1 else self.a_col
        return a, self.b_row if self.b_col == 1 else self.b_col

    @property
    def _quads_tile(self) -> str:
        """The fastest tile of gemm_quads, given how full its last wave of workgroups is."""

        def speed(tile: tuple[str, int, int, int, float]) -> float:
            _, rows, columns, at_once, share = tile
            waves = blocks(blocks(self.m, rows) * blocks(self.n, columns) * self.count, at_once)
            return share * self.m * self.n * self.count / (waves * at_once * rows * columns)

        return max(_TILES_OF_QUADS, key=speed)[0]

    @property
    def _suits_medium_quads(self) -> bool:
        """Whether tiles of 128 × 64 fill a large GPU, and rows fill the tiles."""
        tiles = blocks(self.m, 128) * blocks(self.n, 64) * self.count
        missing = blocks(self.m, 128) * 128 - self.m
        return 4 * missing <= self.m and tiles >= (_NEARLY if self.k >= _LONG else _ENOUGH)

    @property
    def _is_tiny(self) -> bool:
        fits = max(self.m, self.n) <= _TINY and self.k <= _SHORT
        return fits and self.m * self.n * self.k <= _LITTLE

    @property
    def _vectors(self) -> int:
        return min(self.m, self.n)

    @property
    def _line_and_step(self) -> tuple[int, int]:
        """Strides of the larger operand: between columns of B or rows of A, and along k."""
        return (self.b_col, self.b_row) if self.m <= self.n else (self.a_row, self.a_col)

    def _tiles(self, side: int) -> int:
        return blocks(self.m, side) * blocks(self.n, side) * self.count

    def able(self, variant: Variant) -> bool:
        """Return whether a variant supports this product."""
        if variant.kernel == "gemm_quads":
            return self._has_quads
        lanes = variant.traits.get("lanes")
        if lanes is None:
            return True
        line, step = self._line_and_step
        batch = self.b_batch if self.m <= self.n else self.a_batch
        quads = line == 1 and step % 4 == 0 and batch % 4 == 0
        return (
            self._vectors <= variant.traits["vectors"]
            and self.count <= MAX_PER_DIMENSION
            and max(self.m, self.n) <= MAX_PER_DIMENSION * _LINES * lanes
            and (quads or not variant.traits["quads"])
        )

    def able_of_halves(self, variant: Variant) -> bool:
        """Return whether a variant supports this product with float16 operands."""
        return variant.kernel != "gemm_quads" and self.able(variant)

    def layout(self, variant: Variant, added: int, activation: str | None) -> Layout:
        """Return the dispatches of a variant, with a bias or residual and an activation."""
        if variant.kernel == "gemm_tiny":
            return self._tiny(added, activation)
        if "lanes" in variant.traits:
            return self._thin(variant, added, activation)
        rows, columns = variant.traits["rows"], variant.traits["columns"]
        tiles = blocks(self.m, rows) * blocks(self.n, columns)
        grid_x, grid_y, _ = fold(tiles)
        depth = variant.traits["depth"]
        chunk, pieces = self._cut(tiles * self.count, _SHORTEST, _ENOUGH, depth)
        if pieces > 1:
            c_row, c_batch, alpha, beta = self.n, self.m * self.n, 1.0, 0.0
        else:
            c_row, c_batch, alpha, beta = self.c_row, self.c_batch, self.alpha, self.beta
        plain = pieces > 1 or activation is None
        configuration = variant.configuration
        if not plain and activation in ACTIVATIONS:
            configuration = f"{configuration}_{activation}"
        own = added & (A_HALVES | B_HALVES) if pieces > 1 else added
        if variant.kernel == "gemm_quads":
            suffix = QUADS_LIE[self.a_col == 1, self.b_col != 1]
            strides = (*self._lines, c_row, self.a_batch, self.b_batch, c_batch)
            lines = tuple(stride // 4 for stride in strides)
        else:
            suffix = _suffix(added)
            lines = (
                self.a_row, self.a_col, self.b_row, self.b_col, c_row, self.a_batch, self.b_batch,
                c_batch,
            )  # fmt: skip
        return Layout(
            variant.kernel,
            with_chain(configuration + suffix, None if plain else activation),
            tuple(
                (
                    (grid_x, grid_y, layer_count),
                    (self.m, self.n, self.k, *lines, first, chunk, own, alpha, beta),
                )
                for first, layer_count in layers(self.count * pieces)
            ),
            **self._summed(pieces, pieces > 1, added, activation),
        )  # fmt: skip

    def _tiny(self, added: int, activation: str | None) -> Layout:
        total = self.m * self.n * self.count
        fields = (
            self.m, self.n, self.k, self.a_row, self.a_col, self.b_row, self.b_col, self.c_row,
            self.a_batch, self.b_batch, self.c_batch, total, added, function_code(activation),
            self.alpha, self.beta,
        )  # fmt: skip
        dispatch = (fold(blocks(total, _TINY_THREADS)), fields)
        return Layout("gemm_tiny", with_chain("", activation), (dispatch,))

    def _thin(self, variant: Variant, added: int, activation: str | None) -> Layout:
        few_rows = self.m <= self.n
        lines, vectors = (self.n, self.m) if few_rows else (self.m, self.n)
        a = (self.a_row, self.a_col)
        b = (self.b_col, self.b_row)
        groups = blocks(lines, _LINES * variant.traits["lanes"])
        # One more dispatch takes as long as about 32 steps of a thread.
        shortest = 32 * variant.threads // variant.traits["lanes"]
        chunk, pieces = self._cut(groups * self.count, shortest, _PLENTY, 1)
        if pieces > 1:
            c_row, c_batch, alpha, beta, own = self.n, self.m * self.n, 1.0, 0.0, 0
        else:
            c_row, c_batch, alpha, beta = self.c_row, self.c_batch, self.alpha, self.beta
            own = (added & BIAS and (1 if few_rows else 2)) + 2 * (added & RESIDUAL)
            own |= 2 * (added & (BIAS_HALVES | RESIDUAL_HALVES))
            own |= _THIN_ACTIVATION * function_code(activation)
        matrix, the_others = (B_HALVES, A_HALVES) if few_rows else (A_HALVES, B_HALVES)
        own |= THIN_MATRIX_HALVES if added & matrix else 0
        own |= THIN_VECTOR_HALVES if added & the_others else 0
        fields = (
            lines, vectors, self.k, *(b + a if few_rows else a + b),
            *((1, c_row) if few_rows else (c_row, 1)),
            *((self.b_batch, self.a_batch) if few_rows else (self.a_batch, self.b_batch)),
            c_batch, chunk, own, alpha, beta,
        )  # fmt: skip
        mixed = " mixed" if added & B_HALVES else ""
        return Layout(
            variant.kernel,
            with_chain(variant.configuration + mixed, None if pieces > 1 else activation),
            (((groups, pieces, self.count), fields),),
            few_rows,
            True,
            **self._summed(pieces, pieces > 1, added, activation),
        )

    def _cut(self, groups: int, shortest: int, enough: int, depth: int) -> tuple[int, int]:
        """Return the length and number of the parts of k.

        k is divided only if there are fewer workgroups than ``enough``, into parts of at least
        ``shortest``.
        """
        pieces = 1
        if groups < enough:
            room = _LARGEST // (self.m * self.n * self.count)
            pieces = min(_PLENTY // groups, self.k // shortest, room)
        if pieces < 2:
            return max(self.k, 1), 1
        chunk = blocks(blocks(self.k, pieces), depth) * depth
        return chunk, blocks(self.k, chunk)

    def _summed(
        self, pieces: int, summed: bool, added: int, activation: str | None
    ) -> dict[str, Any]:
        if not summed:
            return {}
        size = self.m * self.n
        parts = 8 if pieces > 8 else 1
        x, y, _ = fold(blocks(size * parts, _SUMMED))
        fields = (
            self.m, self.n, pieces, self.c_row, self.c_batch, added,
            function_code(activation), self.alpha, self.beta,
        )  # fmt: skip
        return {
            "elements": size * pieces * self.count,
            "total": (with_chain(str(parts), activation), (x, y, self.count), fields),
        }
