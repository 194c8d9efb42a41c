"""Optimizers, learning rate schedulers and gradient clipping, with PyTorch's names."""

from browsergpu.networks.optimizers import lr_scheduler
from browsergpu.networks.optimizers.adaptive import Adagrad, Adam, AdamW, RMSprop
from browsergpu.networks.optimizers.clipping import clip_grad_norm_, clip_grad_value_
from browsergpu.networks.optimizers.descent import SGD, Lion
from browsergpu.networks.optimizers.lbfgs import LBFGS
from browsergpu.networks.optimizers.moments import Adamax, NAdam, RAdam
from browsergpu.networks.optimizers.optimizer import Optimizer
from browsergpu.networks.optimizers.rates import ASGD, Adadelta, Rprop

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "clip_grad_norm_",
    "clip_grad_value_",
    "lr_scheduler",
]
