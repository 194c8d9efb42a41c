"""gemm and batched_gemm against float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsergpu.engine.kernels.variants import VARIANTS
from inside import reference, tolerances
from inside.comparison import assert_matches, assert_same_bits
from inside.gpu import SENTINEL, on_gpu, only_variant, random_array, whole_array

pytestmark = [pytest.mark.native, pytest.mark.firefox]

TRANSPOSES = ("no_trans", "trans", "conj_trans")


def stored(matrix: np.ndarray, ld: int, order: str, filler: float) -> np.ndarray:
    """Store a matrix with lines of `ld` elements, and `filler` between the lines.

    The last line has no filler.
    """
    lines = matrix if order == "C" else matrix.T
    count, length = lines.shape
    flat = np.full(max((count - 1) * ld + length, 0), filler, matrix.dtype)
    for i in range(count):
        flat[i * ld : i * ld + length] = lines[i]
    return flat


def loaded(flat: np.ndarray, rows: int, cols: int, ld: int, order: str) -> np.ndarray:
    """Return the matrix that `stored` wrote."""
    count, length = (rows, cols) if order == "C" else (cols, rows)
    lines = np.empty((count, length), flat.dtype)
    for i in range(count):
        lines[i] = flat[i * ld : i * ld + length]
    return lines if order == "C" else lines.T


@dataclass
class Product:
    """The arguments of one product, and a check of its result."""

    m: int
    n: int
    k: int
    trans_a: str = "no_trans"
    trans_b: str = "no_trans"
    alpha: float = 1.0
    beta: float = 0.0
    pad: tuple[int, int, int] = (0, 0, 0)
    order: str = "C"

    def shape_a(self) -> tuple[int, int]:
        return (self.m, self.k) if self.trans_a == "no_trans" else (self.k, self.m)

    def shape_b(self) -> tuple[int, int]:
        return (self.k, self.n) if self.trans_b == "no_trans" else (self.n, self.k)

    def leading(self) -> tuple[int, int, int]:
        shapes = (self.shape_a(), self.shape_b(), (self.m, self.n))
        along = 1 if self.order == "C" else 0
        return tuple(  # type: ignore[return-value]
            max(shape[along], 1) + pad for shape, pad in zip(shapes, self.pad, strict=True)
        )

    def expected(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return reference.gemm(a, b, c, **self._scalars())

    def tolerance(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tolerances.Tolerance:
        return tolerances.gemm(reference.gemm_magnitude(a, b, c, **self._scalars()), self.k)

    def _scalars(self) -> dict[str, Any]:
        return {
            "trans_a": self.trans_a != "no_trans",
            "trans_b": self.trans_b != "no_trans",
            "alpha": self.alpha,
            "beta": self.beta,
        }

    def run(self, backend: Any, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Run the product and return C.

        The padding of A and B is NaN, which would spoil the result if it were read. The padding of
        C must not change.
        """
        lda, ldb, ldc = self.leading()
        with on_gpu(backend) as gpu:
            a_ptr = gpu.upload(stored(a, lda, self.order, np.nan))
            b_ptr = gpu.upload(stored(b, ldb, self.order, np.nan))
            before = stored(c, ldc, self.order, SENTINEL)
            c_ptr = gpu.upload(before)
            backend.gemm(
                self.trans_a, self.trans_b, self.m, self.n, self.k, self.alpha,
                a_ptr, lda, b_ptr, ldb, self.beta, c_ptr, ldc, order=self.order,
            )  # fmt: skip
            after = gpu.download(c_ptr, before.shape)
        result = loaded(after, self.m, self.n, ldc, self.order)
        assert_same_bits(after, stored(result, ldc, self.order, SENTINEL), "padding of C")
        return np.ascontiguousarray(result)

    def check(self, backend: Any, seed: int = 1) -> None:
        """Run the product on random data and compare."""
        a = random_array(seed, *self.shape_a())
        b = random_array(seed + 1, *self.shape_b())
        # With beta 0, C must not be read: its NaN would be visible.
        shape = (self.m, self.n)
        c = random_array(seed + 2, *shape) if self.beta else np.full(shape, np.nan, np.float32)
        result = self.run(backend, a, b, c)
        tolerance = self.tolerance(a, b, np.nan_to_num(c))
        assert_matches(result, self.expected(a, b, c), **tolerance._asdict())


@pytest.mark.fast
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("trans_b", TRANSPOSES)
@pytest.mark.parametrize("trans_a", TRANSPOSES)
def test_transposes_orders_and_leading_dimensions(
    backend: Any, trans_a: str, trans_b: str, order: str
) -> None:
    for m, n, k in ((7, 5, 9), (70, 66, 33)):
        Product(m, n, k, trans_a, trans_b, 1.5, -0.5, (3, 1, 2), order).check(backend)


