"""einops and opt_einsum on GPU arrays, against NumPy."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same

pytestmark = pytest.mark.firefox


@pytest.mark.parametrize("name", ["einops", "einops.array_api"])
def test_einops(bg: Any, name: str) -> None:
    from einops import EinopsError

    einops = import_module(name)
    rng = np.random.default_rng(0)
    x = rng.random((2, 4, 6, 3)).astype(np.float32)
    array = bg.asarray(x)
    for pattern, axes in (
        ("b h w c -> b c h w", {}), ("b h w c -> (b h) (w c)", {}),
        ("b (h h2) (w w2) c -> b h w (h2 w2 c)", {"h2": 2, "w2": 3}), ("b ... c -> ... (b c)", {}),
    ):  # fmt: skip
        found = einops.rearrange(array, pattern, **axes)
        assert isinstance(found, bg.Array)
        assert_same(found, einops.rearrange(x, pattern, **axes), pattern)
    for how in ("sum", "mean", "max", "min", "prod"):
        pattern = "b (h h2) (w w2) c -> b h w c"
        expected = einops.reduce(x, pattern, how, h2=2, w2=2)
        assert_same(einops.reduce(array, pattern, how, h2=2, w2=2), expected, how, rtol=1e-5)
    pattern = "b h w c -> b (h r) w c"
    assert_same(einops.repeat(array, pattern, r=2), einops.repeat(x, pattern, r=2))
    packed, shapes = einops.pack([array, array[:, 0]], "b * c")
    assert_same(packed, einops.pack([x, x[:, 0]], "b * c")[0])
    assert_same(einops.unpack(packed, shapes, "b * c")[1], x[:, 0])
    with pytest.raises(EinopsError, match="divi"):
        einops.rearrange(array, "b (h h2) w c -> b h h2 w c", h2=3)


def test_functions_that_only_einops_has(bg: Any) -> None:
    import einops

    rng = np.random.default_rng(0)
    x, y = (rng.random((3, 4)).astype(np.float32) for _ in range(2))
    a, b = bg.asarray(x), bg.asarray(y)
    found = einops.einsum(a, b, "i k, j k -> i j")
    assert isinstance(found, bg.Array)
    assert_same(found, einops.einsum(x, y, "i k, j k -> i j"), rtol=1e-5)
    assert einops.parse_shape(a, "h w") == {"h": 3, "w": 4}
    assert_same(einops.rearrange([a, b], "n h w -> h (n w)"), np.concatenate([x, y], axis=1))
    np.testing.assert_array_equal(einops.asnumpy(a), x)
    assert_same(einops.reduce(a, "h w -> w", lambda z, axes: bg.max(z, axis=axes)), x.max(0))
    assert_same(einops.reduce(a > 0.5, "h w -> w", "any"), (x > 0.5).any(0))
    with pytest.raises(NotImplementedError, match="float"):
        einops.reduce(bg.asarray([[1, 2]]), "h w -> w", "mean")


def test_opt_einsum(bg: Any) -> None:
    import opt_einsum

    rng = np.random.default_rng(1)
    operands = [rng.random(shape).astype(np.float32) for shape in ((5, 6), (6, 7, 8), (8, 5), (7,))]
    arrays = [bg.asarray(operand) for operand in operands]
    for text, count in (("ab,bcd,da,c->", 4), ("ab,bcd,de->ace", 3), ("ab,bcd->acd", 2)):
        found = opt_einsum.contract(text, *arrays[:count])
        assert isinstance(found, bg.Array)
        assert_same(found, np.einsum(text, *operands[:count]), text, rtol=1e-4)
    call = opt_einsum.contract_expression("ab,bcd,da->c", (5, 6), (6, 7, 8), (8, 5))
    assert_same(call(*arrays[:3]), np.einsum("ab,bcd,da->c", *operands[:3]), rtol=1e-4)
