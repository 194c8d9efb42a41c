"""Activations and softmax."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from browsergpu.onnx.graph.values import axis_of
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator


@operator("Relu", since=6)
def relu(x: Any) -> Any:
    """Return max(x, 0)."""
    return bg.nn.relu(x) if x.dtype.kind == "f" else bg.maximum(x, 0)


operator("Sigmoid")(lambda x: bg.nn.sigmoid(x))
operator("Tanh", folds=False)(lambda x: bg.tanh(x))
operator("Softsign")(lambda x: bg.nn.softsign(x))
operator("Mish", since=18)(lambda x: bg.nn.mish(x))
operator("HardSwish", since=14)(lambda x: bg.nn.hardswish(x))


@operator("Softplus")
def softplus(x: Any) -> Any:
    """Return log(1 + exp(x))."""
    return bg.logaddexp(x, 0)


@operator("LeakyRelu", since=6)
def leaky_relu(x: Any, *, alpha: float = 0.01) -> Any:
    """Return x, times alpha where it is negative."""
    return bg.nn.leaky_relu(x, alpha)


@operator("Elu", since=6)
def elu(x: Any, *, alpha: float = 1.0) -> Any:
    """Return x, or alpha (exp(x) - 1) where it is negative."""
    return bg.nn.elu(x, alpha)


@operator("Celu", since=12)
def celu(x: Any, *, alpha: float = 1.0) -> Any:
    """Return x, or alpha (exp(x / alpha) - 1) where it is negative."""
    return bg.nn.celu(x, alpha)


@operator("Selu", since=6)
def selu(
    x: Any, *, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875
) -> Any:
    """Return gamma x, or gamma alpha (exp(x) - 1) where x is negative."""
    return bg.where(x > 0, x * gamma, bg.expm1(x) * (alpha * gamma))


@operator("ThresholdedRelu", since=10)
def thresholded_relu(x: Any, *, alpha: float = 1.0) -> Any:
    """Return x where it is above alpha, or else 0."""
    return bg.where(x > alpha, x, 0)


@operator("Shrink", since=9)
def shrink(x: Any, *, lambd: float = 0.5, bias: float = 0.0) -> Any:
    """Move elements towards zero by a bias. Those within lambd of zero become zero."""
    wide = x if x.dtype.kind == "f" else x.astype("float32", copy=False)
    moved = bg.where(wide < -lambd, wide + bias, bg.where(wide > lambd, wide - bias, 0))
    return moved.astype(x.dtype, copy=False)


@operator("HardSigmoid", since=6)
def hard_sigmoid(x: Any, *, alpha: float = 0.2, beta: float = 0.5) -> Any:
    """Return alpha x + beta, limited to the range from 0 to 1."""
    return bg.clip(x * alpha + beta, 0, 1)


@operator("Gelu", since=20)
def gelu(x: Any, *, approximate: str = "none") -> Any:
    """Return x times the normal distribution's function."""
    return bg.nn.gelu(x, approximate)


@operator("Swish", since=24)
def swish(x: Any, *, alpha: float = 1.0) -> Any:
    """Return x times the sigmoid of alpha x."""
    return bg.nn.silu(x) if alpha == 1 else x * bg.nn.sigmoid(x * alpha)


@operator("SwiGLU", since=27)
def swiglu(gate: Any, up: Any, *, alpha: float = 1.0) -> Any:
    """Return the swish of a gate, times another array."""
    return swish(gate, alpha=alpha) * up


@operator("PRelu", since=7)
def prelu(x: Any, slope: Any) -> Any:
    """Return x, times a slope where it is negative."""
    return bg.where(x < 0, x * slope, x).astype(x.dtype, copy=False)


def _rows(name: str) -> Callable[..., Any]:
    def function(x: Any, *, axis: int = 1) -> Any:
        at = axis_of(axis, x.ndim)
        flat = x.reshape((prod(x.shape[:at]), prod(x.shape[at:])))
        return getattr(bg.nn, name)(flat, 1).reshape(x.shape)

    return function


def _axis(name: str) -> Callable[..., Any]:
    def function(x: Any, *, axis: int = -1) -> Any:
        return getattr(bg.nn, name)(x, axis)

    return function


for _name, _own in (("Softmax", "softmax"), ("LogSoftmax", "log_softmax")):
    operator(_name, until=12)(_rows(_own))
    operator(_name, since=13)(_axis(_own))


def _hardmax(x: Any, axis: int) -> Any:
    first = bg.argmax(x, axis=axis, keepdims=True)
    places = bg.arange(x.shape[axis]).reshape((-1, *(1,) * (x.ndim - 1 - axis_of(axis, x.ndim))))
    return (places == first).astype(x.dtype, copy=False)


@operator("Hardmax", until=12)
def hardmax_of_rows(x: Any, *, axis: int = 1) -> Any:
    """Return 1 at the first maximum of the axes from one on, 0 elsewhere."""
    at = axis_of(axis, x.ndim)
    flat = x.reshape((prod(x.shape[:at]), prod(x.shape[at:])))
    return _hardmax(flat, 1).reshape(x.shape)


@operator("Hardmax", since=13)
def hardmax(x: Any, *, axis: int = -1) -> Any:
    """Return 1 at the first maximum of an axis, 0 elsewhere."""
    return _hardmax(x, axis)
