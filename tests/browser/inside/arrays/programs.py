"""Random programs of array operations, run by NumPy and by browsergpu side by side.

A program is a list of numbers; each step reads some of them, which select its operation and arrays.
All values are integers that floats hold exactly, and no step rounds. Results are therefore equal in
every order and kernel.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from inside.arrays.data import demoted

KINDS = ("float32", "int32", "uint8", "int16", "bool", "float16", "int64", "uint32")
SHAPES = ((), (1,), (4,), (3, 4), (3, 1), (2, 3, 4), (2, 1, 4), (0, 4), (8, 4))
#: Larger values are reduced, so that float16 holds every sum of a few of them.
LARGEST = 60
MOST_ARRAYS = 8

Numbers = Iterator[int]
Pair = tuple[Any, Any]
Step = Callable[["Machine", Numbers], None]


class Refused(Exception):
    """NumPy or browsergpu refused a call that the other accepted."""


class Machine:
    """The arrays of a program, in NumPy and in browsergpu."""

    def __init__(self, bg: Any, *, eager: bool, named: Sequence[str] = ()) -> None:
        self.bg = bg
        self.eager = eager
        self._steps = [step for step in STEPS if not named or step[0] in named]
        self.theirs: list[np.ndarray] = []
        self.ours: list[Any] = []

    def run(self, program: list[int]) -> None:
        """Run all steps of a program, then compare the remaining arrays."""
        story: list[str] = []
        try:
            self.steps(iter(program), story)
            for at in range(len(self.theirs)):
                self.check(at)
        except Exception as error:
            error.add_note(f"{'eager' if self.eager else 'lazy'}: {', '.join(story)}")
            raise

    def steps(self, numbers: Numbers, story: list[str]) -> None:
        """Make three arrays, then run steps until the numbers end."""
        with contextlib.suppress(StopIteration):
            for _ in range(3):
                self.make(numbers)
            while True:
                name, step = self._steps[next(numbers) % len(self._steps)]
                story.append(name)
                step(self, numbers)

    def check(self, at: int) -> None:
        """Compare one array: dtype, shape and every bit."""
        theirs, ours = self.theirs[at], self.ours[at].numpy()
        assert ours.dtype == theirs.dtype, f"dtype {ours.dtype}, not {theirs.dtype}"
        np.testing.assert_array_equal(ours, theirs)

    def make(self, numbers: Numbers) -> None:
        """Add a new array."""
        kind, shape = KINDS[next(numbers) % len(KINDS)], SHAPES[next(numbers) % len(SHAPES)]
        values = np.random.default_rng(next(numbers)).integers(-9, 10, shape)
        self.add((array := values.astype(kind), self.bg.asarray(array)))

    def add(self, pair: Pair) -> None:
        """Keep the result of a step, reduced to small numbers."""
        theirs, ours = demoted(pair[0]), pair[1]
        if theirs.base is None:  # NumPy keeps the memory order of axes, browsergpu packs
            theirs = np.asarray(theirs, order="C")
        if (
            theirs.dtype.kind != "b"
            and theirs.size
            and np.abs(theirs.astype(float)).max() > LARGEST
        ):
            theirs, ours = np.asarray(np.remainder(theirs, theirs.dtype.type(7))), ours % 7
        if self.eager:
            self.bg.eval(ours)
        if len(self.theirs) == MOST_ARRAYS:
            del self.theirs[0], self.ours[0]
        self.theirs.append(theirs)
        self.ours.append(ours)

    def pick(self, numbers: Numbers) -> int:
        """Pick an array."""
        return next(numbers) % len(self.theirs)

    def both(self, theirs: Callable[[], Any], ours: Callable[[], Any]) -> None:
        """Call both. If NumPy refuses the call, browsergpu must too, and nothing changes."""
        try:
            with np.errstate(all="ignore"):
                expected = theirs()
        except (ValueError, IndexError, TypeError, OverflowError) as error:
            try:
                ours()
            except (ValueError, IndexError, TypeError, OverflowError):
                return
            raise Refused(f"NumPy refuses it: {error}") from error
        self.add((expected, ours()))


def _same(name: str, *, of_bools: bool = True, of_floats: bool = True) -> Step:
    """Return a step that calls a function of two arrays, which both packages have by this name."""

    def step(machine: Machine, numbers: Numbers) -> None:
        a, b = machine.pick(numbers), machine.pick(numbers)
        x, y = machine.theirs[a], machine.theirs[b]
        kinds = {x.dtype.kind, y.dtype.kind}
        if ("b" in kinds and not of_bools) or ("f" in kinds and not of_floats):
            return
        machine.both(
            lambda: getattr(np, name)(x, y),
            lambda: getattr(machine.bg, name)(machine.ours[a], machine.ours[b]),
        )

    return step


def _one(name: str, *, of_bools: bool = True) -> Step:
    """Return a step that calls a function of one array, which both packages have by this name."""

    def step(machine: Machine, numbers: Numbers) -> None:
        a = machine.pick(numbers)
        x = machine.theirs[a]
        if x.dtype.kind != "b" or of_bools:
            machine.both(
                lambda: getattr(np, name)(x), lambda: getattr(machine.bg, name)(machine.ours[a])
            )

    return step


def _number(machine: Machine, numbers: Numbers) -> None:
    """Apply an operator with a number that may be outside the dtype's range."""
    a, which, number = machine.pick(numbers), next(numbers) % 4, next(numbers) % 300 - 20
    x, y = machine.theirs[a], machine.ours[a]
    if x.dtype.kind == "b":
        return
    apply: Callable[[Any], Any] = (
        lambda v: v + number, lambda v: number - v, lambda v: v * number, lambda v: v > number,
    )[which]  # fmt: skip
    machine.both(lambda: apply(x), lambda: apply(y))


