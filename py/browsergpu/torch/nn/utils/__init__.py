"""Tools for parameters and gradients, as ``torch.nn.utils``."""

from browsergpu.networks import utilities as _own
from browsergpu.torch.nn.utils import rnn
from browsergpu.torch.tensors.public import returning_tensors

clip_grad_norm_ = returning_tensors(_own.clip_grad_norm_)
clip_grad_value_ = _own.clip_grad_value_
parameters_to_vector = returning_tensors(_own.parameters_to_vector)
vector_to_parameters = _own.vector_to_parameters

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "rnn", "vector_to_parameters",
]  # fmt: skip
