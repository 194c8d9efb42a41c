"""Tools for parameters and gradients, as ``torch.nn.utils``."""

from browsergpu.networks import utilities as _own
from browsergpu.networks.utilities import (
    clip_grad_value_,
    remove_spectral_norm,
    remove_weight_norm,
    spectral_norm,
    vector_to_parameters,
    weight_norm,
)
from browsergpu.torch.nn.utils import parametrizations, parametrize, rnn
from browsergpu.torch.tensors.public import returning_tensors

clip_grad_norm_ = returning_tensors(_own.clip_grad_norm_)
parameters_to_vector = returning_tensors(_own.parameters_to_vector)

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "parametrizations",
    "parametrize", "remove_spectral_norm", "remove_weight_norm", "rnn", "spectral_norm",
    "vector_to_parameters", "weight_norm",
]  # fmt: skip
