"""Sampling of images and volumes at the points of a grid."""

from __future__ import annotations

from itertools import product as corners_of
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import composed
from browsergpu.arrays.autograd.variable import plain
from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.linalg.linear import matmul
from browsergpu.functions.nn import inputs

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")
#: Keys's parameter of the cubic, as in PyTorch.
_CUBIC = -0.75


@composed("theta")
def affine_grid(theta: Array, size: Any, align_corners: bool | None = None) -> Array:
    """Return the points that affine maps assign to the pixels of images.

    Parameters
    ----------
    theta : Array
        Maps of shape [N, 2, 3] for images, or [N, 3, 4] for volumes. Floats.
    size : sequence of int
        The shape of the images, [N, C, H, W] or [N, C, D, H, W].
    align_corners : bool, optional
        Whether -1 and 1 are the centers of the outermost pixels, or their outer edges (False).

    Returns
    -------
    Array
        Shape [N, H, W, 2] or [N, D, H, W, 3]. The last axis has x before y and z.

    Raises
    ------
    InvalidArgument
        If the shapes do not fit.
    InvalidType
        If ``theta`` does not consist of floats.

    Notes
    -----
    Source: Jaderberg et al., "Spatial transformer networks", arXiv 1506.02025.
    """
    op = "affine_grid"
    maps = inputs.floats(op, "theta", theta)
    shape = checks.dimensions(op, "size", size, minimum=1)
    rank = len(shape) - 2
    if rank not in (2, 3):
        raise InvalidArgument(op, "size", size, "[N, C, H, W] or [N, C, D, H, W]")
    inputs.shaped(op, "theta", maps, (shape[0], rank, rank + 1))
    corners = align_corners is not None and checks.flag(op, "align_corners", align_corners)
    lines = []
    for extent in shape[2:]:
        line = (2 * np.arange(extent) + 1) / extent - 1
        if corners:
            line = np.linspace(-1, 1, extent) if extent > 1 else np.zeros(1)
        lines.append(line)
    points = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(shape[2:])], -1)
    flat = points.reshape(1, -1, rank + 1).astype(maps.dtype)
    own = creation.asarray(flat, device=maps.device)
    found = matmul(own, manipulation.matrix_transpose(maps))
    return manipulation.reshape(found, (shape[0], *shape[2:], rank))


