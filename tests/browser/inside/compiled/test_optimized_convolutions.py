"""Captured blocks: convolution kernels compute the operations that follow.

The tolerance is that of :func:`near`. A batch norm folded into a convolution computes x * scale +
shift instead of (x - mean) * scale + bias. It also rounds mean * scale, which the tests keep as
small as the results.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from browsergpu.engine.kernels.convolution.conv2d import plan_conv2d
from browsergpu.engine.kernels.convolution.conv2d_products import is_by_product
from browsergpu.engine.kernels.variants import VARIANTS
from inside.compiled.merging import both, data, near
from inside.gpu import only_variant

pytestmark = pytest.mark.native

#: Shapes of images and filters, and options.
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "window": ((2, 5, 9, 11), (7, 5, 3, 3), {"padding": 1}),
    "point": ((2, 8, 5, 7), (6, 8, 1, 1), {}),
    "point in steps": ((1, 8, 7, 8), (5, 8, 1, 1), {"stride": 2}),
    "vector": ((1, 8, 4, 8), (20, 8, 1, 1), {}),
    "other": ((2, 3, 12, 11), (6, 3, 5, 4), {"stride": 2, "padding": (2, 1)}),
    "groups": ((2, 6, 7, 8), (8, 3, 3, 3), {"groups": 2}),
    "depthwise": ((2, 6, 9, 8), (12, 1, 3, 3), {"groups": 6, "padding": 1}),
    "long": ((1, 96, 4, 5), (9, 96, 3, 3), {"padding": 1}),
}


def operands(bg: Any, case: str) -> tuple[Any, ...]:
    """Return images, filters, a scale, a bias, a residual, and the convolution."""
    images, filters, options = CASES[case]
    x, w = data(bg, *images), data(bg, *filters, seed=1) * 0.2
    y = bg.nn.conv2d(x, w, **options)
    scale, bias = (data(bg, filters[0], 1, 1, seed=n) for n in (2, 3))
    return x, w, scale, bias, data(bg, *y.shape, seed=4), lambda x, w: bg.nn.conv2d(x, w, **options)


def check_all_parts(bg: Any, case: str) -> None:
    x, w, scale, bias, h, conv = operands(bg, case)

    def late(x: Any, w: Any, scale: Any, bias: Any, h: Any) -> Any:
        return bg.nn.relu(conv(x, w) * scale + bias + h)

    def early(x: Any, w: Any, scale: Any, bias: Any, h: Any) -> Any:
        return h + bg.nn.silu(conv(x, w) * scale + bias)

    assert both(bg, late, x, w, scale, bias, h) == ["conv2d with multiply, add, add, maximum"]
    assert both(bg, early, x, w, scale, bias, h) == ["conv2d with multiply, add, silu, add"]
    assert both(bg, lambda x, w: bg.nn.gelu(conv(x, w)), x, w) == ["conv2d with gelu"]
    assert both(bg, lambda x, w, b: conv(x, w) + b, x, w, bias) == ["conv2d with add"]


@pytest.mark.fast
def test_one_kernel_computes_a_convolution_and_its_epilogue(bg: Any) -> None:
    check_all_parts(bg, "window")


@pytest.mark.parametrize("case", CASES)
def test_scale_bias_activations_and_residual(bg: Any, case: str) -> None:
    check_all_parts(bg, case)


@pytest.mark.parametrize("name", [variant.name for variant in VARIANTS["conv2d"]])
def test_each_variant(bg: Any, name: str) -> None:
    device = bg.ones(1).device
    with only_variant(device, "conv2d", name):
        for case in CASES:
            check_all_parts(bg, case)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("rank", [1, 2])
def test_batch_norm_at_evaluation_is_folded(bg: Any, rank: int, affine: bool) -> None:
    from browsergpu import nn

    nn.init.seed(0)
    conv = (nn.Conv1d, nn.Conv2d)[rank - 1](4, 6, 3, padding=1, bias=False)
    norm = (nn.BatchNorm1d, nn.BatchNorm2d)[rank - 1](6, affine=affine)
    x, h = data(bg, 3, 4, *(7, 5)[:rank]), data(bg, 3, 6, *(7, 5)[:rank])
    with bg.no_grad():
        for _ in range(3):
            norm(conv(x))
        norm.eval()
        name = f"conv{rank}d"
        assert both(bg, lambda x, h: nn.relu(norm(conv(x)) + h), x, h) == [
            f"{name} with multiply, add, add, maximum"
        ]
        # each replay reads the current statistics
        fast = bg.jit(lambda x: norm(conv(x)))
        for n in range(4):
            norm.running_mean += 0.5 * n
            norm.running_var *= 1.25
            near(fast(x), norm(conv(x)))


def test_convolutions_with_a_bias(bg: Any) -> None:
    from browsergpu import nn

    conv, norm = nn.Conv2d(4, 6, 3), nn.BatchNorm2d(6).eval()
    x, h = data(bg, 2, 4, 7, 6), data(bg, 2, 6, 5, 4)
    with bg.no_grad():
        assert both(bg, lambda x, h: nn.relu(conv(x)) + h, x, h) == ["conv2d with maximum, add"]
        assert both(bg, lambda x: nn.relu(norm(conv(x))), x) == []  # no place for a second bias


def test_transposed_convolutions(bg: Any) -> None:
    x, w, b = data(bg, 2, 4, 5, 6), data(bg, 4, 3, 3, 3), data(bg, 3, 1, 1)

    def f(x: Any, w: Any, b: Any) -> Any:
        return bg.nn.relu(bg.nn.conv_transpose2d(x, w) + b)

    assert both(bg, f, x, w, b) == ["conv_transpose2d with add, maximum"]


@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
def test_transposed_convolutions_with_strides(bg: Any, kernel: int) -> None:
    """The results of several convolutions are joined, so that they have no epilogue."""
    x, w, b = data(bg, 2, 4, 5, 6), data(bg, 4, 3, kernel, kernel), data(bg, 3)

    def f(x: Any, w: Any, b: Any) -> Any:
        return bg.nn.relu(bg.nn.conv_transpose2d(x, w, b, stride=2, padding=kernel // 3))

    assert both(bg, f, x, w, b) == []


def test_operations_that_no_epilogue_computes(bg: Any) -> None:
    x, w, h = data(bg, 2, 4, 7, 6), data(bg, 5, 4, 3, 3), data(bg, 2, 5, 5, 4)
    column, number = data(bg, 4), 0.0

    def f(x: Any, w: Any, h: Any) -> Any:
        y = bg.nn.conv2d(x, w)
        return bg.nn.conv2d(x, w, padding=1) * number, y + column, (y + h) * h

    assert both(bg, f, x, w, h) == []
    assert both(bg, lambda x, w: bg.nn.conv2d(x[0], w) + h[0], x, w) == []
    half = [v.astype("float16") for v in (x, w, h)]
    assert both(bg, lambda x, w, h: bg.nn.relu(bg.nn.conv2d(x, w) + h), *half) == []


def test_training_with_batch_norm(bg: Any) -> None:
    from browsergpu import nn

    x, y = data(bg, 4, 3, 8, 8), data(bg, 4, 2)
    losses = []
    for optimize in (True, False):
        nn.init.seed(0)
        model = nn.Sequential(
            nn.Conv2d(3, 6, 3, bias=False), nn.BatchNorm2d(6), nn.ReLU(),
            nn.Conv2d(6, 4, 3, stride=2), nn.SiLU(), nn.Flatten(), nn.Linear(16, 2),
        )  # fmt: skip
        optimizer = bg.optim.SGD(model.parameters(), lr=0.01)

        def step(x: Any, y: Any, model: Any = model, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = nn.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            return loss.detach()

        fast = bg.jit(step, optimize=optimize)
        losses.append([float(fast(x, y)) for _ in range(6)])
        assert fast.explain().variants
        evaluate = bg.jit(model.eval(), optimize=optimize)
        losses[-1] += [float(bg.sum(evaluate(x).detach())) for _ in range(3)]
    np.testing.assert_allclose(*losses, rtol=1e-4, atol=1e-4)


#: Images and filters of float16 convolutions, large enough for subgroup matrices, and the options.
HALVES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "window": ((2, 64, 16, 16), (64, 64, 3, 3), {"padding": 1}),
    "uneven": ((3, 64, 7, 7), (64, 64, 3, 3), {"padding": 1}),
    "point": ((4, 64, 16, 16), (64, 64, 1, 1), {}),
    "uneven point": ((8, 128, 14, 14), (65, 128, 1, 1), {}),
    "odd point": ((3, 320, 7, 7), (96, 320, 1, 1), {}),
    "large odd point": ((1, 32, 183, 183), (24, 32, 1, 1), {}),
    "few filters": ((1, 64, 64, 64), (17, 64, 1, 1), {}),
    "steps": ((3, 64, 13, 13), (66, 64, 3, 3), {"stride": 2, "padding": 1}),
    "few channels": ((2, 3, 32, 32), (64, 3, 7, 7), {"stride": 2, "padding": 3}),
    "groups": ((1, 8, 9, 9), (8, 4, 3, 3), {"groups": 2}),
}


@pytest.mark.parametrize("case", HALVES)
def test_float16(bg: Any, case: str) -> None:
    """Matrix products take a residual and one activation. Other kernels cast the operands."""
    images, filters, options = HALVES[case]
    x = data(bg, *images, dtype="float16")
    w = (data(bg, *filters, seed=1) * 0.05).astype("float16")

    def conv(x: Any, w: Any) -> Any:
        return bg.nn.conv2d(x, w, **options)

    y = conv(x, w)
    h = data(bg, *y.shape, dtype="float16", seed=4)
    settings = [options.get(name, 0) for name in ("padding", "dilation", "groups")]
    settings[1:] = [one or 1 for one in settings[1:]]
    plan = plan_conv2d("test", x.shape, w.shape, None, options.get("stride", 1), *settings)
    is_product = is_by_product(x.device.facts, plan)
    for kind in ("float32", "float16"):
        scale, bias = (data(bg, filters[0], 1, 1, dtype=kind, seed=n) for n in (2, 3))

        def late(x: Any, w: Any, h: Any, scale: Any = scale, bias: Any = bias) -> Any:
            return bg.nn.relu((conv(x, w) * scale + bias).astype("float16") + h)

        def early(x: Any, w: Any, h: Any, scale: Any = scale, bias: Any = bias) -> Any:
            return h + bg.nn.silu((conv(x, w) * scale + bias).astype("float16"))

        more = ", add, maximum" if is_product else ""
        assert both(bg, late, x, w, h) == [f"conv2d with multiply, add{more}"]
        assert both(bg, early, x, w, h) == ["conv2d with multiply, add, silu"]
        # A float32 value that is wanted is not rounded.
        wide = lambda x, w, bias=bias: conv(x, w) + bias.astype("float32")  # noqa: E731
        assert both(bg, wide, x, w) == []
    assert both(bg, lambda x, w: bg.nn.gelu(conv(x, w)), x, w) == ["conv2d with gelu"]


@pytest.mark.parametrize("case", ["window", "uneven point", "groups"])
def test_batch_norm_of_float16(bg: Any, case: str) -> None:
    from browsergpu import nn

    images, filters, options = HALVES[case]
    nn.init.seed(0)
    conv = nn.Conv2d(images[1], filters[0], filters[2:], bias=False, **options)
    norm = nn.BatchNorm2d(filters[0])
    x = data(bg, *images)
    with bg.no_grad():
        for _ in range(3):
            norm(conv(x))
        model = nn.Sequential(conv, norm, nn.ReLU()).to(dtype=bg.float16).eval()
        names = both(bg, model, x.astype("float16"))
        assert names == ["conv2d with multiply, add, maximum"]


def test_a_residual_of_one_pixel_after_a_bias_of_its_own(bg: Any) -> None:
    x, w, b = data(bg, 1, 6, 1, 1), data(bg, 5, 6, 1, 1, seed=1), data(bg, 5)
    h = data(bg, 1, 5, 1, 1, seed=2)
    assert both(bg, lambda x, h: bg.nn.conv2d(x, w, b) + h, x, h) == ["conv2d with add"]


def test_float16_with_a_bias_of_its_own(bg: Any) -> None:
    from browsergpu import nn

    images, filters, options = HALVES["uneven"]
    model = nn.Sequential(
        nn.Conv2d(images[1], filters[0], 3, **options), nn.SiLU(), nn.Conv2d(64, 3, 1), nn.ReLU()
    )
    x = data(bg, *images, dtype="float16")
    with bg.no_grad():
        names = both(bg, model.to(dtype=bg.float16), x)
    assert len(names) == 2
    assert names[1] == "conv2d with maximum"
