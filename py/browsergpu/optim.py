<<<<<<< HEAD
"""Optimizers, learning rate schedulers and gradient clipping, with PyTorch's names."""
=======
"""Training: optimizers by the names of ``torch.optim``, rates that change (``lr_scheduler``), and
gradients that are not too large."""
>>>>>>> 60d1a76 (Say optimizer everywhere, and mend sentences of the docs)

from browsergpu.networks.optimizers import lr_scheduler
from browsergpu.networks.optimizers.adaptive import Adagrad, Adam, AdamW, RMSprop
from browsergpu.networks.optimizers.clipping import clip_grad_norm_, clip_grad_value_
from browsergpu.networks.optimizers.descent import SGD, Lion
from browsergpu.networks.optimizers.optimizer import Optimizer

__all__ = [
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "Lion",
    "Optimizer",
    "RMSprop",
    "clip_grad_norm_",
    "clip_grad_value_",
    "lr_scheduler",
]