def _where(machine: Machine, numbers: Numbers) -> None:
    a, b, c = [machine.pick(numbers) for _ in range(3)]
    machine.both(
        lambda: np.where(machine.theirs[a] > 0, machine.theirs[b], machine.theirs[c]),
        lambda: machine.bg.where(machine.ours[a] > 0, machine.ours[b], machine.ours[c]),
    )


def _astype(machine: Machine, numbers: Numbers) -> None:
    a, kind = machine.pick(numbers), KINDS[next(numbers) % len(KINDS)]
    x = machine.theirs[a]
    if x.dtype.kind == "f" and kind.startswith("u"):
        x, machine.ours[a] = abs(x), abs(machine.ours[a])
        machine.theirs[a] = x
    machine.both(lambda: x.astype(kind), lambda: machine.ours[a].astype(kind))


def _key(numbers: Numbers) -> Any:
    items: list[Any] = []
    for _ in range(next(numbers) % 3 + 1):
        start, step = next(numbers) % 5 - 2, (-2, -1, 1, 2)[next(numbers) % 4]
        items.append(
            (start, slice(start, None, step), slice(None, start), None, ..., [0, start])[
                next(numbers) % 6
            ]
        )
    return tuple(items)


def _part(machine: Machine, numbers: Numbers) -> None:
    a, key = machine.pick(numbers), _key(numbers)
    machine.both(lambda: machine.theirs[a][key], lambda: machine.ours[a][key])


def _mask(machine: Machine, numbers: Numbers) -> None:
    a, number = machine.pick(numbers), next(numbers) % 9 - 4
    x, y = machine.theirs[a], machine.ours[a]
    machine.both(lambda: x[x > number], lambda: y[y > number])


def _assign(machine: Machine, numbers: Numbers) -> None:
    """Assign to a part of a copy: other arrays keep their values."""
    a, b, key, number = (
        machine.pick(numbers), machine.pick(numbers), _key(numbers), next(numbers) % 11,
    )  # fmt: skip
    by_number = number > 4
    theirs, ours = machine.theirs[a].copy(), machine.bg.asarray(machine.ours[a], copy=True)
    if machine.theirs[b].dtype.kind == "f" and theirs.dtype.kind in "iu" and not by_number:
        return
    if theirs.ndim == 0 or (not by_number and machine.theirs[b].shape in ((1,), (1, 1))):
        return  # only browsergpu takes a one-element array as an element

    def assigned(array: Any, value: Any) -> Any:
        array[key] = value
        return array

    machine.both(
        lambda: assigned(theirs, number if by_number else machine.theirs[b]),
        lambda: assigned(ours, number if by_number else machine.ours[b]),
    )


