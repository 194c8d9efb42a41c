"""Exchange of channels and pixels."""

from __future__ import annotations

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import composed
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import manipulation
from browsergpu.functions.operands import array


@composed("input")
def pixel_shuffle(input: Array, upscale_factor: int) -> Array:
    """Rearrange groups of r² channels as blocks of r × r pixels.

    Parameters
    ----------
    input : Array
        Shape [..., C r², H, W], of any dtype.
    upscale_factor : int
        r.

    Returns
    -------
    Array
        Shape [..., C, H r, W r].

    Raises
    ------
    InvalidArgument
        If ``input`` has another shape.

    Notes
    -----
    Source: Shi et al., "Real-time single image and video super-resolution", arXiv 1609.05158.
    """
    op = "pixel_shuffle"
    x, r = array(op, "input", input), checks.integer(op, "upscale_factor", upscale_factor, 1)
    if x.ndim < 3 or x.shape[-3] % (r * r):
        raise InvalidArgument(op, "input", x, f"have shape [..., C × {r * r}, H, W]")
    *lead, channels, height, width = x.shape
    axes = len(lead)
    apart = manipulation.reshape(x, (*lead, channels // (r * r), r, r, height, width))
    order = (*range(axes), axes, axes + 3, axes + 1, axes + 4, axes + 2)
    shape = (*lead, channels // (r * r), height * r, width * r)
    return manipulation.reshape(manipulation.permute_dims(apart, order), shape)


@composed("input")
def pixel_unshuffle(input: Array, downscale_factor: int) -> Array:
    """Rearrange blocks of r × r pixels as r² channels, the inverse of :func:`pixel_shuffle`.

    Parameters
    ----------
    input : Array
        Shape [..., C, H r, W r], of any dtype.
    downscale_factor : int
        r.

    Returns
    -------
    Array
        Shape [..., C r², H, W].

    Raises
    ------
    InvalidArgument
        If ``input`` has another shape.
    """
    op = "pixel_unshuffle"
    x, r = array(op, "input", input), checks.integer(op, "downscale_factor", downscale_factor, 1)
    if x.ndim < 3 or x.shape[-2] % r or x.shape[-1] % r:
        raise InvalidArgument(op, "input", x, f"have shape [..., C, H × {r}, W × {r}]")
    *lead, channels, height, width = x.shape
    axes = len(lead)
    apart = manipulation.reshape(x, (*lead, channels, height // r, r, width // r, r))
    order = (*range(axes), axes, axes + 2, axes + 4, axes + 1, axes + 3)
    shape = (*lead, channels * r * r, height // r, width // r)
    return manipulation.reshape(manipulation.permute_dims(apart, order), shape)


@composed("input")
def channel_shuffle(input: Array, groups: int) -> Array:
    """Exchange channels between groups: the first of each group come first.

    Parameters
    ----------
    input : Array
        Shape [N, C, ...], of any dtype.
    groups : int
        Number of groups, a divisor of C.

    Returns
    -------
    Array
        The shape of ``input``.

    Raises
    ------
    InvalidArgument
        If ``input`` has fewer than 3 axes, or ``groups`` is not a divisor of C.

    Notes
    -----
    Source: Zhang et al., "ShuffleNet", arXiv 1707.01083.
    """
    op = "channel_shuffle"
    x, count = array(op, "input", input), checks.integer(op, "groups", groups, 1)
    if x.ndim < 3 or x.shape[1] % count:
        raise InvalidArgument(op, "input", x, f"have shape [N, C × {count}, ...]")
    apart = manipulation.reshape(x, (x.shape[0], count, x.shape[1] // count, *x.shape[2:]))
    return manipulation.reshape(manipulation.moveaxis(apart, 1, 2), x.shape)
