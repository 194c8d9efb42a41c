"""SciPy's and scikit-learn's functions on GPU arrays, against results on NumPy arrays."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.all

Call = Callable[..., Any]


def load(*packages: str) -> None:
    """Load packages that Pyodide provides."""
    import pyodide_js
    from pyodide.ffi import run_sync

    os.environ["SCIPY_ARRAY_API"] = "1"  # both libraries read it when imported
    run_sync(pyodide_js.loadPackage([*packages]))


@pytest.fixture
def quiet(bg: Any) -> Iterator[Any]:
    """browsergpu without warnings about float64, because both libraries request it by name."""
    before = bg.set_x64("quiet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield bg
    bg.set_x64(before)


def compare(bg: Any, name: str, call: Call, *arrays: np.ndarray) -> None:
    """Compare a call's results, one or several, for NumPy arrays and for GPU arrays."""
    expected, found = call(*arrays), call(*[bg.asarray(array) for array in arrays])
    if not isinstance(expected, tuple):
        expected, found = (expected,), (found,)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=2e-3, atol=2e-4, err_msg=name)


def test_functions_of_scipy(quiet: Any) -> None:
    load("scipy")
    from scipy import constants, fft, integrate, special, stats

    rng = np.random.default_rng(0)
    x, y = (rng.random((20, 4)).astype(np.float32) + 0.5 for _ in range(2))
    calls: dict[str, Call] = {
        "stats.zscore": stats.zscore,
        "stats.gmean": stats.gmean,
        "stats.hmean": stats.hmean,
        "stats.skew": stats.skew,
        "stats.kurtosis": stats.kurtosis,
        "stats.sem": stats.sem,
        "stats.variation": stats.variation,
        "stats.entropy": stats.entropy,
        "stats.tmean": stats.tmean,
        "special.logsumexp": lambda a: special.logsumexp(a, axis=1),
        "special.softmax": lambda a: special.softmax(a, axis=1),
        "special.log_softmax": lambda a: special.log_softmax(a, axis=1),
        "special.expit": special.expit,
        "special.entr": special.entr,
        "special.gammaln": special.gammaln,
        "fft.fft": fft.fft,
        "fft.rfft": fft.rfft,
        "fft.fftshift": fft.fftshift,
        "integrate.trapezoid": lambda a: integrate.trapezoid(a, axis=0),
        "constants.convert_temperature": lambda a: constants.convert_temperature(a, "C", "K"),
    }
    for name, call in calls.items():
        compare(quiet, name, call, x)
    pairs: dict[str, Call] = {
        "special.xlogy": special.xlogy,
        "special.rel_entr": special.rel_entr,
    }
    for name, call in pairs.items():
        compare(quiet, name, call, x, y)
    compare(quiet, "stats.pearsonr", lambda a, b: tuple(stats.pearsonr(a, b)), x[:, 0], y[:, 0])


def test_functions_of_scikit_learn(quiet: Any) -> None:
    load("scikit-learn")
    from sklearn import config_context, decomposition, linear_model, metrics, preprocessing
    from sklearn.metrics import pairwise
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(0)
    x, y = (rng.random((20, 4)).astype(np.float32) + 0.5 for _ in range(2))
    first, second = (rng.integers(0, 3, 20).astype(np.int32) for _ in range(2))
    estimators: dict[str, Call] = {
        "MaxAbsScaler": lambda a, _: preprocessing.MaxAbsScaler().fit_transform(a),
        "MinMaxScaler": lambda a, _: preprocessing.MinMaxScaler().fit_transform(a),
        "StandardScaler": lambda a, _: preprocessing.StandardScaler().fit_transform(a),
        "Normalizer": lambda a, _: preprocessing.Normalizer().fit_transform(a),
        "PolynomialFeatures": lambda a, _: preprocessing.PolynomialFeatures().fit_transform(a),
        "LabelEncoder": lambda _, c: preprocessing.LabelEncoder().fit_transform(c),
        "PCA": lambda a, _: abs(decomposition.PCA(2, svd_solver="full").fit_transform(a)),
        "Ridge": lambda a, _: linear_model.Ridge(solver="svd").fit(a, a[:, 0]).predict(a),
        "GaussianNB": lambda a, c: GaussianNB().fit(a, c).predict(a),
        "train_test_split": lambda a, _: train_test_split(a, random_state=0)[0],
    }
    classes: dict[str, Call] = {
        "accuracy_score": metrics.accuracy_score,
        "zero_one_loss": metrics.zero_one_loss,
        "hamming_loss": metrics.hamming_loss,
        "confusion_matrix": metrics.confusion_matrix,
    }
    values: dict[str, Call] = {
        "mean_squared_error": metrics.mean_squared_error,
        "root_mean_squared_error": metrics.root_mean_squared_error,
        "mean_absolute_error": metrics.mean_absolute_error,
        "r2_score": metrics.r2_score,
        "cosine_similarity": pairwise.cosine_similarity,
        "euclidean_distances": pairwise.euclidean_distances,
        "linear_kernel": pairwise.linear_kernel,
        "polynomial_kernel": pairwise.polynomial_kernel,
        "rbf_kernel": pairwise.rbf_kernel,
        "sigmoid_kernel": pairwise.sigmoid_kernel,
        "paired_cosine_distances": pairwise.paired_cosine_distances,
    }
    with config_context(array_api_dispatch=True):
        for calls, one, other in (
            (estimators, x, first), (classes, first, second), (values, x, y),
        ):  # fmt: skip
            for name, call in calls.items():
                compare(quiet, name, call, one, other)