@composed("input", "grid")
def grid_sample(
    input: Array, grid: Array, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Array:  # fmt: skip
    """Sample images or volumes at points.

    Parameters
    ----------
    input : Array
        Shape [N, C, H, W] or [N, C, D, H, W], float32 or float16.
    grid : Array
        Points of shape [N, P, Q, 2] or [N, O, P, Q, 3], x before y and z, from -1 to 1. Floats.
    mode : {"bilinear", "nearest", "bicubic"}, optional
        The interpolation. "bilinear" is trilinear for volumes. "bicubic" is for images only.
    padding_mode : {"zeros", "border", "reflection"}, optional
        Elements outside: zeros, the element at the edge, or the elements mirrored at the edge.
    align_corners : bool, optional
        Whether -1 and 1 are the centers of the outermost pixels, or their outer edges (False).

    Returns
    -------
    Array
        Shape [N, C, P, Q] or [N, C, O, P, Q], of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If an operand does not consist of floats.

    Notes
    -----
    Points that are NaN are sampled as -1, as in PyTorch.
    """
    op = "grid_sample"
    x, points = inputs.floats(op, "input", input), inputs.floats(op, "grid", grid)
    rank = x.ndim - 2
    if rank not in (2, 3) or 0 in x.shape:
        expected = "have shape [N, C, H, W] or [N, C, D, H, W], with elements"
        raise InvalidArgument(op, "input", x, expected)
    if points.ndim != x.ndim or (points.shape[0], points.shape[-1]) != (x.shape[0], rank):
        expected = f"have shape [{x.shape[0]}, {'P, Q, 2' if rank == 2 else 'O, P, Q, 3'}]"
        raise InvalidArgument(op, "grid", points, expected)
    known = _MODES if rank == 2 else _MODES[:2]
    for name, value, among in (("mode", mode, known), ("padding_mode", padding_mode, _PADDINGS)):
        if value not in among:
            raise InvalidArgument(op, name, value, f"one of {', '.join(among)}")
    corners = align_corners is not None and checks.flag(op, "align_corners", align_corners)
    flat = manipulation.reshape(
        manipulation.moveaxis(x, 1, -1), (product(x.shape) // x.shape[1], x.shape[1])
    )
    wide = points.astype("float32", copy=False)
    wide = elementwise.where(elementwise.isnan(wide), -1.0, wide)
    along = []  # of each axis, the indices and weights of its terms
    for n, extent in enumerate(x.shape[2:]):
        at = wide[..., rank - 1 - n]
        place = ((at + 1) * extent - 1) * 0.5
        if corners:
            place = (at + 1) * (0.5 * (extent - 1))
        if mode != "bicubic":
            place = _inside(place, extent, padding_mode, corners)
        along.append(_terms(place, mode, extent, padding_mode, corners))
    images = creation.arange(x.shape[0], dtype="int32", device=x.device)
    images = manipulation.reshape(images, (-1, *(1,) * rank))
    total: Any = None
    for chosen in corners_of(*along):
        index: Any = images
        weight: Any = 1.0
        for (place, share), extent in zip(chosen, x.shape[2:], strict=True):
            is_there = elementwise.logical_and(place >= 0, place <= extent - 1)
            whole = elementwise.clip(place, 0, extent - 1).astype("int32")
            index = index * extent + whole
            weight = elementwise.where(is_there, weight * share, 0.0)
        taken = manipulation.take(flat, manipulation.reshape(index, (-1,)), axis=0)
        rows = manipulation.reshape(taken, (*index.shape, x.shape[1]))
        term = rows * manipulation.expand_dims(weight, axis=-1)
        total = term if total is None else total + term
    return manipulation.moveaxis(total, -1, 1).astype(x.dtype, copy=False)


def _terms(
    place: Array, mode: str, extent: int, padding_mode: str, corners: bool
) -> list[tuple[Any, Any]]:
    """Return the indices, as floats, and weights of the terms along an axis."""
    if mode == "nearest":
        return [(elementwise.round(plain(place)), 1.0)]
    low = elementwise.floor(plain(place))
    way = elementwise.subtract(place, low)
    if mode == "bilinear":
        return [(low, 1 - way), (elementwise.add(low, 1.0), way)]
    weights = [_cubic_far(way + 1), _cubic_near(way), _cubic_near(1 - way), _cubic_far(2 - way)]
    places = [_inside(low + float(n - 1), extent, padding_mode, corners) for n in range(4)]
    return list(zip(places, weights, strict=True))


def _cubic_near(way: Any) -> Any:
    return ((_CUBIC + 2) * way - (_CUBIC + 3)) * way * way + 1


def _cubic_far(way: Any) -> Any:
    return ((way - 5) * way + 8) * way * _CUBIC - 4 * _CUBIC


def _inside(place: Array, extent: int, padding_mode: str, corners: bool) -> Array:
    """Move positions outside of an axis as the padding mode requires. "zeros" keeps them."""
    if padding_mode == "zeros":
        return place
    if padding_mode == "reflection":
        least, span = (0.0, float(extent - 1)) if corners else (-0.5, float(extent))
        if not span:
            place = place * 0
        else:
            away = elementwise.abs(place - least)
            turns = elementwise.floor(plain(away) / span)
            rest = away - turns * span
            is_even = elementwise.equal(turns - elementwise.floor(turns * 0.5) * 2, 0)
            place = elementwise.where(is_even, rest + least, span - rest + least)
    return elementwise.clip(place, 0.0, float(extent - 1))
