"""The distributions of ``browsergpu.random``, against NumPy's with fixed seeds."""

from __future__ import annotations

import inspect
import pickle
import re
import warnings
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]

N = 20_000
#: Distributions and parameters: for both algorithms if there are two, and extreme values.
DRAWN: list[tuple[str, tuple[Any, ...]]] = [
    ("beta", (2.0, 3.0)), ("beta", (0.3, 20.0)), ("chisquare", (3.0,)), ("exponential", ([2.0],)),
    ("f", (5.0, 9.0)), ("gamma", (2.5, 2.0)), ("gamma", (1e6, 1.0)), ("gumbel", (1.0, 2.0)),
    ("laplace", (1.0, 2.0)), ("logistic", (1.0, 2.0)), ("lognormal", (0.5, 0.4)),
    ("noncentral_chisquare", (3.0, 2.0)), ("noncentral_chisquare", (0.3, 2.0)),
    ("noncentral_f", (5.0, 12.0, 2.0)), ("normal", ([2.0], [3.0])), ("pareto", (5.0,)),
    ("power", (2.0,)), ("rayleigh", (2.0,)), ("standard_cauchy", ()), ("standard_gamma", (0.3,)),
    ("standard_t", (0.9,)), ("triangular", (-1.0, 0.5, 2.0)), ("uniform", ([2.0], [3.0])),
    ("vonmises", (0.5, 0.04)), ("vonmises", (-3.0, 1.5)), ("vonmises", (0.0, 1e4)),
    ("wald", (2.0, 3.0)), ("wald", (200.0, 0.3)), ("weibull", (1.5,)), ("weibull", (0.3,)),
    ("binomial", (40, 0.4)), ("binomial", (1000, 0.005)), ("binomial", (10**6, 0.3)),
    ("binomial", (30, 0.97)), ("geometric", (0.2,)), ("geometric", (1e-4,)),
    ("hypergeometric", (60, 50, 40)), ("hypergeometric", (10**5, 4 * 10**5, 3 * 10**5)),
    ("hypergeometric", (5, 400, 300)), ("hypergeometric", (500, 4, 3)), ("logseries", (0.7,)),
    ("logseries", (0.999,)), ("negative_binomial", (5.0, 0.4)), ("negative_binomial", (0.5, 0.01)),
    ("poisson", (3.0,)), ("poisson", (30.0,)), ("poisson", (1e7,)), ("zipf", (6.0,)),
    ("zipf", (1.5,)),
]  # fmt: skip
#: Two samples of one distribution differ this much once in 100,000 times; the seeds are fixed.
FARTHEST = 2.47


def distance(x: np.ndarray, y: np.ndarray) -> float:
    """Return the Kolmogorov-Smirnov statistic of two samples, times the root of their size."""
    both = np.sort(np.concatenate([x, y]))
    of_x, of_y = (np.searchsorted(np.sort(one), both, "right") / one.size for one in (x, y))
    return float(np.abs(of_x - of_y).max() * np.sqrt(x.size * y.size / (x.size + y.size)))


@pytest.mark.parametrize(("name", "parameters"), DRAWN)
def test_a_distribution_is_numpys(bg: Any, name: str, parameters: tuple[Any, ...]) -> None:
    drawn = getattr(bg.random.default_rng(1), name)(*parameters, size=N)
    theirs = getattr(np.random.default_rng(2), name)(*parameters, size=N)
    assert drawn.shape == (N,)
    is_whole = theirs.dtype.kind == "i"
    assert drawn.dtype == (bg.asarray([1]).dtype if is_whole else np.float32)
    ours = drawn.numpy().astype(float)
    # Numbers that float32 or int32 cannot distinguish count as equal.
    theirs = np.minimum(theirs, 2**31 - 65) if is_whole else theirs.astype(np.float32).astype(float)
    assert np.isfinite(ours).all()
    assert distance(ours, theirs) < FARTHEST
    scale = np.quantile(theirs, 0.9) - np.quantile(theirs, 0.1)
    assert abs(np.median(ours) - np.median(theirs)) <= max(0.05 * scale, float(is_whole))