def _overwritten(machine: Machine, numbers: Numbers) -> None:
    """Assign to a part of an array.

    Views of the array change, and pending operations keep its old values. The assigned values may
    be computed from the array itself, from the same or other elements.
    """
    a, b, key, which, number = (
        machine.pick(numbers), machine.pick(numbers), _key(numbers), next(numbers) % 6,
        next(numbers) % 5,
    )  # fmt: skip
    theirs, ours, other = machine.theirs[a], machine.ours[a], machine.theirs[b]
    is_counted = theirs.dtype.kind != "b"
    if theirs.ndim == 0 or (which in (2, 3, 5) and not is_counted):
        return
    if which in (1, 5) and (
        (other.dtype.kind == "f" and theirs.dtype.kind in "iu")
        or other.size <= 1
        or np.result_type(other, theirs) != theirs.dtype
    ):
        return

    def assigned(xp: Any, array: Any, beside: Any) -> Any:
        if which == 0:
            array[key] = number
        elif which == 1:
            array[key] = beside
        elif which == 2:
            array[key] += number
        elif which == 3:
            array[key] = xp.flip(array[key]) + number
        elif which == 4:
            array[key] = xp.flip(array)[key]
        else:
            array[key] = beside + array[key]
        return array

    beside = machine.ours[b]
    original, _ = machine.theirs.pop(a), machine.ours.pop(a)
    left = len(machine.ours)
    machine.both(lambda: assigned(np, theirs, other), lambda: assigned(machine.bg, ours, beside))
    if len(machine.ours) == left:  # both refused it, so nothing has changed
        machine.theirs.append(original)
        machine.ours.append(ours)


def _in_place(machine: Machine, numbers: Numbers) -> None:
    a, number = machine.pick(numbers), next(numbers) % 5
    if machine.theirs[a].dtype.kind == "b":
        return
    theirs, ours = machine.theirs.pop(a), machine.ours.pop(a)
    left = len(machine.ours)

    def added(array: Any, value: Any) -> Any:
        array += value
        return array

    machine.both(lambda: added(theirs, theirs.dtype.type(number)), lambda: added(ours, number))
    if len(machine.ours) == left:  # both refused it
        machine.theirs.append(theirs)
        machine.ours.append(ours)


def _reduced(machine: Machine, numbers: Numbers) -> None:
    a, name = machine.pick(numbers), ("sum", "max", "min", "any", "all")[next(numbers) % 5]
    x, axis = machine.theirs[a], next(numbers) % 4 - 2
    keepdims = bool(next(numbers) % 2)
    more = {}
    # NumPy accepts an axis for an array without axes, the standard does not.
    if x.ndim == 0 or (x.dtype.kind == "b" and name in ("max", "min")):
        return
    if name == "sum":
        more["dtype"] = {"b": "int64", "i": "int64", "u": "uint64"}.get(x.dtype.kind, x.dtype)
    machine.both(
        lambda: getattr(np, name)(x, axis=axis, keepdims=keepdims, **more),
        lambda: getattr(machine.bg, name)(machine.ours[a], axis=axis, keepdims=keepdims),
    )


def _sorted(machine: Machine, numbers: Numbers) -> None:
    a = machine.pick(numbers)
    x = machine.theirs[a]
    if x.dtype.kind == "b" or x.ndim == 0:
        return
    if next(numbers) % 2:
        machine.both(lambda: np.sort(x, axis=-1), lambda: machine.bg.sort(machine.ours[a]))
    else:
        machine.both(
            lambda: np.argsort(x, axis=-1, stable=True).astype(np.int64),
            lambda: machine.bg.argsort(machine.ours[a]),
        )


