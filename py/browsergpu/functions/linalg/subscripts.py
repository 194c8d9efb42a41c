"""Subscripts of sums of products, as in ``einsum("ij,jk->ik", a, b)``.

The module finds the label of each axis and the order of products from the shapes of the operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import prod
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Description

Labels = tuple[str, ...]
#: Positions of the operands that are multiplied. The product is appended to the remaining ones.
Step = tuple[int, ...]

_DOTS = "..."
#: The letters of labels 0 to 51, for subscripts that are given as lists.

_LETTERS = ascii_uppercase + ascii_lowercase


@dataclass(frozen=True, slots=True)
class Contraction:
    """Plan of a contraction.

    Attributes
    ----------
    inputs : tuple of tuple of str
        The labels of each operand's axes. The axes of an ellipsis have the labels "-1", "-2" and so
        on, from the last axis on.
    output : tuple of str
        The labels of the result's axes.
    extents : mapping
        The extent of each label.
    steps : tuple of tuple of int
        The positions of the operands that each step multiplies.
    """

    inputs: tuple[Labels, ...]
    output: Labels
    extents: Mapping[str, int]
    steps: tuple[Step, ...]


@lru_cache(maxsize=1024, typed=True)
def plan(op: str, subscripts: str, shapes: tuple[Shape, ...], optimize: Any) -> Contraction:
    """Return the contraction of operands with some shapes.

    Parameters
    ----------
    op : str
        Name of the called function, for errors.
    subscripts : str
        The subscripts.
    shapes : tuple of tuple of int
        The shape of each operand.
    optimize : bool, str or tuple
        True or "greedy" multiplies the pair first that leaves the fewest elements. False goes from
        left to right. A tuple has the steps, as from ``numpy.einsum_path`` or opt_einsum.

    Raises
    ------
    InvalidArgument
        If NumPy refuses the subscripts, the operands do not fit them, or the steps leave more than
        one operand.
    """
    text = subscripts.replace(" ", "")
    given, arrow, result = text.partition("->")
    terms = given.split(",")
    if len(terms) != len(shapes):
        expected = f"have {len(shapes)} terms, as there are operands"
        raise InvalidArgument(op, "subscripts", subscripts, expected)
    counts = [
        _dotted(op, n, term, shape)
        for n, (term, shape) in enumerate(zip(terms, shapes, strict=True))
    ]
    inputs = tuple(
        _labels(op, subscripts, term, count) for term, count in zip(terms, counts, strict=True)
    )
    most = max(counts)
    if arrow:
        if most and _DOTS not in result:
            raise InvalidArgument(op, "subscripts", subscripts, "'...' in the result too")
        output = _labels(op, subscripts, result, most if _DOTS in result else 0)
        _check_output(op, subscripts, inputs, output)
    else:
        every = [label for labels in inputs for label in labels]
        once = sorted(label for label in set(every) if label.isalpha() and every.count(label) == 1)
        output = (*_spread(most), *once)
    extents = _extents(op, inputs, shapes)
    return Contraction(inputs, output, extents, _steps(op, inputs, output, extents, optimize))


def text_of(op: str, sublists: Sequence[Any]) -> str:
    """Return the subscripts of lists of labels, NumPy's other form.

    Labels are integers from 0 to 51 and ``...``. The last list is for the result, or None.
    """
    *inputs, output = ["" if labels is None else _term(op, labels) for labels in sublists]
    return ",".join(inputs) + ("" if sublists[-1] is None else f"->{output}")


def _term(op: str, labels: Any) -> str:
    expected = "a list of integers from 0 to 51 and ..."
    if not isinstance(labels, list | tuple):
        raise InvalidArgument(op, "subscripts", labels, expected)
    found = ""
    for label in labels:
        if label is not Ellipsis and not (isinstance(label, int) and 0 <= label < len(_LETTERS)):
            raise InvalidArgument(op, "subscripts", labels, expected)
        found += _DOTS if label is Ellipsis else _LETTERS[label]
    return found


def _dotted(op: str, n: int, term: str, shape: Shape) -> int:
    """Return how many axes the ellipsis of a term stands for."""
    rest = len(shape) - len(term.replace(_DOTS, "", 1))
    if rest < 0 or (rest and _DOTS not in term):
        raise InvalidArgument(
            op, f"operands[{n}]", Description(f"shape {shape}"), f"have the axes of {term!r}"
        )
    return rest


def _labels(op: str, subscripts: str, term: str, dotted: int) -> Labels:
    before, _, behind = term.partition(_DOTS)
    for label in before + behind:
        if not (label.isascii() and label.isalpha()):
            expected = f"letters, '...', ',' and one '->', not {label!r} in {term!r}"
            raise InvalidArgument(op, "subscripts", subscripts, expected)
    return (*before, *_spread(dotted), *behind)


def _spread(count: int) -> Labels:
    return tuple(f"-{n}" for n in range(count, 0, -1))


def _check_output(op: str, subscripts: str, inputs: Sequence[Labels], output: Labels) -> None:
    for label in output:
        if output.count(label) > 1:
            raise InvalidArgument(op, "subscripts", subscripts, f"{label!r} once in the result")
        if not any(label in labels for labels in inputs):
            raise InvalidArgument(
                op, "subscripts", subscripts, f"{label!r} of the result before it"
            )


def _extents(op: str, inputs: Sequence[Labels], shapes: Sequence[Shape]) -> dict[str, int]:
    """Return the extent of each label. Axes of extent 1 broadcast."""
    found: dict[str, int] = {}
    for n, (labels, shape) in enumerate(zip(inputs, shapes, strict=True)):
        own: dict[str, int] = {}
        for label, extent in zip(labels, shape, strict=True):
            known = found.get(label, 1)
            if own.setdefault(label, extent) != extent or (
                extent != known and 1 not in (extent, known)
            ):
                expected = f"have {own[label] if known == 1 else known} indices of {label!r}"
                raise InvalidArgument(op, f"operands[{n}]", Description(f"shape {shape}"), expected)
            found[label] = extent if known == 1 else known
    return found


def _steps(
    op: str, inputs: Sequence[Labels], output: Labels, extents: Mapping[str, int], optimize: Any
) -> tuple[Step, ...]:
    count = len(inputs)
    if optimize is True or optimize == "greedy":
        return _greedy(inputs, output, extents)
    if optimize is False:
        return tuple((0, 1 if n == count else n - 1) for n in range(count, 1, -1))
    return _given(op, count, optimize)


def _greedy(
    inputs: Sequence[Labels], output: Labels, extents: Mapping[str, int]
) -> tuple[Step, ...]:
    """Return steps that always take the pair whose product adds the fewest elements.

    Pairs without a common label come last. Among equals, the pair with the fewest multiplications
    is first.
    """
    left = [frozenset(labels) for labels in inputs]

    def size(labels: Iterable[str]) -> int:
        return prod(extents[label] for label in labels)

    def product_of(i: int, j: int) -> frozenset[str]:
        others = frozenset(output).union(*(s for n, s in enumerate(left) if n not in (i, j)))
        return (left[i] | left[j]) & others

    def cost(pair: tuple[int, int]) -> tuple[bool, int, int]:
        a, b = (left[n] for n in pair)
        return not a & b, size(product_of(*pair)) - size(a) - size(b), size(a | b)

    steps = []
    while len(left) > 1:
        best = min(combinations(range(len(left)), 2), key=cost)
        made = product_of(*best)
        left = [*(s for n, s in enumerate(left) if n not in best), made]
        steps.append(best)
    return tuple(steps)


def _given(op: str, count: int, path: Any) -> tuple[Step, ...]:
    expected = f"True, False, 'greedy', or steps that contract {count} operands"
    if not isinstance(path, tuple):
        raise InvalidArgument(op, "optimize", path, expected)
    steps = path[1:] if path[:1] == ("einsum_path",) else path
    left = count
    for step in steps:
        is_step = isinstance(step, tuple) and all(isinstance(n, int) for n in step)
        if not is_step or not step or len(set(step)) < len(step):
            raise InvalidArgument(op, "optimize", path, expected)
        if min(step) < 0 or max(step) >= left:
            raise InvalidArgument(op, "optimize", path, expected)
        left -= len(step) - 1
    if left != 1:
        raise InvalidArgument(op, "optimize", path, expected)
    return tuple(steps)
