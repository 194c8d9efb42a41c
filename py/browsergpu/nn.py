"""Neural network layers and functions, with PyTorch's names and layouts.

Functions are those of ``torch.nn.functional``, layers those of ``torch.nn``. Images and signals
have the layout [N, C, ...]. ``browsergpu.nn.init`` initializes parameters, and
``browsergpu.nn.utils`` has tools for parameters, gradients and sequences.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:  # the names of _LATER, which a test compares
    from browsergpu.functions.nn.activations import (
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
    from browsergpu.functions.nn.bags import embedding_bag
    from browsergpu.functions.nn.convolution import (
        conv1d,
        conv2d,
        conv3d,
        conv_transpose1d,
        conv_transpose2d,
        conv_transpose3d,
    )
    from browsergpu.functions.nn.criteria.ctc import ctc_loss
    from browsergpu.functions.nn.criteria.distances import (
        cosine_embedding_loss,
        cosine_similarity,
        pairwise_distance,
        triplet_margin_loss,
    )
    from browsergpu.functions.nn.criteria.likelihoods import (
        binary_cross_entropy,
        gaussian_nll_loss,
        kl_div,
        poisson_nll_loss,
    )
    from browsergpu.functions.nn.criteria.margins import (
        hinge_embedding_loss,
        margin_ranking_loss,
        multi_margin_loss,
        multilabel_margin_loss,
        multilabel_soft_margin_loss,
        soft_margin_loss,
    )
    from browsergpu.functions.nn.dropping import (
        alpha_dropout,
        dropout,
        dropout1d,
        dropout2d,
        dropout3d,
        feature_alpha_dropout,
    )
    from browsergpu.functions.nn.gates import (
        glu,
        gumbel_softmax,
        logsigmoid,
        mish,
        softmin,
        softsign,
        tanhshrink,
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
    from browsergpu.functions.nn.normalization import (
        batch_norm,
        group_norm,
        instance_norm,
        layer_norm,
        local_response_norm,
        normalize,
        rms_norm,
    )
    from browsergpu.functions.nn.padding import pad
    from browsergpu.functions.nn.piecewise import (
        celu,
        hardshrink,
        hardsigmoid,
        hardtanh,
        prelu,
        relu6,
        rrelu,
        selu,
        softshrink,
        threshold,
    )
    from browsergpu.functions.nn.pooling import (
        adaptive_avg_pool2d,
        avg_pool1d,
        avg_pool2d,
        avg_pool3d,
        max_pool1d,
        max_pool2d,
        max_pool3d,
    )
    from browsergpu.functions.nn.spatial.adaptive_pooling import (
        adaptive_avg_pool1d,
        adaptive_avg_pool3d,
        adaptive_max_pool1d,
        adaptive_max_pool2d,
        adaptive_max_pool3d,
        lp_pool1d,
        lp_pool2d,
        max_unpool1d,
        max_unpool2d,
    )
    from browsergpu.functions.nn.spatial.grids import affine_grid, grid_sample
    from browsergpu.functions.nn.spatial.patches import fold, unfold
    from browsergpu.functions.nn.spatial.resampling import interpolate
    from browsergpu.functions.nn.spatial.shuffling import (
        channel_shuffle,
        pixel_shuffle,
        pixel_unshuffle,
    )
    from browsergpu.functions.nn.tables import embedding, linear, one_hot
    from browsergpu.networks import init
    from browsergpu.networks import utilities as utils
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
    from browsergpu.networks.layers.cells import GRUCell, LSTMCell, RNNCell
    from browsergpu.networks.layers.containers import (
        ModuleDict,
        ModuleList,
        ParameterDict,
        ParameterList,
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
    from browsergpu.networks.layers.criteria import (
        CosineEmbeddingLoss,
        CosineSimilarity,
        CTCLoss,
        GaussianNLLLoss,
        HingeEmbeddingLoss,
        KLDivLoss,
        MarginRankingLoss,
        MultiLabelMarginLoss,
        MultiLabelSoftMarginLoss,
        MultiMarginLoss,
        PairwiseDistance,
        PoissonNLLLoss,
        SoftMarginLoss,
        TripletMarginLoss,
        TripletMarginWithDistanceLoss,
    )
    from browsergpu.networks.layers.decoder import (
        Transformer,
        TransformerDecoder,
        TransformerDecoderLayer,
    )
    from browsergpu.networks.layers.dropping import (
        AlphaDropout,
        Dropout,
        Dropout1d,
        Dropout2d,
        Dropout3d,
        FeatureAlphaDropout,
    )
    from browsergpu.networks.layers.embedding import (
        Embedding,
        EmbeddingBag,
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
    from browsergpu.networks.layers.nonlinearities import (
        CELU,
        GLU,
        SELU,
        Hardshrink,
        Hardsigmoid,
        Hardtanh,
        LogSigmoid,
        Mish,
        ReLU6,
        RReLU,
        Softmax2d,
        Softmin,
        Softshrink,
        Softsign,
        Tanhshrink,
        Threshold,
    )
    from browsergpu.networks.layers.normalization import (
        BatchNorm1d,
        BatchNorm2d,
        BatchNorm3d,
        GroupNorm,
        InstanceNorm1d,
        InstanceNorm2d,
        InstanceNorm3d,
        LayerNorm,
        LocalResponseNorm,
        RMSNorm,
    )
    from browsergpu.networks.layers.pooling import (
        AdaptiveAvgPool1d,
        AdaptiveAvgPool2d,
        AdaptiveAvgPool3d,
        AdaptiveMaxPool1d,
        AdaptiveMaxPool2d,
        AdaptiveMaxPool3d,
        AvgPool1d,
        AvgPool2d,
        AvgPool3d,
        LPPool1d,
        LPPool2d,
        MaxPool1d,
        MaxPool2d,
        MaxPool3d,
        MaxUnpool1d,
        MaxUnpool2d,
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
    from browsergpu.networks.layers.spatial.padding import (
        CircularPad1d,
        CircularPad2d,
        CircularPad3d,
        ConstantPad1d,
        ConstantPad2d,
        ConstantPad3d,
        ReflectionPad1d,
        ReflectionPad2d,
        ReflectionPad3d,
        ReplicationPad1d,
        ReplicationPad2d,
        ReplicationPad3d,
        ZeroPad1d,
        ZeroPad2d,
        ZeroPad3d,
    )
    from browsergpu.networks.layers.spatial.rearranging import (
        ChannelShuffle,
        Fold,
        PixelShuffle,
        PixelUnshuffle,
        Unfold,
        Upsample,
        UpsamplingBilinear2d,
        UpsamplingNearest2d,
    )
    from browsergpu.networks.layers.transformer import (
        TransformerEncoder,
        TransformerEncoderLayer,
    )
    from browsergpu.networks.module import Module
    from browsergpu.networks.parameter import Parameter

#: Names by the module that has them, which is imported when one of them is first used.
_NAMES = {
    "functions.nn.activations": (
        "elu gelu hardswish leaky_relu log_softmax relu sigmoid silu softmax softplus tanh"
    ),
    "functions.nn.attention": "scaled_dot_product_attention",
    "functions.nn.bags": "embedding_bag",
    "functions.nn.convolution": (
        "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d"
    ),
    "functions.nn.criteria.ctc": "ctc_loss",
    "functions.nn.criteria.distances": (
        "cosine_embedding_loss cosine_similarity pairwise_distance triplet_margin_loss"
    ),
    "functions.nn.criteria.likelihoods": (
        "binary_cross_entropy gaussian_nll_loss kl_div poisson_nll_loss"
    ),
    "functions.nn.criteria.margins": (
        "hinge_embedding_loss margin_ranking_loss multi_margin_loss multilabel_margin_loss "
        "multilabel_soft_margin_loss soft_margin_loss"
    ),
    "functions.nn.dropping": (
        "alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout"
    ),
    "functions.nn.gates": "glu gumbel_softmax logsigmoid mish softmin softsign tanhshrink",
    "functions.nn.losses": (
        "binary_cross_entropy_with_logits cross_entropy huber_loss l1_loss mse_loss nll_loss "
        "smooth_l1_loss"
    ),
    "functions.nn.normalization": (
        "batch_norm group_norm instance_norm layer_norm local_response_norm normalize rms_norm"
    ),
    "functions.nn.padding": "pad",
    "functions.nn.piecewise": (
        "celu hardshrink hardsigmoid hardtanh prelu relu6 rrelu selu softshrink threshold"
    ),
    "functions.nn.pooling": (
        "adaptive_avg_pool2d avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d"
    ),
    "functions.nn.spatial.adaptive_pooling": (
        "adaptive_avg_pool1d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d "
        "adaptive_max_pool3d lp_pool1d lp_pool2d max_unpool1d max_unpool2d"
    ),
    "functions.nn.spatial.grids": "affine_grid grid_sample",
    "functions.nn.spatial.patches": "fold unfold",
    "functions.nn.spatial.resampling": "interpolate",
    "functions.nn.spatial.shuffling": "channel_shuffle pixel_shuffle pixel_unshuffle",
    "functions.nn.tables": "embedding linear one_hot",
    "networks.layers.activations": (
        "ELU GELU Hardswish LeakyReLU LogSoftmax PReLU ReLU Sigmoid SiLU Softmax Softplus Tanh"
    ),
    "networks.layers.attention": "MultiheadAttention",
    "networks.layers.cells": "GRUCell LSTMCell RNNCell",
    "networks.layers.containers": "ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "networks.layers.convolution": (
        "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d"
    ),
    "networks.layers.criteria": (
        "CosineEmbeddingLoss CosineSimilarity CTCLoss GaussianNLLLoss HingeEmbeddingLoss "
        "KLDivLoss MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss "
        "MultiMarginLoss PairwiseDistance PoissonNLLLoss SoftMarginLoss TripletMarginLoss "
        "TripletMarginWithDistanceLoss"
    ),
    "networks.layers.decoder": "Transformer TransformerDecoder TransformerDecoderLayer",
    "networks.layers.dropping": (
        "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout"
    ),
    "networks.layers.embedding": "Embedding EmbeddingBag",
    "networks.layers.linear": "Bilinear Linear",
    "networks.layers.losses": (
        "BCELoss BCEWithLogitsLoss CrossEntropyLoss HuberLoss L1Loss MSELoss NLLLoss SmoothL1Loss"
    ),
    "networks.layers.nonlinearities": (
        "CELU GLU SELU Hardshrink Hardsigmoid Hardtanh LogSigmoid Mish ReLU6 RReLU Softmax2d "
        "Softmin Softshrink Softsign Tanhshrink Threshold"
    ),
    "networks.layers.normalization": (
        "BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm InstanceNorm1d InstanceNorm2d "
        "InstanceNorm3d LayerNorm LocalResponseNorm RMSNorm"
    ),
    "networks.layers.pooling": (
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
        "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d "
        "MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d"
    ),
    "networks.layers.recurrent": "GRU LSTM RNN",
    "networks.layers.shapes": "Flatten Identity Unflatten",
    "networks.layers.spatial.padding": (
        "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d "
        "ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d "
        "ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d"
    ),
    "networks.layers.spatial.rearranging": (
        "ChannelShuffle Fold PixelShuffle PixelUnshuffle Unfold Upsample UpsamplingBilinear2d "
        "UpsamplingNearest2d"
    ),
    "networks.layers.transformer": "TransformerEncoder TransformerEncoderLayer",
    "networks.module": "Module",
    "networks.parameter": "Parameter",
}
_LATER = {name: module for module, names in _NAMES.items() for name in names.split()}
_MODULES = {"init": "networks.init", "utils": "networks.utilities"}

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "GRU",
    "LSTM",
    "RNN",
    "SELU",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AlphaDropout",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "CTCLoss",
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "EmbeddingBag",
    "FeatureAlphaDropout",
    "Flatten",
    "Fold",
    "GRUCell",
    "GaussianNLLLoss",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "Identity",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "KLDivLoss",
    "L1Loss",
    "LPPool1d",
    "LPPool2d",
    "LSTMCell",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "MultiheadAttention",
    "NLLLoss",
    "PReLU",
    "PairwiseDistance",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "PixelShuffle",
    "PixelUnshuffle",
    "PoissonNLLLoss",
    "RMSNorm",
    "RNNCell",
    "RReLU",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "Unflatten",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "huber_loss",
    "init",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "mish",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "rrelu",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "triplet_margin_loss",
    "unfold",
    "utils",
]


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        found: _Any = _import_module(f"browsergpu.{_MODULES[name]}")
    elif name in _LATER:
        found = getattr(_import_module(f"browsergpu.{_LATER[name]}"), name)
    else:
        raise AttributeError(f"module 'browsergpu.nn' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
