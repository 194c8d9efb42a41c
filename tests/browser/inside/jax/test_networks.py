"""``jax.nn`` and ``jax.scipy``: the constants are those of JAX 0.10.2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]

EXPECTED = {
    "celu": [-0.8646647334098816, 0.5],
    "elu": [-0.8646647334098816, 0.5],
    "gelu": [-0.045402348041534424, 0.3457140028476715],
    "hard_sigmoid": [0.1666666716337204, 0.5833333730697632],
    "hard_silu": [-0.3333333432674408, 0.2916666865348816],
    "leaky_relu": [-0.019999999552965164, 0.5],
    "log_sigmoid": [-2.1269280910491943, -0.4740769863128662],
    "log_softmax": [-2.578889846801758, -0.07888974994421005],
    "logsumexp": 0.5788897275924683,
    "mish": [-0.2525014579296112, 0.37524524331092834],
    "relu6": [0.0, 0.5],
    "selu": [-1.5201665163040161, 0.5253505110740662],
    "silu": [-0.23840583860874176, 0.3112296760082245],
    "soft_sign": [-0.6666666865348816, 0.3333333432674408],
    "softmax": [0.07585818320512772, 0.9241418242454529],
    "softplus": [0.12692800164222717, 0.9740769863128662],
    "squareplus": [0.41421353816986084, 1.2807763814926147],
    "standardize": [-0.9999967813491821, 0.9999967813491821],
}  # fmt: skip
HE = [
    1.6552032232284546,
    1.9494074583053589,
    -0.4691488444805145,
    -0.08530155569314957,
    0.19099149107933044,
    -1.0375028848648071,
]


def test_activations(bg: Any) -> None:
    jax = bg.jax
    jnp = jax.numpy
    x = jnp.array([-2.0, 0.5])
    for name, expected in EXPECTED.items():
        found = np.asarray(getattr(jax.nn, name)(x))
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6, err_msg=name)
    assert jax.nn.one_hot(jnp.array([1, 5]), 3).tolist() == [[0, 1, 0], [0, 0, 0]]
    masked = jax.nn.softmax(jnp.arange(3.0), where=jnp.array([True, False, True]))
    assert masked[1].item() == 0


def test_attention_hides_later_positions(bg: Any) -> None:
    jax = bg.jax
    jnp = jax.numpy
    q = jnp.sin(jnp.arange(24.0)).reshape(1, 3, 2, 4)
    whole = jax.nn.dot_product_attention(q, q, q, is_causal=True)
    first = jax.nn.dot_product_attention(q[:, :1], q[:, :1], q[:, :1])
    np.testing.assert_allclose(np.asarray(whole[:, :1]), np.asarray(first), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="Use mask"):
        jax.nn.dot_product_attention(q, q, q, local_window_size=2)


def test_initial_values(bg: Any) -> None:
    jax = bg.jax
    weights = jax.nn.initializers.he_normal()(jax.random.key(0), (2, 3))
    np.testing.assert_allclose(np.asarray(weights).ravel(), HE, rtol=2e-5)
    with pytest.raises(ValueError, match="2 axes"):
        jax.nn.initializers.glorot_uniform()(jax.random.key(0), (3,))


def test_scipy(bg: Any) -> None:
    jax = bg.jax
    jnp, scipy = jax.numpy, jax.scipy
    matrix = jnp.array([[4.0, 1.0], [1.0, 3.0]])
    solved = scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix), jnp.ones(2))
    np.testing.assert_allclose(np.asarray(matrix @ solved), [1, 1], rtol=1e-5)
    lower = scipy.linalg.solve_triangular(matrix, jnp.ones(2), lower=True)
    np.testing.assert_allclose(np.asarray(lower), [0.25, 0.25], rtol=1e-6)
    turned = np.asarray(scipy.linalg.expm(jnp.array([[0.0, 20.0], [-20.0, 0.0]])))
    np.testing.assert_allclose(turned[0], [np.cos(20), np.sin(20)], atol=2e-5)
    assert scipy.linalg.toeplitz(jnp.arange(2), jnp.array([0, 5])).tolist() == [[0, 5], [1, 0]]
    found = np.asarray(scipy.stats.norm.logpdf(jnp.array([0.0, 1.0])))
    np.testing.assert_allclose(found, [-0.9189385, -1.4189385], rtol=1e-6)
    assert scipy.stats.uniform.pdf(2.0).item() == 0
    with pytest.raises(AttributeError, match="not available"):
        _ = scipy.stats.norm.entropy