def test_small_shapes_have_numbers_that_are_no_zeros(bg: Any) -> None:
    """Sums stay 1 where float64 has numbers below float32's range."""
    rng = bg.random.default_rng(3)
    parts = rng.dirichlet([0.01, 0.02, 0.03], size=4000).numpy()
    np.testing.assert_allclose(parts.sum(-1), 1, rtol=1e-6)
    np.testing.assert_allclose(parts.mean(0), np.array([1, 2, 3]) / 6, atol=5 * 0.5 / 4000**0.5)
    halves = rng.beta(0.01, 0.01, size=4000).numpy()
    assert np.isfinite(halves).all()
    assert abs(halves.mean() - 0.5) < 5 * 0.5 / 4000**0.5


@pytest.mark.parametrize("from_gpu", [False, True])
def test_parameters_broadcast(bg: Any, from_gpu: bool) -> None:
    def given(*values: float) -> Any:
        column = np.float32(values)[:, None]
        return bg.asarray(column) if from_gpu else column

    rng = bg.random.default_rng(4)
    for name, parameters, means in (
        ("poisson", (given(1, 100),), [1, 100]),
        ("gamma", (given(1, 100), 2.0), [2, 200]),
        ("normal", (given(1, 100), 0.5), [1, 100]),
        ("normal", (3.0, given(1, 2)), [3, 3]),
        ("uniform", (given(1, 100), 102.0), [51.5, 101]),
        ("exponential", (given(1, 100),), [1, 100]),
        ("laplace", (given(1, 100), given(1, 1)), [1, 100]),
    ):
        drawn = getattr(rng, name)(*parameters, size=(2, 4000)).numpy()
        expected = np.array(means, float)
        np.testing.assert_allclose(
            drawn.mean(1), expected, atol=0, rtol=0.12, err_msg=f"{name}, {parameters}"
        )
        assert getattr(rng, name)(*parameters).shape == (2, 1)
        with pytest.raises(ValueError, match="size must be"):
            getattr(rng, name)(*parameters, size=(3,))
    low, high = np.int32([[0], [10]]), np.int32([5, 1000])
    if from_gpu:
        low, high = bg.asarray(low), bg.asarray(high + 20)
    else:
        high = high + 20
    drawn = rng.integers(low, high, size=(500, 2, 2)).numpy()
    assert drawn.min((0, 1)).tolist() == [0, drawn[..., 1].min()]
    assert drawn[:, 1].min() >= 10
    assert drawn[..., 0].max() == 24
    assert drawn[..., 1].max() < 1020
    assert set(rng.integers([[0]], [1], size=(1, 9), endpoint=True).numpy()[0]) == {0, 1}
    counts = rng.binomial(np.int32([[10], [20]]), [0.0, 1.0]).numpy()
    assert counts.tolist() == [[0, 10], [0, 20]]


def test_parameters_that_are_refused(bg: Any) -> None:
    rng, x = bg.random.default_rng(1), bg.ones(2)
    for call in (
        lambda: rng.gamma(-1.0), lambda: rng.gamma([1.0, np.nan]), lambda: rng.poisson(-1),
        lambda: rng.poisson(3e9), lambda: rng.binomial(-1, 0.5), lambda: rng.binomial(2, 1.5),
        lambda: rng.binomial(2.5, 0.5), lambda: rng.binomial(x, 0.5), lambda: rng.beta(0.0, 1.0),
        lambda: rng.triangular(0.0, 1.0, "2"), lambda: rng.normal(x, 1j), lambda: rng.zipf(1.0),
        lambda: rng.hypergeometric(3, 4, 8), lambda: rng.wald(1.0, [x]), lambda: rng.geometric(0),
        lambda: rng.multinomial(3, [0.5, 0.6, 0.1]), lambda: rng.dirichlet([]),
        lambda: rng.multivariate_hypergeometric([3, 4], 8), lambda: rng.spawn(-1),
        lambda: rng.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="raise"),
        lambda: rng.multivariate_normal([0, 0], [[1, 2]]), lambda: rng.uniform([2.0], 1.0),
        lambda: rng.integers([5], [5]), lambda: rng.integers([0], [300], dtype="uint8"),
        lambda: rng.shuffle([1, 2]), lambda: rng.permuted(x, out=bg.ones(3)), lambda: rng.bytes(-1),
        lambda: rng.negative_binomial(1e6, 1e-6), lambda: rng.triangular(2.0, 1.0, 3.0),
        lambda: bg.random.randint(1.5), lambda: bg.random.set_state(("MT19937",)),
        lambda: bg.random.default_rng("seed"), lambda: bg.random.Philox(1, key=2),
        lambda: bg.random.set_bit_generator(3), lambda: bg.random.rand(2.5),
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError), match=" must "):
            call()


