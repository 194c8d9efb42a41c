"""NumPy's functions take NumPy's arguments, by position and by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpys_kinds import Kind, kind_of, names

pytestmark = pytest.mark.fast

_P = inspect.Parameter
#: Arguments of NumPy that the function here lacks: giving one raises TypeError.
WITHOUT: dict[str, set[str]] = {
    **{name: {"axes", "axis", "keepdims"} for name in ("matmul", "matvec", "vecmat")},
    "vecdot": {"axes", "keepdims"},
}
#: Arguments with a different name here, and the same meaning.
ELSEWHERE = {"clip": {"a_min": "min", "a_max": "max"}}


def _signature(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (ValueError, TypeError):
        return None


def functions() -> Iterator[tuple[str, Callable[..., Any], Callable[..., Any]]]:
    for name, theirs, ours in names():
        is_function = callable(theirs) and not isinstance(theirs, type)
        if is_function and kind_of(name, theirs, ours) is Kind.GPU and _signature(theirs):
            yield name, theirs, ours


@pytest.mark.parametrize(
    ("name", "theirs", "ours"), [pytest.param(*f, id=f[0]) for f in functions()]
)
def test_arguments(name: str, theirs: Callable[..., Any], ours: Callable[..., Any]) -> None:
    wanted = [*inspect.signature(theirs).parameters.values()]
    known = inspect.signature(ours).parameters
    places = [p for p in known.values() if p.kind in (_P.POSITIONAL_ONLY, _P.POSITIONAL_OR_KEYWORD)]
    several = any(p.kind is _P.VAR_POSITIONAL for p in known.values())
    left = set()
    for at, one in enumerate(wanted):
        if one.kind in (_P.VAR_KEYWORD, _P.VAR_POSITIONAL):
            continue
        if one.kind is not _P.KEYWORD_ONLY and not several:
            own = ELSEWHERE.get(name, {}).get(one.name, one.name)
            fits = at < len(places) and (one.kind is _P.POSITIONAL_ONLY or places[at].name == own)
            left |= set() if fits else {one.name}
        if one.kind is not _P.POSITIONAL_ONLY:
            by_name = one.name in known and known[one.name].kind is not _P.POSITIONAL_ONLY
            left |= set() if by_name else {one.name}
    if isinstance(theirs, np.ufunc):
        left -= {"signature"}  # chooses a loop of NumPy's
    assert left == WITHOUT.get(name, set())
