"""Further loss functions as modules, and distances. ``reduction`` is "mean", "sum" or "none"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidType
from browsergpu.functions import elementwise
from browsergpu.functions.nn.activations import relu
from browsergpu.functions.nn.criteria import ctc, distances, likelihoods, margins
from browsergpu.functions.nn.losses import reduced
from browsergpu.networks.layers.losses import Loss
from browsergpu.networks.module import Module


class CosineSimilarity(Module):
    """Compute :func:`browsergpu.nn.cosine_similarity`."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = checks.integer("CosineSimilarity", "dim", dim, -checks.LARGEST)
        self.eps = checks.real("CosineSimilarity", "eps", eps)

    def forward(self, x1: Array, x2: Array) -> Array:
        """Return the cosines of the angles."""
        return distances.cosine_similarity(x1, x2, self.dim, self.eps)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"dim={self.dim}, eps={self.eps}"


class PairwiseDistance(Module):
    """Compute :func:`browsergpu.nn.pairwise_distance`."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = checks.real("PairwiseDistance", "p", p)
        self.eps = checks.real("PairwiseDistance", "eps", eps)
        self.keepdim = checks.flag("PairwiseDistance", "keepdim", keepdim)

    def forward(self, x1: Array, x2: Array) -> Array:
        """Return the distances."""
        return distances.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)

    def extra_repr(self) -> str:
        """Return the arguments for the repr."""
        return f"p={self.norm}, eps={self.eps}, keepdim={self.keepdim}"


class KLDivLoss(Loss):
    """Compute :func:`browsergpu.nn.kl_div`. ``reduction`` may also be "batchmean"."""

    def __init__(self, *, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction="sum" if reduction == "batchmean" else reduction)
        self.reduction = reduction
        self.log_target = checks.flag("KLDivLoss", "log_target", log_target)

    def forward(self, input: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return likelihoods.kl_div(
            input, target, reduction=self.reduction, log_target=self.log_target
        )


class PoissonNLLLoss(Loss):
    """Compute :func:`browsergpu.nn.poisson_nll_loss`."""

    def __init__(
        self, log_input: bool = True, full: bool = False, *, eps: float = 1e-8,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        self.log_input = checks.flag("PoissonNLLLoss", "log_input", log_input)
        self.full = checks.flag("PoissonNLLLoss", "full", full)
        self.eps = checks.real("PoissonNLLLoss", "eps", eps)

    def forward(self, log_input: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return likelihoods.poisson_nll_loss(
            log_input, target, self.log_input, self.full, self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(Loss):
    """Compute :func:`browsergpu.nn.gaussian_nll_loss`."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = checks.flag("GaussianNLLLoss", "full", full)
        self.eps = checks.real("GaussianNLLLoss", "eps", eps)

    def forward(self, input: Array, target: Array, var: Any) -> Array:
        """Return the reduced loss."""
        return likelihoods.gaussian_nll_loss(
            input, target, var, self.full, self.eps, reduction=self.reduction
        )


class _WithMargin(Loss):
    """Base of losses with a margin."""

    _usual: float

    def __init__(self, margin: float | None = None, *, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        given = self._usual if margin is None else margin
        self.margin = checks.real(type(self).__name__, "margin", given)


class HingeEmbeddingLoss(_WithMargin):
    """Compute :func:`browsergpu.nn.hinge_embedding_loss`. ``margin`` is 1 by default."""

    _usual = 1.0

    def forward(self, input: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return margins.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


class MarginRankingLoss(_WithMargin):
    """Compute :func:`browsergpu.nn.margin_ranking_loss`. ``margin`` is 0 by default."""

    _usual = 0.0

    def forward(self, input1: Array, input2: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return margins.margin_ranking_loss(
            input1, input2, target, self.margin, reduction=self.reduction
        )


class CosineEmbeddingLoss(_WithMargin):
    """Compute :func:`browsergpu.nn.cosine_embedding_loss`. ``margin`` is 0 by default."""

    _usual = 0.0

    def forward(self, input1: Array, input2: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return distances.cosine_embedding_loss(
            input1, input2, target, self.margin, reduction=self.reduction
        )


class TripletMarginLoss(Loss):
    """Compute :func:`browsergpu.nn.triplet_margin_loss`."""

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, *,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        op = "TripletMarginLoss"
        self.margin = checks.positive(op, "margin", margin)
        self.p = checks.real(op, "p", p)
        self.eps = checks.real(op, "eps", eps)
        self.swap = checks.flag(op, "swap", swap)

    def forward(self, anchor: Array, positive: Array, negative: Array) -> Array:
        """Return the reduced loss."""
        return distances.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap,
            reduction=self.reduction,
        )  # fmt: skip


class TripletMarginWithDistanceLoss(Loss):
    """Compute max(0, d(anchor, positive) - d(anchor, negative) + margin) with a given distance.

    Parameters
    ----------
    distance_function : callable, optional
        d, a function of two arrays. :class:`PairwiseDistance` by default.
    margin : float
        A number above 0.
    swap : bool
        Whether to use the distance of positive and negative if it is less than that of anchor and
        negative.
    reduction : str
        "mean", "sum" or "none".
    """

    def __init__(
        self, *, distance_function: Callable[[Array, Array], Array] | None = None,
        margin: float = 1.0, swap: bool = False, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        op = "TripletMarginWithDistanceLoss"
        if distance_function is not None and not callable(distance_function):
            raise InvalidType(op, "distance_function", distance_function, "a function or None")
        self.distance_function: Any = distance_function or PairwiseDistance()
        self.margin = checks.positive(op, "margin", margin)
        self.swap = checks.flag(op, "swap", swap)

    def forward(self, anchor: Array, positive: Array, negative: Array) -> Array:
        """Return the reduced loss."""
        near, far = (self.distance_function(anchor, x) for x in (positive, negative))
        if self.swap:
            far = elementwise.minimum(far, self.distance_function(positive, negative))
        return reduced(relu(near - far + self.margin), self.reduction)


class SoftMarginLoss(Loss):
    """Compute :func:`browsergpu.nn.soft_margin_loss`."""

    def forward(self, input: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return margins.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(Loss):
    """Compute :func:`browsergpu.nn.multilabel_margin_loss`."""

    def forward(self, input: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return margins.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(Loss):
    """Compute :func:`browsergpu.nn.multilabel_soft_margin_loss`."""

    def __init__(self, weight: Array | None = None, *, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)

    def forward(self, input: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return margins.multilabel_soft_margin_loss(
            input, target, self.weight, reduction=self.reduction
        )


class MultiMarginLoss(Loss):
    """Compute :func:`browsergpu.nn.multi_margin_loss`."""

    def __init__(
        self, p: int = 1, margin: float = 1.0, weight: Array | None = None, *,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        self.p = p
        self.margin = checks.real("MultiMarginLoss", "margin", margin)
        self.register_buffer("weight", weight)

    def forward(self, input: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return margins.multi_margin_loss(
            input, target, self.p, self.margin, self.weight, reduction=self.reduction
        )


class CTCLoss(Loss):
    """Compute :func:`browsergpu.nn.ctc_loss`."""

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = checks.integer("CTCLoss", "blank", blank)
        self.zero_infinity = checks.flag("CTCLoss", "zero_infinity", zero_infinity)

    def forward(
        self, log_probs: Array, targets: Array, input_lengths: Any, target_lengths: Any
    ) -> Array:
        """Return the reduced loss."""
        return ctc.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction,
            self.zero_infinity,
        )  # fmt: skip
