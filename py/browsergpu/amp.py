"""Automatic mixed precision, with the names of ``torch.amp``.

``autocast`` computes matrix products in float16. ``GradScaler`` scales the loss, so that float16
gradients do not underflow.
"""

from browsergpu.arrays.autograd.precision import autocast
from browsergpu.networks.optimizers.scaling import GradScaler

__all__ = ["GradScaler", "autocast"]
