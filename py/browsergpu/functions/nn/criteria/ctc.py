"""Connectionist temporal classification.

The forward algorithm runs over the steps of all samples together, in logarithms. Labels are
extended by blanks before, between and after them. A path stays at its label, moves to the next one,
or skips a blank between two different labels.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.precision import widened
from browsergpu.arrays.autograd.rules import composed, differentiable
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn.losses import check_reduction, reduced
from browsergpu.functions.ordering import sorting
from browsergpu.functions.parts import added_at

#: Stands for the logarithm of 0. Infinities would give NaN in differences.
_NOTHING = -1e30


@widened("log_probs")
@composed("log_probs")
def ctc_loss(
    log_probs: Array, targets: Array, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> Array:  # fmt: skip
    """Return the loss of connectionist temporal classification.

    It is the negative logarithm of the probability of all alignments of a sequence of labels with
    the steps.

    Parameters
    ----------
    log_probs : Array
        Log-probabilities of shape [T, N, C] or [T, C], float32 or float16.
    targets : Array
        Labels as integers: [N, S], or the labels of all samples one after the other. With one axis,
        the function waits for ``target_lengths`` unless they are on the host.
    input_lengths : Array or sequence of int
        Number of steps of each sample, at most T.
    target_lengths : Array or sequence of int
        Number of labels of each sample.
    blank : int, optional
        The label that stands for no label.
    reduction : {"mean", "sum", "none"}, optional
        "mean" divides losses by the numbers of labels, and takes the mean of the samples.
    zero_infinity : bool, optional
        Whether to replace infinite losses and their gradients by 0. Samples with fewer steps than
        labels have an infinite loss.

    Returns
    -------
    Array
        float32 of shape [], or of shape [N] or [] for "none".

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``log_probs`` does not consist of floats, or ``targets`` of integers.

    Notes
    -----
    Source: Graves et al., "Connectionist temporal classification", 2006.
    """
    op = "ctc_loss"
    check_reduction(op, reduction)
    x = inputs.floats(op, "log_probs", log_probs)
    if x.ndim not in (2, 3) or not x.shape[0]:
        raise InvalidArgument(op, "log_probs", x, "have shape [T, N, C] or [T, C], with steps")
    alone = x.ndim == 2
    if alone:
        x = manipulation.expand_dims(x, axis=1)
    x = x.astype("float32", copy=False)
    count, classes = x.shape[1:]
    empty = checks.integer(op, "blank", blank, 0, classes - 1)
    steps = _lengths(op, "input_lengths", input_lengths, count, x.device)
    numbers = _lengths(op, "target_lengths", target_lengths, count, x.device)
    labels = _padded(op, inputs.whole(op, "targets", targets), target_lengths, count, alone)
    losses = _losses(x, labels, steps, numbers, empty)
    if checks.flag(op, "zero_infinity", zero_infinity):
        losses = elementwise.where(elementwise.equal(losses, inf), 0.0, losses)
    if reduction == "mean":
        losses = losses / elementwise.maximum(numbers, 1).astype("float32")
    return reduced(manipulation.squeeze(losses, 0) if alone else losses, reduction)


def _lengths(op: str, name: str, given: Any, count: int, device: Any) -> Array:
    """Return the lengths as int32 on the GPU."""
    if not isinstance(given, Array):
        own = np.asarray(given)
        if own.dtype.kind not in "iu":
            raise InvalidArgument(op, name, given, "integers")
        given = creation.asarray(own.astype(np.int32), device=device)
    found = inputs.whole(op, name, given)
    if found.size != count or found.ndim > 1:
        raise InvalidArgument(op, name, found, f"have {count} elements")
    return manipulation.reshape(found, (count,))


def _padded(op: str, targets: Array, lengths: Any, count: int, alone: bool) -> Array:
    """Return the labels as [N, S], of which each sample uses the first ones."""
    if alone and targets.ndim == 1:
        return manipulation.reshape(targets, (1, targets.size))
    if targets.ndim == 2:
        if targets.shape[0] != count:
            raise InvalidArgument(op, "targets", targets, f"have {count} rows")
        return targets
    if targets.ndim != 1:
        raise InvalidArgument(op, "targets", targets, "have one or two axes")
    known = lengths.numpy() if isinstance(lengths, Array) else lengths
    own = np.asarray(known, np.int64).reshape(-1)
    if int(own.sum()) != targets.size or (own < 0).any():
        expected = f"numbers that add up to {targets.size}, the number of targets"
        raise InvalidArgument(op, "target_lengths", lengths, expected)
    places = np.cumsum(own)[:, None] - own[:, None] + np.arange(int(own.max(initial=0)))
    inside = np.minimum(places, max(targets.size - 1, 0)).astype(np.int32)
    if not inside.size:
        return creation.zeros((count, 0), dtype="int32", device=targets.device)
    return manipulation.take(targets, inside, axis=0)


def _losses_gradient(
    g: Array, y: Array, log_probs: Array, labels: Array, steps: Array, numbers: Array, blank: int
) -> Array:
    """Return minus the probability that a step has each label, given the sample's targets."""
    x, extended, may_skip = _extended(log_probs, labels, blank)
    before = _forward(x, may_skip)
    after = _backward(x, may_skip, steps, numbers)
    is_infinite = elementwise.equal(y, inf)
    loss = elementwise.where(is_infinite, 0.0, y)
    share = elementwise.exp(elementwise.minimum(before + after - x + loss[:, None], 0.0))
    wrong = elementwise.where(elementwise.equal(g, 0), 0.0, nan)[:, None]
    found = elementwise.where(is_infinite[:, None], wrong, share * -g[:, None])
    time, sample = (creation.arange(n, dtype="int32", device=x.device) for n in log_probs.shape[:2])
    key = (time[:, None, None], sample[:, None], extended)
    whole = creation.zeros(log_probs.shape, dtype="float32", device=x.device)
    return added_at(whole, key, found)


