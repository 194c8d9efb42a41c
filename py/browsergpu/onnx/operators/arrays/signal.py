"""Fourier transforms and windows of signals."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.values import axis_of
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator


def _transform(x: Any, length: int | None, axis: int, inverse: int, onesided: int) -> Any:
    """Transform arrays whose last axis has the real part, or both parts."""
    at = axis_of(axis, x.ndim)
    both = x.shape[-1] == 2
    values = x[..., 0] + 1j * x[..., 1] if both else x[..., 0]
    if length is None:
        extent = x.shape[at]
        length = 2 * (extent - 1) if inverse and onesided else extent
    if inverse and onesided:
        return bg.fft.irfft(values, n=length, axis=at)[..., None].astype(x.dtype, copy=False)
    if inverse:
        found = bg.fft.ifft(values, n=length, axis=at)
    elif onesided and not both:
        found = bg.fft.rfft(values, n=length, axis=at)
    else:
        found = bg.fft.fft(values, n=length, axis=at)
        if onesided:
            found = found[(*(slice(None),) * at, slice(0, length // 2 + 1))]
    return bg.stack([bg.real(found), bg.imag(found)], -1).astype(x.dtype, copy=False)


def _length(given: Any) -> int | None:
    return None if given is None else int(np.asarray(given).reshape(-1)[0])


@operator("DFT", since=17, until=19, host=("dft_length",))
def dft_17(
    x: Any, dft_length: Any = None, *, axis: int = 1, inverse: int = 0, onesided: int = 0
) -> Any:
    """Return the discrete Fourier transform along an axis."""
    return _transform(x, _length(dft_length), axis, inverse, onesided)


@operator("DFT", since=20, host=("dft_length", "axis"))
def dft(
    x: Any, dft_length: Any = None, axis: Any = None, *, inverse: int = 0, onesided: int = 0
) -> Any:
    """Return the discrete Fourier transform along an axis."""
    at = -2 if axis is None else int(np.asarray(axis).reshape(-1)[0])
    return _transform(x, _length(dft_length), at, inverse, onesided)


@operator("STFT", since=17, host=("frame_step", "frame_length"))
def stft(
    x: Any, frame_step: Any, window: Any = None, frame_length: Any = None, *, onesided: int = 1
) -> Any:
    """Return the Fourier transforms of frames of a signal."""
    step, length = _length(frame_step), _length(frame_length)
    assert step is not None
    if length is None:
        length = x.shape[1] if window is None else window.shape[0]
    count = (x.shape[1] - length) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(length)
    frames = bg.take(x, bg.asarray(places), axis=1)
    if window is not None:
        before = (length - window.shape[0]) // 2
        if before:
            after = length - window.shape[0] - before
            window = bg.pad(window, (before, after))
        frames = frames * window.reshape((-1, 1))
    return _transform(frames, length, 2, 0, onesided)


def _window(shares: tuple[float, ...]) -> Callable[..., Any]:
    def function(size: Any, *, output_datatype: int = 1, periodic: int = 1, node: Node) -> Any:
        length = _length(size)
        assert length is not None
        turn = 2 * np.pi / (length if periodic else max(length - 1, 1))
        at = bg.arange(length).astype("float32", copy=False) * turn
        found: Any = 0
        for order, share in enumerate(shares):
            found = found + bg.cos(at * order) * share
        return found.astype(node.dtype(output_datatype), copy=False)

    return function


operator("HannWindow", since=17, host=("size",))(_window((0.5, -0.5)))
operator("HammingWindow", since=17, host=("size",))(_window((25 / 46, -21 / 46)))
operator("BlackmanWindow", since=17, host=("size",))(_window((0.42, -0.5, 0.08)))


@operator(
    "MelWeightMatrix", since=17,
    host=("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz"),
)  # fmt: skip
def mel_weight_matrix(
    num_mel_bins: Any, dft_length: Any, sample_rate: Any, lower_edge_hertz: Any,
    upper_edge_hertz: Any, *, output_datatype: int = 1, node: Node,
) -> Any:  # fmt: skip
    """Return the weights that make mel bands of a spectrum. The edges are bins, as in ONNX."""
    bands, length = int(num_mel_bins.item()), int(dft_length.item())
    rate = int(sample_rate.item())
    low, high = (
        2595 * np.log1p(x.item() / 700) / log(10) for x in (lower_edge_hertz, upper_edge_hertz)
    )
    edges = low + np.arange(bands + 2) * ((high - low) / (bands + 2))
    hertz = 700 * np.expm1(edges / 2595 * log(10))
    bins = bg.asarray(((length + 1) * hertz // rate).astype(np.int32, copy=False))
    left, center, right = bins[:-2], bins[1:-1], bins[2:]
    at = bg.arange(length // 2 + 1, dtype="int32").reshape((-1, 1))
    rise, fall = (
        (center - left).astype("float32", copy=False),
        (right - center).astype("float32", copy=False),
    )
    up = (at - left).astype("float32", copy=False) / bg.maximum(rise, 1)
    down = (right - at).astype("float32", copy=False) / bg.maximum(fall, 1)
    rising = bg.logical_and(at >= left, at <= center)
    falling = bg.logical_and(at >= center, at < right)
    found = bg.where(rising, bg.where(rise == 0, bg.where(at == center, 1.0, 0.0), up), 0.0)
    found = bg.where(bg.logical_and(falling, fall > 0), down, found)
    return found.astype(node.dtype(output_datatype), copy=False)
