"""Names of functions and modes for arguments. Arguments also accept plain strings."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

Order = Literal["C", "F"]


class Transpose(StrEnum):
    """Transposition of an operand of a matrix product.

    conj_trans equals trans for real matrices.
    """

    NO_TRANS = "no_trans"
    TRANS = "trans"
    CONJ_TRANS = "conj_trans"


class UnaryOp(StrEnum):
    """Functions of one element.

    gelu is the tanh form of https://arxiv.org/abs/1606.08415, gelu_erf the exact form, and silu is
    x sigmoid(x).
    """

    RELU = "relu"
    SIGMOID = "sigmoid"
    TANH = "tanh"
    EXP = "exp"
    LOG = "log"
    SQRT = "sqrt"
    ABS = "abs"
    NEG = "neg"
    GELU = "gelu"
    SILU = "silu"
    GELU_ERF = "gelu_erf"


class Precision(StrEnum):
    """Precision of float32 matrix products.

    "highest" computes in float32. "high" splits each operand into two float16 if the device is
    faster that way.
    """

    HIGHEST = "highest"
    HIGH = "high"


class Activation(StrEnum):
    """The functions of UnaryOp that a matrix product can apply to its result."""

    RELU = "relu"
    GELU = "gelu"
    SILU = "silu"
    GELU_ERF = "gelu_erf"


class BinaryOp(StrEnum):
    """Functions of two elements.

    max and min propagate NaN. pow is NumPy's ``power``, accurate to 2 units in the last place.
    """

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    MAX = "max"
    MIN = "min"
    POW = "pow"


class ReduceOp(StrEnum):
    """Reductions along an axis. NaN propagates."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    MEAN = "mean"
