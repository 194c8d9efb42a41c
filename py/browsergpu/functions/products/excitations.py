"""Squeeze-and-excite by one kernel: gates of channels from their means, and scaled images."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import INTERCEPTED
from browsergpu.arrays.lazy.products import totals_of
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.kernels.networks.excitation import Excitation, takes
from browsergpu.engine.tensors import nn
from browsergpu.functions import statistics
from browsergpu.functions.nn import inputs

_OP = "conv2d"
#: Most elements of a channel that one kernel adds up. Means of more take two.
_MOST_OF_ONE_SUM = 1 << 12


class Layers(NamedTuple):
    """The products between means and gates: gate(w2 · relu(w1 · means + b1) + b2).

    Attributes
    ----------
    w1, w2 : Array
        Filters of shape [M, C, 1, 1] and [F, M, 1, 1].
    b1, b2 : Array, optional
        M and F biases that broadcast to channels: of shape [..., M, 1, 1] with extents of 1.
    hard : tuple of float, optional
        alpha and beta of a hard sigmoid. None is the logistic function.
    """

    w1: Array
    b1: Array | None
    w2: Array
    b2: Array | None
    hard: tuple[float, float] | None


@exclusive
def excited(
    layers: Layers, means: Array | None, image: Array | None = None, made: str = ""
) -> Array | None:
    """Return the gates of channels, or their product with an image, or None.

    None is for what the kernel does not compute. It computes arrays without gradients, in captured
    graphs with deferred products. The kernel of a depthwise convolution may add up parts of the
    channels of its result, which is the image then.

    Parameters
    ----------
    layers : Layers
        The products.
    means : Array, optional
        Means of channels, of shape [N, C, 1, 1]. None computes those of ``image``, of which another
        kernel adds up the rows if it is large.
    image : Array, optional
        Shape [N, C, H, W]. It is needed without ``means``, and for a product.
    made : str
        "" returns the gates. "multiply" returns their product with the image, "add" the sum of the
        image and this product.

    Returns
    -------
    Array, optional
        The gates of shape [N, F, 1, 1], or an array of the shape of ``image``.
    """
    given = [one for one in (*layers[:4], means, image) if one is not None]
    first = image if means is None else means
    if first is None or any(type(one) in INTERCEPTED for one in given):
        return None
    if first.tracer.optimized is None or any(one.node.kind is not FLOAT32 for one in given):
        return None
    if not _have_shapes(layers, first, means, image):
        return None
    images, channels = first.shape[:2]
    w1, b1, w2, b2, hard = layers
    pixels = product(image.shape[2:]) if image is not None else 0
    is_large = means is None and pixels > _MOST_OF_ONE_SUM
    terms = 0 if means is not None else first.shape[2] if is_large else pixels
    problem = Excitation(images, channels, w1.shape[0], w2.shape[0], pixels, terms, made)
    sums = None
    if is_large or not takes(problem):
        sums = None if means is not None else _written_sums(first, problem)
        if sums is not None:
            problem = replace(problem, terms=sums.shape[-1])
    if not takes(problem):
        return None
    if sums is None:
        sums = statistics.sum(first, axis=-1) if is_large else first
    source = apply.packed(sums)
    shape = image.shape if made and image is not None else (images, problem.filters, 1, 1)
    result = inputs.room(_OP, first, FLOAT32, shape)
    own = [None if one is None else apply.packed(one) for one in (image, b1, b2)]
    filters = [
        apply.packed(w1).reshape((problem.hidden, channels)),
        apply.packed(w2).reshape((problem.filters, problem.hidden)),
    ]
    views = [inputs.memory_of(one) for one in own]
    nn.excite(
        first.device, _OP, problem, inputs.memory(source), views[0], inputs.memory(filters[0]),
        views[1], inputs.memory(filters[1]), views[2], inputs.memory(result), hard,
    )  # fmt: skip
    return result


def _written_sums(image: Array, problem: Excitation) -> Array | None:
    """Return sums of each channel, [N, C, numbers], if the kernel of an image writes them.

    This evaluates the image.
    """
    totals = totals_of(image.node)
    if totals is None or not takes(replace(problem, terms=totals.count)):
        return None
    sums = inputs.room(_OP, image, FLOAT32, (*image.shape[:2], totals.count))
    totals.into = sums.node
    node = image.node.in_memory()
    return sums if totals.beside == node.storage.buffer.id else None


def _have_shapes(layers: Layers, first: Array, means: Array | None, image: Array | None) -> bool:
    w1, b1, w2, b2, _ = layers
    if any(one.ndim != 4 or one.shape[2:] != (1, 1) for one in (w1, w2)) or first.ndim != 4:
        return False
    if means is not None and means.shape[2:] != (1, 1):
        return False
    if image is not None and (image.ndim != 4 or image.shape[:2] != first.shape[:2]):
        return False
    if w1.shape[1] != first.shape[1] or w2.shape[1] != w1.shape[0]:
        return False
    pairs = ((b1, w1), (b2, w2))
    return all(b is None or _is_of_channels(b, w.shape[0]) for b, w in pairs)


def _is_of_channels(b: Array, count: int) -> bool:
    whole = (1,) * (4 - b.ndim) + b.shape
    return whole == (1, count, 1, 1)
