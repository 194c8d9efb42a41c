"""The names of ``browsergpu.jax``."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def test_transforms_have_jaxs_names(bg: Any) -> None:
    jax = bg.jax
    x = bg.asarray([1.0, 2.0, 3.0])
    assert jax.vmap(jax.grad(lambda v: v**3))(x).tolist() == [3, 12, 27]
    power = jax.jit(lambda v, n: v**n, static_argnums=1)
    assert [power(x, n).tolist()[1] for n in (2, 2, 3)] == [4, 4, 8]
    named = jax.jit(lambda v, n: v * n, static_argnames="n")
    assert named(x, n=2).tolist() == [2, 4, 6]
    assert jax.block_until_ready({"a": x * 2})["a"].tolist() == [2, 4, 6]
    assert jax.tree_map(lambda v: v + 1, {"a": 1}) == {"a": 2}
    assert isinstance(x, jax.Array)


def test_missing_names_say_what_to_use(bg: Any) -> None:
    with pytest.raises(AttributeError, match="Use browsergpu itself"):
        _ = bg.jax.numpy
    with pytest.raises(AttributeError, match="Did you mean vmap"):
        _ = bg.jax.vmapp
    assert not hasattr(bg.jax, "pmap")
