"""Functions of networks, as ``torch.nn.functional``."""

from __future__ import annotations

from functools import wraps
from math import inf
from typing import Any

from browsergpu import nn
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, UnknownName
from browsergpu.functions import creation, data_types, elementwise, manipulation
from browsergpu.functions.linalg.linear import matmul
from browsergpu.networks.layers.linear import bilinear as _bilinear
from browsergpu.networks.seeding import drawer
from browsergpu.torch.tensors.devices import notice
from browsergpu.torch.tensors.dtypes import INT64
from browsergpu.torch.tensors.public import FUNCTIONS, returning_tensors

own: Any = nn  # its functions are called with arguments that are only known at run time


def legacy(size_average: Any, reduce: Any, reduction: str) -> str:
    """Return the reduction that PyTorch's older arguments name."""
    if size_average is None and reduce is None:
        return reduction
    notice("reduction", "loss: size_average and reduce are old names. Use reduction.")
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def _placed(name: str) -> Any:
    function = getattr(own, name)

    def call(input: Any, *args: Any, inplace: bool = False, **options: Any) -> Any:
        found = function(input, *args, **options)
        if inplace:
            from browsergpu.autograd.operators import rebind

            return rebind(input, found, name)
        return found

    call.__name__, call.__doc__ = name, function.__doc__
    return call


#: Functions with an argument ``inplace`` in PyTorch.
_IN_PLACE = [
    "relu",
    "leaky_relu",
    "elu",
    "silu",
    "hardswish",
    "celu",
    "selu",
    "relu6",
    "hardtanh",
    "hardsigmoid",
    "mish",
    "rrelu",
]
for _name in dir(own):
    if _name in own.__all__ and _name[0].islower() and _name not in ("init", "utils"):
        _function = _placed(_name) if _name in _IN_PLACE else getattr(own, _name)
        globals()[_name] = returning_tensors(_function)
bilinear = returning_tensors(_bilinear)
for _name in ("sigmoid", "tanh", "logsigmoid"):
    globals().setdefault(_name, FUNCTIONS.get(_name))


def relu_(input: Any) -> Any:
    """Apply ReLU in place."""
    return globals()["relu"](input, inplace=True)


def _drawer(input: Any) -> Any:
    return drawer("dropout", None, input.device)


def _with_generator(name: str) -> Any:
    function = globals()[name]

    def call(input: Any, *args: Any, **options: Any) -> Any:
        return function(input, *args, generator=_drawer(input), **options)

    call.__name__, call.__doc__ = name, function.__doc__
    return call


for _name in ("gumbel_softmax", "rrelu"):
    globals()[_name] = _with_generator(_name)


def _chance(name: str) -> Any:
    function = getattr(own, name)
    is_training = not name.endswith("alpha_dropout")  # PyTorch's defaults differ

    def call(
        input: Any, p: float = 0.5, training: bool = is_training, inplace: bool = False
    ) -> Any:
        if name == "dropout2d" and input.ndim == 2:  # as in PyTorch, each element is a channel
            notice(name, "dropout2d: input has 2 axes, so dropout is used. Use dropout.")
            found = own.dropout(input, p, training, generator=_drawer(input))
        else:
            found = function(input, p, training, generator=_drawer(input))
        if not training or p == 0:
            return input  # the tensor itself, as in PyTorch
        if inplace:
            from browsergpu.autograd.operators import rebind

            return rebind(input, found, name)
        return found

    call.__name__, call.__doc__ = name, function.__doc__
    return returning_tensors(call)


for _name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout",
              "feature_alpha_dropout"):  # fmt: skip
    globals()[_name] = _chance(_name)


def with_long_indices(found: Any) -> Any:
    """Return the results of a pooling function, with indices of PyTorch's dtype."""
    if not isinstance(found, tuple):
        return found
    return found[0], data_types.astype(found[1], INT64)


def _max_pool(name: str) -> Any:
    function = getattr(own, name)

    def call(*args: Any, **options: Any) -> Any:
        return with_long_indices(function(*args, **options))

    return returning_tensors(wraps(function)(call))


for _name in ("max_pool1d", "max_pool2d", "max_pool3d", "adaptive_max_pool1d",
              "adaptive_max_pool2d", "adaptive_max_pool3d"):  # fmt: skip
    globals()[_name] = _max_pool(_name)


