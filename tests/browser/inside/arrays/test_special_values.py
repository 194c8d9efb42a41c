"""Statistics of infinities, NaN, constants and the limits of dtypes, against NumPy.

Each test covers one function, and checks it with several arrays of special values.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]

INF, NAN = np.inf, np.nan
VALUES: dict[str, Any] = {
    "numbers": [3, 1, 2, 5, 4.0],
    "an even count": [4, 1, 2, 3.0],
    "infinities within": [1, INF, INF, 2],
    "both infinities": [-INF, INF, 0, 1],
    "one infinity": [INF, 1, 2],
    "infinities below": [-INF, -INF, 3, 4.0],
    "NaN": [1, NAN, 3, 2],
    "NaN and infinities": [NAN, INF, 1, -INF, 2],
    "infinities alone": [INF, INF, INF],
    "NaN alone": [NAN, NAN],
    "one number": [7.0],
    "one number, infinite": [-INF],
    "one number, NaN": [NAN],
    "a constant": [0.1] * 5,
}
LINES = np.array([[1, INF, 2, 5], [NAN, 3, -INF, 0], [4, 4, 4, 4], [NAN] * 4], np.float32)
METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
    "hazen", "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher",
    "midpoint", "nearest",
)  # fmt: skip


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """NumPy warns about these values."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def check(bg: Any, call: Callable[[Any], Any], data: Any, name: str, *, rtol: float = 1e-5) -> None:
    """Assert that NumPy's function gives the same result for a GPU array and a NumPy array.

    Shape, kind of dtype, values and NaN are compared, or the class of the error.
    """
    own = np.asarray(data, np.float32) if isinstance(data, list) else data
    try:
        expected = call(own)
    except Exception as error:
        with pytest.raises((type(error), ValueError)):
            call(bg.asarray(own))
        return
    for got, right in zip(_flat(call(bg.asarray(own))), _flat(expected), strict=True):
        assert (got.shape, got.dtype.kind) == (right.shape, right.dtype.kind), name
        np.testing.assert_allclose(got, right, rtol=rtol, atol=1e-6, err_msg=name)


def _flat(found: Any) -> list[np.ndarray]:
    if isinstance(found, tuple | list):
        return [one for part in found for one in _flat(part)]
    return [np.asarray(found)]


def of_all(bg: Any, call: Callable[[Any], Any], **options: Any) -> None:
    for name, data in VALUES.items():
        check(bg, call, data, name, **options)


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_by_each_method(bg: Any, method: str) -> None:
    # Positions between elements and, for four and five elements, at elements.
    q = [0, 0.1, 0.25, 1 / 3, 0.5, 0.6, 0.75, 0.9, 1]
    for function in (np.quantile, np.nanquantile):
        of_all(bg, lambda x, f=function: f(x, q, method=method))
        for axis in (0, 1, (0, 1)):
            at = {"axis": axis, "method": method}
            check(bg, lambda x, f=function, o=at: f(x, [0.3, 0.5], **o), LINES, method)
        kept = {"axis": 1, "method": method, "keepdims": True}
        check(bg, lambda x, f=function, o=kept: f(x, 0.4, **o), LINES, method)
    for function in (np.percentile, np.nanpercentile):
        check(bg, lambda x, f=function: f(x, [10, 100], axis=0, method=method), LINES, method)


def test_quantiles_with_integer_q(bg: Any) -> None:
    """The integers 0 and 1 give the extremes; for floats, NumPy interpolates."""
    for function in (np.quantile, np.nanquantile):
        for q in (0, 1, 0.0, 1.0, np.float32(0.5), np.array([0, 1])):
            of_all(bg, lambda x, f=function, q=q: f(x, q))


def test_quantiles_of_integers_are_exact(bg: Any) -> None:
    x = np.array([2**31 - 1, -(2**31), 2**31 - 2, 2**24 + 1], np.int32)
    for method in ("lower", "higher", "nearest", "inverted_cdf", "closest_observation"):
        check(bg, lambda x, m=method: np.quantile(x, [0, 0.4, 0.7, 1], method=m), x, method, rtol=0)
    check(bg, lambda x: np.quantile(x, [0, 0.4, 1]), np.array([-128, 5, 127], np.int16), "int16")


