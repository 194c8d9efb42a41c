"""Dropout of elements and of whole channels, and dropout that keeps the mean and the variance."""

from __future__ import annotations

from math import sqrt
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import composed
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.shapes import Shape
from browsergpu.functions import creation, elementwise
from browsergpu.functions.nn import inputs
from browsergpu.functions.random.generator import Generator

#: λ α of :func:`browsergpu.nn.selu`, the negative of its limit at minus infinity.
_LIMIT = 1.7580993408473766


@composed("input")
def dropout(input: Array, p: float = 0.5, training: bool = True, *, generator: Any = None) -> Array:
    """Set elements to 0 at random during training, and scale the others by ``1 / (1 - p)``.

    Parameters
    ----------
    input : Array
        float32 or float16.
    p : float, optional
        The probability of a 0, from 0 to 1.
    training : bool, optional
        False returns a copy of ``input``.
    generator : Generator
        A generator of ``browsergpu.random.default_rng``. Required in training, unless ``p`` is 0.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats, or the generator is missing.
    InvalidArgument
        If ``p`` is not from 0 to 1.
    """
    op = "dropout"
    x = inputs.floats(op, "input", input)
    share = checks.fraction(op, "p", p)
    if not checks.flag(op, "training", training) or share == 0:
        return x.__copy__()
    if not isinstance(generator, Generator):
        raise InvalidType(
            op, "generator", generator, "a Generator from browsergpu.random.default_rng()"
        )
    if share == 1:
        none = creation.zeros(x.shape, dtype=bool, device=x.device)
        return elementwise.where(none, x, 0.0)
    kept = generator.random(x.shape) >= share
    return elementwise.where(kept, x * (1 / (1 - share)), 0.0)


@composed("input")
def dropout1d(
    input: Array, p: float = 0.5, training: bool = True, *, generator: Any = None
) -> Array:
    """Set whole channels of signals to 0 at random, and scale the others by ``1 / (1 - p)``.

    Parameters
    ----------
    input : Array
        Shape [N, C, L] or [C, L], float32 or float16.
    p : float, optional
        The probability of a 0, from 0 to 1.
    training : bool, optional
        False returns a copy of ``input``.
    generator : Generator
        A generator of ``browsergpu.random.default_rng``. Required in training, unless ``p`` is 0.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats, or the generator is missing.
    InvalidArgument
        If ``p`` is not from 0 to 1, or ``input`` has another shape.

    Notes
    -----
    Source: Tompson et al., "Efficient object localization using convolutional networks", arXiv
    1411.4280.
    """
    return _channels("dropout1d", input, p, training, generator, (2, 3), 2)


@composed("input")
def dropout2d(
    input: Array, p: float = 0.5, training: bool = True, *, generator: Any = None
) -> Array:
    """Set whole channels of images to 0 at random, and scale the others by ``1 / (1 - p)``.

    Parameters
    ----------
    input : Array
        Shape [N, C, H, W], or [N, C, L] as in PyTorch. float32 or float16.
    p : float, optional
        The probability of a 0, from 0 to 1.
    training : bool, optional
        False returns a copy of ``input``.
    generator : Generator
        A generator of ``browsergpu.random.default_rng``. Required in training, unless ``p`` is 0.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats, or the generator is missing.
    InvalidArgument
        If ``p`` is not from 0 to 1, or ``input`` has another shape.
    """
    return _channels("dropout2d", input, p, training, generator, (3, 4), None)


@composed("input")
def dropout3d(
    input: Array, p: float = 0.5, training: bool = True, *, generator: Any = None
) -> Array:
    """Set whole channels of volumes to 0 at random, and scale the others by ``1 / (1 - p)``.

    Parameters
    ----------
    input : Array
        Shape [N, C, D, H, W] or [C, D, H, W], float32 or float16.
    p : float, optional
        The probability of a 0, from 0 to 1.
    training : bool, optional
        False returns a copy of ``input``.
    generator : Generator
        A generator of ``browsergpu.random.default_rng``. Required in training, unless ``p`` is 0.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats, or the generator is missing.
    InvalidArgument
        If ``p`` is not from 0 to 1, or ``input`` has another shape.
    """
    return _channels("dropout3d", input, p, training, generator, (4, 5), 4)