@differentiable(log_probs=_losses_gradient)
def _losses(log_probs: Array, labels: Array, steps: Array, numbers: Array, blank: int) -> Array:
    """Return the loss of each sample."""
    x, _, may_skip = _extended(log_probs, labels, blank)
    before = _forward(x, may_skip)
    samples = creation.arange(x.shape[1], dtype="int32", device=x.device)
    ends = before[elementwise.clip(steps - 1, 0, x.shape[0] - 1), samples]  # [N, extended]
    at = elementwise.minimum(numbers * 2, x.shape[2] - 1)[:, None]
    last = sorting.take_along_axis(ends, at, axis=1)[:, 0]
    label = sorting.take_along_axis(ends, elementwise.maximum(at - 1, 0), axis=1)[:, 0]
    label = elementwise.where(numbers > 0, label, _NOTHING)
    total = elementwise.logaddexp(last, label)
    # Without steps, only no labels are certain.
    total = elementwise.where(steps > 0, total, elementwise.where(numbers > 0, _NOTHING, 0.0))
    return elementwise.where(total < _NOTHING / 2, inf, -total)


def _extended(log_probs: Array, labels: Array, blank: int) -> tuple[Array, Array, Array]:
    """Return log-probabilities [T, N, 2 S + 1] of the labels with blanks, and these labels.

    The third result is whether a path may skip the blank before a label.
    """
    count, length = labels.shape
    extended = creation.full((count, 2 * length + 1), blank, dtype="int32", device=labels.device)
    may_skip = creation.zeros(extended.shape, dtype="bool", device=labels.device)
    if length:
        extended[:, 1::2] = labels
        may_skip[:, 3::2] = elementwise.not_equal(labels[:, 1:], labels[:, :-1])
    inside = elementwise.clip(extended, 0, log_probs.shape[2] - 1)
    places = manipulation.broadcast_to(inside, (log_probs.shape[0], *extended.shape))
    x = sorting.take_along_axis(log_probs, places, axis=2)
    return elementwise.maximum(x, _NOTHING), inside, may_skip


def _forward(x: Array, may_skip: Array) -> Array:
    """Return the log-probabilities of all paths to each label at each step."""
    steps, count, length = x.shape
    # Two columns before the first label stand for labels that no path can come from.
    shape = (steps, count, length + 2)
    whole = creation.full(shape, _NOTHING, dtype="float32", device=x.device)
    whole[0, :, 2:4] = x[0, :, :2]
    for step in range(1, steps):
        last = whole[step - 1]
        stay, move = last[:, 2:], last[:, 1:-1]
        skip = elementwise.where(may_skip, last[:, :-2], _NOTHING)
        total = elementwise.logaddexp(elementwise.logaddexp(stay, move), skip)
        whole[step, :, 2:] = elementwise.maximum(total + x[step], _NOTHING)
    return whole[:, :, 2:]


def _backward(x: Array, may_skip: Array, ends: Array, numbers: Array) -> Array:
    """Return the log-probabilities of all paths from each label to the end of the sample."""
    steps, count, length = x.shape
    shape = (steps + 1, count, length + 2)
    whole = creation.full(shape, _NOTHING, dtype="float32", device=x.device)
    places = creation.arange(length, dtype="int32", device=x.device)
    last = (numbers * 2)[:, None]
    is_end = elementwise.logical_or(places == last, places == last - 1)
    begins_skip = creation.zeros(may_skip.shape, dtype="bool", device=x.device)
    if length > 2:
        begins_skip[:, :-2] = may_skip[:, 2:]
    for step in reversed(range(steps)):
        after = whole[step + 1]
        stay, move = after[:, :-2], after[:, 1:-1]
        skip = elementwise.where(begins_skip, after[:, 2:], _NOTHING)
        total = elementwise.logaddexp(elementwise.logaddexp(stay, move), skip)
        begun = elementwise.where(is_end, 0.0, _NOTHING)
        total = elementwise.where((ends == step + 1)[:, None], begun, total)
        whole[step, :, :-2] = elementwise.maximum(total + x[step], _NOTHING)
    return whole[:-1, :, :-2]
