"""Keys and random numbers: the constants are those of JAX 0.10.2 with the key 42."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]

#: Numbers of JAX 0.10.2.
GAMMAS = [
    8.36432955111377e-05,
    0.8612256646156311,
    0.10096914321184158,
    4.83832311630249,
    21.355154037475586,
]
TRUNCATED = [-0.2622236907482147, -0.743364691734314, 1.9573545455932617, 0.6520662307739258]
BETAS = [0.019086666405200958, 0.005544885061681271, 0.11166468262672424]
DIRICHLET = [0.1283092349767685, 0.10399961471557617, 0.7676911354064941]
MULTIVARIATE = [1.3611910343170166, -0.8319732546806335]
CHOICE = [2, 2, 3, 1]
WEIGHTED = [2, 3, 3, 3, 1, 3]
PERMUTED = [[0, 1], [4, 5], [2, 3]]
HALF = [0.220703125, 0.03125, 0.7080078125, 0.7490234375]


def _array(x: Any) -> np.ndarray:
    return np.asarray(x)


@pytest.mark.fast
def test_bits_are_those_of_jax(bg: Any) -> None:
    from browsergpu.jax import random

    key = random.key(42)
    assert key.tolist() == [0, 42]
    assert random.split(key, 3).tolist() == [
        [1832780943, 270669613], [64467757, 2916123636], [2465931498, 255383827],
    ]  # fmt: skip
    assert random.split(random.key(0)).tolist() == [
        [1797259609, 2579123966], [928981903, 3453687069],
    ]  # fmt: skip
    assert random.fold_in(key, 5).tolist() == [2765691542, 824333390]
    assert random.fold_in(key, bg.asarray(5)).tolist() == [2765691542, 824333390]
    assert random.bits(key, (2, 3)).tolist() == [
        [2098992034, 2919706841, 2646866425], [2409546199, 1935504149, 2516274904],
    ]  # fmt: skip
    assert [x.hex() for x in random.uniform(key, 3).tolist()] == [
        "0x1.f470480000000p-2", "0x1.5c0e600000000p-1", "0x1.3b87f00000000p-1",
    ]  # fmt: skip


def test_distributions_are_those_of_jax(bg: Any) -> None:
    from browsergpu.jax import random

    key = random.PRNGKey(42)
    normal = [-0.02830461598932743, 0.4671318531036377, 0.2957029640674591, 0.15354591608047485]
    np.testing.assert_allclose(_array(random.normal(key, (4,))), normal, rtol=2e-6)
    bounded = [
        float.fromhex(one)
        for one in ("0x1.6bc47e0000000p+0", "0x1.6119280000000p+1", "0x1.282de40000000p+1")
    ]
    found = _array(random.uniform(key, 3, minval=-2, maxval=5))
    np.testing.assert_allclose(found, bounded, rtol=3e-7)
    assert random.randint(key, 5, -3, 1000).tolist() == [407, 669, 173, 288, 412]
    assert random.randint(key, 4, 0, 10).tolist() == [4, 4, 1, 9]
    assert random.permutation(key, 8).tolist() == [7, 4, 2, 5, 3, 6, 0, 1]
    assert random.bernoulli(key, 0.3, (6,)).tolist() == [False] * 6
    logits = bg.asarray(np.log(np.float32([0.1, 0.2, 0.7])))
    assert random.categorical(key, logits, shape=(6,)).tolist() == [2, 2, 2, 2, 1, 2]
    for function, expected in (
        (random.exponential, [0.670817494392395, 1.1388006210327148, 0.9578199982643127]),
        (random.gumbel, [0.3340933918952942, 0.952019453048706, 0.7255305647850037]),
        (random.laplace, [0.022839652374386787, -0.4456535577774048, -0.2646729052066803]),
    ):
        np.testing.assert_allclose(_array(function(key, (3,))), expected, rtol=2e-5, atol=1e-6)


def test_rejection_and_choices_are_those_of_jax(bg: Any) -> None:
    from browsergpu.jax import numpy as jnp
    from browsergpu.jax import random

    gammas = _array(random.gamma(random.key(9), jnp.array([0.3, 0.9, 1.0, 2.5, 30.0])))
    np.testing.assert_allclose(gammas, GAMMAS, rtol=2e-5)
    found = _array(random.truncated_normal(random.key(8), -1.0, 2.0, (4,)))
    np.testing.assert_allclose(found, TRUNCATED, rtol=2e-5)
    found = _array(random.beta(random.key(10), 0.5, 2.0, (3,)))
    np.testing.assert_allclose(found, BETAS, rtol=2e-4)
    found = _array(random.dirichlet(random.key(11), jnp.array([1.0, 2.0, 3.0])))
    np.testing.assert_allclose(found, DIRICHLET, rtol=2e-5)
    found = random.multivariate_normal(
        random.key(12), jnp.array([1.0, -1.0]), jnp.array([[2.0, 0.5], [0.5, 1.0]])
    )
    np.testing.assert_allclose(_array(found), MULTIVARIATE, rtol=2e-5)
    assert random.choice(random.key(6), 5, (4,)).tolist() == CHOICE
    assert random.choice(random.key(6), 4, (6,), p=jnp.array([0.1, 0.2, 0.3, 0.4])).tolist() == (
        WEIGHTED
    )
    rows = random.permutation(random.key(5), jnp.arange(6).reshape(3, 2)).tolist()
    assert rows == PERMUTED
    small = random.uniform(random.key(1), (4,), jnp.float16)
    assert small.dtype == jnp.float16
    assert small.tolist() == HALF


def test_keys_of_examples(bg: Any) -> None:
    from browsergpu.jax import random

    keys = random.split(random.key(1), 4)
    found = bg.vmap(lambda key: random.normal(key, (3,)))(keys)
    for n in range(4):
        expected = _array(random.normal(keys[n], (3,)))
        np.testing.assert_allclose(_array(found)[n], expected, rtol=1e-6)


def test_errors(bg: Any) -> None:
    from browsergpu.jax import random

    with pytest.raises(TypeError, match="a key"):
        random.bits(bg.ones(2), 3)
    with pytest.raises(ValueError, match="single key"):
        random.bits(random.split(random.key(0)), 3)
    with pytest.raises(TypeError, match="float32"):
        random.uniform(random.key(0), 3, np.int32)
    with pytest.raises(ValueError, match="broadcasts"):
        random.uniform(random.key(0), (3,), minval=bg.zeros(2))
    with pytest.raises(ValueError, match="without replacement"):
        random.choice(random.key(0), 3, (4,), replace=False)
    with pytest.raises(TypeError, match="integer"):
        random.key(0.5)