@composed("input")
def alpha_dropout(
    input: Array, p: float = 0.5, training: bool = False, *, generator: Any = None
) -> Array:
    """Set elements at random to the limit of :func:`selu`, and keep the mean and the variance.

    Parameters
    ----------
    input : Array
        float32 or float16.
    p : float, optional
        The probability with which an element is replaced, from 0 to 1.
    training : bool, optional
        False returns a copy of ``input``.
    generator : Generator
        A generator of ``browsergpu.random.default_rng``. Required in training, unless ``p`` is 0.

    Returns
    -------
    Array
        The shape and dtype of ``input``. Zeros if ``p`` is 1.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats, or the generator is missing.
    InvalidArgument
        If ``p`` is not from 0 to 1.

    Notes
    -----
    Source: Klambauer et al., "Self-normalizing neural networks", arXiv 1706.02515.
    """
    x = inputs.floats("alpha_dropout", "input", input)
    return _alpha(x, x.shape, p, training, generator)


@composed("input")
def feature_alpha_dropout(
    input: Array, p: float = 0.5, training: bool = False, *, generator: Any = None
) -> Array:
    """Apply :func:`alpha_dropout` to whole channels.

    Parameters
    ----------
    input : Array
        Shape [N, C, ...], float32 or float16.
    p : float, optional
        The probability with which a channel is replaced, from 0 to 1.
    training : bool, optional
        False returns a copy of ``input``.
    generator : Generator
        A generator of ``browsergpu.random.default_rng``. Required in training, unless ``p`` is 0.

    Returns
    -------
    Array
        The shape and dtype of ``input``. Zeros if ``p`` is 1.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats, or the generator is missing.
    InvalidArgument
        If ``p`` is not from 0 to 1, or ``input`` has fewer than 2 axes.
    """
    x = inputs.floats("feature_alpha_dropout", "input", input)
    inputs.channels_in("feature_alpha_dropout", "input", x)
    return _alpha(x, (*x.shape[:2], *(1,) * (x.ndim - 2)), p, training, generator)


def _channels(
    op: str, input: Any, p: float, training: bool, generator: Any, ranks: tuple[int, int],
    alone: int | None,
) -> Array:  # fmt: skip
    """Drop channels. An input of ``alone`` axes is one sample."""
    x = inputs.floats(op, "input", input)
    if x.ndim not in ranks:
        raise InvalidArgument(op, "input", x, f"have {ranks[0]} or {ranks[1]} axes")
    lead = 1 if x.ndim == alone else 2
    shape = (*x.shape[:lead], *(1,) * (x.ndim - lead))
    factors = _factors(x, shape, p, training, generator)
    return elementwise.where(elementwise.equal(factors, 0), 0.0, elementwise.multiply(x, factors))


def _factors(x: Array, shape: Shape, p: float, training: bool, generator: Any) -> Array:
    """Return dropout of ones: 0 for dropped elements, and ``1 / (1 - p)`` for others."""
    ones = creation.ones(shape, dtype=x.dtype, device=x.device)
    return dropout(ones, p, training, generator=generator)


def _alpha(x: Array, shape: Shape, p: float, training: bool, generator: Any) -> Array:
    factors = _factors(x, shape, p, training, generator)
    if not training or not p:
        return x.__copy__()
    if p == 1:
        return elementwise.where(elementwise.equal(factors, 0), 0.0, x)
    scale = 1 / sqrt((_LIMIT**2 * p + 1) * (1 - p))
    kept = x * scale + _LIMIT * scale * p
    return elementwise.where(elementwise.equal(factors, 0), _LIMIT * scale * (p - 1), kept)
