"""Neural network layers and functions, with PyTorch's names and layouts.

Functions are those of ``torch.nn.functional``, layers those of ``torch.nn``. Images and signals
have the layout [N, C, ...]. ``browsergpu.nn.init`` initializes parameters.
"""

from browsergpu.functions.nn.activations import (
    dropout,
    elu,
    gelu,
    hardswish,
    leaky_relu,
    log_softmax,
    relu,
    sigmoid,
    silu,
    softmax,
    softplus,
    tanh,
)
from browsergpu.functions.nn.attention import scaled_dot_product_attention
from browsergpu.functions.nn.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from browsergpu.functions.nn.losses import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)
from browsergpu.functions.nn.normalization import batch_norm, group_norm, layer_norm, rms_norm
from browsergpu.functions.nn.padding import pad
from browsergpu.functions.nn.pooling import (
    adaptive_avg_pool2d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from browsergpu.functions.nn.tables import embedding, linear, one_hot
from browsergpu.networks import init
from browsergpu.networks.layers.activations import (
    ELU,
    GELU,
    Hardswish,
    LeakyReLU,
    LogSoftmax,
    PReLU,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from browsergpu.networks.layers.attention import (
    MultiheadAttention,
)
from browsergpu.networks.layers.containers import (
    ModuleDict,
    ModuleList,
    Sequential,
)
from browsergpu.networks.layers.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from browsergpu.networks.layers.decoder import (
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
)
from browsergpu.networks.layers.dropping import (
    Dropout,
)
from browsergpu.networks.layers.embedding import (
    Embedding,
)
from browsergpu.networks.layers.linear import (
    Bilinear,
    Linear,
)
from browsergpu.networks.layers.losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from browsergpu.networks.layers.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    LayerNorm,
    RMSNorm,
)
from browsergpu.networks.layers.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
)
from browsergpu.networks.layers.recurrent import (
    GRU,
    LSTM,
    RNN,
)
from browsergpu.networks.layers.shapes import (
    Flatten,
    Identity,
    Unflatten,
)
from browsergpu.networks.layers.transformer import (
    TransformerEncoder,
    TransformerEncoderLayer,
)
from browsergpu.networks.module import Module
from browsergpu.networks.parameter import Parameter

__all__ = [
    "ELU",
    "GELU",
    "GRU",
    "LSTM",
    "RNN",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "GroupNorm",
    "Hardswish",
    "HuberLoss",
    "Identity",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiheadAttention",
    "NLLLoss",
    "PReLU",
    "Parameter",
    "RMSNorm",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Softplus",
    "Tanh",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "Unflatten",
    "adaptive_avg_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "group_norm",
    "hardswish",
    "huber_loss",
    "init",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "pad",
    "relu",
    "rms_norm",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softplus",
    "tanh",
]
