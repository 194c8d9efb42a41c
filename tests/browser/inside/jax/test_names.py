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
    last = jax.jit(lambda v, n: v**n, static_argnums=-1)
    assert last(x, 2).tolist() == [1, 4, 9]
    named = jax.jit(lambda v, n: v * n, static_argnames="n")
    assert named(x, n=2).tolist() == [2, 4, 6]
    assert jax.block_until_ready({"a": x * 2})["a"].tolist() == [2, 4, 6]
    assert jax.tree.map(lambda v: v + 1, {"a": 1}) == {"a": 2}
    assert isinstance(jax.numpy.ones(2), jax.Array)
    assert isinstance(jax.vmap(lambda v: v)(x), jax.Array)


def test_missing_names_say_what_to_use(bg: Any) -> None:
    jax = bg.jax
    with pytest.raises(AttributeError, match=r"Use jax\.tree\.map"):
        _ = jax.tree_map
    with pytest.raises(AttributeError, match="Did you mean vmap"):
        _ = jax.vmapp
    assert not hasattr(jax, "pmap")
    for module, name, advice in (
        (jax.numpy, "fix", "Use trunc"), (jax.numpy, "sinn", "Did you mean sin"),
        (jax.lax, "gather", "x\\.at"), (jax.random, "poisson", "default_rng"),
        (jax.nn, "reluu", "Did you mean relu"), (jax.scipy.special, "zeta", "not available"),
        (jax.numpy.ones(2), "fill", "full_like"), (jax.numpy.ones(2), "nothing", "not available"),
    ):  # fmt: skip
        with pytest.raises(AttributeError, match=advice):
            getattr(module, name)
    with pytest.raises(NotImplementedError, match="64-bit"):
        jax.config.update("jax_enable_x64", True)
    with pytest.raises(NotImplementedError, match="bfloat16"):
        jax.numpy.ones(2, jax.numpy.bfloat16)
    with pytest.raises(ValueError, match="one device"):
        jax.jit(lambda v: v, backend="tpu")


def test_install_puts_the_names_under_jax(bg: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    bg.jax.install()
    try:
        import jax
        import jax.numpy as jnp
        from jax.nn import initializers
        from jax.scipy.stats import norm

        assert jax is bg.jax
        assert jnp is bg.jax.numpy
        assert initializers.zeros(None, (2,)).tolist() == [0, 0]
        assert norm.cdf(0.0).item() == 0.5
    finally:
        for name in [one for one in sys.modules if one == "jax" or one.startswith("jax.")]:
            monkeypatch.delitem(sys.modules, name)