def test_long_lines_without_nan(bg: Any) -> None:
    """Positions are computed from the number of elements that are not NaN."""
    x = np.random.default_rng(2).standard_normal((2, 40_000)).astype(np.float32)
    x[0, :123] = NAN
    x[1, 5] = INF
    for method in ("linear", "inverted_cdf", "weibull"):
        check(bg, lambda x, m=method: np.nanquantile(x, [0.1, 0.7, 1], axis=1, method=m), x, method)
    check(bg, lambda x: np.nanmedian(x, axis=1), x, "median")


def test_arguments_that_quantiles_refuse(bg: Any) -> None:
    a = bg.asarray(LINES)
    for wrong in (
        lambda: np.quantile(a, 1.5), lambda: np.quantile(a, NAN), lambda: np.percentile(a, -1),
        lambda: np.quantile(a, 0.5, method="median"),
        lambda: np.quantile(a, 0.5, method="inverted_cdf", weights=LINES),
        lambda: np.quantile(bg.zeros(0), 0.5), lambda: np.nanquantile(a, 2),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"quantile|percentile"):
            wrong()


STATISTICS: dict[str, Callable[[Any], Any]] = {
    name: lambda x, n=name: getattr(np, n)(x)
    for name in (
        "median", "nanmedian", "mean", "nanmean", "var", "nanvar", "std", "nanstd", "sum", "nansum",
        "prod", "nanprod", "max", "nanmax", "min", "nanmin", "argmax", "argmin", "cumsum",
        "cumprod", "average", "sort", "argsort", "diff", "count_nonzero", "any", "all",
    )
}  # fmt: skip
STATISTICS |= {
    f"{name}, correction": lambda x, n=name: getattr(np, n)(x, ddof=1)
    for name in ("var", "std", "nanvar", "nanstd")
}
STATISTICS |= {
    f"norm {order}": lambda x, o=order: np.linalg.norm(x, o)
    for order in (None, 1, 2, 3, 0.5, 0, INF, -INF)
}
STATISTICS |= {
    "average with weights": lambda x: np.average(x, weights=np.full(x.shape, 2, np.float32)),
    "clip": lambda x: np.clip(x, -1, 2),
    "nan_to_num": np.nan_to_num,
    "digitize": lambda x: np.digitize(x, [0.0, 1, 2, INF]),
    "digitize to the right": lambda x: np.digitize(x, [2.0, 1, 0, -INF], right=True),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics(bg: Any, name: str) -> None:
    of_all(bg, STATISTICS[name])


@pytest.mark.parametrize(
    "name",
    ["median", "nanmedian", "mean", "nanmean", "var", "nanvar", "nanstd", "max", "nanmin", "argmax",
     "cumsum", "cumprod", "sort"],
)  # fmt: skip
def test_statistics_of_lines(bg: Any, name: str) -> None:
    for axis in (0, 1):
        check(bg, lambda x, n=axis: getattr(np, name)(x, axis=n), LINES, f"axis {axis}")


def test_medians_of_nothing_are_nan(bg: Any) -> None:
    for name in ("median", "nanmedian"):
        check(bg, getattr(np, name), [], name)
        check(bg, lambda x, n=name: getattr(np, n)(x, axis=1), np.zeros((2, 0), np.float32), name)


def test_slopes_beside_infinities(bg: Any) -> None:
    """An inner slope depends only on the two neighbours, not on the element between them."""
    for name, data in VALUES.items():
        if len(data) > 1:
            check(bg, np.gradient, data, name)
            steps = np.arange(len(data)) * 2.0
            check(bg, lambda x, s=steps: np.gradient(x, s), data, name)


def test_places_among_infinities(bg: Any) -> None:
    edges = np.array([-INF, 0, 1, 2, INF, NAN], np.float32)
    for side in ("left", "right"):
        for name, data in VALUES.items():
            expected = np.searchsorted(edges, np.asarray(data, np.float32), side=side)
            found = np.searchsorted(bg.asarray(edges), bg.asarray(data), side=side)
            np.testing.assert_array_equal(np.asarray(found), expected, err_msg=name)


HISTOGRAMS: dict[str, Callable[[Any], Any]] = {
    "ten bins": np.histogram,
    "bins of a range": lambda x: np.histogram(x, 3, (0, 4)),
    "a range of one number": lambda x: np.histogram(x, 3, (1, 1)),
    "an infinite range": lambda x: np.histogram(x, 3, (0, INF)),
    "a range of NaN": lambda x: np.histogram(x, 3, (NAN, 1)),
    "a falling range": lambda x: np.histogram(x, 3, (2, 1)),
    "edges": lambda x: np.histogram(x, [0, 1, 2, 3]),
    "infinite edges": lambda x: np.histogram(x, [-INF, 0, INF]),
    "equal edges": lambda x: np.histogram(x, [0, 1, 1, 2, 2]),
    "falling edges": lambda x: np.histogram(x, [0, 3, 2]),
    "density": lambda x: np.histogram(x, 3, (0, 4), density=True),
    "weights": lambda x: np.histogram(x, [0, 1, 2], weights=np.full(x.shape, 2, np.float32)),
    "edges of bins": lambda x: np.histogram_bin_edges(x, 4),
    "two axes": lambda x: np.histogram2d(x, x, 3),
    "two axes of ranges": lambda x: np.histogram2d(x, x, 3, ((0, 4), (1, 1))),
    "two axes, falling edges": lambda x: np.histogram2d(x, x, [[0, 2, 1], [0, 1]]),
    "two axes of the same edges": lambda x: np.histogram2d(x, x, [0, 1, 2, 3]),
    "many axes": lambda x: np.histogramdd(x.reshape(-1, 1), 4),
}


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_histograms(bg: Any, name: str) -> None:
    of_all(bg, HISTOGRAMS[name])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "uint32", "float16", "float32"])
