"""Gates of channels from their means, the excitation of squeeze-and-excite, by one kernel."""

from __future__ import annotations

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import INTERCEPTED
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.kernels.networks.excitation import takes
from browsergpu.engine.tensors import nn
from browsergpu.functions.nn import inputs

_OP = "conv2d"


@exclusive
def excited(
    x: Array, w1: Array, b1: Array | None, w2: Array, b2: Array | None,
    hard: tuple[float, float] | None,
) -> Array | None:  # fmt: skip
    """Return the gates of channels, or None if the kernel does not compute them.

    It computes them in captured graphs with deferred products, for arrays without gradients.

    Parameters
    ----------
    x : Array
        Means of channels, of shape [N, C, 1, 1].
    w1, w2 : Array
        Filters of shape [M, C, 1, 1] and [F, M, 1, 1].
    b1, b2 : Array, optional
        M and F biases that broadcast to channels: of shape [..., M, 1, 1] with extents of 1.
    hard : tuple of float, optional
        alpha and beta of a hard sigmoid. None is the logistic function.

    Returns
    -------
    Array, optional
        Shape [N, F, 1, 1]: gate(w2 · relu(w1 · x + b1) + b2).
    """
    given = [one for one in (x, w1, b1, w2, b2) if one is not None]
    if any(type(one) in INTERCEPTED for one in given) or x.tracer.optimized is None:
        return None
    if any(one.node.kind is not FLOAT32 for one in given) or not _have_shapes(x, w1, b1, w2, b2):
        return None
    images, channels = x.shape[:2]
    hidden, filters = w1.shape[0], w2.shape[0]
    if not filters or not takes(images, channels, hidden):
        return None
    made = inputs.room(_OP, x, FLOAT32, (images, filters, 1, 1))
    own, first, second = (apply.packed(one).reshape(shape) for one, shape in (
        (x, (images, channels)), (w1, (hidden, channels)), (w2, (filters, hidden)),
    ))  # fmt: skip
    added = [None if one is None else apply.packed(one) for one in (b1, b2)]
    nn.excite(
        x.device, _OP, inputs.memory(own), inputs.memory(first), inputs.memory_of(added[0]),
        inputs.memory(second), inputs.memory_of(added[1]),
        inputs.memory(made.reshape((images, filters))), hard,
    )  # fmt: skip
    return made


def _have_shapes(x: Array, w1: Array, b1: Array | None, w2: Array, b2: Array | None) -> bool:
    if any(one.ndim != 4 or one.shape[2:] != (1, 1) for one in (x, w1, w2)):
        return False
    if w1.shape[1] != x.shape[1] or w2.shape[1] != w1.shape[0]:
        return False
    pairs = ((b1, w1), (b2, w2))
    return all(b is None or _is_of_channels(b, w.shape[0]) for b, w in pairs)


def _is_of_channels(b: Array, count: int) -> bool:
    whole = (1,) * (4 - b.ndim) + b.shape
    return whole == (1, count, 1, 1) and product(b.shape) == count
