"""The names of functions and ways, as arguments take them; plain strings do as well."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

Order = Literal["C", "F"]


class Transpose(StrEnum):
    """What a matrix product does with an operand. Real matrices: conj_trans is trans."""

    NO_TRANS = "no_trans"
    TRANS = "trans"
    CONJ_TRANS = "conj_trans"


class UnaryOp(StrEnum):
    """Functions of one element. gelu is the tanh form of https://arxiv.org/abs/1606.08415, gelu_erf
    the exact one, silu is x sigmoid(x)."""

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
    """How products of float32 matrices are computed: in float32, or where the device is quicker at
    it, of operands split into two float16 each."""

    HIGHEST = "highest"
    HIGH = "high"


class Activation(StrEnum):
    """The functions among UnaryOp's that a matrix product can end with."""

    RELU = "relu"
    GELU = "gelu"
    SILU = "silu"
    GELU_ERF = "gelu_erf"


class BinaryOp(StrEnum):
    """Functions of two elements. max and min propagate NaN; pow is NumPy's ``power``, to within 2
    units in the last place."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    MAX = "max"
    MIN = "min"
    POW = "pow"


class ReduceOp(StrEnum):
    """Functions of an axis. NaN propagates."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    MEAN = "mean"