SIZES = [
    (1, 1, 1), (1, 1, 97), (97, 1, 1), (1, 97, 1), (2, 3, 5), (4, 4, 4), (17, 19, 23),
    (16, 16, 16), (31, 37, 41), (64, 64, 64), (65, 63, 66), (128, 128, 16), (129, 127, 17),
    (130, 67, 33), (3, 200, 5), (200, 3, 5), (5, 7, 200), (1, 130, 70), (130, 1, 70), (1, 1, 199),
]  # fmt: skip


@pytest.mark.fast
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_sizes(backend: Any, m: int, n: int, k: int) -> None:
    Product(m, n, k).check(backend)
    Product(m, n, k, "trans", "trans", 0.75, 2.0).check(backend)


@pytest.mark.parametrize(("m", "n", "k"), [(130, 67, 33), (65, 129, 200)])
def test_integer_values_are_exact(backend: Any, m: int, n: int, k: int) -> None:
    product = Product(m, n, k)
    a, b = whole_array(1, m, k), whole_array(2, k, n)
    c = np.full((m, n), np.nan, np.float32)
    assert_matches(
        product.run(backend, a, b, c), product.expected(a, b, c),
        rtol=0.0, atol=0.0, why="sums of whole numbers below 2^24 are exact",
    )  # fmt: skip


@pytest.mark.fast
@pytest.mark.parametrize("beta", [0.0, 1.0, -0.5])
@pytest.mark.parametrize("alpha", [0.0, 1.0, -2.5])
def test_alpha_and_beta(backend: Any, alpha: float, beta: float) -> None:
    Product(21, 34, 13, alpha=alpha, beta=beta).check(backend)


@pytest.mark.fast
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("c_filler", [np.nan, np.inf])
def test_beta_zero_does_not_read_c(backend: Any, c_filler: float, order: str) -> None:
    product = Product(70, 5, 3, order=order)
    a, b = random_array(1, 70, 3), random_array(2, 3, 5)
    c = np.full((70, 5), c_filler, np.float32)
    result = product.run(backend, a, b, c)
    tolerance = product.tolerance(a, b, np.zeros_like(c))
    assert_matches(result, product.expected(a, b, c), **tolerance._asdict())


def test_nan_in_c_propagates_with_beta(backend: Any) -> None:
    product = Product(6, 7, 3, beta=1.0)
    a, b, c = random_array(1, 6, 3), random_array(2, 3, 7), random_array(3, 6, 7)
    c[2, 4], c[5, 6] = np.nan, np.inf
    tolerance = product.tolerance(a, b, np.nan_to_num(c, posinf=0.0))
    assert_matches(product.run(backend, a, b, c), product.expected(a, b, c), **tolerance._asdict())


