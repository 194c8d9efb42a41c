"""The subscripts of einsum and the order of its steps, checked against NumPy."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

from browsergpu.errors import InvalidArgument
from browsergpu.functions.linalg.subscripts import Contraction, plan, text_of

pytestmark = pytest.mark.fast

Shapes = tuple[tuple[int, ...], ...]

TAKEN: list[tuple[str, Shapes]] = [
    ("ij,jk->ik", ((2, 3), (3, 4))),
    ("ij,jk", ((2, 3), (3, 4))),
    (" b a ", ((2, 3),)),
    ("b...a", ((2, 5, 3),)),
    ("ii", ((3, 3),)),
    ("ii->i", ((3, 3),)),
    ("iij,jk->k", ((2, 2, 3), (3, 4))),
    ("->", ((),)),
    ("i,->i", ((3,), ())),
    ("...i,...i->...", ((2, 1, 3), (4, 3))),
    ("...ij,jk...->k...i", ((5, 2, 3), (3, 4, 5))),
    ("i...,...->...", ((3, 2), (4, 2))),
    ("ij,jk", ((2, 1), (3, 4))),
    ("i->...i", ((3,),)),
    ("ab,bc,cd,de->ae", ((2, 30), (30, 3), (3, 40), (40, 2))),
    ("i,j,k,ijk->", ((2,), (3,), (4,), (2, 3, 4))),
    ("ij,jk->ik", ((2, 0), (0, 3))),
    ("Za,aZ", ((2, 3), (3, 2))),
]
REFUSED: list[tuple[str, Shapes]] = [
    ("...i->i", ((2, 3),)),
    ("ii", ((1, 3),)),
    ("ij->jj", ((2, 2),)),
    ("ij->k", ((2, 2),)),
    ("i", ((2, 2),)),
    ("ijk", ((2, 2),)),
    ("ij,jk", ((2, 2),)),
    ("i.j", ((2, 2),)),
    ("i-j", ((2, 2),)),
    ("i->j->k", ((2,),)),
    ("..i", ((2,),)),
    ("...i...", ((2,),)),
    ("ij,jk", ((2, 5), (3, 4))),
    ("1", ((2,),)),
]
PATHS = [True, False, "greedy"]


def letters(labels: tuple[str, ...]) -> str:
    return "".join(
        label if label.isalpha() else chr(ord("A") + int(label) % 26) for label in labels
    )


def by_steps(found: Contraction, arrays: list[np.ndarray]) -> np.ndarray:
    """Compute the result one step at a time."""
    terms = list(zip(found.inputs, arrays, strict=True))
    for step in found.steps:
        chosen = [terms[n] for n in step]
        terms = [term for n, term in enumerate(terms) if n not in step]
        kept = {label for labels, _ in terms for label in labels} | set(found.output)
        own = {label: None for labels, _ in chosen for label in labels if label in kept}
        text = ",".join(letters(labels) for labels, _ in chosen) + "->" + letters(tuple(own))
        terms.append((tuple(own), np.einsum(text, *(array for _, array in chosen))))
    ((labels, array),) = terms
    return np.asarray(np.einsum(f"{letters(labels)}->{letters(found.output)}", array))


@pytest.mark.parametrize("optimize", PATHS)
@pytest.mark.parametrize(("text", "shapes"), TAKEN)
def test_the_steps_give_numpys_result(text: str, shapes: Shapes, optimize: Any) -> None:
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal(shape) for shape in shapes]
    expected = np.einsum(text, *arrays)
    found = plan("einsum", text, shapes, optimize)
    assert tuple(found.extents[label] for label in found.output) == expected.shape
    np.testing.assert_allclose(by_steps(found, arrays), expected)


@pytest.mark.parametrize(("text", "shapes"), REFUSED)
def test_arguments_that_numpy_refuses_are_refused(text: str, shapes: Shapes) -> None:
    with pytest.raises(ValueError, match=r"ein|collapsing|broadcast"):
        np.einsum(text, *(np.ones(shape) for shape in shapes))
    with pytest.raises(InvalidArgument):
        plan("einsum", text, shapes, True)


def test_small_results_come_first() -> None:
    shapes = ((100, 2), (2, 100), (100, 3), (3, 100))
    found = plan("einsum", "ab,bc,cd,de->ae", shapes, "greedy")
    assert found.steps[0] == (1, 2)
    apart = plan("einsum", "i,j,ik,jk->", ((9,), (9,), (9, 2), (9, 2)), True)
    assert apart.steps[0] != (0, 1), "what has no label in common comes last"


def test_steps_that_are_given() -> None:
    shapes = ((2, 3), (3, 4), (4, 5))
    path = np.einsum_path("ij,jk,kl", *(np.ones(shape) for shape in shapes))[0]
    found = plan("einsum", "ij,jk,kl", shapes, tuple(path))
    assert found.steps == tuple(path[1:])
    assert plan("einsum", "ij,jk,kl", shapes, ((0, 1, 2),)).steps == ((0, 1, 2),)
    for wrong in ((), ((0, 1),), ((0, 3), (0, 1)), ((0, 0), (0, 1)), "optimal", None, ((),)):
        with pytest.raises(InvalidArgument, match="optimize"):
            plan("einsum", "ij,jk,kl", shapes, wrong)


def test_labels_as_lists() -> None:
    assert text_of("einsum", [[0, 1], [1, ..., 51], [0, ...]]) == "AB,B...z->A..."
    assert text_of("einsum", [[2, 2], None]) == "CC"
    for wrong in ([52], [-1], ["a"], 3, "ab"):
        with pytest.raises(InvalidArgument, match="subscripts"):
            text_of("einsum", [wrong, None])


def test_many_operands() -> None:
    count = 20
    text = ",".join(chr(97 + n) + chr(98 + n) for n in range(count))
    found = plan("einsum", text, ((3, 3),) * count, True)
    assert len(found.steps) == count - 1
    assert prod(found.extents[label] for label in found.output) == 9
