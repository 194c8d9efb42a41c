"""Learning rate schedulers with PyTorch's names.

Each computes the rate from the optimizer's initial rate, base, and the number of steps so far, n.
Schedulers with a factor multiply the current rate, so several of them can follow each other.
Replays of a captured step follow the rates, momenta and betas.
"""

from browsergpu.networks.optimizers.schedules.base import LRScheduler
from browsergpu.networks.optimizers.schedules.combined import ChainedScheduler, SequentialLR
from browsergpu.networks.optimizers.schedules.cycles import CyclicLR, OneCycleLR
from browsergpu.networks.optimizers.schedules.formulas import (
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from browsergpu.networks.optimizers.schedules.plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
