"""Each optional argument of the public functions, with a value other than its default.

The result changes or the value is refused. No argument is accepted and ignored.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

pytestmark = [pytest.mark.firefox, pytest.mark.all]

X = np.float32([[3.0, -1.0, 2.0], [0.5, 4.0, -2.5], [1.5, 0.25, -3.5]])
WHOLE = np.int32([[3, -1, 2], [5, 4, -2], [1, 0, -3]])
HEADS = np.stack([X, -X, X.T, -X.T])[None]
VECTOR = np.float32([3.0, 1.0, 2.0])
SORTED = np.float32([1.0, 2.0, 3.0])
ROW = np.float32([[[1.0, 5.0, -2.0, 4.0, 3.0, 0.5]] * 2])  # shape [1, 2, 6]
PICTURE = np.arange(72, dtype=np.float32).reshape(1, 2, 6, 6) % 7
SOLID = np.arange(432, dtype=np.float32).reshape(1, 2, 6, 6, 6) % 11
LABELS = np.int32([0, 2, 1])
POSITIVE = np.float32([[4.0, 1.0, 0.5], [1.0, 5.0, 1.0], [0.5, 1.0, 6.0]])
HALVES = {"dtype": "float16"}
#: Log-probabilities of three steps, and labels with one alignment.
_ALIGNED = (np.log(POSITIVE / POSITIVE.sum(1, keepdims=True))[[1, 0, 2], None],
            np.int32([[1, 1]]), [3], [2])  # fmt: skip
#: An invalid device: the error shows that the argument is checked.
NOWHERE = {"device": "no device"}


class Case(NamedTuple):
    """The operands of a function, and a non-default value of each optional argument."""

    operands: tuple[Any, ...]
    values: dict[str, Any]


class With(NamedTuple):
    """A value that has an effect only with other arguments or operands."""

    value: Any
    others: Mapping[str, Any] = MappingProxyType({})
    operands: tuple[Any, ...] | None = None


def _axes(*more: str, x: np.ndarray = X) -> Case:
    values = {"axis": 0, "keepdims": True, "dtype": "float16", "correction": 1.0}
    return Case((x,), {name: values[name] for name in ("axis", *more)})


def _kernel(*shape: int) -> np.ndarray:
    return np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape) / 8


def _pool(x: np.ndarray, *more: str) -> Case:
    values = {
        "stride": 1, "padding": With(1, {"stride": 1}), "ceil_mode": With(True, {"stride": 4}),
        "dilation": 2,
        "count_include_pad": With(False, {"padding": 1}), "return_indices": True,
    }  # fmt: skip
    return Case((x, 3), {name: values[name] for name in ("stride", "padding", "ceil_mode", *more)})


def _convolution(rank: int, x: np.ndarray) -> Case:
    one, two = (_kernel(2, n, *(3,) * rank) for n in (1, 2))
    return Case((x, two), {
        "bias": np.float32([1, 2]), "stride": 2, "padding": 1, "dilation": 2,
        "groups": With(2, operands=(x, one)),
    })  # fmt: skip


def _transposed(rank: int, x: np.ndarray) -> Case:
    return Case((x, _kernel(2, 2, *(3,) * rank)), {
        "bias": np.float32([1, 2]), "stride": 2, "padding": 1, "dilation": 2, "groups": 2,
        "output_padding": With(1, {"stride": 2}),
    })  # fmt: skip


def _transform(x: np.ndarray, n: int, *, several: bool = False) -> Case:
    names = ("s", "axes") if several else ("n", "axis")
    value = (n, n) if several else n
    return Case((x,), {names[0]: value, names[1]: (0,) if several else 0, "norm": "ortho"})


_MADE = {**HALVES, **NOWHERE}
_LIKE, _ORDER = {"like": "no array"}, {"order": "no order"}
_LOSS = {"reduction": "sum"}
_NORM = {"weight": VECTOR, "bias": VECTOR, "eps": 0.5}

CASES: dict[str, Case] = {
    **{name: _axes("keepdims") for name in ("all", "any", "argmax", "argmin", "count_nonzero",
                                            "max", "mean", "min")},
    "all": _axes("keepdims", x=X > 0), "any": _axes("keepdims", x=X > 3),
    **{name: _axes("keepdims", "dtype") for name in ("prod", "sum")},
    **{name: _axes("keepdims", "correction") for name in ("std", "var")},
    "arange": Case((2,), {"stop": 9, "step": With(2, {"stop": 9}), **_MADE, **_LIKE}),
    **{name: Case((X,), {"axis": 0, "descending": True, "stable": False})
       for name in ("argsort", "sort")},
    "array": Case((X,), {**_MADE, **_LIKE, **_ORDER, "copy": False, "ndmin": 3, "ndmax": 1,
                        "subok": True}),
    "asanyarray": Case((X,), {**_MADE, **_LIKE, **_ORDER, "copy": True}),
    "asarray": Case((X,), {**_MADE, **_LIKE, **_ORDER, "copy": True}),
    "asarray_chkfinite": Case((X,), {**HALVES, **_ORDER}),
    "ascontiguousarray": Case((X,), {**HALVES, **_LIKE}),
    "asfortranarray": Case((X,), {**HALVES, **_LIKE}),
    "astype": Case((X, "float32"), {"copy": False, **NOWHERE}),
    "can_cast": Case((X, "int32"), {"casting": "unsafe"}),
    "clip": Case((X,), {"min": 0.0, "max": 1.0}),
    "concat": Case(([X, X],), {"axis": 1}), "stack": Case(([X, X],), {"axis": 1}),
    **{f"cumulative_{name}": Case((X,), {
        "axis": 0, "dtype": With("float16", {"axis": 0}),
        "include_initial": With(True, {"axis": 0}),
    }) for name in ("prod", "sum")},
    "diff": Case((X,), {"axis": 0, "n": 2, "prepend": X, "append": X}),
    "einsum": Case(("ij,jk->ik", X, X), {"optimize": "no order", **HALVES}),
    "eye": Case((3,), {"k": 1, "M": 2, **_MADE, **_LIKE, **_ORDER}),
    **{name: Case(((2, 3),), {**_MADE, **_LIKE, **_ORDER}) for name in ("empty", "ones", "zeros")},
    "fromfunction": Case((lambda i, j, options=0: i + j + options, (2, 3)),
                         {"dtype": "int32", "options": 1, **_LIKE}),
    "full": Case((3, 2.0), {**_MADE, **_LIKE, **_ORDER}),
    **{name: Case((X,), _MADE) for name in ("empty_like", "ones_like", "zeros_like")},
    "full_like": Case((X, 2.0), _MADE),
    "flip": Case((X,), {"axis": 0}), "from_dlpack": Case((X,), {**NOWHERE, "copy": True}),
    "isin": Case((X, VECTOR), {"invert": True}),
    "linspace": Case((0, 1), {"endpoint": False, "num": 5, "retstep": True, **_MADE,
                              "axis": With(1, operands=(X[0], X[1]))}),
    "logspace": Case((0, 1), {"endpoint": False, "num": 5, "base": 2.0, **HALVES,
                              "axis": With(1, operands=(X[0], X[1]))}),
    "geomspace": Case((1, 2), {"endpoint": False, "num": 5, **HALVES,
                               "axis": With(1, operands=([1.0, 2.0], [3.0, 4.0]))}),
    "indices": Case(((2, 3),), {"sparse": True, **HALVES}),
    "tri": Case((3,), {"M": 2, "k": 1, **HALVES, **_LIKE}),
    "identity": Case((3,), {**HALVES, **_LIKE}),
    "matmul": Case((X, X), {"precision": "no precision"}),
    "meshgrid": Case((VECTOR, VECTOR), {"indexing": "ij"}),
    "repeat": Case((X, 2), {"axis": 0}), "reshape": Case((X, (1, 9)), {"copy": True}),
    "roll": Case((X, 1), {"axis": 0}),
    "searchsorted": Case((SORTED, VECTOR), {"side": "right", "sorter": np.int32([2, 1, 0])}),
    "take": Case((X, np.int32([2, 0])), {"axis": 0}),
    "take_along_axis": Case((X, np.int32([[2, 0, 1]])), {"axis": 0}),
    "tensordot": Case((X, X), {"axes": 1}), "transpose": Case((X[None],), {"axes": (1, 0, 2)}),
    "tril": Case((X,), {"k": 1}), "triu": Case((X,), {"k": 1}), "unstack": Case((X,), {"axis": 1}),
    "vecdot": Case((X, X[::-1]), {"axis": 0}),
    "linalg.cholesky": Case((POSITIVE,), {"upper": True}),
    "linalg.cross": Case((X, X[::-1]), {"axis": 0}),
    "linalg.diagonal": Case((X,), {"offset": 1}),
    "linalg.matrix_norm": Case((X,), {"keepdims": True, "ord": 1}),
    "linalg.matrix_rank": Case((X,), {"rtol": 0.5}), "linalg.pinv": Case((X,), {"rtol": 0.5}),
    "linalg.qr": Case((X[:, :2],), {"mode": "complete"}),
    "linalg.svd": Case((X[:, :2],), {"full_matrices": False}),
    "linalg.trace": Case((X,), {"offset": 1, **HALVES}),
    "linalg.vector_norm": Case((X,), {"axis": 0, "keepdims": True, "ord": 1}),
    **{f"fft.{name}": _transform(X + 1j * X.T, 2) for name in ("fft", "ifft", "hfft", "irfft")},
    **{f"fft.{name}": _transform(X, 2) for name in ("rfft", "ihfft")},
    **{f"fft.{name}": _transform(X + 1j * X.T, 2, several=True)
       for name in ("fftn", "ifftn", "irfftn")},
    "fft.rfftn": _transform(X, 2, several=True),
    **{f"fft.{name}": Case((X,), {"axes": 0}) for name in ("fftshift", "ifftshift")},
    **{f"fft.{name}": Case((5,), {"d": 2.0, **_MADE}) for name in ("fftfreq", "rfftfreq")},
    "nn.avg_pool1d": _pool(ROW, "count_include_pad"),
    "nn.avg_pool2d": _pool(PICTURE, "count_include_pad"),
    "nn.avg_pool3d": _pool(SOLID, "count_include_pad"),
    "nn.max_pool1d": _pool(ROW, "dilation", "return_indices"),
    "nn.max_pool2d": _pool(PICTURE, "dilation", "return_indices"),
    "nn.max_pool3d": _pool(SOLID, "dilation"),
    "nn.conv1d": _convolution(1, ROW), "nn.conv2d": _convolution(2, PICTURE),
    "nn.conv3d": _convolution(3, SOLID),
    "nn.conv_transpose1d": _transposed(1, ROW), "nn.conv_transpose2d": _transposed(2, PICTURE),
    "nn.conv_transpose3d": _transposed(3, SOLID),
    "nn.batch_norm": Case((X, VECTOR, VECTOR), {
        **_NORM, "training": True, "momentum": With(0.5, {"training": True}),
    }),
    "nn.binary_cross_entropy_with_logits": Case((X, np.float32(X > 0)), {
        "weight": VECTOR, "pos_weight": VECTOR, **_LOSS,
    }),
    "nn.cross_entropy": Case((X, LABELS), {
        "weight": VECTOR, "ignore_index": 2, "label_smoothing": 0.5, **_LOSS,
    }),
    "nn.nll_loss": Case((X, LABELS), {"weight": VECTOR, "ignore_index": 2, **_LOSS}),
    "nn.dropout": Case((X,), {"p": 1.0, "training": False, "generator": "no generator"}),
    **{f"nn.{name}": Case((ROW,), {"p": 1.0, "training": False, "generator": "no generator"})
       for name in ("dropout1d", "dropout2d")},
    "nn.dropout3d": Case((SOLID,), {"p": 1.0, "training": False, "generator": "no generator"}),
    **{f"nn.{name}": Case((X,), {
        "p": With(1.0, {"training": True}), "training": True,
        "generator": With("no generator", {"training": True}),
    }) for name in ("alpha_dropout", "feature_alpha_dropout")},
    "nn.unfold": Case((PICTURE, 2), {"dilation": 2, "padding": 1, "stride": 2}),
    "nn.fold": Case((ROW[:, :, :4].repeat(2, 1), 3, 2), {
        "dilation": With(2, operands=(ROW[:, :, :1].repeat(2, 1), 3, 2)),
        "padding": With(1, operands=(ROW[:, :, :4].repeat(2, 1), 1, 2)),
        "stride": With(2, operands=(ROW[:, :, :4].repeat(2, 1), 4, 2)),
    }),
    "nn.interpolate": Case((PICTURE,), {
        "size": 4, "scale_factor": 2.0, "mode": With("bilinear", {"size": 4}),
        "align_corners": With(True, {"size": 4, "mode": "bilinear"}),
        "recompute_scale_factor": With(True, {"scale_factor": 1.2, "mode": "bilinear"}),
        "antialias": With(True, {"size": 4, "mode": "bilinear"}),
    }),
    **{f"nn.adaptive_max_pool{rank}d": Case((x, 2), {"return_indices": True})
       for rank, x in ((1, ROW), (2, PICTURE), (3, SOLID))},
    "nn.max_unpool1d": Case((VECTOR[None], np.int32([[0, 1, 3]]), 2), {
        "stride": 3, "padding": 1, "output_size": (9,),
    }),
    "nn.max_unpool2d": Case((X[None, None, :2, :2], np.int32([[[[0, 1], [3, 2]]]]), 2), {
        "stride": 3, "padding": 1, "output_size": (9, 9),
    }),
    "nn.lp_pool1d": Case((ROW, 2, 4), {"stride": 1, "ceil_mode": True}),
    "nn.lp_pool2d": Case((PICTURE, 2, 4), {"stride": 1, "ceil_mode": True}),
    "nn.instance_norm": Case((PICTURE,), {
        "running_mean": With(np.float32([1, 2]), {"running_var": np.float32([1, 2]),
                                                  "use_input_stats": False}),
        "running_var": With(np.float32([3, 2]), {"running_mean": np.float32([1, 2]),
                                                 "use_input_stats": False}),
        "weight": np.float32([2, 3]), "bias": np.float32([2, 3]),
        "use_input_stats": False, "momentum": "no number", "eps": 1.0,
    }),
    "nn.local_response_norm": Case((PICTURE, 2), {"alpha": 0.5, "beta": 0.5, "k": 2.0}),
    "nn.normalize": Case((X,), {"p": 1.0, "dim": 0, "eps": 100.0}),
    "nn.affine_grid": Case((np.ones((1, 2, 3), np.float32), (1, 1, 2, 2)), {
        "align_corners": True,
    }),
    "nn.grid_sample": Case((PICTURE, np.full((1, 1, 1, 2), 1.1, np.float32)), {
        "mode": "nearest", "padding_mode": "border", "align_corners": True,
    }),
    "nn.embedding": Case((LABELS, X), {
        "padding_idx": 9, "max_norm": 1.0, "norm_type": With(1.0, {"max_norm": 1.0}),
        "scale_grad_by_freq": "no flag", "sparse": True,
    }),
    "nn.embedding_bag": Case((LABELS[None], X), {
        "offsets": With(np.int32([0, 2]), operands=(LABELS, X)), "max_norm": 1.0,
        "norm_type": With(1.0, {"max_norm": 1.0}), "scale_grad_by_freq": "no flag", "mode": "sum",
        "sparse": True, "per_sample_weights": With(VECTOR[None], {"mode": "sum"}),
        "include_last_offset": With(
            True, {"offsets": np.int32([0, 2, 3])}, operands=(LABELS, X)
        ), "padding_idx": 2,
    }),
    "nn.binary_cross_entropy": Case((POSITIVE / 8, POSITIVE.T / 8), {"weight": VECTOR, **_LOSS}),
    "nn.kl_div": Case((X, POSITIVE), {"log_target": True, **_LOSS}),
    "nn.poisson_nll_loss": Case((POSITIVE, POSITIVE.T), {
        "log_input": False, "full": True, "eps": With(0.5, {"log_input": False}), **_LOSS,
    }),
    "nn.gaussian_nll_loss": Case((X, X.T, POSITIVE), {"full": True, "eps": 2.0, **_LOSS}),
    "nn.hinge_embedding_loss": Case((X, np.sign(X)), {"margin": 2.0, **_LOSS}),
    "nn.margin_ranking_loss": Case((X, X.T, np.sign(X)), {"margin": 2.0, **_LOSS}),
    "nn.soft_margin_loss": Case((X, np.sign(X)), _LOSS),
    "nn.multilabel_soft_margin_loss": Case((X, np.float32(X > 0)), {"weight": VECTOR, **_LOSS}),
    "nn.multi_margin_loss": Case((X, LABELS), {
        "p": 2, "margin": 2.0, "weight": VECTOR, **_LOSS,
    }),
    "nn.multilabel_margin_loss": Case((X, np.int32([[0, -1, 0], [1, 2, -1], [2, -1, 0]])), _LOSS),
    "nn.cosine_similarity": Case((X, POSITIVE), {"dim": 0, "eps": 10.0}),
    "nn.pairwise_distance": Case((X, X.T), {"p": 1.0, "eps": 1.0, "keepdim": True}),
    "nn.cosine_embedding_loss": Case((X, POSITIVE, np.float32([-1, 1, -1])), {
        "margin": -0.5, **_LOSS,
    }),
    "nn.triplet_margin_loss": Case((X, X.T, POSITIVE), {
        "margin": 9.0, "p": 1.0, "eps": 1.0, "swap": With(True, {"margin": 9.0}), **_LOSS,
    }),
    "nn.ctc_loss": Case((np.log(POSITIVE / POSITIVE.sum(1, keepdims=True))[:, None],
                         np.int32([[1, 1]]), [2], [2]), {
        "blank": With(2, operands=_ALIGNED), "zero_infinity": True,
        "reduction": With("sum", operands=_ALIGNED),
    }),
    "nn.rrelu": Case((X,), {
        "lower": 0.2, "upper": 0.5, "training": True,
        "generator": With("no generator", {"training": True}),
    }),
    "nn.gumbel_softmax": Case((X,), {"tau": 3.0, "hard": True, "dim": 0}),
    "nn.hardtanh": Case((X,), {"min_val": -2.0, "max_val": 2.0}),
    "nn.hardshrink": Case((X,), {"lambd": 1.0}), "nn.softshrink": Case((X,), {"lambd": 1.0}),
    "nn.celu": Case((X,), {"alpha": 2.0}),
    "nn.glu": Case((ROW,), {"dim": 1}), "nn.softmin": Case((X,), {"dim": 0, **HALVES}),
    "nn.elu": Case((X,), {"alpha": 2.0}), "nn.gelu": Case((X,), {"approximate": "tanh"}),
    "nn.group_norm": Case((PICTURE, 2), {"weight": np.float32([2, 3]), "bias": np.float32([2, 3]),
                                         "eps": 0.5}),
    "nn.layer_norm": Case((X, 3), _NORM), "nn.rms_norm": Case((X, 3), {"weight": VECTOR, "eps": 1}),
    "nn.huber_loss": Case((X, X.T), {"delta": 0.5, **_LOSS}),
    "nn.smooth_l1_loss": Case((X, X.T), {"beta": 0.5, **_LOSS}),
    "nn.l1_loss": Case((X, X.T), _LOSS), "nn.mse_loss": Case((X, X.T), _LOSS),
    "nn.leaky_relu": Case((X,), {"negative_slope": 0.5}),
    "nn.linear": Case((X, X), {"bias": VECTOR}),
    "nn.log_softmax": Case((X,), {"dim": 0, **HALVES}),
    "nn.softmax": Case((X,), {"dim": 0, **HALVES}),
    "nn.softplus": Case((X,), {"beta": 2.0, "threshold": 1.0}),
    "nn.one_hot": Case((LABELS,), {"num_classes": 5}),
    "nn.pad": Case((X, (1, 1)), {"mode": "reflect", "value": 2.0}),
    "nn.scaled_dot_product_attention": Case((X[None, None], X[None, None], X[None, None]), {
        "attn_mask": X > 0, "is_causal": True, "scale": 2.0,
        "enable_gqa": With(True, operands=(HEADS, HEADS[:, :2], HEADS[:, :2])),
    }),
    "image.resize": Case((PICTURE[0, 0], (3, 3)), {"method": "bicubic", "antialias": True}),
    "random.default_rng": Case((), {"seed": 7, **NOWHERE}),
    "special.log_softmax": Case((X,), {"axis": 0}), "special.softmax": Case((X,), {"axis": 0}),
    "special.logsumexp": Case((X,), {"axis": 0, "b": X + 5, "keepdims": True, "return_sign": True}),
    **{f"Generator.{name}": Case(operands, {"size": 3, **dict.fromkeys(more, 2.0)})
       for name, operands, *more in (
           ("beta", (2.0, 3.0)), ("binomial", (9, 0.5)), ("chisquare", (2.0,)),
           ("dirichlet", ([1.0, 2.0],)), ("f", (2.0, 3.0)), ("gamma", (3.0,), "scale"),
           ("geometric", (0.01,)), ("gumbel", (), "loc", "scale"), ("hypergeometric", (50, 60, 20)),
           ("laplace", (), "loc", "scale"), ("logistic", (), "loc", "scale"),
           ("lognormal", (), "mean", "sigma"), ("logseries", (0.9,)),
           ("multinomial", (9, [0.5, 0.5])), ("negative_binomial", (9, 0.1)),
           ("noncentral_chisquare", (2.0, 1.0)), ("noncentral_f", (2.0, 3.0, 1.0)),
           ("pareto", (2.0,)), ("power", (2.0,)), ("rayleigh", (), "scale"),
           ("standard_cauchy", ()), ("standard_t", (3.0,)), ("triangular", (0.0, 1.0, 2.0)),
           ("vonmises", (0.0, 1.0)), ("wald", (1.0, 1.0)), ("weibull", (2.0,)), ("zipf", (1.1,)),
       )},
    "Generator.multivariate_hypergeometric": Case(
        ([30, 40], 9), {"size": 3, "method": "no method"}),
    "Generator.multivariate_normal": Case((VECTOR[:2], POSITIVE[:2, :2]), {
        "size": 3, "method": "cholesky", "check_valid": "no check",
        "tol": With(9.0, {"check_valid": "raise"}, (VECTOR[:2], [[1.0, 2.0], [2.0, 1.0]])),
    }),
    "Generator.permuted": Case((X,), {"axis": 1, "out": np.zeros_like(X)}),
    "Generator.poisson": Case((), {"lam": 500.0, "size": 3}),
    "Generator.standard_gamma": Case((3.0,), {
        "size": 3, "dtype": "float16", "out": np.zeros(3, "float32"),
    }),
    "Generator.choice": Case((9,), {"size": 3, "replace": With(False, {"size": 9}), "axis": 1,
                                    "p": [0.0] * 8 + [1.0], "shuffle": With(False, {
                                        "size": 9, "replace": False})}),
    "Generator.exponential": Case((), {"scale": 2.0, "size": 3}),
    "Generator.integers": Case((9,), {
        "high": 50, "size": 3, "dtype": "uint8", "endpoint": With(True, {"size": 50}, (1,)),
    }),
    "Generator.normal": Case((), {"loc": 2.0, "scale": 2.0, "size": 3}),
    "Generator.permutation": Case((X,), {"axis": 1}),
    "Generator.random": Case((), {"size": 3, "dtype": "float16", "out": np.zeros(3, "float32")}),
    "Generator.shuffle": Case((X,), {"axis": 1}),
    "Generator.standard_exponential": Case((), {
        "size": 3, "dtype": "float16", "method": "no method", "out": np.zeros(3, "float32"),
    }),
    "Generator.standard_normal": Case((), {
        "size": 3, "dtype": "float16", "out": np.zeros(3, "float32"),
    }),
    "Generator.uniform": Case((), {"low": -2.0, "high": 2.0, "size": 3}),
}  # fmt: skip

#: Sorts are always stable, unordered results are random, and out holds the returned result.
WITHOUT_EFFECT = {
    ("argsort", "stable"),
    ("sort", "stable"),
    ("Generator.choice", "shuffle"),
    ("array", "subok"),  # Array has no subclasses
    ("Generator.permuted", "out"),
}
#: Refused because operands are not arrays. Values that begin with "no " are refused as well.
REFUSED = {
    ("Generator.choice", "axis"),
    ("array", "ndmax"),
    ("nn.embedding", "padding_idx"),
    ("nn.embedding", "sparse"),
    ("nn.embedding_bag", "sparse"),
    ("nn.instance_norm", "use_input_stats"),
}
#: Functions that need their own page, file or device, and the tests of their arguments.
ELSEWHERE = {
    **dict.fromkeys(("benchmark_workgroup_sizes", "benchmark_workgroup_sizes_async"),
                    "test_workgroup_sizes.py"),
    **dict.fromkeys(("grad", "value_and_grad"), "gradients/test_engine.py"),
    **dict.fromkeys(("hessian", "jacfwd", "jacrev", "vmap"), "gradients/test_vmap.py"),
    **dict.fromkeys(("init", "init_async"), "arrays/test_devices.py"),
    "explain": "arrays/test_lazy.py",
    "jit": "compiled/test_jit.py",
    **dict.fromkeys(("savez", "savez_async", "savez_compressed", "savez_compressed_async"),
                    "arrays/test_files.py"),
    **dict.fromkeys(("tune", "tune_async", "forget_tuning", "forget_tuning_async"), "test_tune.py"),
    **dict.fromkeys(("default_device", "download", "load"),
                    "arrays/test_own_arguments.py"),  # at its end
    "draw": "test_crossing.py", "plot": "arrays/test_plotting.py", "profile": "test_profile.py",
    "save": "arrays/test_files.py",
    **dict.fromkeys(("asnumpy", "fuse", "cuda.get_current_stream", "cuda.set_allocator",
                     "cuda.set_pinned_memory_allocator"),
                    "arrays/test_cupys_names.py"),
}  # fmt: skip
EACH = [(function, name) for function, case in CASES.items() for name in case.values]


def _functions(bg: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each public function, by its first name."""
    known: set[tuple[str, str]] = set()
    for before in ("", "cuda", "linalg", "fft", "random", "special", "nn", "image"):
        module = getattr(bg, before) if before else bg
        for name in module.__all__:
            function = getattr(module, name)
            key = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
            is_own = inspect.isfunction(function) and key[0].startswith("browsergpu")
            if is_own and key not in known:
                known.add(key)
                yield f"{before}.{name}" if before else name, function
    for name, method in inspect.getmembers(bg.random.Generator):
        if not name.startswith("_") and inspect.isfunction(method):
            yield f"Generator.{name}", method


