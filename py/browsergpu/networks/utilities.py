"""Tools for parameters, gradients and sequences, with the names of ``torch.nn.utils``."""

from browsergpu.networks import parametrizations, parametrize
from browsergpu.networks.optimizers.clipping import clip_grad_norm_, clip_grad_value_
from browsergpu.networks.reparametrizing import (
    remove_spectral_norm,
    remove_weight_norm,
    spectral_norm,
    weight_norm,
)
from browsergpu.networks.sequences import packing as rnn
from browsergpu.networks.vectors import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]
