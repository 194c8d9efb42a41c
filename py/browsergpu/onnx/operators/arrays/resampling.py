"""Resizing, and sampling of images at points."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Any

import numpy as np

from browsergpu.functions.repetition import repeated
from browsergpu.functions.weighted_sums import weighted_sums
from browsergpu.onnx.graph.values import axis_of, integers
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator


def _positions(
    coordinates: str, size: int, extent: int, scale: float, roi: tuple[float, float]
) -> np.ndarray:
    """Return the place in the input of each element of the output."""
    at = np.arange(size, dtype=np.float64)
    if coordinates == "half_pixel":
        return (at + 0.5) / scale - 0.5
    if coordinates == "half_pixel_symmetric":
        adjustment = size / (scale * extent)
        center = extent / 2
        return center * (1 - adjustment) + (at + 0.5) / scale - 0.5
    if coordinates == "pytorch_half_pixel":
        return (at + 0.5) / scale - 0.5 if size > 1 else np.zeros(size)
    if coordinates == "align_corners":
        # ONNX's own tests use the extent before it is rounded down.
        last = extent * scale - 1
        return at * ((extent - 1) / last) if size > 1 else np.zeros(size)
    if coordinates == "asymmetric":
        return at / scale
    if coordinates == "tf_half_pixel_for_nn":
        return (at + 0.5) / scale
    if coordinates == "tf_crop_and_resize":
        begin, end = roi
        if size > 1:
            return begin * (extent - 1) + at * ((end - begin) * (extent - 1) / (size - 1))
        return np.full(size, 0.5 * (begin + end) * (extent - 1))
    raise ValueError(f"coordinate_transformation_mode is unknown: {coordinates!r}")


_ROUNDING: dict[str, Any] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor, "ceil": np.ceil,
}  # fmt: skip


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    x = np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _taps(
    places: np.ndarray, extent: int, mode: str, scale: float, antialias: bool, cubic: float,
    exclude: bool,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return indices and weights of the elements that each result is made of."""
    stretch = min(scale, 1.0) if antialias else 1.0
    reach = 1 if mode == "linear" else 2
    half = int(np.ceil(reach / stretch))
    low = np.floor(places).astype(np.int64, copy=False)
    index = low[:, None] + np.arange(-half + 1, half + 1)
    away = (places[:, None] - index) * stretch
    weights = np.maximum(1 - np.abs(away), 0) if mode == "linear" else _cubic(away, cubic)
    if exclude:
        weights = np.where((index >= 0) & (index < extent), weights, 0)
    total = weights.sum(1, keepdims=True)
    if exclude or antialias:
        weights = weights / np.where(total == 0, 1, total)
    return np.clip(index, 0, extent - 1), weights.astype(np.float32, copy=False)


def _nearest(places: np.ndarray, extent: int, rounding: str) -> np.ndarray:
    """Return the index of the element nearest to each place."""
    # Rounding errors of a division must not change the choice.
    index = _ROUNDING[rounding](np.round(places, 9)).astype(np.int64, copy=False)
    found: np.ndarray = np.clip(index, 0, extent - 1)
    return found


def resized(
    x: Any, axis: int, size: int, scale: float, roi: tuple[float, float], mode: str,
    coordinates: str, nearest: str, antialias: bool, cubic: float, exclude: bool, outside: float,
) -> Any:  # fmt: skip
    """Resize one axis."""
    extent = x.shape[axis]
    if size == extent and scale == 1 and coordinates != "tf_crop_and_resize":
        return x
    places = _positions(coordinates, size, extent, scale, roi)
    if mode == "nearest":
        index = _nearest(places, extent, nearest)
        times = _times(index, extent)
        if times is not None:
            found = bg.repeat(x, times, axis=axis) if times > 1 else x
        else:
            found = bg.take(x, bg.asarray(index), axis=axis)
    else:
        taps = _taps(places, extent, mode, scale, antialias, cubic, exclude)
        kind = x.dtype
        wide = x if kind.kind == "f" else x.astype("float32", copy=False)
        found = weighted_sums(wide, axis, *taps)
        if kind.kind in "iu":
            limits = np.iinfo(kind)
            found = bg.clip(bg.trunc(found), int(limits.min), int(limits.max))
        found = found.astype(kind, copy=False)
    if coordinates == "tf_crop_and_resize":
        is_inside = (places >= 0) & (places <= extent - 1)
        if not is_inside.all():
            shape = (-1, *(1,) * (x.ndim - 1 - axis))
            found = bg.where(bg.asarray(is_inside).reshape(shape), found, outside)
    return found.astype(x.dtype, copy=False)