def _optional(function: Callable[..., Any]) -> Iterator[str]:
    for name, parameter in inspect.signature(function).parameters.items():
        is_keyword = parameter.kind is parameter.VAR_KEYWORD
        is_optional = parameter.default is not parameter.empty
        if is_keyword or (is_optional and parameter.kind is not parameter.POSITIONAL_ONLY):
            yield name


def _function(bg: Any, name: str) -> Callable[..., Any]:
    before, _, own = name.rpartition(".")
    if before == "Generator":
        method = getattr(bg.random.default_rng(3), own)
        return _shuffled(method) if own == "shuffle" else method
    function = getattr(getattr(bg, before) if before else bg, own)
    if name.endswith(
        ("dropout", "dropout1d", "dropout2d", "dropout3d", ".rrelu", "gumbel_softmax")
    ):
        return lambda x, **more: function(x, **{"generator": bg.random.default_rng(3), **more})
    if name == "nn.batch_norm":
        return lambda x, mean, var, **more: (function(x, mean, var, **more), mean, var)
    return function


def _shuffled(shuffle: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, **more: Any) -> Any:
        shuffle(x, **more)
        return x

    return call


def _on_gpu(bg: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_on_gpu(bg, item) for item in value]
    return bg.asarray(value) if isinstance(value, np.ndarray) else value