def test_edges_are_compared_as_numpy_does(bg: Any, dtype: str) -> None:
    """NumPy compares edges in float64: 0.7 is not float32's 0.7, and 2^24 + 0.5 is not 2^24."""
    rng = np.random.default_rng(4)
    if np.dtype(dtype).kind == "f":
        x = (rng.integers(0, 11, 300) / 10).astype(dtype)
        edges = np.arange(0, 1.05, 0.1)
    else:
        info = np.iinfo(dtype)
        x = rng.choice([info.min, info.min + 1, info.max // 2 + 1, info.max - 1, info.max], 300)
        x = x.astype(dtype)
        middle = info.max // 2
        edges = np.array(
            [-1e30, info.min - 1, info.min + 0.5, middle, middle + 1.5, info.max, 1e30]
        )
    ones = np.ones(x.shape, np.float32)
    for given in (edges, edges[:-1], edges[2:5]):
        check(bg, lambda x, e=given: np.histogram(x, e), x, "counts", rtol=0)
        check(bg, lambda x, e=given: np.digitize(x, e), x, "digitize", rtol=0)
        check(bg, lambda x, e=given: np.digitize(x, e[::-1], right=True), x, "falling", rtol=0)
        check(bg, lambda x, e=given: np.histogram(x, e, weights=ones), x, "weights", rtol=0)
    check(bg, lambda x: np.histogram(x, 7), x, "seven bins")


def test_means_near_the_end_of_float16(bg: Any) -> None:
    x = np.full(100, 60_000, np.float16)
    for function in (np.mean, np.sum, np.median, np.nanmean, np.max):
        check(bg, function, x, function.__name__)
    assert float(np.var(bg.asarray(x))) == 0  # NumPy's result overflows; float32's need not
    x[3] = INF
    for function in (np.mean, np.median, np.nanmean, np.max, np.cumsum):
        check(bg, function, x, function.__name__)


def test_softmax_of_infinities_follows_the_formula(bg: Any) -> None:
    for data in VALUES.values():
        x = np.asarray(data, np.float64)
        moved = x - x.max()
        powers = np.exp(moved)
        found = np.asarray(bg.nn.softmax(bg.asarray(data)))
        np.testing.assert_allclose(found, powers / powers.sum(), rtol=1e-5, err_msg=str(data))
        logs = np.asarray(bg.nn.log_softmax(bg.asarray(data)))
        np.testing.assert_allclose(
            logs, moved - np.log(powers.sum()), rtol=1e-5, atol=1e-6, err_msg=str(data)
        )
