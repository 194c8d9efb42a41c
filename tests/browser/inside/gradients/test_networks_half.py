"""Gradients in float16, compared with float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]

#: Calls of network and image functions, and the shapes of their operands.
CALLS: dict[str, tuple[Any, tuple[tuple[int, ...], ...]]] = {
    "linear": (lambda bg, *a: bg.nn.linear(*a), ((2, 3), (4, 3), (4,))),
    "conv2d": (lambda bg, *a: bg.nn.conv2d(*a, 2, 1), ((1, 2, 5, 4), (2, 2, 3, 3), (2,))),
    "conv_transpose2d": (lambda bg, *a: bg.nn.conv_transpose2d(*a, stride=2),
                         ((1, 2, 2, 3), (2, 1, 3, 2), (1,))),
    "attention": (lambda bg, *a: bg.nn.scaled_dot_product_attention(*a),
                  ((2, 3), (4, 3), (4, 3), (2, 4))),
    "max_pool2d": (lambda bg, x: bg.nn.max_pool2d(x, 3, 2, 1), ((1, 5, 5),)),
    "avg_pool2d": (lambda bg, x: bg.nn.avg_pool2d(x, 3, 2, 1), ((1, 5, 5),)),
    "batch_norm": (lambda bg, x, w, b: bg.nn.batch_norm(x, None, None, w, b, training=True),
                   ((3, 2, 2), (2,), (2,))),
    "group_norm": (lambda bg, x, w, b: bg.nn.group_norm(x, 2, w, b), ((2, 4, 2), (4,), (4,))),
    "rms_norm": (lambda bg, x, w: bg.nn.rms_norm(x, 4, w, 1e-3), ((2, 4), (4,))),
    "pad": (lambda bg, x: bg.nn.pad(x, (1, 2), "reflect"), ((2, 4),)),
    "gelu": (lambda bg, x: bg.nn.gelu(x), ((2, 4),)),
    "softmax": (lambda bg, x: bg.nn.softmax(x), ((2, 4),)),
    "mse_loss": (lambda bg, *a: bg.nn.mse_loss(*a), ((2, 4), (2, 4))),
    "cross_entropy": (lambda bg, *a: bg.nn.cross_entropy(*a), ((2, 3), (2, 3), (3,))),
    "resize": (lambda bg, x: bg.image.resize(x, (5, 2)), ((3, 4),)),
    "gaussian_blur": (lambda bg, x: bg.image.gaussian_blur(x, 1.0), ((3, 4),)),
    "sharpen": (lambda bg, x: bg.image.sharpen(x), ((3, 4),)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_half_precision(bg: Any, name: str) -> None:
    call, shapes = CALLS[name]
    rng = np.random.default_rng(1)
    arrays = [rng.uniform(0.1, 0.9, shape).astype(np.float16) for shape in shapes]
    found, expected = (
        bg.grad(lambda *a: (call(bg, *a) ** 2).sum(), argnums=tuple(range(len(arrays))))(
            *[bg.asarray(x.astype(dtype)) for x in arrays]
        )
        for dtype in (np.float16, np.float32)
    )
    for own, other in zip(found, expected, strict=True):
        assert own.dtype == np.float16
        scale = max(1.0, float(np.abs(other.numpy()).max()))
        np.testing.assert_allclose(own.numpy(), other.numpy(), atol=2e-2 * scale)