def _soft(name: str) -> Any:
    function = getattr(own, name)

    def call(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
        if type(_stacklevel) is not int:
            raise InvalidType(name, "_stacklevel", _stacklevel, "an int", "Pass dtype by name.")
        if dim is None:
            dim = 0 if input.ndim in (0, 1, 3) else 1
            notice(name, f"{name}: dim is missing, and dim={dim} was chosen. Pass dim.")
        if name == "softmin":
            return function(input if dtype is None else input.to(dtype), dim)
        return function(input, dim) if dtype is None else function(input, dim, dtype=dtype)

    call.__name__, call.__doc__ = name, function.__doc__
    return returning_tensors(call)


softmax, log_softmax, softmin = _soft("softmax"), _soft("log_softmax"), _soft("softmin")


def _loss(name: str) -> Any:
    function = getattr(own, name)

    def call(
        input: Any, target: Any, size_average: Any = None, reduce: Any = None,
        reduction: str = "mean", **options: Any,
    ) -> Any:  # fmt: skip
        return function(input, target, reduction=legacy(size_average, reduce, reduction), **options)

    call.__name__, call.__doc__ = name, function.__doc__
    return returning_tensors(call)


mse_loss, l1_loss = _loss("mse_loss"), _loss("l1_loss")
smooth_l1_loss, huber_loss = _loss("smooth_l1_loss"), _loss("huber_loss")


def _weighted_loss(name: str) -> Any:
    function = getattr(own, name)

    def call(
        input: Any, target: Any, weight: Any = None, size_average: Any = None,
        ignore_index: int = -100, reduce: Any = None, reduction: str = "mean", **options: Any,
    ) -> Any:  # fmt: skip
        how = legacy(size_average, reduce, reduction)
        return function(input, target, weight, ignore_index=ignore_index, reduction=how, **options)

    call.__name__, call.__doc__ = name, function.__doc__
    return returning_tensors(call)


cross_entropy, nll_loss = _weighted_loss("cross_entropy"), _weighted_loss("nll_loss")


@returning_tensors
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", pos_weight: Any = None,
) -> Any:  # fmt: skip
    """Return the binary cross-entropy of logits."""
    how = legacy(size_average, reduce, reduction)
    return own.binary_cross_entropy_with_logits(
        input, target, weight, reduction=how, pos_weight=pos_weight
    )


@returning_tensors
def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the binary cross-entropy of probabilities."""
    how = legacy(size_average, reduce, reduction)
    return own.binary_cross_entropy(input, target, weight, reduction=how)


@returning_tensors
def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """Return the values, weighted by the products of queries and keys."""
    if is_causal and attn_mask is not None:
        raise InvalidArgument(
            "scaled_dot_product_attention", "attn_mask", attn_mask, "None beside is_causal=True"
        )
    if enable_gqa and key.shape[-3] != query.shape[-3]:
        groups = query.shape[-3] // key.shape[-3]
        key, value = (manipulation.repeat(x, groups, axis=-3) for x in (key, value))
    if not dropout_p:
        return own.scaled_dot_product_attention(
            query, key, value, attn_mask, is_causal=is_causal, scale=scale
        )
    scores = matmul(query, manipulation.matrix_transpose(key))
    scores = scores * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        ones = creation.ones(scores.shape[-2:], dtype="bool", device=query.device)
        attn_mask = creation.tril(ones)
    if attn_mask is not None:
        is_bool = attn_mask.dtype.kind == "b"
        scores = elementwise.where(attn_mask, scores, -inf) if is_bool else scores + attn_mask
    shares = own.dropout(own.softmax(scores, -1), dropout_p, True, generator=_drawer(query))
    return matmul(shares, value)


def _alike(input: Any, *others: Any) -> Any:
    """Broadcast arrays, and cast integers to the dtype of the first, as PyTorch's losses do."""
    cast = [x if x.dtype.kind == "f" else x.astype(input.dtype) for x in others]
    return manipulation.broadcast_arrays(input, *cast)


@returning_tensors
def kl_div(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", log_target: bool = False,
) -> Any:  # fmt: skip
    """Return the Kullback-Leibler divergence of log-probabilities from a target."""
    how = legacy(size_average, reduce, reduction)
    return own.kl_div(*_alike(input, target), reduction=how, log_target=log_target)


@returning_tensors
def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the triplet loss with a margin."""
    how = legacy(size_average, reduce, reduction)
    given = _alike(anchor, positive, negative)
    return own.triplet_margin_loss(*given, margin, p, eps, swap, reduction=how)


@returning_tensors
def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the ranking loss with a margin."""
    how = legacy(size_average, reduce, reduction)
    return own.margin_ranking_loss(*_alike(input1, input2, target), margin, reduction=how)


@returning_tensors
def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return 1 - cosine for similar pairs, and the excess over the margin for others."""
    how = legacy(size_average, reduce, reduction)
    return own.cosine_embedding_loss(input1, input2, target, margin, reduction=how)


@returning_tensors
def soft_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """Return ``log(1 + exp(-target * input))``."""
    how = legacy(size_average, reduce, reduction)
    return own.soft_margin_loss(*_alike(input, target), reduction=how)


@returning_tensors
def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the distance for similar pairs, and the missing margin for others."""
    how = legacy(size_average, reduce, reduction)
    return own.hinge_embedding_loss(*_alike(input, target), margin, reduction=how)


@returning_tensors
def poisson_nll_loss(
    input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: Any = None,
    eps: float = 1e-8, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the negative log-likelihood of a Poisson distribution."""
    how = legacy(size_average, reduce, reduction)
    return own.poisson_nll_loss(*_alike(input, target), log_input, full, eps, reduction=how)


@returning_tensors
def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the negative log-likelihood of a normal distribution."""
    given = _alike(input, target)
    return own.gaussian_nll_loss(*given, var, full, eps, reduction=reduction)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torch.nn.functional.{name}", "it is not available.")
