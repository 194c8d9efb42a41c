"""Float16 kernels for batches, transposed operands and convolutions as products.

The tests select these kernels by name, because only devices with subgroup matrices select them by
default.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.kernels.convolution import conv2d_products
from browsergpu.engine.kernels.convolution.conv2d import plan_conv2d
from browsergpu.engine.kernels.matmul import gemm_f16
from browsergpu.engine.kernels.table import KERNELS
from browsergpu.engine.kernels.text import shaders
from browsergpu.engine.tensors.staging import launch, of_operands
from browsergpu.functions.nn import inputs
from inside.gpu import each_variant, random_array

pytestmark = pytest.mark.firefox


@exclusive
def by_halves(prepare: Any, bg: Any, shape: tuple[int, ...], *operands: np.ndarray) -> np.ndarray:
    """Run a kernel that ``prepare`` builds, and return its float16 result of the given shape."""
    made = bg.full(shape, float("nan"), dtype="float16")
    arrays = [bg.asarray(x) for x in operands]
    launch(made.device, "test", of_operands(prepare), [inputs.memory(x) for x in (*arrays, made)])
    return made.numpy()


def near(got: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    """Assert a matrix product in float32 sums of k terms, rounded to float16."""
    wide = [x.astype(np.float64) for x in (a, b)]
    sizes = np.abs(wide[0]) @ np.abs(wide[1])
    bound = 2.0**-11 * np.abs(wide[0] @ wide[1]) + a.shape[-1] * 2.0**-23 * sizes + 2.0**-24
    assert (np.abs(got - wide[0] @ wide[1]) <= bound).all()


#: Products, rows, columns, inner size, and whether each product has its own A and B.
BATCHES = [
    (3, 70, 72, 40, True, True), (2, 33, 50, 36, False, True), (4, 10, 8, 16, True, False),
    (3, 1, 24, 40, True, True), (2, 5, 7, 3, True, True), (5, 130, 136, 24, False, True),
]  # fmt: skip


@pytest.mark.parametrize(("count", "m", "n", "k", "many_a", "many_b"), BATCHES)
@pytest.mark.parametrize(("flip_a", "flip_b"), [(False, False), (True, True), (False, True)])
def test_batches_and_transposed_operands(
    bg: Any, backend: Any, count: int, m: int, n: int, k: int, many_a: bool, many_b: bool,
    flip_a: bool, flip_b: bool,
) -> None:  # fmt: skip
    a = random_array(1, count if many_a else 1, m, k, dtype=np.float16)
    b = random_array(2, count if many_b else 1, k, n, dtype=np.float16)
    plan = gemm_f16.plan_gemm_f16(m, n, k, 1.0, 0.0, count, many_a, many_b, flip_a, flip_b)
    plan = replace(plan, worth_copying=True)
    lying = [
        np.ascontiguousarray(x.swapaxes(1, 2)) if flip else x
        for x, flip in ((a, flip_a), (b, flip_b))
    ]

    def prepare(build: Any, a: Any, b: Any, c: Any) -> None:
        gemm_f16.gemm_f16(build, a.slot, b.slot, c.slot, plan)

    tried = 0
    for variant in backend.device.facts.variants.available("gemm_f16"):
        if plan.fits(variant):
            with backend.device.facts.variants.only("gemm_f16", variant.name) as forced:
                near(by_halves(prepare, bg, (count, m, n), *lying), a, b)
                assert forced.was_used
                tried += 1
    assert tried


@pytest.mark.parametrize(
    ("count", "rows", "columns"),
    [
        *[(1, 2, 2), (2, 64, 64), (1, 66, 130), (3, 257, 30), (1, 7, 2), (1, 1, 8)],
        *[(1, 5, 3), (2, 65, 129), (3, 2, 1), (3, 3, 67)],
    ],
)
def test_turned(bg: Any, count: int, rows: int, columns: int) -> None:
    x = random_array(3, count, rows, columns, dtype=np.float16)
    pitch = -(-rows // 8) * 8

    def prepare(build: Any, x: Any, y: Any) -> None:
        made = gemm_f16.turned(build, x.slot, count, rows, columns)
        build.copy(made, y.slot, 2 * count * columns * pitch)

    got = by_halves(prepare, bg, (count, columns, pitch), x)
    np.testing.assert_array_equal(got[:, :, :rows], x.swapaxes(1, 2))
    assert not got[:, :, rows:].any()


def test_eight_halves_at_any_place(bg: Any) -> None:
    """What subgroup matrices read of rows without padding, by a kernel that every GPU can run."""
    kernel = KERNELS["conv2d_matrix32_packed"]
    text, _ = shaders.to_compile(kernel.shader, kernel.configurations[""], immediates=False)
    function = text[text.index("fn b_eight(") :]
    source = f"""
        @group(0) @binding(0) var<storage, read> b: array<u32>;
        @group(0) @binding(1) var<storage, read_write> y: array<vec4u>;
        {function[: function.index("}") + 1]}
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) group: vec3u) {{
          y[group.x] = b_eight(group.x);
        }}
    """
    x = np.arange(32, dtype=np.uint16)
    executor = bg.KernelExecutor(bg.ones(1).device)
    y = executor.from_numpy(np.zeros(23 * 4, np.uint32))
    executor.execute_custom_kernel(source, None, [executor.from_numpy(x.view(np.uint32)), y], 23)
    want = np.lib.stride_tricks.sliding_window_view(x, 8)[:23]
    np.testing.assert_array_equal(y.numpy().view(np.uint16).reshape(23, 8), want)


#: Images, channels, image, filters, kernel, stride, padding, dilation.
CONVOLUTIONS: list[tuple[Any, ...]] = [
    (2, 3, (9, 8), 5, (3, 3), (1, 1), (1, 1), (1, 1)),
    (1, 4, (9, 8), 6, (1, 1), (1, 1), (0, 0), (1, 1)),
    (2, 40, (7, 7), 36, (1, 1), (1, 1), (0, 0), (1, 1)),
    (2, 40, (9, 7), 36, (1, 1), (2, 2), (0, 0), (1, 1)),
    (3, 4, (11, 12), 6, (3, 2), (2, 1), (1, 0), (1, 2)),
    (3, 8, (16, 16), 33, (3, 3), (1, 1), (1, 1), (1, 1)),
    (1, 3, (20, 21), 16, (7, 7), (2, 2), (3, 3), (1, 1)),
    (2, 2, (5, 6), 3, (2, 3), (1, 1), (4, 5), (2, 1)),
]


@pytest.mark.parametrize(
    ("images", "channels", "picture", "filters", "kernel", "stride", "padding", "dilation"),
    CONVOLUTIONS,
)
def test_convolutions_as_products(
    bg: Any, backend: Any, images: int, channels: int, picture: Any, filters: int, kernel: Any,
    stride: Any, padding: Any, dilation: Any,
) -> None:  # fmt: skip
    x = random_array(4, images, channels, *picture, dtype=np.float16)
    w = random_array(5, filters, channels, *kernel, dtype=np.float16)
    plan = plan_conv2d("test", x.shape, w.shape, None, stride, padding, dilation)

    def prepare(build: Any, x: Any, w: Any, y: Any) -> None:
        conv2d_products.conv2d_by_product(build, x.slot, w.slot, y.slot, plan)

    padded = np.pad(x, ((0, 0), (0, 0), *((n, n) for n in padding)))
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, reach, (2, 3))
    windows = windows[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    columns = windows.transpose(0, 1, 4, 5, 2, 3).reshape(
        images, -1, plan.problem.out[0] * plan.problem.out[1]
    )
    for _name in each_variant(backend.device, "gemm_f16"):
        got = by_halves(prepare, bg, plan.output_shape, x, w)
        near(got.reshape(images, filters, -1), w.reshape(1, filters, -1), columns)


def test_the_selected_kernel_gives_the_same_result(bg: Any) -> None:
    """Large enough for subgroup matrices, if the device has them; with a bias of both dtypes."""
    x = random_array(6, 2, 64, 28, 28, dtype=np.float16)
    w = random_array(7, 64, 64, 3, 3, dtype=np.float16)
    bias = random_array(8, 64, dtype=np.float16)
    wide = [bg.asarray(v.astype(np.float32)) for v in (x, w, bias)]
    want = bg.nn.conv2d(*wide, padding=1).numpy()
    for added in (bias, bias.astype(np.float32)):
        got = bg.nn.conv2d(bg.asarray(x), bg.asarray(w), bg.asarray(added), padding=1)
        assert got.dtype == np.float16
        np.testing.assert_allclose(got.numpy(), want, rtol=2e-3, atol=2e-3 * np.abs(want).max())
    rows, table = (
        random_array(9, 300, 256, dtype=np.float16),
        random_array(10, 129, 256, dtype=np.float16),
    )
    near(bg.nn.linear(bg.asarray(rows), bg.asarray(table)).numpy(), rows, table.T)
    near((bg.asarray(table) @ bg.asarray(rows).T).numpy(), table, rows.T)
    many = random_array(11, 6, 64, 128, dtype=np.float16)
    near((bg.asarray(many) @ bg.asarray(many).mT).numpy(), many, many.swapaxes(1, 2))
