"""Reference results of the tensor operations, in float64 NumPy, from their definitions."""

from __future__ import annotations

import numpy as np

LUMINANCE = np.array([0.299, 0.587, 0.114])


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    with np.errstate(all="ignore"):
        x = x.astype(np.float64)
        weights = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
        return weights / weights.sum(axis, keepdims=True)


def layer_norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float) -> np.ndarray:
    x, gamma, beta = (array.astype(np.float64) for array in (x, gamma, beta))
    with np.errstate(all="ignore"):
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / np.sqrt(variance + eps) * gamma + beta


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None, scale: float
) -> np.ndarray:
    q, k, v = (array.astype(np.float64) for array in (q, k, v))
    scores = scale * q @ np.swapaxes(k, -1, -2)
    if mask is not None and mask.dtype == bool:
        scores = np.where(mask, scores, -np.inf)
    elif mask is not None:
        scores = scores + mask.astype(np.float64)
    is_blind = scores.max(-1, keepdims=True) == -np.inf
    return np.where(is_blind, 0.0, softmax(np.where(is_blind, 0.0, scores), -1)) @ v


def cross_entropy(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the loss of each sample, finite even if a probability is 0."""
    x = logits.astype(np.float64)
    largest = x.max(-1)
    total = np.log(np.exp(x - largest[..., None]).sum(-1)) + largest
    classes = x.shape[-1]
    valid = (targets >= 0) & (targets < classes)
    goals = np.take_along_axis(x, np.where(valid, targets, 0)[..., None], -1)[..., 0]
    return np.where(valid, total - goals, np.nan)


def embedding(indices: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return rows of the table; NaN (0 for integers) for indices out of bounds."""
    valid = (indices >= 0) & (indices < len(weight))
    missing = np.nan if weight.dtype.kind == "f" else 0
    result = np.full((*indices.shape, weight.shape[1]), missing, weight.dtype)
    result[valid] = weight[indices[valid]]
    return result


# ---- images [H, W] or [H, W, C], as floats in 0..1 ----------------------------------------------


def colours(image: np.ndarray) -> int:
    """Return the number of channels other than alpha."""
    channels = image.shape[2] if image.ndim == 3 else 1
    return channels - (channels % 2 == 0)


def luminance(image: np.ndarray) -> np.ndarray:
    """Return the luminance [H, W]: a weighted sum of three colours, or the only colour."""
    if image.ndim == 2:
        return image
    return image[..., :3] @ LUMINANCE if colours(image) == 3 else image[..., 0]


def with_alpha_of(image: np.ndarray, result: np.ndarray) -> np.ndarray:
    """Return `result`, broadcast to the image's shape, clamped, with the image's alpha."""
    if image.ndim == 3 and result.ndim == 2:
        result = result[..., None]
    result = np.broadcast_to(result, image.shape).copy()
    if image.ndim == 3:
        result[..., colours(image) :] = image[..., colours(image) :]
    return np.clip(result, 0.0, 1.0)


def gradient(image: np.ndarray) -> np.ndarray:
    """Return the magnitude of the Sobel gradient of the luminance, [H, W]."""
    p = np.pad(luminance(image), 1, mode="edge")
    smooth_rows = p[:-2] + 2 * p[1:-1] + p[2:]
    smooth_columns = p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]
    return np.hypot(
        smooth_rows[:, 2:] - smooth_rows[:, :-2], smooth_columns[2:] - smooth_columns[:-2]
    )


def sharpened(image: np.ndarray) -> np.ndarray:
    """Return the sharpened image before clamping."""
    p = np.pad(image, ((1, 1), (1, 1), *((0, 0),) * (image.ndim - 2)), mode="edge")
    return 5 * image - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:]


def blurred(image: np.ndarray, sigma: float) -> np.ndarray:
    """Return a two-dimensional Gaussian blur with replicated borders.

    It blurs one direction after the other.
    """
    radius = int(np.ceil(3 * sigma))
    t = np.arange(-radius, radius + 1)
    weights = np.exp(-(t**2) / (2 * sigma**2))
    weights /= weights.sum()
    for axis in (0, 1):
        length = image.shape[axis]
        image = sum(
            weight * np.take(image, np.clip(np.arange(length) + step, 0, length - 1), axis)
            for weight, step in zip(weights, t, strict=True)
        )
    return image