def test_parameters_on_the_gpu_that_a_distribution_does_not_have(bg: Any) -> None:
    """Parameters on the GPU are not checked; invalid ones give NaN."""
    rng = bg.random.default_rng(1)
    wrong = bg.asarray([-1.0, np.nan, 2.0])
    for name, more in (("gamma", ()), ("rayleigh", ()), ("wald", (1.0,)), ("vonmises", ())):
        parameters = (0.0, wrong) if name == "vonmises" else (wrong, *more)
        found = getattr(rng, name)(*parameters).numpy()
        assert np.isnan(found).tolist() == [True, True, False], name
    least = np.iinfo(np.int32).min
    assert (rng.poisson(wrong).numpy() == least).tolist() == [True, True, False]
    assert (rng.binomial(bg.asarray([-1, 3]), 0.5).numpy() == least).tolist() == [True, False]


def test_vectors(bg: Any) -> None:
    rng = bg.random.default_rng(5)
    shares = np.array([0.2, 0.3, 0.5])
    for pvals in (shares, bg.asarray(shares.astype(np.float32))):
        counts = rng.multinomial(100, pvals, size=(50, 40)).numpy()
        assert counts.shape == (50, 40, 3)
        assert (counts.sum(-1) == 100).all()
        np.testing.assert_allclose(counts.mean((0, 1)), 100 * shares, atol=5 * 5 / 2000**0.5)
        np.testing.assert_allclose(
            np.cov(counts.reshape(-1, 3).T), 100 * (np.diag(shares) - np.outer(shares, shares)),
            atol=3.5,
        )  # fmt: skip
    assert rng.multinomial([[3], [4]], [[1.0, 0.0], [0.0, 1.0]]).tolist() == [
        [[3, 0], [0, 3]], [[4, 0], [0, 4]],
    ]  # fmt: skip
    assert rng.multinomial(3, [1.0]).tolist() == [3]
    drawn = rng.multivariate_hypergeometric([10, 20, 30], 15, size=2000).numpy()
    assert (drawn.sum(-1) == 15).all()
    np.testing.assert_allclose(drawn.mean(0), [2.5, 5, 7.5], atol=5 * 2 / 2000**0.5)
    assert rng.multivariate_hypergeometric([4], 3, size=2).tolist() == [[3], [3]]
    spread = np.array([[2.0, 0.5], [0.5, 1.0]])
    for method in ("svd", "eigh", "cholesky"):
        x = rng.multivariate_normal([1, 2], spread, (100, 40), method=method).numpy()
        assert x.shape == (100, 40, 2)
        x = x.reshape(-1, 2)
        np.testing.assert_allclose(x.mean(0), [1, 2], atol=5 * 1.5 / 4000**0.5)
        np.testing.assert_allclose(np.cov(x.T), spread, atol=0.25)
    flat = rng.multivariate_normal(bg.zeros(2), bg.asarray([[1.0, 1.0], [1.0, 1.0]]), 50).numpy()
    np.testing.assert_allclose(flat[:, 0], flat[:, 1], atol=1e-3)
    with pytest.warns(RuntimeWarning, match="positive semidefinite") as caught:
        rng.multivariate_normal([0, 0], [[1, 2], [2, 1]])
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rng.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="ignore")


