"""Matrix products of float16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from browsergpu.engine.core import checks
from browsergpu.engine.core.grids import MAX_PER_DIMENSION, blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.core.remembered import remembered
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.chains import is_chain, with_chain
from browsergpu.engine.kernels.base.facts import Facts
from browsergpu.engine.kernels.base.family import (
    MATRICES,
    Configurations,
    Fields,
    Kernel,
    KernelFamily,
    Operation,
    Problem,
    Variant,
    Work,
    bindings,
)
from browsergpu.engine.kernels.matmul.gemm_facts import product_work
from browsergpu.engine.kernels.matmul.products import ACTIVATIONS

_OP = "gemm_f16"
_VECTOR = 8  # halves in a vec4u; most kernels need a row length divisible by it
_WORTH_COPYING = 32  # columns from which padded rows are not much longer
_WORTH_DISPATCHES = 2**22  # multiplications of a matrix that cost as much as three dispatches
_FEW_ROWS = 8
_TURNED = 64  # rows and columns that a workgroup transposes
_MANY_TILES = 128  # workgroups that keep a large GPU busy


@dataclass(frozen=True, slots=True, eq=False)
class GemmF16Plan:
    """A validated float16 product: operand sizes, kernel parameters and size class.

    Size classes:

    - "row" or "thin": one row, or few
    - "small": fewer tiles of 64 × 64 than keep a large GPU busy
    - "medium": fewer tiles of 128 × 128 than that
    - "large": all others

    Attributes
    ----------
    a_elements, b_elements, c_elements : int
        Required elements of each operand.
    count : int
        Number of products.
    many_a, many_b : bool
        Whether each product has its own A or B.
    flip_a, flip_b : bool
        Whether that operand is stored transposed.
    worth_copying : bool
        Whether copies with padded rows are cheap compared with the product.
    copy_bytes : int
        Size of the largest such copy.
    """

    a_elements: int
    b_elements: int
    c_elements: int
    size_class: str
    m: int
    n: int
    k: int
    alpha: float
    beta: float
    count: int
    many_a: bool
    many_b: bool
    flip_a: bool
    flip_b: bool
    worth_copying: bool
    copy_bytes: int

    def takes_rows_of(self, variant: Variant) -> bool:
        """Return whether a variant can read the operands without copies."""
        traits = variant.traits
        if self.flip_a or (self.flip_b and not self.reads_turned(variant)):
            return False
        whole_a, whole_b = self.k % _VECTOR == 0, self.n % _VECTOR == 0
        return traits["whole_a"] <= whole_a and traits["whole_b"] <= whole_b

    def reads_turned(self, variant: Variant) -> bool:
        """Return whether B is stored transposed and a variant can read it so."""
        return self.flip_b and self.k % _VECTOR == 0 and variant.traits.get("turned", 0) == 1

    def fits(self, variant: Variant) -> bool:
        """Return whether a variant supports the product and suits it."""
        if self.m > variant.traits.get("most_rows", self.m):
            return False
        return self.takes_rows_of(variant) or (
            self.worth_copying and not variant.traits["in_place"]
        )


@remembered
def plan_gemm_f16(
    m: Any,
    n: Any,
    k: Any,
    alpha: Any,
    beta: Any,
    count: int = 1,
    many_a: bool = False,
    many_b: bool = False,
    flip_a: bool = False,
    flip_b: bool = False,
) -> GemmF16Plan:
    """Validate the arguments of ``WasmBackend.gemm_f16`` except the buffers."""
    m = checks.integer(_OP, "m", m)
    n = checks.integer(_OP, "n", n)
    k = checks.integer(_OP, "k", k)
    alpha = checks.real(_OP, "alpha", alpha)
    beta = checks.real(_OP, "beta", beta)
    of_a, of_b = (count if many else 1 for many in (many_a, many_b))
    elements = (of_a * m * k, of_b * k * n, count * m * n)
    if alpha == 0:
        k = 0  # BLAS does not read A and B then, so their NaN are ignored
    short_copies = all(x % _VECTOR == 0 or x >= _WORTH_COPYING for x in (n, k))
    worth_copying = short_copies and count * m * n * k >= _WORTH_DISPATCHES
    copies = (
        of_a * m * _whole(k) if flip_a or k % _VECTOR else 0,
        of_b * k * _whole(n) if flip_b or n % _VECTOR else 0,
        count * m * _whole(n) if n % _VECTOR else 0,
    )
    return GemmF16Plan(
        *elements, _size_class(m, n, count), m, n, k, alpha, beta, count, many_a, many_b, flip_a,
        flip_b, worth_copying, 2 * max(copies),
    )  # fmt: skip


def _size_class(m: int, n: int, count: int) -> str:
    if m <= _FEW_ROWS:
        return "row" if m == 1 else "thin"
    if count * blocks(m, 64) * blocks(n, 64) < _MANY_TILES:
        return "small"
    return "medium" if count * blocks(m, 128) * blocks(n, 128) < _MANY_TILES else "large"


def gemm_f16(
    build: Build,
    a: Slot,
    b: Slot,
    c: Slot,
    plan: GemmF16Plan,
    bias: Slot | None = None,
    activation: str | None = None,
    wide: bool = False,
    residual: Slot | None = None,
) -> None:
    """Add C = f(alpha A B + bias) + residual + beta C of contiguous float16, summed in float32.

    Parameters
    ----------
    a, b, c : Slot
        Operands. c must be a different buffer from all others.
    bias : Slot, optional
        [n], added to every row.
    activation : str, optional
        One of ``products.ACTIVATIONS``.
    wide : bool
        Write C = alpha A B as float32. All row lengths must be divisible by 8.
    residual : Slot, optional
        Of C's shape, if :func:`takes_residual` allows it.
    """
    m, n, k, count = plan.m, plan.n, plan.k, plan.count
    if plan.c_elements == 0:
        return
    able = plan.fits if _has_room(build.facts, plan) else plan.takes_rows_of
    variant = build.facts.variants.choose(_OP, plan.size_class, able)
    function = None if is_chain(activation) else activation
    end = "wide" if wide else function or ("" if bias is None else "bias")
    if residual is not None:
        end = f"{end}_residual".lstrip("_")
    is_turned = plan.reads_turned(variant) and not wide
    begin = "turned" if is_turned else variant.configuration
    configuration = with_chain("_".join(filter(None, (begin, end))), activation)
    is_biased = int(bias is not None)
    tiles = blocks(m, variant.traits["rows"]) * blocks(n, variant.traits["columns"])
    grid = (*fold(tiles)[:2], count)
    left, right, product, across, along = a, b, c, k, n
    if not plan.takes_rows_of(variant):
        across, along = _whole(k), _whole(n)
        of_a, of_b = (count if many else 1 for many in (plan.many_a, plan.many_b))
        left = ready(build, a, of_a, m, k, plan.flip_a)
        right = b if is_turned else ready(build, b, of_b, k, n, plan.flip_b)
        if along != n:
            product = _in_whole_vectors(build, count * m, n, c if plan.beta else None)
    added = left if bias is None else bias  # every binding needs a buffer
    b_step = n * across if is_turned else k * along
    steps = (m * across * plan.many_a, b_step * plan.many_b, m * along)
    fields = (m, n, k, plan.alpha, plan.beta, is_biased, *steps)
    bound: tuple[Slot, ...] = (left, right, added, product)
    if variant.features >= MATRICES:
        bound = (*bound, left if residual is None else residual)
    build.dispatch(variant.kernel, configuration, grid, bound, *fields)
    if product != c:
        repitch(build, count * m, product, along, c, n)
    build.release(*{left, right, product} - {a, b, c})


def _has_room(facts: Facts, plan: GemmF16Plan) -> bool:
    return plan.copy_bytes <= facts.largest_buffer


def tile_of_matrices(facts: Facts, plan: GemmF16Plan) -> MatrixTile:
    """Return the tile of a product for which :func:`is_by_matrices` holds."""
    variant = facts.variants.choose(_OP, plan.size_class, plan.fits)
    return next(tile for tile in MATRIX_TILES if tile.rows == variant.traits["rows"])


def is_by_matrices(facts: Facts, plan: GemmF16Plan) -> bool:
    """Return whether the product is large enough, and the device able, to use subgroup matrices.

    If so, another copy of an operand is cheap compared with the product.
    """
    if plan.m <= _FEW_ROWS or plan.count * plan.m * plan.n * plan.k < _WORTH_DISPATCHES:
        return False
    if plan.count > MAX_PER_DIMENSION or not _has_room(facts, plan):
        return False
    variant = facts.variants.choose(_OP, plan.size_class, plan.fits)
    return plan.fits(variant) and variant.features >= MATRICES


def takes_residual(facts: Facts, plan: GemmF16Plan) -> bool:
    """Whether a kernel can add another matrix to the product."""
    return plan.n % _VECTOR == 0 and is_by_matrices(facts, plan)


def ready(build: Build, x: Slot, count: int, rows: int, columns: int, flip: bool) -> Slot:
    """Return an operand whose row length is divisible by 8: x itself, or a temporary copy."""
    if flip:
        return turned(build, x, count, columns, rows)
    if columns % _VECTOR == 0:
        return x
    return _in_whole_vectors(build, count * rows, columns, x)


def turned(build: Build, x: Slot, count: int, rows: int, columns: int) -> Slot:
    """Return a temporary with x transposed and rows padded to a multiple of 8."""
    pitch = _whole(rows)
    made = build.temporary(2 * count * columns * pitch)
    tiles = blocks(pitch, _TURNED) * blocks(columns, _TURNED)
    grid = (*fold(tiles)[:2], count)
    build.dispatch("transpose_halves", "", grid, (x, made), rows, columns, pitch)
    return made


def _whole(columns: int) -> int:
    return blocks(columns, _VECTOR) * _VECTOR


def _in_whole_vectors(build: Build, rows: int, columns: int, x: Slot | None) -> Slot:
    """Return a temporary with rows padded to a multiple of 8, and a copy of x unless it is None."""
    pitch = _whole(columns)
    made = build.temporary(2 * max(rows * pitch, 1))
    if x is not None:
        repitch(build, rows, x, columns, made, pitch)
    return made


def repitch(build: Build, rows: int, x: Slot, x_pitch: int, y: Slot, y_pitch: int) -> None:
    """Copy the rows of x into those of y, truncated or padded with zeros."""
    words = blocks(rows * y_pitch, 2)
    if words:
        grid = fold(blocks(words, build.facts.workgroup_sizes.elementwise))
        build.dispatch("repitch", "", grid, (x, y), rows, x_pitch, y_pitch)


def _work(f: Fields) -> Work:
    operations, nbytes = product_work(f)
    return operations, nbytes / 2


#: Endings of a configuration: an activation, a bias alone, or float32 output.
_ENDS: Configurations = {
    "": {"FUNCTION": 0, "BIASED": 0, "WIDE": 0},
    "bias": {"FUNCTION": 0, "BIASED": 1, "WIDE": 0},
    **{
        name: {"FUNCTION": code, "BIASED": 1, "WIDE": 0}
        for name, code in ACTIVATIONS.items()
        if name
    },
    "wide": {"FUNCTION": 0, "BIASED": 0, "WIDE": 1},
}
_BINDINGS = bindings("a", "b", "bias", "c")
_PARAMS = params(
    "m: u32", "n: u32", "k: u32", "alpha: f32", "beta: f32", "biased: u32", "a_batch: u32",
    "b_batch: u32", "c_batch: u32",
)  # fmt: skip


def _whole_product(name: str) -> Kernel:
    return Kernel(name, f"{name}.wgsl", _BINDINGS, _PARAMS, configurations=_ENDS, cost=_work)


class MatrixTile(NamedTuple):
    """How a workgroup computes a tile of C by subgroup matrices of 16 × 16.

    ``depth`` is the number of steps of k at a time. Each subgroup computes ``sub_rows`` by
    ``sub_columns`` of the tile.
    """

    rows: int
    columns: int
    depth: int
    sub_rows: int
    sub_columns: int

    @property
    def threads(self) -> int:
        """The threads of a workgroup."""
        return 32 * (self.rows // self.sub_rows) * (self.columns // self.sub_columns)

    @property
    def reads_turned(self) -> bool:
        """Whether B may be stored transposed.

        With 32 steps, a workgroup reads 64 bytes of each row of B, which took 1.6 times as long as
        reading a transposed copy on an H100.
        """
        return self.depth >= 64

    def tile_of_b(self, is_turned: bool) -> dict[str, int]:
        """Return the layout of B's part for a subgroup in workgroup memory."""
        length, lines = self.sub_columns, self.depth
        if is_turned:
            length, lines = lines, length
        return {"TURNED": int(is_turned), "B_PITCH": length // 8 + 1, "B_LINES": lines}

    def nbytes(self, is_turned: bool) -> int:
        """Return the bytes of workgroup memory."""
        a = self.rows * (self.depth // 8 + 1)
        tile = self.tile_of_b(is_turned)
        b = self.columns // self.sub_columns * tile["B_PITCH"] * tile["B_LINES"]
        c = self.threads // 32 * 16 * 5
        return 16 * (a + b + c)

    @property
    def constants(self) -> dict[str, int]:
        """The constants of the tile in a kernel."""
        return {
            "ROWS": self.rows, "COLUMNS": self.columns, "DEPTH": self.depth,
            "SUB_ROWS": self.sub_rows, "SUB_COLUMNS": self.sub_columns,
            "A_READS": self.rows * self.depth // 8 // self.threads,
            "B_READS": self.depth * self.columns // 8 // self.threads,
            "DOWN": self.sub_rows // 16, "ACROSS": self.sub_columns // 16,
            "STEPS": self.depth // 16, "VECTORS": 1,
        }  # fmt: skip

    def kernel(self) -> Kernel:
        """Return the kernel."""
        return Kernel(
            f"gemm_f16_matrix{self.rows}",
            "gemm_f16_matrix.wgsl",
            (*_BINDINGS, *bindings("residual", written=0, first=len(_BINDINGS))),
            _PARAMS,
            configurations={
                "_".join(filter(None, ("turned" * is_turned, name, "residual" * residual))): {
                    **self.constants,
                    **self.tile_of_b(is_turned),
                    **end,
                    "RESIDUAL": int(residual),
                }
                for is_turned in (False, True)
                for name, end in _ENDS.items()
                for residual in (False, True)
                if (not is_turned or self.reads_turned)
                if name != "wide" or not (is_turned or residual)
            },
            cost=_work,
        )

    def variant(self) -> Variant:
        """Return the variant."""
        return Variant(
            f"matrix{self.rows}",
            f"gemm_f16_matrix{self.rows}",
            features=MATRICES,
            workgroup_bytes=max(self.nbytes(False), self.nbytes(self.reads_turned)),
            threads=self.threads,
            traits={
                "rows": self.rows, "columns": self.columns,
                "whole_a": 1, "whole_b": 1, "in_place": 0, "turned": int(self.reads_turned),
            },
        )  # fmt: skip


MATRIX_TILES = (
    MatrixTile(128, 128, 32, 64, 64),
    MatrixTile(64, 64, 64, 32, 32),
    MatrixTile(32, 64, 64, 16, 32),
)


def _rows(rows: int) -> Variant:
    return Variant(
        f"rows{rows}",
        "gemm_f16_rows",
        str(rows),
        workgroup_bytes=8_192,
        threads=256,
        traits={
            "rows": rows,
            "columns": 32,
            "whole_a": 0,
            "whole_b": 1,
            "in_place": 1,
            "most_rows": 4 * rows,
        },
    )


# Traits: the rows and columns of a tile; whether A's and B's row lengths must be divisible by 8.
# Other matrices are copied first, unless the variant has in_place. most_rows is the maximum number
# of rows of C before the variant gets slow. turned: B may be stored transposed.
_VARIANTS = (
    *(tile.variant() for tile in MATRIX_TILES),
    Variant(
        "tile128",
        "gemm_f16_tile",
        workgroup_bytes=16_640,
        threads=128,
        traits={"rows": 128, "columns": 128, "whole_a": 1, "whole_b": 1, "in_place": 0},
    ),
    _rows(1),
    _rows(4),
    Variant(
        "tile32",
        "gemm_f16",
        workgroup_bytes=4_224,
        threads=256,
        traits={"rows": 32, "columns": 32, "whole_a": 0, "whole_b": 0, "in_place": 1},
        is_quick=True,
    ),
)
_PICKS = {
    "": {
        "row": "rows1",
        "thin": "rows4",
        "small": "tile32",
        "medium": "tile128",
        "large": "tile128",
    },
    # Measured on an H200.
    "nvidia": {"small": "matrix32", "medium": "matrix64", "large": "matrix128"},
}


def _problem(size_class: str, m: int, n: int, k: int) -> Problem:
    plan = plan_gemm_f16(m, n, k, 1.0, 0.0)

    def product(build: Build, a: Slot, b: Slot, c: Slot) -> None:
        gemm_f16(build, a, b, c, plan)

    return Problem(_OP, size_class, (m * k // 2, k * n // 2, m * n // 2), product)


FAMILY = KernelFamily(
    kernels=(
        _whole_product("gemm_f16"),
        _whole_product("gemm_f16_tile"),
        *(tile.kernel() for tile in MATRIX_TILES),
        Kernel(
            "gemm_f16_rows",
            "gemm_f16_rows.wgsl",
            _BINDINGS,
            _PARAMS,
            configurations={
                f"{rows}_{end}" if end else str(rows): {"ROWS": rows, **constants}
                for rows in (1, 4)
                for end, constants in _ENDS.items()
            },
            cost=_work,
        ),
        Kernel(
            "repitch",
            "repitch.wgsl",
            bindings("x", "y"),
            params("rows: u32", "x_pitch: u32", "y_pitch: u32"),
            family="elementwise",
            cost=lambda f: (0, 2 * f["rows"] * (f["x_pitch"] + f["y_pitch"])),
        ),
        Kernel(
            "transpose_halves",
            "transpose_halves.wgsl",
            bindings("x", "y"),
            params("rows: u32", "columns: u32", "pitch: u32"),
            cost=lambda f: (0, 4 * f["rows"] * f["columns"]),
        ),
    ),
    operations=(Operation(_OP, _VARIANTS, _PICKS),),
    problems=(
        _problem("row", 1, 2048, 2048),
        _problem("thin", 6, 2048, 2048),
        _problem("small", 256, 256, 256),
        _problem("medium", 1024, 1024, 512),
        _problem("large", 1536, 1536, 1024),
    ),
)