def _all_axes(x: Any, sizes: Any, scales: Any, roi: Any, axes: Any, **options: Any) -> Any:
    found = _nearest_elements(x, sizes, scales, axes, options)
    if found is not None:
        return found
    found = x
    order = sorted(
        range(len(axes)), key=lambda at: sizes[at] / max(x.shape[axes[at]], 1)
    )  # smaller results first
    for at in order:
        pair = (0.0, 1.0) if roi is None else (float(roi[at]), float(roi[len(axes) + at]))
        found = resized(found, axes[at], sizes[at], scales[at], pair, **options)
    return found


def _nearest_elements(
    x: Any, sizes: Any, scales: Any, axes: Any, options: Mapping[str, Any]
) -> Any:
    """Read the nearest elements along several adjacent axes in one kernel, or return None.

    The gradient of repeated elements is faster axis by axis.
    """
    mode = options["coordinates"]
    if options["mode"] != "nearest" or mode == "tf_crop_and_resize" or x.requires_grad:
        return None
    changed = {
        axis: _nearest(
            _positions(mode, size, x.shape[axis], scale, (0.0, 1.0)), x.shape[axis],
            options["nearest"],
        )
        for axis, size, scale in zip(axes, sizes, scales, strict=True)
        if size != x.shape[axis] or scale != 1
    }  # fmt: skip
    order = sorted(changed)
    is_adjacent = order == list(range(order[0], order[0] + len(order))) if order else False
    times = [_times(changed.get(axis), n) for axis, n in enumerate(x.shape)]
    known = [n for n in times if n is not None]
    found = repeated(x, known) if changed and known == times else None
    if found is not None:
        return found
    if len(order) < 2 or not is_adjacent:
        return None
    return x[(*[slice(None)] * order[0], *np.ix_(*[changed[axis] for axis in order]))]


