"""Functions that resample and rearrange the elements of signals, images and volumes."""

from __future__ import annotations

from itertools import product
from math import floor
from typing import Any

import numpy as np

from inside.networks.known import Known, Table, random, settings

PICTURE = random(2, 3, 4, 5)
#: All elements differ by at least 1/16.
DIFFERENT = (np.random.default_rng(3).permutation(120) / 16 - 3).reshape(2, 3, 4, 5).astype("f4")


def _shuffled(x: np.ndarray, r: int) -> np.ndarray:
    found = np.zeros((*x.shape[:-3], x.shape[-3] // (r * r), x.shape[-2] * r, x.shape[-1] * r))
    for c, i, j in np.ndindex(*x.shape[-3:]):
        place = c // (r * r), i * r + c % (r * r) // r, j * r + c % r
        found[(..., *place)] = x[..., c, i, j]
    return found


def _unshuffled(x: np.ndarray, r: int) -> np.ndarray:
    *lead, channels, height, width = x.shape
    found = np.zeros((*lead, channels * r * r, height // r, width // r))
    for c, i, j in np.ndindex(channels, height, width):
        found[..., c * r * r + i % r * r + j % r, i // r, j // r] = x[..., c, i, j]
    return found


def _places(size: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Yield each patch's element positions, which may be outside the image."""
    along = []
    for n, k, d, p, s in zip(size, kernel, dilation, padding, stride, strict=True):
        count = (n + 2 * p - d * (k - 1) - 1) // s + 1
        along.append([[at * s - p + own * d for own in range(k)] for at in range(count)])
    return list(product(*along))


def _unfolded(x: np.ndarray, *options: Any) -> np.ndarray:
    height, width = x.shape[-2:]
    columns = []
    for rows, across in _places((height, width), *options):
        patch = [
            x[..., i, j] if 0 <= i < height and 0 <= j < width else x[..., 0, 0] * 0
            for i in rows for j in across
        ]  # fmt: skip
        columns.append(np.stack(patch, -1).reshape(*x.shape[:-3], -1))
    return np.stack(columns, -1)


def _folded(x: np.ndarray, size: Any, *options: Any) -> np.ndarray:
    (kh, kw), (height, width) = options[0], size
    parts = x.reshape(*x.shape[:-2], -1, kh * kw, x.shape[-1])
    found = np.zeros((*parts.shape[:-2], height, width))
    for at, (rows, across) in enumerate(_places(size, *options)):
        for n, (i, j) in enumerate(product(rows, across)):
            if 0 <= i < height and 0 <= j < width:
                found[..., i, j] += parts[..., n, at]
    return found


_PATCHES: list[tuple[dict[str, Any], tuple[Any, ...]]] = [
    ({"kernel_size": 2}, ((2, 2), (1, 1), (0, 0), (1, 1))),
    ({"kernel_size": (2, 3), "dilation": (2, 1), "padding": 1, "stride": (1, 2)},
     ((2, 3), (2, 1), (1, 1), (1, 2))),
]  # fmt: skip


def _cubic(away: float) -> float:
    away = abs(away)
    if away <= 1:
        return (1.25 * away - 2.25) * away**2 + 1
    return -0.75 * (((away - 5) * away + 8) * away - 4) if away < 2 else 0.0


def resized(x: np.ndarray, sizes: Any, mode: str, corners: bool = False,
            factors: Any = None) -> np.ndarray:  # fmt: skip
    """Resize by definition, with a matrix for each axis."""
    for axis, size in enumerate(sizes, 2):
        extent = x.shape[axis]
        scale = extent / size if factors is None else 1 / factors[axis - 2]
        matrix = np.zeros((size, extent))
        for i in range(size):
            if mode == "area":
                low, high = i * extent // size, -(-(i + 1) * extent // size)
                matrix[i, low:high] = 1 / (high - low)
                continue
            at = (i + 0.5) * scale - 0.5
            if corners:
                at = i * (extent - 1) / (size - 1)
            if mode.startswith("nearest"):
                own = floor(i * scale if mode == "nearest" else (i + 0.5) * scale)
                matrix[i, min(own, extent - 1)] = 1
                continue
            if mode != "bicubic":
                at = max(at, 0)
            for j in range(floor(at) - 1, floor(at) + 3):
                weight = _cubic(at - j) if mode == "bicubic" else max(0, 1 - abs(at - j))
                matrix[i, min(max(j, 0), extent - 1)] += weight
        x = np.moveaxis(np.tensordot(x, matrix, (axis, 1)), -1, axis)
    return x


def _resize(x: np.ndarray, sizes: Any, mode: str, **more: Any) -> Known:
    options: dict[str, Any] = {"align_corners": True} if more.get("corners") else {}
    if "factors" in more:
        options["scale_factor"] = more["factors"]
    else:
        options["size"] = sizes
    return Known((x,), lambda bg, v: bg.nn.interpolate(v, mode=mode, **options),
                 lambda v: resized(v, sizes, mode, **more))  # fmt: skip


def _windows(extent: int, count: int) -> list[slice]:
    return [slice(n * extent // count, -(-(n + 1) * extent // count)) for n in range(count)]


def _adaptive(x: np.ndarray, sizes: Any, function: Any) -> np.ndarray:
    rank = len(sizes)
    found = np.zeros((*x.shape[:-rank], *sizes))
    along = [_windows(n, size) for n, size in zip(x.shape[-rank:], sizes, strict=True)]
    for place in np.ndindex(*sizes):
        own = tuple(along[n][at] for n, at in enumerate(place))
        found[(..., *place)] = function(x[(..., *own)], axis=tuple(range(-rank, 0)))
    return found


def _by_norm(x: np.ndarray, order: float, kernel: int, stride: int, rank: int) -> np.ndarray:
    counts = [(n - kernel) // stride + 1 for n in x.shape[-rank:]]
    found = np.zeros((*x.shape[:-rank], *counts))
    for place in np.ndindex(*counts):
        own = tuple(slice(n * stride, n * stride + kernel) for n in place)
        total = (x[(..., *own)] ** order).sum(tuple(range(-rank, 0)))
        found[(..., *place)] = total ** (1 / order)
    return found


def _responses(x: np.ndarray, size: int, alpha: float, beta: float, k: float) -> np.ndarray:
    found = np.zeros(x.shape)
    for c in range(x.shape[1]):
        low = c - size // 2
        near = x[:, max(low, 0) : low + size]
        found[:, c] = x[:, c] / (k + alpha * (near**2).sum(1) / size) ** beta
    return found


def _instances(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    axes, shape = tuple(range(2, x.ndim)), (-1, *(1,) * (x.ndim - 2))
    spread = np.sqrt(x.var(axes, keepdims=True) + 0.01)
    return (x - x.mean(axes, keepdims=True)) / spread * w.reshape(shape) + b.reshape(shape)


def _points(theta: np.ndarray, size: Any, corners: bool) -> np.ndarray:
    found = np.zeros((size[0], *size[2:], len(size) - 2))
    for place in np.ndindex(*size[2:]):
        at = [
            (2 * n / (extent - 1) - 1 if extent > 1 else 0.0) if corners
            else (2 * n + 1) / extent - 1
            for n, extent in zip(place, size[2:], strict=True)
        ]  # fmt: skip
        found[(slice(None), *place)] = theta @ np.array([*at[::-1], 1.0])
    return found


def _moved(at: float, extent: int, padding: str, corners: bool) -> float:
    if padding == "reflection":
        low, high = (0.0, extent - 1.0) if corners else (-0.5, extent - 0.5)
        while not low <= at <= high:
            at = 2 * low - at if at < low else 2 * high - at
    return at if padding == "zeros" else min(max(at, 0.0), extent - 1.0)


def _sampled(x: np.ndarray, grid: np.ndarray, mode: str, padding: str, corners: bool) -> Any:
    rank = x.ndim - 2
    found = np.zeros((x.shape[0], x.shape[1], *grid.shape[1:-1]))
    for image, *place in np.ndindex(*grid.shape[:-1]):
        terms: list[list[tuple[int, float]]] = []
        for n, extent in enumerate(x.shape[2:]):
            own = grid[(image, *place, rank - 1 - n)]
            at = (own + 1) / 2 * (extent - 1) if corners else ((own + 1) * extent - 1) / 2
            if mode == "bicubic":
                low = floor(at)
                terms.append([
                    (int(_moved(j, extent, padding, corners)), _cubic(at - j))
                    for j in range(low - 1, low + 3)
                ])  # fmt: skip
                continue
            at = _moved(at, extent, padding, corners)
            low = floor(at)
            terms.append([(round(at), 1.0)] if mode == "nearest" else
                         [(low, low + 1 - at), (low + 1, at - low)])  # fmt: skip
        for chosen in product(*terms):
            if all(0 <= j < n for (j, _), n in zip(chosen, x.shape[2:], strict=True)):
                weight = np.prod([share for _, share in chosen])
                inside = x[(image, slice(None), *(j for j, _ in chosen))]
                found[(image, slice(None), *place)] += inside * weight
    return found


def _sample(x: np.ndarray, grid: np.ndarray, mode: str, padding: str, corners: bool) -> Known:
    return Known((x, grid), lambda bg, v, g: bg.nn.grid_sample(v, g, mode, padding, corners),
                 lambda v, g: _sampled(v, g, mode, padding, corners))  # fmt: skip


def _nearest_sample(padding: str, corners: bool) -> Known:
    """Sampling points have no gradient in mode "nearest"."""
    grid = random(2, 2, 2, 2, seed=1)
    return Known(
        (PICTURE,),
        lambda bg, v: bg.nn.grid_sample(v, bg.asarray(grid), "nearest", padding, corners),
        lambda v: _sampled(v, grid.astype(float), "nearest", padding, corners),
    )  # fmt: skip


CASES: Table = {
    "pixel_shuffle": [Known((random(2, 8, 2, 3),), lambda bg, x: bg.nn.pixel_shuffle(x, 2),
                            lambda x: _shuffled(x, 2))],
    "pixel_unshuffle": [Known((random(1, 2, 6, 3),), lambda bg, x: bg.nn.pixel_unshuffle(x, 3),
                              lambda x: _unshuffled(x, 3))],
    "channel_shuffle": [
        Known((random(2, 6, 2),), lambda bg, x: bg.nn.channel_shuffle(x, 3),
              lambda x: np.stack([x[:, n] for n in (0, 2, 4, 1, 3, 5)], 1)),
    ],
    "unfold": [
        case for more, options in _PATCHES
        for case in settings("unfold", PICTURE, (more, lambda x, o=options: _unfolded(x, *o)))
    ],
    "fold": [
        Known((random(2, 12, 12),), lambda bg, x: bg.nn.fold(x, (4, 5), 2),
              lambda x: _folded(x, (4, 5), *_PATCHES[0][1])),
        Known((random(6, 12),), lambda bg, x: bg.nn.fold(x, (4, 5), **_PATCHES[1][0]),
              lambda x: _folded(x, (4, 5), *_PATCHES[1][1])),
    ],
    "interpolate": [
        *(_resize(random(2, 2, 5), (size,), mode) for size in (8, 3, 10)
          for mode in ("nearest", "nearest-exact", "linear", "area")),
        *(_resize(random(1, 2, 3, 4), (5, 2), mode, corners=corners)
          for mode in ("bilinear", "bicubic") for corners in (False, True)),
        _resize(random(1, 1, 2, 3, 2), (3, 2, 4), "trilinear"),
        _resize(random(1, 1, 2, 3, 2), (3, 2, 4), "trilinear", corners=True),
        _resize(random(1, 2, 3, 4), (5, 2), "bilinear", factors=(1.7, 0.6)),
        _resize(random(1, 2, 3, 4), (5, 2), "nearest", factors=(1.7, 0.6)),
        _resize(random(1, 2, 3, 4), (6, 8), "nearest", factors=(2, 2)),
    ],
    "adaptive_avg_pool1d": [Known((random(2, 5),), lambda bg, x: bg.nn.adaptive_avg_pool1d(x, 3),
                                  lambda x: _adaptive(x, (3,), np.mean))],
    "adaptive_avg_pool3d": [
        Known((random(1, 2, 4, 3, 2),), lambda bg, x: bg.nn.adaptive_avg_pool3d(x, (2, None, 3)),
              lambda x: _adaptive(x, (2, 3, 3), np.mean)),
    ],
    "adaptive_max_pool1d": [Known((DIFFERENT[0, 0],), lambda bg, x: bg.nn.adaptive_max_pool1d(x, 3),
                                  lambda x: _adaptive(x, (3,), np.max))],
    "adaptive_max_pool2d": [
        Known((DIFFERENT,), lambda bg, x: bg.nn.adaptive_max_pool2d(x, (3, None)),
              lambda x: _adaptive(x, (3, 5), np.max)),
        Known((DIFFERENT,), lambda bg, x: bg.nn.adaptive_max_pool2d(x, 2, return_indices=True)[0],
              lambda x: _adaptive(x, (2, 2), np.max)),
    ],
    "adaptive_max_pool3d": [Known((DIFFERENT,), lambda bg, x: bg.nn.adaptive_max_pool3d(x, 2),
                                  lambda x: _adaptive(x, (2, 2, 2), np.max))],
    "max_unpool1d": [
        Known((random(2, 3),), lambda bg, x: bg.nn.max_unpool1d(
            x, bg.asarray(np.int32([[1, 2, 5], [0, 3, 4]])), 2
        ), lambda x: np.stack([np.stack([0 * x[0, 0], x[0, 0], x[0, 1], 0 * x[0, 0], 0 * x[0, 0],
                                         x[0, 2]]),
                               np.stack([x[1, 0], 0 * x[0, 0], 0 * x[0, 0], x[1, 1], x[1, 2],
                                         0 * x[0, 0]])])),
    ],
    "max_unpool2d": [
        Known((random(1, 1, 1, 2),), lambda bg, x: bg.nn.max_unpool2d(
            x, bg.asarray(np.int32([[[[4, 1]]]])), 2, output_size=(2, 4)
        ), lambda x: np.einsum("abcd,dij->abij", x, np.eye(8)[[4, 1]].reshape(2, 2, 4))),
    ],
    "lp_pool1d": [Known((random(2, 3, 7, low=0.2),), lambda bg, x: bg.nn.lp_pool1d(x, 3, 3, 2),
                        lambda x: _by_norm(x, 3, 3, 2, 1))],
    "lp_pool2d": [Known((random(1, 2, 4, 5),), lambda bg, x: bg.nn.lp_pool2d(x, 2, 2),
                        lambda x: _by_norm(x, 2, 2, 2, 2))],
    "instance_norm": [
        Known((PICTURE, random(3), random(3, seed=1)),
              lambda bg, x, w, b: bg.nn.instance_norm(x, weight=w, bias=b, eps=0.01), _instances),
        Known((random(2, 2, 3), random(2), random(2, seed=1)),
              lambda bg, x, w, b: bg.nn.instance_norm(
                  x, bg.asarray(np.float32([1, 2])), bg.asarray(np.float32([3, 0.5])), w, b, False,
                  eps=0.01),
              lambda x, w, b: (x - [[[1], [2]]]) / np.sqrt(np.array([[3], [0.5]]) + 0.01)
              * w[:, None] + b[:, None]),
    ],
    "local_response_norm": [
        Known((random(2, 5, 3),), lambda bg, x: bg.nn.local_response_norm(x, 3, 0.5, 0.6, 2),
              lambda x: _responses(x, 3, 0.5, 0.6, 2)),
        Known((random(1, 4, 2, 2),), lambda bg, x: bg.nn.local_response_norm(x, 2),
              lambda x: _responses(x, 2, 1e-4, 0.75, 1)),
    ],
    "normalize": settings(
        "normalize", random(3, 4), ({}, lambda x: x / np.sqrt((x * x).sum(1, keepdims=True))),
        ({"p": 1, "dim": 0}, lambda x: x / np.abs(x).sum(0)),
    ),
    "affine_grid": [
        Known((random(2, 2, 3),), lambda bg, x: bg.nn.affine_grid(x, (2, 1, 3, 4)),
              lambda x: _points(x, (2, 1, 3, 4), False)),
        Known((random(1, 3, 4),), lambda bg, x: bg.nn.affine_grid(x, (1, 2, 3, 1, 4), True),
              lambda x: _points(x, (1, 2, 3, 1, 4), True)),
    ],
    "grid_sample": [
        *(_sample(PICTURE, random(2, 3, 2, 2, seed=4), mode, padding, corners)
          for mode in ("bilinear", "bicubic") for padding in ("zeros", "border", "reflection")
          for corners in (False, True)),
        *(_sample(random(1, 2, 2, 3, 2), random(1, 2, 1, 2, 3, seed=5), "bilinear", padding, False)
          for padding in ("zeros", "border", "reflection")),
        *(_nearest_sample(padding, corners) for padding in ("zeros", "border", "reflection")
          for corners in (False, True)),
    ],
}  # fmt: skip
