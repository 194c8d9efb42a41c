"""Optimizers, learning rate schedulers and gradient clipping, with PyTorch's names."""

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