#: Functions that may return their operand's memory.
SHARING = {"array", "asanyarray", "asarray", "astype", "from_dlpack", "reshape"}


def _seen(bg: Any, function: str, operands: tuple[Any, ...], more: dict[str, Any]) -> Any:
    """Return everything visible of a call: its results and their memory, or its error."""
    given = [_on_gpu(bg, value) for value in operands]
    try:
        found = _function(bg, function)(*given, **{k: _on_gpu(bg, v) for k, v in more.items()})
    except (TypeError, ValueError) as error:
        return type(error).__name__
    if isinstance(found, bg.random.Generator):
        found = found.random(4)
    several = found if isinstance(found, tuple | list) else (found,)
    several = [np.float64(x) if isinstance(x, float) else x for x in several]
    several = [np.asarray(x) if isinstance(x, bool) else x for x in several]
    seen = [(x.dtype.name, x.shape, np.asarray(x).tobytes()) for x in several]
    if isinstance(found, bg.Array) and function in SHARING:
        found[...] = 9
        seen.append(("memory", (), given[0].numpy().tobytes()))
    return seen


@pytest.mark.parametrize(("function", "name"), EACH)
def test_an_argument_is_used_or_refused(bg: Any, function: str, name: str) -> None:
    case = CASES[function]
    value = case.values[name]
    if not isinstance(value, With):
        value = With(value)
    operands = case.operands if value.operands is None else value.operands
    plain = _seen(bg, function, operands, {**value.others})
    changed = _seen(bg, function, operands, {**value.others, name: value.value})
    is_nonsense = isinstance(value.value, str) and value.value.startswith("no ")
    assert isinstance(changed, str) == (is_nonsense or (function, name) in REFUSED)
    assert (plain == changed) == ((function, name) in WITHOUT_EFFECT)


