"""Loss functions as modules. ``reduction`` is "mean", "sum" or "none"."""

from __future__ import annotations

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions.nn import losses
from browsergpu.functions.nn.criteria import likelihoods
from browsergpu.networks.module import Module


class Loss(Module):
    """Base of losses."""

    def __init__(self, *, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            expected = "'mean', 'sum' or 'none'"
            raise InvalidArgument(type(self).__name__, "reduction", reduction, expected)
        self.reduction = reduction


class MSELoss(Loss):
    """Compute :func:`browsergpu.nn.mse_loss`."""

    def forward(self, input: Array, target: Array) -> Array:
        """Return (input - target)², reduced."""
        return losses.mse_loss(input, target, reduction=self.reduction)


class L1Loss(Loss):
    """Compute :func:`browsergpu.nn.l1_loss`."""

    def forward(self, input: Array, target: Array) -> Array:
        """Return |input - target|, reduced."""
        return losses.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(Loss):
    """Compute :func:`browsergpu.nn.smooth_l1_loss`."""

    def __init__(self, *, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.beta = checks.real("SmoothL1Loss", "beta", beta)

    def forward(self, input: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return losses.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(Loss):
    """Compute :func:`browsergpu.nn.huber_loss`."""

    def __init__(self, *, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = checks.real("HuberLoss", "delta", delta)

    def forward(self, input: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return losses.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class BCEWithLogitsLoss(Loss):
    """Compute :func:`browsergpu.nn.binary_cross_entropy_with_logits`."""

    def __init__(
        self, weight: Array | None = None, *, reduction: str = "mean",
        pos_weight: Array | None = None,
    ) -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return losses.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class BCELoss(Loss):
    """Compute :func:`browsergpu.nn.binary_cross_entropy`."""

    def __init__(self, weight: Array | None = None, *, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)

    def forward(self, input: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return likelihoods.binary_cross_entropy(
            input, target, self.weight, reduction=self.reduction
        )


class NLLLoss(Loss):
    """Compute :func:`browsergpu.nn.nll_loss`."""

    def __init__(
        self, weight: Array | None = None, *, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.ignore_index = checks.integer("NLLLoss", "ignore_index", ignore_index, -checks.LARGEST)
        self.register_buffer("weight", weight)

    def forward(self, input: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return losses.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class CrossEntropyLoss(Loss):
    """Compute :func:`browsergpu.nn.cross_entropy`."""

    def __init__(
        self, weight: Array | None = None, *, ignore_index: int = -100, reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        op = "CrossEntropyLoss"
        self.ignore_index = checks.integer(op, "ignore_index", ignore_index, -checks.LARGEST)
        self.label_smoothing = checks.fraction(op, "label_smoothing", label_smoothing)
        self.register_buffer("weight", weight)

    def forward(self, input: Array, target: Array) -> Array:
        """Return the reduced loss."""
        return losses.cross_entropy(
            input, target, self.weight, ignore_index=self.ignore_index,
            reduction=self.reduction, label_smoothing=self.label_smoothing,
        )  # fmt: skip