def test_orders(bg: Any) -> None:
    rng = bg.random.default_rng(6)
    x = np.arange(40, dtype=np.float32).reshape(4, 10)
    a = bg.asarray(x)
    rows = rng.permuted(a, axis=1).numpy()
    np.testing.assert_array_equal(np.sort(rows, 1), x)
    orders = {tuple(row % 10) for row in rows}
    assert len(orders) == 4, "a row has an order of its own"
    np.testing.assert_array_equal(np.sort(rng.permuted(a).numpy(), None), x.reshape(-1))
    assert rng.permuted(a, axis=0, out=a) is a
    np.testing.assert_array_equal(np.sort(a.numpy(), 0), x)
    b = bg.arange(12)
    rng.shuffle(b[2:])
    assert b.tolist()[:2] == [0, 1]
    assert sorted(b.tolist()) == list(range(12))
    assert b.tolist() != list(range(12))
    assert sorted(rng.permutation([3, 1, 2]).tolist()) == [1, 2, 3]
    assert sorted(rng.permutation(range(3, 6)).tolist()) == [3, 4, 5]
    assert sorted(rng.choice(range(3, 6), 3, replace=False).tolist()) == [3, 4, 5]
    assert set(rng.choice([10, 20, 30], 50).tolist()) == {10, 20, 30}
    assert len(rng.bytes(7)) == 7
    assert rng.bytes(7) != rng.bytes(7)
    places = np.array([rng.permutation(5).numpy() for _ in range(400)])
    expected = 400 / 5
    statistic = sum(((np.bincount(column, minlength=5) - expected) ** 2).sum() / expected
                    for column in places.T)  # fmt: skip
    assert statistic < 50  # chi-squared with 16 degrees of freedom: once in 40,000 times


def test_streams(bg: Any) -> None:
    random = bg.random
    rng = random.default_rng(7)
    state = rng.bit_generator.state
    first = rng.gamma(2.0, size=9).tolist()
    rng.bit_generator.state = state
    assert rng.gamma(2.0, size=9).tolist() == first
    assert random.Generator(random.Philox(7)).gamma(2.0, size=9).tolist() == first
    assert random.default_rng(rng) is rng
    again, copied = pickle.loads(pickle.dumps(rng)), deepcopy(rng)
    following = rng.poisson(50.0, size=9).tolist()
    assert again.poisson(50.0, size=9).tolist() == following
    assert copied.poisson(50.0, size=9).tolist() == following
    assert following != rng.poisson(50.0, size=9).tolist()
    children = [one.random(4).tolist() for one in random.default_rng(7).spawn(3)]
    assert children == [one.random(4).tolist() for one in random.default_rng(7).spawn(3)]
    assert len({tuple(one) for one in children}) == 3
    theirs = [
        int(one.generate_state(1, np.uint64)[0]) for one in np.random.SeedSequence(7).spawn(3)
    ]
    assert children == [random.default_rng(one).random(4).tolist() for one in theirs]
    for seed in ([1, 2], np.random.SeedSequence(4), 2**70):
        one, other = (random.default_rng(deepcopy(seed)).random(4).tolist() for _ in range(2))
        assert one == other
    stream = random.Philox(7)
    ahead = random.Generator(stream.jumped())
    assert ahead.random(4).tolist() != random.Generator(stream).random(4).tolist()
    assert random.Philox(7, counter=1).place == random.Philox(7).advance(1).place
    assert isinstance(stream, random.BitGenerator)


