"""Initial values of parameters."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


def test_distributions(bg: Any) -> None:
    init = bg.nn.init
    init.seed(0)
    w = bg.nn.Parameter(bg.zeros((64, 32)))
    bounds = {
        init.xavier_uniform_: sqrt(6 / 96), init.kaiming_uniform_: sqrt(2) * sqrt(3 / 32),
        init.uniform_: None,
    }  # fmt: skip
    for function, bound in bounds.items():
        assert function(w) is w
        found = w.detach().numpy()
        low, high = (0, 1) if bound is None else (-bound, bound)
        assert low <= found.min() < low + 0.01
        assert high - 0.01 < found.max() <= high
    spreads = {
        init.xavier_normal_: sqrt(2 / 96), init.kaiming_normal_: sqrt(2 / 32), init.normal_: 1.0,
    }  # fmt: skip
    for function, spread in spreads.items():
        function(w)
        assert abs(w.detach().numpy().std() / spread - 1) < 0.05
        assert abs(w.detach().numpy().mean()) < 0.1 * spread
    assert isinstance(w, bg.nn.Parameter)
    assert w.is_leaf


def test_fixed_values(bg: Any) -> None:
    init = bg.nn.init
    x = bg.zeros((2, 3))
    assert init.ones_(x).tolist() == [[1] * 3] * 2
    assert init.constant_(x, 2.5).tolist() == [[2.5] * 3] * 2
    assert init.zeros_(x).tolist() == [[0] * 3] * 2
    assert init.eye_(x).tolist() == [[1, 0, 0], [0, 1, 0]]
    for shape in ((3, 5), (5, 3), (4, 2, 2)):
        y = init.orthogonal_(bg.zeros(shape), gain=2).numpy().reshape(shape[0], -1)
        square = y @ y.T if y.shape[0] <= y.shape[1] else y.T @ y
        np.testing.assert_allclose(square, 4 * np.eye(len(square)), atol=1e-5)


def test_seeds(bg: Any) -> None:
    nn = bg.nn
    nn.init.seed(3)
    one = [p.detach().numpy() for p in nn.Linear(3, 4).parameters()]
    more = nn.Linear(3, 4).weight.detach().numpy()
    nn.init.seed(3)
    again = [p.detach().numpy() for p in nn.Linear(3, 4).parameters()]
    for a, b in zip(one, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one[0], more)
    x, y = (
        nn.init.normal_(bg.zeros(5), generator=bg.random.default_rng(8)).numpy() for _ in range(2)
    )
    np.testing.assert_array_equal(x, y)
    nn.init.seed(8)  # not the numbers of default_rng(8): data and weights would be correlated
    assert not np.intersect1d(nn.init.normal_(bg.zeros(5)).numpy(), x).size


def test_gains_and_errors(bg: Any) -> None:
    init, errors = bg.nn.init, bg.errors
    assert init.calculate_gain("relu") == sqrt(2)
    assert init.calculate_gain("leaky_relu", 3) == sqrt(2 / 10)
    assert init.calculate_gain("tanh") == 5 / 3
    with pytest.raises(errors.InvalidArgument, match="nonlinearity"):
        init.calculate_gain("sinus")
    with pytest.raises(errors.InvalidArgument, match="two axes"):
        init.xavier_uniform_(bg.zeros(3))
    with pytest.raises(TypeError, match="float"):
        init.normal_(bg.zeros(3, dtype="int32"))
    with pytest.raises(TypeError, match="default_rng"):
        init.normal_(bg.zeros(3), generator=np.random.default_rng(0))
    with pytest.raises(errors.InvalidArgument, match="result"):
        init.zeros_(bg.nn.Parameter(bg.ones(3)) * 2)