def _times(index: np.ndarray | None, extent: int) -> int | None:
    """Return how often the elements of an axis are repeated, or None if that differs."""
    if index is None:
        return 1
    times = index.size // extent if extent else 0
    if times == 0 or index.size != times * extent:
        return None
    return times if (index == np.arange(index.size) // times).all() else None


@operator("Resize", since=10, until=10, host=("scales",))
def resize_10(x: Any, scales: Any, *, mode: str = "nearest") -> Any:
    """Resize by factors. Places are those of the output, divided by the factor."""
    return _scaled(x, scales, mode)


def _scaled(x: Any, scales: Any, mode: str) -> Any:
    factors = [float(n) for n in scales]
    sizes = [floor(n * factor) for n, factor in zip(x.shape, factors, strict=True)]
    return _all_axes(
        x, sizes, factors, None, list(range(x.ndim)), mode=_mode(mode), coordinates="asymmetric",
        nearest="floor", antialias=False, cubic=-0.75, exclude=False, outside=0.0,
    )  # fmt: skip


def _mode(mode: str) -> str:
    own = "linear" if mode == "bilinear" else mode
    if own not in ("nearest", "linear", "cubic"):
        raise ValueError(f"mode must be nearest, linear or cubic, got {mode!r}")
    return own


@operator("Upsample", since=7, until=8)
def upsample_7(x: Any, *, scales: list[float], mode: str = "nearest") -> Any:
    """Enlarge by factors in an attribute."""
    return _scaled(x, scales, mode)


@operator("Upsample", since=9, until=9, host=("scales",))
def upsample(x: Any, scales: Any, *, mode: str = "nearest") -> Any:
    """Enlarge by factors."""
    return _scaled(x, scales, mode)


@operator("Resize", since=11, host=("roi", "scales", "sizes"))
def resize(
    x: Any, roi: Any = None, scales: Any = None, sizes: Any = None, *, antialias: int = 0,
    axes: list[int] | None = None, coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75, exclude_outside: int = 0, extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch", mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Any:  # fmt: skip
    """Resize by factors or to extents."""
    used = list(range(x.ndim)) if axes is None else [axis_of(axis, x.ndim) for axis in axes]
    extents = [x.shape[axis] for axis in used]
    if sizes is not None and sizes.size:
        wanted = list(integers(sizes))
        factors = [n / extent for n, extent in zip(wanted, extents, strict=True)]
        if keep_aspect_ratio_policy != "stretch":
            choose = min if keep_aspect_ratio_policy == "not_larger" else max
            factor = choose(factors)
            wanted = [int(extent * factor + 0.5) for extent in extents]
            factors = [factor] * len(used)
    elif scales is not None and scales.size:
        factors = [float(n) for n in np.asarray(scales).reshape(-1)]
        wanted = [floor(extent * n) for extent, n in zip(extents, factors, strict=True)]
    else:
        raise ValueError("scales or sizes must be given")
    region = None if roi is None or not roi.size else np.asarray(roi).reshape(-1)
    if coordinate_transformation_mode != "tf_crop_and_resize":
        region = None
    return _all_axes(
        x, wanted, factors, region, used, mode=_mode(mode),
        coordinates=coordinate_transformation_mode, nearest=nearest_mode,
        antialias=bool(antialias), cubic=cubic_coeff_a, exclude=bool(exclude_outside),
        outside=extrapolation_value,
    )  # fmt: skip


_SAMPLING = {
    "linear": "bilinear", "bilinear": "bilinear", "nearest": "nearest", "cubic": "bicubic",
    "bicubic": "bicubic",
}  # fmt: skip


@operator("GridSample", since=16)
def grid_sample(
    x: Any, grid: Any, *, align_corners: int = 0, mode: str = "bilinear",
    padding_mode: str = "zeros",
) -> Any:  # fmt: skip
    """Sample images or volumes at points."""
    if mode not in _SAMPLING:
        raise ValueError(f"mode must be one of {', '.join(_SAMPLING)}, got {mode!r}")
    return bg.nn.grid_sample(x, grid, _SAMPLING[mode], padding_mode, bool(align_corners))


@operator("AffineGrid", since=20, host=("size",))
def affine_grid(theta: Any, size: Any, *, align_corners: int = 0) -> Any:
    """Return the points that affine maps assign to pixels."""
    return bg.nn.affine_grid(theta, integers(size), bool(align_corners))


@operator("RoiAlign", since=10, until=15)
def roi_align_10(
    x: Any, rois: Any, batch_indices: Any, *, mode: str = "avg", output_height: int = 1,
    output_width: int = 1, sampling_ratio: int = 0, spatial_scale: float = 1.0, node: Any,
) -> Any:  # fmt: skip
    """Pool regions of images, whose edges are pixels' centers."""
    return roi_align(
        x, rois, batch_indices, coordinate_transformation_mode="output_half_pixel", mode=mode,
        output_height=output_height, output_width=output_width, sampling_ratio=sampling_ratio,
        spatial_scale=spatial_scale, node=node,
    )  # fmt: skip


@operator("RoiAlign", since=16)
def roi_align(
    x: Any, rois: Any, batch_indices: Any, *,
    coordinate_transformation_mode: str = "half_pixel", mode: str = "avg", output_height: int = 1,
    output_width: int = 1, sampling_ratio: int = 0, spatial_scale: float = 1.0, node: Any,
) -> Any:  # fmt: skip
    """Pool regions of images, from samples between pixels.

    Source: He et al., "Mask R-CNN", arXiv 1703.06870. Without ``sampling_ratio``, the sizes of the
    regions are read from the GPU.
    """
    is_half = coordinate_transformation_mode == "half_pixel"
    own = rois.astype("float32", copy=False) * spatial_scale - (0.5 if is_half else 0.0)
    x1, y1, x2, y2 = (own[:, at] for at in range(4))
    width, height = x2 - x1, y2 - y1
    if not is_half:
        width, height = bg.maximum(width, 1), bg.maximum(height, 1)
    sizes = ((height, output_height, y1), (width, output_width, x1))
    ratios = [sampling_ratio] * 2
    if sampling_ratio <= 0:
        counts = [np.ceil(node.read(size) / parts) for size, parts, _ in sizes]
        if any((one != one[0]).any() for one in counts if one.size):
            return _each_roi(x, rois, batch_indices, is_half, mode, output_height, output_width,
                             spatial_scale, node, counts)  # fmt: skip
        ratios = [max(int(one[0]), 1) if one.size else 1 for one in counts]
    return _pooled(x, sizes, ratios, batch_indices, mode)


def _each_roi(
    x: Any, rois: Any, batch_indices: Any, is_half: bool, mode: str, height: int, width: int,
    scale: float, node: Any, counts: Any,
) -> Any:  # fmt: skip
    """Pool regions that have different numbers of samples, each number at once."""
    pairs = np.stack([np.maximum(one, 1).astype(int, copy=False) for one in counts], 1)
    found: list[Any] = [None] * len(pairs)
    offset = 0.5 if is_half else 0.0
    for pair in np.unique(pairs, axis=0):
        which = np.flatnonzero((pairs == pair).all(1))
        index = bg.asarray(which)
        own = bg.take(rois, index, axis=0).astype("float32", copy=False) * scale - offset
        x1, y1, x2, y2 = (own[:, at] for at in range(4))
        w, h = x2 - x1, y2 - y1
        if not is_half:
            w, h = bg.maximum(w, 1), bg.maximum(h, 1)
        sizes = (h, height, y1), (w, width, x1)
        images = bg.take(batch_indices, index)
        part = _pooled(x, sizes, [int(n) for n in pair], images, mode)
        for at, place in enumerate(which):
            found[place] = part[at]
    return bg.stack(found)


def _pooled(x: Any, sizes: Any, ratios: list[int], batch_indices: Any, mode: str) -> Any:
    places = []
    for (size, parts, first), ratio, extent in zip(sizes, ratios, x.shape[2:], strict=True):
        share = bg.asarray(
            ((np.arange(parts * ratio) + 0.5) / (parts * ratio)).astype(np.float32, copy=False)
        )
        places.append((first.reshape((-1, 1)) + size.reshape((-1, 1)) * share, extent))
    terms = []
    for place, extent in places:
        is_inside = bg.logical_and(place >= -1, place <= extent)
        held = bg.clip(place, 0, extent - 1)
        low = bg.minimum(bg.floor(held), max(extent - 2, 0))
        way = held - low
        high = bg.minimum(low + 1, extent - 1)
        terms.append([
            (low.astype("int64", copy=False), bg.where(is_inside, 1 - way, 0)),
            (high.astype("int64", copy=False), bg.where(is_inside, way, 0)),
        ])  # fmt: skip
    n, c, height, width = x.shape
    flat = bg.moveaxis(x, 1, -1).reshape((n * height * width, c))
    images = batch_indices.astype("int64", copy=False).reshape((-1, 1, 1)) * height
    samples = []
    for row, high_share in terms[0]:
        for column, wide_share in terms[1]:
            index = (images + row[:, :, None]) * width + column[:, None]
            weight = high_share[:, :, None] * wide_share[:, None]
            samples.append(bg.take(flat, index, axis=0) * weight[..., None])
    rows, columns = sizes[0][1], sizes[1][1]
    shape = (-1, rows, ratios[0], columns, ratios[1], c)
    if mode == "max":
        values = samples[0]
        for one in samples[1:]:
            values = bg.maximum(values, one)
        found = bg.max(values.reshape(shape), axis=(2, 4))
    else:
        found = bg.mean(sum(samples[1:], samples[0]).reshape(shape), axis=(2, 4))
    return bg.moveaxis(found, -1, 1).astype(x.dtype, copy=False)