@pytest.mark.fast
@pytest.mark.parametrize("where", ["a", "b"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_special_values_reach_their_row_or_column_only(
    backend: Any, value: float, where: str
) -> None:
    # The last row, column and step are adjacent to the zeros that fill a tile.
    product = Product(67, 66, 19)
    a, b = random_array(1, 67, 19), random_array(2, 19, 66)
    c = np.zeros((67, 66), np.float32)
    tolerance = product.tolerance(a, b, c)
    (a if where == "a" else b)[-1, -1] = value
    result = product.run(backend, a, b, c)
    assert_matches(result, product.expected(a, b, c), **tolerance._asdict())


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_k_zero_scales_c(backend: Any, beta: float, order: str) -> None:
    product = Product(5, 7, 0, beta=beta, pad=(1, 1, 2), order=order)
    a, b = np.zeros((5, 0), np.float32), np.zeros((0, 7), np.float32)
    c = random_array(3, 5, 7)
    if beta == 0.0:
        c[1, 2] = np.nan
    assert_matches(
        product.run(backend, a, b, c), product.expected(a, b, c),
        rtol=tolerances.U, atol=0.0, why="one product, correctly rounded",
    )  # fmt: skip


@pytest.mark.parametrize(("m", "n", "k"), [(0, 5, 3), (5, 0, 3), (0, 0, 0), (0, 5, 0)])
def test_empty_results_touch_nothing(backend: Any, m: int, n: int, k: int) -> None:
    with on_gpu(backend) as gpu:
        a, b, c = (gpu.filled(64, SENTINEL) for _ in range(3))
        backend.gemm(
            "no_trans", "no_trans", m, n, k, 1.0, a, max(k, 1), b, max(n, 1), 0.0, c, max(n, 1)
        )
        assert_same_bits(gpu.download(c, 64), np.full(64, SENTINEL, np.float32), "C")


@given(data=st.data())
def test_any_arguments(backend: Any, data: st.DataObject) -> None:
    size = st.integers(1, 80)
    padding = st.integers(0, 5)
    scalar = st.sampled_from([0.0, 1.0, -1.0, 0.3, 2.5])
    draw = data.draw
    product = Product(
        draw(size, "m"), draw(size, "n"), draw(size, "k"),
        draw(st.sampled_from(TRANSPOSES)), draw(st.sampled_from(TRANSPOSES)),
        draw(scalar, "alpha"), draw(scalar, "beta"),
        (draw(padding), draw(padding), draw(padding)), draw(st.sampled_from(["C", "F"])),
    )  # fmt: skip
    product.check(backend, seed=draw(st.integers(0, 1000), "seed"))


def test_enums_and_strings_are_the_same(backend: Any) -> None:
    from browsergpu import Transpose

    assert [str(t.value) for t in Transpose] == list(TRANSPOSES)
    product = Product(3, 4, 5, Transpose.TRANS, Transpose("no_trans"))
    product.check(backend)


# ---- batched ------------------------------------------------------------------------------------


@dataclass
class Batch:
    """A batched product, with `gaps` elements between the matrices of A, B and C.

    A gap of None means a stride of 0: all products use the same matrix.
    """

    product: Product
    count: int
    gaps: tuple[int | None, int | None, int] = (0, 0, 0)

    def check(self, backend: Any, seed: int = 1) -> None:
        product = self.product
        leading = product.leading()
        shapes = (product.shape_a(), product.shape_b(), (product.m, product.n))
        flats, strides, matrices = [], [], []
        for index, (shape, ld, gap) in enumerate(zip(shapes, leading, self.gaps, strict=True)):
            filler = SENTINEL if index == 2 else np.nan
            each = [
                random_array(seed + 10 * index + i, *shape)
                for i in range(1 if gap is None else self.count)
            ]
            if index == 2 and product.beta == 0:
                each = [np.full(shape, np.nan, np.float32) for _ in each]
            flat, stride = _strided(each, ld, product.order, 0 if gap is None else gap, filler)
            flats.append(flat)
            strides.append(0 if gap is None else stride)
            matrices.append(each * self.count if gap is None else each)
        with on_gpu(backend) as gpu:
            a, b, c = (gpu.upload(flat) for flat in flats)
            backend.batched_gemm(
                product.trans_a, product.trans_b, product.m, product.n, product.k, product.alpha,
                a, leading[0], strides[0], b, leading[1], strides[1],
                product.beta, c, leading[2], strides[2], self.count, order=product.order,
            )  # fmt: skip
            after = gpu.download(c, flats[2].shape)
        results = []
        for i in range(self.count):
            flat = after[i * strides[2] :]
            result = np.ascontiguousarray(
                loaded(flat, product.m, product.n, leading[2], product.order)
            )
            a_i, b_i, c_i = (matrices[index][i] for index in range(3))
            assert_matches(
                result,
                product.expected(a_i, b_i, c_i),
                **product.tolerance(a_i, b_i, np.nan_to_num(c_i))._asdict(),
            )
            results.append(result)
        untouched, _ = _strided(results, leading[2], product.order, self.gaps[2], SENTINEL)
        assert_same_bits(after, untouched, "gaps and padding of C")


def _strided(
    matrices: list[np.ndarray], ld: int, order: str, gap: int, filler: float
) -> tuple[np.ndarray, int]:
    """Return matrices one after another with `gap` elements between them, and their stride."""
    parts = [stored(matrix, ld, order, filler) for matrix in matrices]
    stride = parts[0].size + gap
    flat = np.full(stride * (len(parts) - 1) + parts[-1].size, filler, np.float32)
    for i, part in enumerate(parts):
        flat[i * stride : i * stride + part.size] = part
    return flat, stride


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "gaps", [(0, 0, 0), (3, 5, 7), (None, 2, 1), (2, None, 1), (None, None, 4)]
)
def test_batches(backend: Any, gaps: tuple[int | None, int | None, int], order: str) -> None:
    Batch(Product(7, 5, 9, "trans", "no_trans", 1.5, -0.5, (1, 2, 3), order), 3, gaps).check(
        backend
    )
    Batch(Product(33, 70, 6, order=order), 5, gaps).check(backend)


@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_of_c_side_by_side(backend: Any, order: str) -> None:
    # The lines of three matrices alternate: stride_c is one line's length, and ldc is three times
    # that.
    m, n, k, count = 5, 7, 4, 3
    a, b = random_array(1, count, m, k), random_array(2, count, k, n)
    lines, length = (m, n) if order == "C" else (n, m)
    stored_a, stored_b = (x if order == "C" else x.transpose(0, 2, 1).copy() for x in (a, b))
    lda, ldb = (k, n) if order == "C" else (m, k)
    with on_gpu(backend) as gpu:
        c = gpu.filled(lines * count * length)
        backend.batched_gemm(
            "no_trans", "no_trans", m, n, k, 1.0, gpu.upload(stored_a), lda, m * k,
            gpu.upload(stored_b), ldb, k * n, 0.0, c, count * length, length, count, order=order,
        )  # fmt: skip
        result = gpu.download(c, (lines, count, length)).transpose(1, 0, 2)
    result = result if order == "C" else result.transpose(0, 2, 1)
    expected = a.astype(float) @ b.astype(float)
    tolerance = tolerances.gemm(np.abs(a).astype(float) @ np.abs(b).astype(float), k)
    assert_matches(result, expected, **tolerance._asdict())


@pytest.mark.parametrize("count", [1, 2, 67])
def test_batch_counts(backend: Any, count: int) -> None:
    Batch(Product(2, 3, 4, beta=1.0), count).check(backend)


@pytest.mark.parametrize(
    ("m", "n", "k", "count"),
    [
        (1, 1, 1, 70_000),
        (1, 3, 2, 66_000),
        (3, 2, 5, 1000),
        (8, 8, 8, 60),
        (1, 1, 64, 500),
        (16, 16, 2, 20),
        (4, 1, 0, 300),
    ],
)
def test_tiny_products_share_workgroups(backend: Any, m: int, n: int, k: int, count: int) -> None:
    a, b = random_array(1, count, m, k), random_array(2, count, k, n)
    workgroups = []

    def note(_pipeline: Any, fields: tuple[float, ...]) -> None:
        workgroups.append(fields[0] * fields[1] * fields[2])

    with on_gpu(backend) as gpu:
        c = gpu.filled(count * m * n)
        pointers = gpu.upload(a), gpu.upload(b)
        backend.device.recorder.observers.append(note)
        try:
            backend.batched_gemm(
                "no_trans", "no_trans", m, n, k, 1.0, pointers[0], max(k, 1), m * k,
                pointers[1], n, k * n, 0.0, c, n, m * n, count,
            )  # fmt: skip
        finally:
            backend.device.recorder.observers.remove(note)
        result = gpu.download(c, (count, m, n))
    assert len(workgroups) == 1
    assert workgroups[0] <= count * m * n / 64 + 1, "64 elements at least for a workgroup"
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    tolerance = tolerances.gemm(np.abs(wide_a) @ np.abs(wide_b), k)
    assert_matches(result, wide_a @ wide_b, **tolerance._asdict())


def test_a_batch_of_none_touches_nothing(backend: Any) -> None:
    with on_gpu(backend) as gpu:
        a, b, c = (gpu.filled(4, SENTINEL) for _ in range(3))
        backend.batched_gemm(
            "no_trans", "no_trans", 2, 2, 2, 1.0, a, 2, 4, b, 2, 4, 0.0, c, 2, 4, 0
        )
        assert_same_bits(gpu.download(c, 4), np.full(4, SENTINEL, np.float32), "C")


@given(data=st.data())
def test_any_batch(backend: Any, data: st.DataObject) -> None:
    draw = data.draw
    size = st.integers(1, 20)
    gap = st.one_of(st.none(), st.integers(0, 5))
    product = Product(
        draw(size), draw(size), draw(size),
        draw(st.sampled_from(TRANSPOSES)), draw(st.sampled_from(TRANSPOSES)),
        draw(st.sampled_from([1.0, -0.5])), draw(st.sampled_from([0.0, 1.5])),
        (draw(st.integers(0, 2)), draw(st.integers(0, 2)), draw(st.integers(0, 2))),
        draw(st.sampled_from(["C", "F"])),
    )  # fmt: skip
    gaps = (draw(gap), draw(gap), draw(st.integers(0, 5)))
    Batch(product, draw(st.integers(1, 5)), gaps).check(backend)


# ---- variants -----------------------------------------------------------------------------------


@pytest.fixture(params=[v.name for v in VARIANTS["gemm"]])
def forced(request: pytest.FixtureRequest, backend: Any) -> Iterator[Any]:
    """Use one variant after another for a test's products, where it applies."""
    with only_variant(backend.device, "gemm", request.param) as forced:
        yield forced


@pytest.mark.parametrize(
    ("m", "n", "k"),
    [(1, 1, 1), (4, 200, 37), (200, 3, 37), (1, 70, 300), (70, 1, 300), (33, 31, 35), (65, 63, 16),
     (64, 64, 32), (129, 130, 47), (20, 260, 8), (260, 20, 8)],
)  # fmt: skip
def test_each_variant(backend: Any, forced: Any, m: int, n: int, k: int) -> None:
    Product(m, n, k).check(backend)
    Product(m, n, k, "trans", "trans", 0.75, 2.0, (1, 2, 3), "F").check(backend)
    kernel, quads = forced.variant.kernel, forced.variant.traits.get("quads")
    parts = kernel == "gemm_thin" and (min(m, n) > 1 or quads)
    assert forced.was_used or parts or kernel == "gemm_quads"


@pytest.mark.parametrize(("m", "n", "k"), [(1, 132, 37), (3, 132, 70), (1, 36, 1100), (4, 36, 1)])
@pytest.mark.parametrize("name", ["quads", "quads_few"])
def test_rows_divisible_into_vec4s(backend: Any, m: int, n: int, k: int, name: str) -> None:
    with backend.device.variants.only("gemm", name) as forced:
        Product(m, n, k, pad=(1, 4, 2)).check(backend)
        Product(n, m, k, "trans", "no_trans", -0.5, 1.5).check(backend)
        Batch(Product(m, n, k), 3).check(backend)
        assert forced.was_used == (m == 1 or name == "quads_few")


@pytest.mark.parametrize("trans_b", ["no_trans", "trans"])
@pytest.mark.parametrize("trans_a", ["no_trans", "trans"])
@pytest.mark.parametrize("name", ["quads128", "quads128x64", "quads64"])
def test_matrices_divisible_into_vec4s(backend: Any, name: str, trans_a: str, trans_b: str) -> None:
    sizes = [(4, 4, 16), (132, 100, 32), (68, 260, 16), (256, 128, 48), (100, 8, 2112)]
    if trans_a == "no_trans":
        sizes += [(1, 36, 16), (67, 36, 64), (129, 388, 32)]
    for m, n, k in sizes:
        with backend.device.variants.only("gemm", name) as forced:
            Product(m, n, k, trans_a, trans_b).check(backend)
            Product(m, n, k, trans_a, trans_b, 0.5, -1.5, (4, 8, 4)).check(backend)
            if k < 100:
                Batch(Product(m, n, k, trans_a, trans_b), 3, (4, None, 8)).check(backend)
            assert forced.was_used


@pytest.mark.parametrize(("m", "n", "k"), [(8, 6, 16), (8, 8, 8), (6, 8, 16)])
def test_matrices_of_parts_of_vectors(backend: Any, m: int, n: int, k: int) -> None:
    with backend.device.variants.only("gemm", "quads64") as forced:
        Product(m, n, k, "trans").check(backend)
        Product(8, 8, 16, pad=(0, 1, 0)).check(backend)
        Product(8, 8, 16, pad=(0, 0, 2)).check(backend)
        assert not forced.was_used


@pytest.mark.parametrize("trans_b", ["no_trans", "trans"])
@pytest.mark.parametrize("trans_a", ["no_trans", "trans"])
def test_each_variant_in_pieces(backend: Any, forced: Any, trans_a: str, trans_b: str) -> None:
    for m, n, k in ((1, 40, 2100), (3, 20, 2100), (40, 1, 2500), (20, 3, 16500), (66, 35, 777)):
        Product(m, n, k, trans_a, trans_b).check(backend)
        Product(m, n, k, trans_a, trans_b, 0.5, -1.5, (1, 0, 2)).check(backend)


def test_each_variant_with_batches(backend: Any, forced: Any) -> None:
    for product in (Product(3, 5, 7, beta=0.5), Product(40, 66, 20), Product(2, 66, 600)):
        Batch(product, 3, (2, None, 3)).check(backend)


@pytest.mark.parametrize("where", ["a", "b"])
def test_each_variant_keeps_special_values_apart(backend: Any, forced: Any, where: str) -> None:
    for m, n in ((67, 66), (67, 3), (3, 67)):
        product = Product(m, n, 19)
        a, b = random_array(1, m, 19), random_array(2, 19, n)
        tolerance = product.tolerance(a, b, np.zeros((m, n), np.float32))
        (a if where == "a" else b)[-1, -1] = np.nan
        c = np.zeros((m, n), np.float32)
        result = product.run(backend, a, b, c)
        assert_matches(result, product.expected(a, b, c), **tolerance._asdict())