def test_every_argument_has_a_case(bg: Any) -> None:
    missing = {}
    for function, made in _functions(bg):
        if function in ELSEWHERE:
            assert (Path(__file__).parents[1] / ELSEWHERE[function]).is_file()
            continue
        if _is_of_numpy(bg, made):
            continue
        listed = CASES[function].values.keys() if function in CASES else set()
        missing[function] = {*_optional(made)} - listed
    assert not {name: left for name, left in missing.items() if left}


def _is_of_numpy(bg: Any, function: Any) -> bool:
    """Return whether test_numpys_arguments tests the function, or it is NumPy's own."""
    from browsergpu.compat.numpy import protocols

    theirs = {*map(protocols.public, protocols.FUNCTIONS)}
    return function in theirs or hasattr(function, "of_numpy")


def test_arguments_that_exclude_each_other_are_refused(bg: Any) -> None:
    rng = bg.random.default_rng(1)
    out = bg.zeros(3)
    for wrong in (
        lambda: rng.random(4, out=out), lambda: rng.random(dtype="float16", out=out),
        lambda: rng.permutation(5, axis=1), lambda: rng.choice(5, axis=1),
        lambda: bg.image.resize(bg.ones((4, 4)), (2, 2), "nearest", antialias=True),
        lambda: bg.nn.pad(bg.ones((2, 3)), (1, 1), "reflect", 2.0),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must"):
            wrong()
    assert rng.random(3, np.float32, out) is out


def test_invalid_devices_are_refused(bg: Any) -> None:
    file = BytesIO()
    np.save(file, X)
    file.seek(0)
    for wrong in (
        lambda: bg.default_device("no device"), lambda: bg.load(file, device="no device"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="device"):
            wrong()


def test_a_name_that_is_none_is_refused(bg: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("given", encoding="utf-8")
    for name in ("", "b/c.txt"):
        with pytest.raises(ValueError, match="download: name must be"):
            bg.download(file, name=name)
