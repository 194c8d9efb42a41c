"""``torch.distributions``, with the results of PyTorch 2.13."""

from __future__ import annotations

import numpy as np
import pytest

import browsergpu.torch as torch
from browsergpu.torch.distributions import (
    Bernoulli,
    Categorical,
    Distribution,
    Normal,
    kl_divergence,
)

pytestmark = pytest.mark.native

#: The logarithm of float32's epsilon, the smallest probability of PyTorch.
_LEAST = np.log(np.finfo(np.float32).eps)


@pytest.mark.fast
def test_values_of_smaller_shapes_are_broadcast() -> None:
    choice = Categorical(probs=torch.tensor([[0.25, 0.75], [1.0, 0.0]]))
    both = [np.log(0.75), _LEAST]
    for value, expected in (
        (torch.tensor(1), both), (torch.tensor([1]), both), (torch.tensor([1, 0]), [both[0], 0]),
        (torch.tensor([[1], [0]]), [both, [np.log(0.25), 0]]), (torch.tensor(1.0), both),
    ):  # fmt: skip
        np.testing.assert_allclose(choice.log_prob(value).numpy(), expected, atol=2e-6)
    normal = Normal(torch.zeros(3), 2.0)
    one = -0.125 - np.log(2) - 0.5 * np.log(2 * np.pi)
    for value, shape in ((torch.tensor(1.0), (3,)), (torch.ones(2, 1), (2, 3))):
        found = normal.log_prob(value)
        np.testing.assert_allclose(found.numpy(), np.full(shape, one), rtol=1e-5)
    coin = Bernoulli(torch.tensor([0.2, 0.7]))
    for value, expected in ((torch.tensor(1.0), [0.2, 0.7]), (torch.ones(3, 1), [[0.2, 0.7]] * 3)):
        np.testing.assert_allclose(coin.log_prob(value).exp().numpy(), expected, rtol=1e-5)
    for one_of_them in (choice, normal, coin):
        with pytest.raises(ValueError, match="shape"):
            one_of_them.log_prob(torch.ones(5))


def test_values_outside_of_the_support_are_refused() -> None:
    choice, normal = Categorical(torch.ones(2)), Normal(0.0, 1.0)
    for given, value in (
        (choice, [0, 2]), (choice, [-1]), (choice, [0.5]), (normal, [float("nan")]),
        (Bernoulli(0.5), [0.5]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="value must be"):
            given.log_prob(torch.tensor(value))
        with pytest.raises(ValueError, match="a tensor"):
            given.log_prob(1.0)
    assert normal.log_prob(torch.tensor(float("inf"))).item() == -float("inf")
    with pytest.raises(ValueError, match="value"):
        normal.cdf(torch.tensor(float("nan")))


def test_parameters_are_checked_unless_it_is_turned_off() -> None:
    nan = float("nan")
    for make in (
        lambda **of: Normal(0.0, -1.0, **of), lambda **of: Normal(0.0, 0.0, **of),
        lambda **of: Normal(nan, 1.0, **of), lambda **of: Bernoulli(1.5, **of),
        lambda **of: Bernoulli(logits=torch.tensor(nan), **of),
        lambda **of: Categorical(torch.tensor([-1.0, 2.0]), **of),
        lambda **of: Categorical(logits=torch.tensor([nan, 2.0]), **of),
    ):  # fmt: skip
        for options in ({}, {"validate_args": True}):
            with pytest.raises(ValueError, match="must be"):
                make(**options)
        make(validate_args=False)
    Distribution.set_default_validate_args(False)
    try:
        assert np.isnan(Normal(0.0, -1.0).log_prob(torch.tensor(1.0)).item())
        with pytest.raises(ValueError, match="scale"):
            Normal(0.0, -1.0, validate_args=True)
    finally:
        Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="scale"):
        Normal(0.0, -1.0)
    with pytest.raises(ValueError, match="validate_args"):
        Normal(0.0, 1.0, validate_args="no")
    with pytest.raises(ValueError, match="have an axis"):
        Categorical(torch.tensor(1.0))


def test_nothing_is_read_in_a_compiled_function_by_default() -> None:
    @torch.compile
    def density(x):
        return Normal(torch.zeros(2), 1.0).log_prob(x)

    expected = [-0.5 - 0.5 * np.log(2 * np.pi)] * 2
    for _ in range(3):
        np.testing.assert_allclose(density(torch.ones(2)).numpy(), expected, rtol=1e-5)


def test_probabilities_of_0_and_1() -> None:
    sure, even = torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5])
    inf = float("inf")
    found = kl_divergence(Categorical(sure), Categorical(even)).item()
    np.testing.assert_allclose(found, np.log(2), rtol=1e-5)
    assert kl_divergence(Categorical(even), Categorical(sure)).item() == inf
    np.testing.assert_allclose(
        kl_divergence(Bernoulli(1.0), Bernoulli(0.5)).item(), np.log(2), rtol=1e-5
    )
    assert kl_divergence(Bernoulli(0.5), Bernoulli(1.0)).item() == inf
    assert Categorical(logits=torch.tensor([-inf, 0.0])).entropy().item() == 0
    np.testing.assert_allclose(
        Bernoulli(1.0).log_prob(torch.tensor([0.0, 1.0])).numpy(), [_LEAST, 0], atol=1e-5
    )
