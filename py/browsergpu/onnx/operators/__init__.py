"""The operators, one module a chapter. Importing this package fills the registry."""

from browsergpu.onnx.operators.arrays import (  # noqa: F401
    control,
    indexing,
    ordering,
    resampling,
    shapes,
    signal,
)
from browsergpu.onnx.operators.elements import (  # noqa: F401
    casting,
    comparison,
    elementwise,
    quantization,
    random,
    reductions,
)
from browsergpu.onnx.operators.microsoft import attention as _attention  # noqa: F401
from browsergpu.onnx.operators.microsoft import fused, quantized  # noqa: F401
from browsergpu.onnx.operators.networks import (  # noqa: F401
    activations,
    attention,
    convolution,
    linear,
    normalization,
    pooling,
    recurrent,
    training,
)