def test_the_older_functions(bg: Any) -> None:
    random = bg.random
    random.seed(11)
    state = random.get_state()
    calls: dict[str, Callable[[Any], Any]] = {
        "rand": lambda one: one.rand(2, 3), "randn": lambda one: one.randn(4),
        "randint": lambda one: one.randint(3, 9, (2, 2)), "random": lambda one: one.random(3),
        "random_sample": lambda one: one.random_sample((2, 2)),
        "uniform": lambda one: one.uniform(-1, 1, 4), "normal": lambda one: one.normal(size=3),
        "standard_normal": lambda one: one.standard_normal(3),
        "choice": lambda one: one.choice(5, 3, False),
        "permutation": lambda one: one.permutation(5),
        "poisson": lambda one: one.poisson(3.0, 4), "beta": lambda one: one.beta(1.0, 2.0, 4),
        "multinomial": lambda one: one.multinomial(5, [0.5, 0.5]),

        "standard_gamma": lambda one: one.standard_gamma(2.0, 3),
        "standard_exponential": lambda one: one.standard_exponential(3),
    }  # fmt: skip
    own = random.RandomState(11)
    for name, call in calls.items():
        drawn = call(random)
        assert isinstance(drawn, bg.Array), name
        assert drawn.tolist() == call(own).tolist(), name
        assert drawn.shape == call(np.random.RandomState(1)).shape, name
    random.set_state(state)
    assert random.rand(2, 3).tolist() == random.RandomState(11).rand(2, 3).tolist()
    assert random.ranf(3).shape == random.sample(3).shape == (3,)
    assert random.rand().shape == ()
    before = random.get_bit_generator()
    try:
        random.set_bit_generator(random.Philox(3))
        assert random.random(3).tolist() == random.default_rng(3).random(3).tolist()
    finally:
        random.set_bit_generator(before)
    ones = random.randint(0, 2, 300, dtype="int8")
    assert ones.dtype == np.int8
    assert set(ones.tolist()) == {0, 1}
    assert set(random.random_integers(2, size=99).tolist()) == {1, 2}
    assert own.tomaxint(5).numpy().min() >= 0
    random.seed()
    assert random.rand(4).tolist() != random.RandomState(11).rand(4).tolist()


def _names(signature: str) -> list[str]:
    """Return the parameters of the signature at the start of a NumPy docstring."""
    inside = re.search(r"\(([^()]*)\)", signature)
    assert inside is not None, signature
    names = [part.partition("=")[0].strip() for part in inside[1].split(",")]
    return [name for name in names if name and name not in ("*", "/")]


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
def test_signatures_are_numpys(bg: Any, kind: str) -> None:
    theirs, ours = getattr(np.random, kind), getattr(bg.random, kind)
    for name in (one for one in dir(theirs) if not one.startswith("_")):
        known = (getattr(theirs, name).__doc__ or "").strip().partition("\n\n")[0]
        if not known.startswith(f"{name}(") or name in ("rand", "randn"):
            continue
        expected = _names(known)
        given = [one for one in inspect.signature(getattr(ours, name)).parameters if one != "self"]
        assert given == expected, name


def test_every_name_of_numpy_exists_or_names_its_replacement(bg: Any) -> None:
    for name in (one for one in dir(np.random) if not one.startswith("_")):
        found = getattr(np.random, name)
        if inspect.ismodule(found) or name == "test":
            continue
        if name in ("MT19937", "PCG64", "PCG64DXSM", "SFC64"):
            with pytest.raises(bg.errors.UnknownName, match=r"Use browsergpu.random.Philox"):
                getattr(bg.random, name)
        else:
            assert hasattr(bg.random, name), name
    for name in (one for one in dir(np.random.RandomState) if not one.startswith("_")):
        assert hasattr(bg.random.RandomState, name), name
    for name in (one for one in dir(np.random.Generator) if not one.startswith("_")):
        assert hasattr(bg.random.Generator, name), name


def test_captured_draws_go_on_in_their_stream(bg: Any) -> None:
    rng, other = bg.random.default_rng(9), bg.random.default_rng(9)
    mean = bg.asarray([3.0, 300.0])
    with bg.capture() as graph:
        drawn = rng.poisson(mean, size=(20, 2)) + 0
    seen = [drawn.tolist()]
    for _ in range(2):
        graph.replay()
        seen.append(drawn.tolist())
    assert seen == [other.poisson(mean, size=(20, 2)).tolist() for _ in range(3)]
    assert seen[0] != seen[1] != seen[2]


def test_gradients_go_through_the_mean_and_the_width(bg: Any) -> None:
    """Reparameterised: the derivative of loc + scale z by scale is z."""
    z = bg.random.default_rng(2).normal(np.float32([0.0, 0.0]), 1.0, size=(5, 2)).numpy()
    scale = bg.asarray(np.float32([1.0, 2.0]))
    found = bg.grad(lambda s: bg.random.default_rng(2).normal(0.0, s, size=(5, 2)).sum())(scale)
    np.testing.assert_allclose(found.numpy(), z.sum(0), rtol=1e-5)
