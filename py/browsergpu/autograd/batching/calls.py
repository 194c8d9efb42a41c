"""Calls of public functions with batched arrays."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from inspect import BoundArguments, Signature, signature
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import Frame, batch_of, batched, turn
from browsergpu.arrays.autograd.rules import values
from browsergpu.autograd import trees
from browsergpu.autograd.batching.levels import innermost, is_of, with_axis
from browsergpu.engine.core.above import register
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.places import frames_of_the_package
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.functions import data_types, manipulation, parts

#: A batching rule: it takes the call, and returns the results with the examples along axis 0.
Rule = Callable[["Call"], Any]
#: The rules by the key of a function (``arrays/autograd/rules.py``).
RULES: dict[str, Rule] = {}
_PART = "browsergpu.functions.parts.part"
_warned: set[str] = set()


class VmapWarning(UserWarning):
    """A function was computed for each example, as it has no batching rule."""


class NoRule(Exception):
    """The rule does not cover these arguments. The call is computed for each example."""


class Call(Shown):
    """A call of a public function with arrays of a frame.

    Attributes
    ----------
    public : callable
        The function. It takes the values of the arguments, with one axis more.
    frame : Frame
        The innermost frame of the arguments.
    given : dict
        The arguments by parameter, including defaults. Parameters ``*args`` are tuples.
    """

    def __init__(self, public: Callable[..., Any], frame: Frame, bound: BoundArguments) -> None:
        self.public, self.frame = public, frame
        self._bound = bound
        bound.apply_defaults()
        self.given: dict[str, Any] = dict(bound.arguments)

    def _facts(self) -> str:
        return f"of {self.public.__name__}"

    @property
    def op(self) -> str:
        """The name of the function."""
        return self.public.__name__

    def has(self, x: Any) -> bool:
        """Whether an array has its examples in the frame."""
        return is_of(x, self.frame)

    def value(self, x: Any) -> Any:
        """Return the value of an argument. Batched arrays have the examples along axis 0."""
        if is_of(x, self.frame):
            return batch_of(x).value
        if type(x) in (list, tuple):
            return type(x)([self.value(one) for one in x])
        return x

    def full(self, x: Any) -> Array:
        """Return the value of an array, with the examples along axis 0 also if they are equal."""
        return with_axis(x, self.frame)

    def ranked(self, x: Any, rank: int) -> Any:
        """Return :meth:`value` of an array, with ``rank`` axes after the examples' axis."""
        return ranked(x, self.frame, rank)

    def __call__(self, **changed: Any) -> Any:
        """Call the function with the values of its arguments, some of them changed."""
        for name, x in self.given.items():
            self._bound.arguments[name] = changed[name] if name in changed else self.value(x)
        return self.public(*self._bound.args, **self._bound.kwargs)


def rank_of(*arrays: Any) -> int:
    """Return the highest number of axes of operands. Numbers have none."""
    return max((x.ndim for x in arrays if isinstance(x, Array | np.ndarray)), default=0)