def _running(machine: Machine, numbers: Numbers) -> None:
    a, axis = machine.pick(numbers), next(numbers) % 3 - 1
    x = machine.theirs[a]
    if x.ndim == 0:
        return
    kind = {"b": "int64", "i": "int64", "u": "uint64"}.get(x.dtype.kind, x.dtype)
    machine.both(
        lambda: np.cumulative_sum(x, axis=axis, dtype=kind),
        lambda: machine.bg.cumulative_sum(machine.ours[a], axis=axis),
    )


def _moved(machine: Machine, numbers: Numbers) -> None:
    a, which, by = machine.pick(numbers), next(numbers) % 7, next(numbers) % 5 - 2
    x, y, bg = machine.theirs[a], machine.ours[a], machine.bg
    theirs: tuple[Callable[[], Any], Callable[[], Any]] = (
        (
            lambda: x.T,
            lambda: y.T if x.ndim == 2 else bg.permute_dims(y, tuple(range(x.ndim))[::-1]),
        ),
        (lambda: x.reshape(-1), lambda: y.reshape(-1)),
        (lambda: np.flip(x), lambda: bg.flip(y)),
        (lambda: np.roll(x, by, axis=-1), lambda: bg.roll(y, by, axis=-1)),
        (lambda: np.expand_dims(x, 0), lambda: bg.expand_dims(y, 0)),
        (lambda: np.broadcast_to(x, (2, *x.shape)), lambda: bg.broadcast_to(y, (2, *x.shape))),
        (lambda: np.repeat(x, 2, axis=-1), lambda: bg.repeat(y, 2, axis=-1)),
    )[which]
    if x.ndim < 4 and (x.ndim or which not in (3, 6)):  # NumPy repeats arrays without axes
        machine.both(*theirs)


def _joined(machine: Machine, numbers: Numbers) -> None:
    a, b = machine.pick(numbers), machine.pick(numbers)
    machine.both(
        lambda: np.concatenate([machine.theirs[a], machine.theirs[b]]),
        lambda: machine.bg.concat([machine.ours[a], machine.ours[b]]),
    )


def _product(machine: Machine, numbers: Numbers) -> None:
    a, b = machine.pick(numbers), machine.pick(numbers)
    x, y = machine.theirs[a], machine.theirs[b]
    if "b" in (x.dtype.kind, y.dtype.kind) or "float16" in (x.dtype, y.dtype):
        return
    small = x % 5, y % 5
    machine.both(lambda: small[0] @ small[1], lambda: (machine.ours[a] % 5) @ (machine.ours[b] % 5))


def _forgotten(machine: Machine, numbers: Numbers) -> None:
    if len(machine.theirs) > 1:
        at = machine.pick(numbers)
        del machine.theirs[at], machine.ours[at]


def _read(machine: Machine, numbers: Numbers) -> None:
    machine.check(machine.pick(numbers))


_NAMED = (
    ("number", _number), ("where", _where), ("astype", _astype), ("part", _part), ("mask", _mask),
    ("assign", _assign), ("overwritten", _overwritten), ("in place", _in_place),
    ("reduced", _reduced), ("sorted", _sorted), ("running", _running), ("moved", _moved),
    ("joined", _joined), ("product", _product),
    ("forgotten", _forgotten), ("read", _read), ("make", Machine.make),
)  # fmt: skip
_BOTH = ("add", "multiply", "minimum", "maximum", "less", "equal", "logical_xor")
STEPS: tuple[tuple[str, Step], ...] = (
    *((name, _same(name)) for name in _BOTH),
    ("subtract", _same("subtract", of_bools=False)),
    ("bitwise_and", _same("bitwise_and", of_floats=False)),
    *((name, _one(name)) for name in ("abs", "floor", "logical_not")),
    *((name, _one(name, of_bools=False)) for name in ("negative", "sign")),
    *_NAMED,
    *_NAMED[:1],  # some twice, because they have more cases
    *_NAMED[3:12],
)
