"""Matplotlib, pandas and xarray accept GPU arrays in place of NumPy's."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.all

X = np.linspace(0, 6, 50, dtype=np.float32)
Y = np.sin(X)
Z = np.random.default_rng(0).random((20, 30), dtype=np.float32)
K = np.int32([0, 1, 0, 2])


def need(package: str) -> None:
    """Load a package that Pyodide provides; outside a page, import the installed one."""
    if sys.platform == "emscripten":
        import pyodide_js
        from pyodide.ffi import run_sync

        run_sync(pyodide_js.loadPackage([package]))
    else:
        pytest.importorskip(package)


Plot = Callable[[Any, Any, Any, Any], Any]
PLOTS: dict[str, Plot] = {
    "plot": lambda a, x, y, z: a.plot(x, y, "r-", x, y + 1, "b--"),
    "plot one": lambda a, x, y, z: a.plot(y),
    "plot columns": lambda a, x, y, z: a.plot(z),
    "scatter": lambda a, x, y, z: a.scatter(x, y, c=y, s=abs(y) * 20 + 1),
    "bar": lambda a, x, y, z: a.bar(x, y),
    "barh": lambda a, x, y, z: a.barh(x, y),
    "hist": lambda a, x, y, z: a.hist(y, bins=10),
    "hist edges": lambda a, x, y, z: a.hist(y, bins=x[:10] - 1),
    "hist2d": lambda a, x, y, z: a.hist2d(x, y),
    "hexbin": lambda a, x, y, z: a.hexbin(x, y),
    "imshow": lambda a, x, y, z: a.imshow(z, vmin=z.min(), vmax=z.max()),
    "imshow colours": lambda a, x, y, z: a.imshow(z[:, :18].reshape(20, 6, 3)),
    "matshow": lambda a, x, y, z: a.matshow(z),
    "spy": lambda a, x, y, z: a.spy(z > 0.5),
    "pcolormesh": lambda a, x, y, z: a.pcolormesh(z),
    "contour": lambda a, x, y, z: a.contour(z),
    "contourf": lambda a, x, y, z: a.contourf(z, levels=5),
    "fill_between": lambda a, x, y, z: a.fill_between(x, y, y * 2),
    "errorbar": lambda a, x, y, z: a.errorbar(x, y, yerr=abs(y)),
    "stem": lambda a, x, y, z: a.stem(x, y),
    "step": lambda a, x, y, z: a.step(x, y),
    "boxplot": lambda a, x, y, z: a.boxplot(z),
    "violinplot": lambda a, x, y, z: a.violinplot(z),
    "quiver": lambda a, x, y, z: a.quiver(x, y, y, x),
    "pie": lambda a, x, y, z: a.pie(abs(y[:5])),
    "stackplot": lambda a, x, y, z: a.stackplot(x[:30], z),
    "loglog": lambda a, x, y, z: a.loglog(x + 1, x + 1),
    "eventplot": lambda a, x, y, z: a.eventplot(y),
    "ecdf": lambda a, x, y, z: a.ecdf(y),
    "stairs": lambda a, x, y, z: a.stairs(y),
    "vlines": lambda a, x, y, z: a.vlines(x, y - 1, y),
    "fill": lambda a, x, y, z: a.fill(x, y),
    "limits": lambda a, x, y, z: (a.set_xlim(x[0], x[-1]), a.set_xticks(x[:5]), a.axhline(y[3])),
}  # fmt: skip


@pytest.fixture(scope="module")
def pyplot() -> Any:
    need("matplotlib")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

    return plt


def _drawn(plt: Any, plot: Plot, *data: Any) -> np.ndarray:
    figure, axes = plt.subplots(figsize=(2, 2), dpi=50)
    plot(axes, *data)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba()).astype(int)
    plt.close(figure)
    return pixels


@pytest.mark.parametrize("name", PLOTS)
def test_plots(bg: Any, pyplot: Any, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = _drawn(pyplot, PLOTS[name], X, Y, Z)
        found = _drawn(pyplot, PLOTS[name], *map(bg.asarray, (X, Y, Z)))
    assert expected.std() > 0
    # A rounding error may change the colour of a pixel at an edge.
    assert np.mean(np.abs(found - expected) > 40) < 0.002


def test_frames(bg: Any) -> None:
    need("pandas")
    import pandas as pd

    x, z, k = bg.asarray(Y[:4]), bg.asarray(Z), bg.asarray(K)
    assert pd.Series(x).equals(pd.Series(Y[:4]))
    assert pd.Series(x, index=k).index.tolist() == K.tolist()
    assert pd.DataFrame(z).equals(pd.DataFrame(Z))
    assert pd.DataFrame({"a": x, "b": k}).equals(pd.DataFrame({"a": Y[:4], "b": K}))
    assert pd.Index(k).equals(pd.Index(K))
    frame = pd.DataFrame({"a": Y[:4]}).assign(b=x)
    frame["c"] = k
    assert frame["b"].tolist() == Y[:4].tolist()
    assert frame["c"].tolist() == K.tolist()
    assert pd.Series(Y[:4]).where(x > 0.1).equals(pd.Series(Y[:4]).where(Y[:4] > 0.1))
    assert (pd.Series(Y[:4]) + x).tolist() == (Y[:4] * 2).tolist()


def test_labelled_arrays(bg: Any) -> None:
    xarray = pytest.importorskip("xarray")
    labelled = xarray.DataArray(bg.asarray(Z), dims=("a", "b"), coords={"a": bg.asarray(X[:20])})
    assert isinstance(labelled.data, bg.Array)
    assert isinstance((labelled + 1).data, bg.Array)
    np.testing.assert_allclose(labelled.mean("b").values, Z.mean(1), rtol=1e-5)
    np.testing.assert_allclose(labelled.sel(a=X[3]).values, Z[3])
    both = xarray.Dataset({"v": (("a", "b"), bg.asarray(Z))})
    np.testing.assert_allclose(both.sum().v.values, Z.sum(), rtol=1e-5)
