"""Mixed precision in training, by the names of ``torch.amp``: products of float16 within
``autocast``, and losses that are scaled so that gradients of float16 do not underflow."""

from browsergpu.arrays.autograd.precision import autocast
from browsergpu.networks.optimizers.scaling import GradScaler

__all__ = ["GradScaler", "autocast"]
