"""Functions of networks, as ``torch.nn.functional``."""

from __future__ import annotations

from math import inf
from typing import Any

from browsergpu import nn as own
from browsergpu.arrays.array import Array
from browsergpu.core.errors import InvalidArgument, UnknownName
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.functions.linalg import norms
from browsergpu.functions.linalg.linear import matmul
from browsergpu.networks.seeding import drawer
from browsergpu.torch.tensors.devices import notice
from browsergpu.torch.tensors.public import FUNCTIONS, returning_tensors


def reduced(loss: Any, reduction: str) -> Any:
    """Return the mean, the sum or all elements of a loss."""
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum", "batchmean"):
        raise InvalidArgument("loss", "reduction", reduction, "'mean', 'sum' or 'none'")
    if reduction == "batchmean":
        return statistics.sum(loss) / loss.shape[0]
    return statistics.mean(loss) if reduction == "mean" else statistics.sum(loss)


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


for _name in ("gumbel_softmax", "rrelu", "feature_alpha_dropout"):
    globals()[_name] = _with_generator(_name)


def _chance(name: str) -> Any:
    function = getattr(own, name)

    def call(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        if name == "dropout2d" and input.ndim == 2:  # as in PyTorch, each element is a channel
            notice(name, "dropout2d: input has 2 axes, so dropout is used. Use dropout.")
            found = own.dropout(input, p, training, generator=_drawer(input))
        else:
            found = function(input, p, training, generator=_drawer(input))
        if inplace:
            from browsergpu.autograd.operators import rebind

            return rebind(input, found, name)
        return found

    call.__name__, call.__doc__ = name, function.__doc__
    return returning_tensors(call)


for _name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"):
    globals()[_name] = _chance(_name)


def _soft(name: str, sign: int = 1) -> Any:
    function = getattr(own, name)

    def call(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
        if dim is None:
            dim = 0 if input.ndim in (0, 1, 3) else 1
            notice(name, f"{name}: dim is missing, and dim={dim} was chosen. Pass dim.")
        return function(input, dim, dtype=dtype) if name != "softmin" else function(input, dim)

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
    return own.BCELoss(weight, reduction=legacy(size_average, reduce, reduction))(input, target)


@returning_tensors
def embedding(
    input: Any, weight: Any, padding_idx: Any = None, max_norm: Any = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    """Return the rows of a table. The gradient of the row ``padding_idx`` is 0."""
    if max_norm is not None or scale_grad_by_freq:
        given = max_norm if max_norm is not None else scale_grad_by_freq
        raise InvalidArgument("embedding", "max_norm", given, "left out")
    del norm_type, sparse  # gradients are dense
    found = own.embedding(input, weight)
    if padding_idx is None or not isinstance(found, Array) or not found.is_tracked:
        return found
    is_padding = elementwise.equal(input, padding_idx % weight.shape[0])[..., None]
    return elementwise.where(is_padding, found.detach(), found)


@returning_tensors
def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """Return the values, weighted by the products of queries and keys."""
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


@returning_tensors
def kl_div(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", log_target: bool = False,
) -> Any:  # fmt: skip
    """Return the Kullback-Leibler divergence of log-probabilities from a target."""
    if log_target:
        loss = elementwise.exp(target) * (target - input)
    else:
        loss = FUNCTIONS["xlogy"](target, target) - target * input
    return reduced(loss, legacy(size_average, reduce, reduction))


@returning_tensors
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """Return the cosine of the angle between vectors."""
    product = statistics.sum(x1 * x2, axis=dim)
    sizes = [elementwise.maximum(norms.vector_norm(x, axis=dim), eps) for x in (x1, x2)]
    return product / (sizes[0] * sizes[1])


@returning_tensors
def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """Return the norms of the differences of rows."""
    return norms.vector_norm(x1 - x2 + eps, axis=-1, ord=p, keepdims=keepdim)


@returning_tensors
def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the triplet loss with a margin."""
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = elementwise.minimum(far, pairwise_distance(positive, negative, p, eps))
    loss = own.relu(near - far + margin)
    return reduced(loss, legacy(size_average, reduce, reduction))


@returning_tensors
def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the ranking loss with a margin."""
    loss = own.relu(-target * (input1 - input2) + margin)
    return reduced(loss, legacy(size_average, reduce, reduction))


@returning_tensors
def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return 1 - cosine for similar pairs, and the excess over the margin for others."""
    cosine = cosine_similarity(input1, input2, input1.ndim - 1)
    loss = elementwise.where(target == 1, 1 - cosine, own.relu(cosine - margin))
    return reduced(loss, legacy(size_average, reduce, reduction))


@returning_tensors
def soft_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """Return ``log(1 + exp(-target * input))``."""
    loss = elementwise.log1p(elementwise.exp(-target * input))
    return reduced(loss, legacy(size_average, reduce, reduction))


@returning_tensors
def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the distance for similar pairs, and the missing margin for others."""
    loss = elementwise.where(target == 1, input, own.relu(margin - input))
    return reduced(loss, legacy(size_average, reduce, reduction))


@returning_tensors
def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the negative log-likelihood of a normal distribution."""
    variance = elementwise.maximum(var, eps) if isinstance(var, Array) else max(var, eps)
    loss = 0.5 * (FUNCTIONS["log"](variance) + (input - target) ** 2 / variance)
    return reduced(loss + 0.9189385332046727 if full else loss, reduction)


@returning_tensors
def poisson_nll_loss(
    input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: Any = None,
    eps: float = 1e-8, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the negative log-likelihood of a Poisson distribution."""
    if full:
        raise InvalidArgument("poisson_nll_loss", "full", full, "False")
    ahead = elementwise.exp(input) if log_input else input
    loss = ahead - target * (input if log_input else elementwise.log(input + eps))
    return reduced(loss, legacy(size_average, reduce, reduction))


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torch.nn.functional.{name}", "it is not available.")
