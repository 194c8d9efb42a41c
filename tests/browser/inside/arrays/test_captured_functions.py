"""Every public function in a block of ``capture()``: a replay equals running the block again.

Arguments are inputs of the block, views of an input, or computed from an input. Inputs are changed
by assignment before each replay.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from inside.arrays.numpys_operands import on_gpu, operands_by_name
from inside.gradients.drawn.directions import Call, results
from inside.gradients.test_drawn_table import TABLES
from inside.gradients.test_drawn_table import named as public_functions

pytestmark = [pytest.mark.firefox, pytest.mark.all]

DRAWN = {name: calls for table in TABLES for name, calls in table.items()}
X = np.float32([[3, -1, 2.5, 0], [1.5, 4, -2, 7], [0.25, -6, 1, 2]])
N = np.int32([[3, -1, 2, 0], [1, 4, -2, 7], [0, -6, 1, 2]])
B = X > 1
P = np.float32([[0.25, 0.5, 0.75, 0.125], [0.9, 0.1, 0.3, 0.6], [0.05, 0.45, 0.8, 0.7]])

Way = tuple[Callable[..., Any], tuple[np.ndarray, ...]]


def _named(name: str, *arrays: np.ndarray) -> dict[str, Way]:
    return {
        name: (lambda bg, *given: functools.reduce(getattr, name.split("."), bg)(*given), arrays)
    }


#: Functions whose results have no gradient.
OTHERS: dict[str, Way] = {
    **{k: v for name in ("all", "any", "logical_not") for k, v in _named(name, B).items()},
    **{k: v for name in (
        "argmax", "argmin", "argsort", "ceil", "floor", "round", "trunc", "isfinite", "isinf",
        "isnan", "signbit", "count_nonzero", "full_like", "empty_like", "zeros_like", "ones_like",
    ) if name != "full_like" for k, v in _named(name, X).items()},
    **{k: v for name in (
        "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "floor_divide",
        "nextafter",
    ) for k, v in _named(name, X, X[::-1].copy()).items()},
    **{k: v for name in ("bitwise_and", "bitwise_or", "bitwise_xor") for k, v in
       _named(name, N, N[::-1].copy()).items()},
    **{k: v for name in ("bitwise_left_shift", "bitwise_right_shift") for k, v in
       _named(name, N, abs(N)).items()},
    **{k: v for name in ("logical_and", "logical_or", "logical_xor") for k, v in
       _named(name, B, B[::-1].copy()).items()},
    **_named("bitwise_invert", N),
    **{k: v for name in (
        "entr", "erfcinv", "erfcx", "exp10", "exp2", "expit", "expm1", "exprel", "gamma", "i0",
        "i0e", "i1", "i1e", "j0", "j1", "log1p", "log_expit", "log_softmax", "logit", "logsumexp",
        "rgamma", "sinc", "softmax", "y0", "y1",
    ) for k, v in _named(f"special.{name}", P).items()},
    **{k: v for name in (
        "beta", "betaln", "boxcox", "boxcox1p", "huber", "inv_boxcox", "kl_div", "rel_entr",
        "xlog1py", "xlogy",
    ) for k, v in _named(f"special.{name}", P, P[::-1].copy()).items()},
    "full_like": (lambda bg, x: bg.full_like(x, 3), (X,)),
    "isin": (lambda bg, x, y: bg.isin(x, y), (N, N[0])),
    "searchsorted": (lambda bg, x, y: bg.searchsorted(bg.sort(x), y), (X[0], X)),
    "linalg.matrix_rank": (lambda bg, x: bg.linalg.matrix_rank(x), (X,)),
    "image.sobel": (lambda bg, x: bg.image.sobel(x, 0.5), (abs(X) / 8,)),
    "image.threshold": (lambda bg, x: bg.image.threshold(x, 0.5), (abs(X) / 8,)),
    "nn.one_hot": (lambda bg, x: bg.nn.one_hot(x, 8), (abs(N),)),
}  # fmt: skip
#: NumPy's functions, with their operands from numpys_operands.
NUMPYS = (
    "amax",
    "concatenate",
    "vstack",
    "amin",
    "angle",
    "append",
    "apply_over_axes",
    "argpartition",
    "around",
    "array",
    "array_split",
    "asanyarray",
    "ascontiguousarray",
    "asfortranarray",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "average",
    "block",
    "broadcast",
    "choose",
    "column_stack",
    "convolve",
    "copy",
    "copyto",
    "corrcoef",
    "correlate",
    "cov",
    "cross",
    "cumprod",
    "cumsum",
    "delete",
    "diag",
    "diag_indices_from",
    "diagflat",
    "diagonal",
    "digitize",
    "dot",
    "dsplit",
    "dstack",
    "ediff1d",
    "fft.fft2",
    "fft.ifft2",
    "fft.irfft2",
    "fft.rfft2",
    "fill_diagonal",
    "fix",
    "fliplr",
    "flipud",
    "gradient",
    "hsplit",
    "hstack",
    "i0",
    "inner",
    "insert",
    "interp",
    "isclose",
    "iscomplex",
    "iscomplexobj",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "kron",
    "lexsort",
    "linalg.cond",
    "linalg.multi_dot",
    "linalg.norm",
    "linalg.tensorinv",
    "linalg.tensorsolve",
    "may_share_memory",
    "median",
    "nan_to_num",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
    "ndim",
    "outer",
    "packbits",
    "pad",
    "partition",
    "percentile",
    "polyadd",
    "polyder",
    "polyint",
    "polysub",
    "polyval",
    "ptp",
    "put",
    "put_along_axis",
    "putmask",
    "quantile",
    "ravel",
    "ravel_multi_index",
    "resize",
    "rollaxis",
    "rot90",
    "select",
    "shape",
    "sinc",
    "size",
    "split",
    "swapaxes",
    "trace",
    "trapezoid",
    "tril_indices_from",
    "triu_indices_from",
    "unpackbits",
    "unravel_index",
    "unwrap",
    "vander",
    "vdot",
    "vsplit",
)
_MODES, _READ = "no function of arrays", "reads, or has results whose shapes depend on values"
_NUMBERS = "takes numbers"
_CALLS = "calls a function of the user's, which may do anything"
#: Functions that are not called here, with the reason.
WITHOUT = {
    **dict.fromkeys((
        "__array_namespace_info__", "benchmark_workgroup_sizes", "benchmark_workgroup_sizes_async",
        "broadcast_shapes", "can_cast", "default_device", "devices", "devices_async",
        "enumerate_adapters", "enumerate_adapters_async", "eval", "explain", "finfo",
        "forget_tuning", "forget_tuning_async", "forget_workgroup_sizes",
        "forget_workgroup_sizes_async", "get_adapter_info", "get_adapter_info_async",
        "get_best_adapter", "get_best_adapter_async", "iinfo", "init", "init_async",
        "recover", "recover_async",
        "is_autocast_enabled", "is_available", "is_grad_enabled", "isdtype", "profile",
        "result_type", "set_default_int", "set_x64", "tune", "tune_async", "use", "draw", "fuse",
        "plot",
        "get_array_module", "get_default_memory_pool", "get_default_pinned_memory_pool",
        "set_fallback", "frombuffer", "fromfile", "fromiter", "fromregex", "fromstring",
        "genfromtxt", "loadtxt",
    ), _MODES),
    **dict.fromkeys(("apply_along_axis", "fromfunction", "piecewise", "frompyfunc"), _CALLS),
    **dict.fromkeys(("arange", "empty", "eye", "full", "linspace", "ones", "zeros", "fft.fftfreq",
                     "fft.rfftfreq", "bartlett", "blackman", "diag_indices", "geomspace", "hamming",
                     "hanning", "identity", "indices", "kaiser", "logspace", "mask_indices", "tri",
                     "tril_indices", "triu_indices"), _NUMBERS),
    **dict.fromkeys(("asnumpy", "download", "from_dlpack", "load", "save", "save_async", "savez",
                     "savez_async", "savez_compressed", "savez_compressed_async", "nonzero",
                     "unique_counts", "unique_inverse", "unique_values", "allclose", "argwhere",
                     "array2string", "array_equal", "array_repr", "array_str", "asarray_chkfinite",
                     "bincount", "flatnonzero", "histogram", "histogram2d", "histogram_bin_edges",
                     "histogramdd", "poly", "polydiv", "polymul", "real_if_close", "roots",
                     "array_equiv", "compress", "extract", "intersect1d", "linalg.lstsq",
                     "place", "polyfit", "setdiff1d", "setxor1d", "union1d",
                     "savetxt", "sort_complex", "ndenumerate", "nditer", "trim_zeros",
                     "unique", "ix_"), _READ),
    **dict.fromkeys(("checkpoint", "grad", "jvp", "value_and_grad", "vjp", "hessian", "jacfwd",
                     "jacrev", "linearize", "vmap"),
                    "test_captured_training, test_captured_transforms and gradients of the above"),
    "kernel": "test_capture: custom kernels",
    "jit": "compiled/test_jit.py",
}  # fmt: skip
#: Drawn calls that read values, which a block refuses.
READS = {"unique_all", "linalg.eig", "linalg.eigvals"}


def test_each_public_function_is_here(bg: Any) -> None:
    public = {*public_functions(bg)}
    here = {*DRAWN, *OTHERS, *NUMPYS, *WITHOUT}
    assert sorted(public - here) == [], "functions that are not captured here"
    assert sorted(({*OTHERS, *NUMPYS, *WITHOUT}) - public) == [], "functions that are not there"


def same(x: Any, y: Any, what: str) -> None:
    """Assert that both have the same bits."""
    ours, theirs = np.asarray(x), np.asarray(y)
    assert ours.dtype == theirs.dtype, what
    np.testing.assert_array_equal(ours, theirs, what)


def _kept(bg: Any, found: Any) -> list[Any]:
    """Return results unchanged, as views and as copies."""
    arrays = [x for x in results(found) if isinstance(x, bg.Array)]
    return [*arrays, *(x[...] for x in arrays), *(x.copy() for x in arrays)]


def _changes(bg: Any, bases: list[np.ndarray]) -> list[Callable[[list[Any]], None]]:
    """Return changes of the inputs, applied equally to both sides."""
    others = [np.roll(x, 1) for x in bases]

    def assigned(arrays: list[Any]) -> None:
        for x, new in zip(arrays, others, strict=True):
            x[...] = bg.asarray(new)

    def in_place(arrays: list[Any]) -> None:
        for x, new in zip(arrays, bases, strict=True):
            if x.dtype.kind == "b":
                x ^= bg.asarray(~new)
            else:
                x -= x - bg.asarray(new)

    def through_a_view(arrays: list[Any]) -> None:
        for x, new in zip(arrays, others, strict=True):
            view = x.T
            view[...] = bg.asarray(new).T

    def by_an_optimizer(arrays: list[Any]) -> None:
        learnt = [x for x in arrays if x.dtype == np.float32 and x.size]
        if learnt:
            params = [bg.nn.Parameter(x) for x in learnt]
            for p in params:
                p.grad = bg.full_like(p, 0.125)
            bg.optim.SGD(params, lr=0.5).step()

    return [assigned, in_place, through_a_view, by_an_optimizer]


def replays_run_again(bg: Any, name: str, function: Any, bases: list[np.ndarray], how: str) -> None:
    """Capture a function of arrays, change the arrays, and compare a replay with another run."""
    from browsergpu.errors import Unsupported

    own, theirs = ([bg.asarray(x) for x in bases] for _ in range(2))

    def work(arrays: list[Any]) -> list[Any]:
        if how == "computed":
            arrays = [x.copy() if x.dtype.kind == "b" else x * 1 for x in arrays]
        return _kept(bg, function(*arrays))

    try:
        with bg.capture() as graph:
            found = work(own)
    except Unsupported:
        assert name in READS, f"{name} reads values"
        return
    for change in _changes(bg, bases):
        change(own)
        change(theirs)
        graph.replay()
        expected = work(theirs)
        for n, (x, y) in enumerate(zip([*found, *own], [*expected, *theirs], strict=True)):
            same(x, y, f"{change.__name__}, {how}, {n} of {len(found)}")
    graph.close()


@pytest.mark.parametrize("how", ["input", "computed"])
@pytest.mark.parametrize("name", DRAWN)
def test_drawn_calls(bg: Any, name: str, how: str) -> None:
    @settings(max_examples=1, derandomize=True)
    @given(DRAWN[name])
    def run(call: Call) -> None:
        def function(*bases: Any) -> Any:
            views = [one.seen(bg, x) for one, x in zip(call.operands, bases, strict=True)]
            return call.ours(bg, *views)

        replays_run_again(bg, name, function, [one.base for one in call.operands], how)

    run()


@pytest.mark.parametrize("how", ["input", "computed"])
@pytest.mark.parametrize("name", OTHERS)
def test_functions_without_gradients(bg: Any, name: str, how: str) -> None:
    function, arrays = OTHERS[name]
    for bases in (arrays, tuple(x[..., ::-1].copy() for x in arrays)):
        replays_run_again(bg, name, lambda *given: function(bg, *given), [*bases], how)


@pytest.mark.parametrize("how", ["input", "computed"])
@pytest.mark.parametrize("name", NUMPYS)
def test_numpys_functions(bg: Any, name: str, how: str) -> None:
    operands = operands_by_name(name)
    bases = [x.copy() for x in operands if isinstance(x, np.ndarray)]
    function = functools.reduce(getattr, name.split("."), bg)

    def call(*arrays: Any) -> Any:
        given = iter(arrays)
        return function(*(
            next(given) if isinstance(x, np.ndarray) else on_gpu(bg, x) for x in operands
        ))  # fmt: skip

    replays_run_again(bg, name, call, bases, how)
