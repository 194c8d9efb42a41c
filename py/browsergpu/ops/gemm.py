"""General matrix products."""

from __future__ import annotations

from dataclasses import dataclass

from browsergpu.device import Device
from browsergpu.grids import blocks, fold, layers
from browsergpu.memory import Buffer

_TILE = 64
_TILE_F16 = 32


@dataclass(frozen=True, slots=True)
class Operand:
    """A batch of matrices in a buffer: element (i, j) of matrix z lies at
    z * batch + i * row + j * col."""

    buffer: Buffer
    row: int
    col: int
    batch: int

    @property
    def transposed(self) -> Operand:
        """The same matrices, rows and columns exchanged."""
        return Operand(self.buffer, self.col, self.row, self.batch)


def gemm(
    device: Device,
    m: int,
    n: int,
    k: int,
    alpha: float,
    a: Operand,
    b: Operand,
    beta: float,
    c: Operand,
    batch_count: int,
) -> None:
    """C = alpha A B + beta C, where A is m × k, B is k × n, and m, n, batch_count are not 0."""
    if c.col != 1:  # column-major: make C transposed, which is row-major
        m, n, a, b, c = n, m, b.transposed, a.transposed, c.transposed
    if alpha == 0:
        k = 0  # BLAS: A and B are not read, so that their NaN do not count
    grid_x, grid_y, _ = fold(blocks(m, _TILE) * blocks(n, _TILE))
    pipeline = device.pipeline("gemm")
    for first, count in layers(batch_count):
        device.recorder.dispatch(
            pipeline, grid_x, grid_y, count, a.buffer.id, b.buffer.id, c.buffer.id,
            m, n, k, a.row, a.col, b.row, b.col, c.row, a.batch, b.batch, c.batch, first,
            alpha, beta,
        )  # fmt: skip


def gemm_f16(
    device: Device,
    m: int,
    n: int,
    k: int,
    alpha: float,
    a: Buffer,
    b: Buffer,
    beta: float,
    c: Buffer,
) -> None:
    """C = alpha A B + beta C, contiguous float16 with float32 sums; m and n are not 0."""
    if alpha == 0:
        k = 0
    grid = fold(blocks(m, _TILE_F16) * blocks(n, _TILE_F16))
    device.recorder.dispatch(
        device.pipeline("gemm_f16"), *grid, a.id, b.id, c.id, m, n, k, alpha, beta
    )