def call(
    public: Callable[..., Any], key: str, own: Signature, args: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:  # fmt: skip
    """Call a public function with batched arrays among its arguments."""
    frame = innermost((*args, *options.values()))
    assert frame is not None
    if frame.recorder is not None:
        return frame.recorder(public, key, own.bind(*args, **options))
    rule = RULES.get(key)
    if rule is not None:
        try:
            return of_examples(rule(Call(public, frame, own.bind(*args, **options))), frame)
        except NoRule:
            pass
    return by_example(public, frame, args, options)


def of_examples(found: Any, frame: Frame) -> Any:
    """Return a rule's results as the results for one example."""
    if isinstance(found, Array):
        return batched(found, frame)
    if isinstance(found, tuple):
        made = [of_examples(x, frame) for x in found]
        return found._make(made) if hasattr(found, "_make") else tuple(made)
    return found


def by_example(
    function: Callable[..., Any], frame: Frame, args: Sequence[Any], options: dict[str, Any]
) -> Any:
    """Call a function for each example, and stack the results."""
    name = getattr(function, "__name__", "a function")
    if name not in _warned:
        _warned.add(name)
        told = f"vmap calls {name} for each example, as it has no batching rule for the arguments"
        warnings.warn(told, VmapWarning, stacklevel=frames_of_the_package())
    if not frame.size:
        none = Description("no examples")
        raise InvalidArgument("vmap", "in_axes", none, f"have examples, as {name} has no rule")
    found = [
        function(*example(list(args), n, frame), **example(options, n, frame))
        for n in range(frame.size)
    ]
    return stacked(found, frame)


def example(tree: Any, n: int, frame: Frame) -> Any:
    """Return arguments with the arrays of one example."""
    return trees.map_tree(lambda x: batch_of(x).value[n] if is_of(x, frame) else x, tree)


def stacked(found: Sequence[Any], frame: Frame) -> Any:
    """Return the results of all examples as the results for one example."""
    columns = zip(*[trees.leaves(one) for one in found], strict=True)
    joined = [_joined(column, frame) for column in columns]
    return trees.unflatten(found[0], joined)


def _joined(column: Sequence[Any], frame: Frame) -> Any:
    if not isinstance(column[0], Array):
        return column[0]
    if any(x.shape != column[0].shape for x in column):
        shapes = Description(", ".join(str(x.shape) for x in column[:3]) + ", …")
        expected = "have one shape for all examples, whatever their values"
        raise InvalidArgument("vmap", "result", shapes, expected)
    return batched(manipulation.stack(column), frame)


def untracked(x: Array) -> Array:
    """Return a batched array whose value requires no gradient."""
    value, frame = batch_of(x)
    return batched(values(value), frame)


def part(x: Array, key: Any) -> Array:
    """Return ``x[key]`` for a key that contains batched arrays."""
    frame = innermost((key,))
    assert frame is not None
    if frame.recorder is not None:
        bound = signature(parts.part).bind(x, key)
        return frame.recorder(parts.part, _PART, bound)  # type: ignore[no-any-return]
    own = Call(parts.part, frame, signature(parts.part).bind(x, key))
    return of_examples(RULES[_PART](own), frame)  # type: ignore[no-any-return]


def of_elements(function: Callable[..., Array], operands: Sequence[Any]) -> Array:
    """Call an elementwise function of arrays that broadcast."""
    frame = innermost(operands)
    assert frame is not None
    if frame.recorder is not None:
        return frame.recorder(function, "of_elements", signature(function).bind(*operands))  # type: ignore[no-any-return]
    rank = rank_of(*operands)
    return batched(function(*[ranked(x, frame, rank) for x in operands]), frame)


def ranked(x: Any, frame: Frame, rank: int) -> Any:
    """Return the value of an array for a frame, with ``rank`` axes after the examples' axis."""
    if not is_of(x, frame):
        return x
    value = batch_of(x).value
    missing = rank + 1 - value.ndim
    shape = (value.shape[0], *(1,) * missing, *value.shape[1:])
    return manipulation.reshape(value, shape) if missing > 0 else value


def rewrite(op: str, x: Array, found: Array) -> Array:
    """Give an array the value of another one, in place. At least one of them is batched."""
    if found.dtype != x.dtype:
        if not data_types.can_cast(found.dtype, x.dtype, casting="same_kind"):
            raise InvalidType(op, "other", found.dtype, f"of a dtype that leaves {x.dtype}")
        found = data_types.astype(found, x.dtype)
    if found.shape != x.shape:
        told = Description(f"shape {found.shape}")
        raise InvalidArgument(op, "other", told, f"have shape {x.shape}")
    own, other = innermost((x,)), innermost((found,))
    if other is not None and (own is None or other.depth > own.depth):
        turn(x, *batch_of(found))
    elif own is not None:
        batch_of(x).value[...] = with_axis(found, own)
    return x


def has_frame(x: Any, frame: Frame) -> bool:
    """Whether an argument is a batched array of a frame, or a sequence that contains one."""
    if type(x) in (list, tuple):
        return any(has_frame(one, frame) for one in x)
    return is_of(x, frame)


register("batching", sys.modules[__name__])
