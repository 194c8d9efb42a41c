"""What neural networks are made of: functions of arrays by the names and layouts of
``torch.nn.functional``, [N, C, ...]."""

from browsergpu.array.functions.networks.activations import (
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
from browsergpu.array.functions.networks.attention import (
    scaled_dot_product_attention,
)
from browsergpu.array.functions.networks.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from browsergpu.array.functions.networks.losses import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)
from browsergpu.array.functions.networks.normalization import (
    batch_norm,
    group_norm,
    layer_norm,
    rms_norm,
)
from browsergpu.array.functions.networks.padding import (
    pad,
)
from browsergpu.array.functions.networks.pooling import (
    adaptive_avg_pool2d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from browsergpu.array.functions.networks.tables import (
    embedding,
    linear,
    one_hot,
)

__all__ = [
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
