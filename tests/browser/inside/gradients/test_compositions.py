"""Gradients of composed functions, of broadcast arrays and of views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inside.gradients.checking import gradients_agree

pytestmark = pytest.mark.all

#: Functions of both packages that are smooth for elements from 0.5 to 2.
BINARY = ("add", "subtract", "multiply", "divide", "hypot", "logaddexp")
UNARY = ("sin", "tanh", "exp", "cos", "square", "log1p")
#: float16 products overflow, and elements that differ in float64 may be equal in float16.
REDUCED = (None, "sum", "mean", "var")
OF_FLOAT32 = ("prod", "max")
#: Parts of an axis: the step, and the additional length that the part needs.
STEPS = (
    (slice(None), 1, 0), (slice(None, None, -1), 1, 0), (slice(1, None), 1, 1),
    (slice(None, None, 2), 2, 0),
)  # fmt: skip


@st.composite
def programs(draw: Any) -> tuple[list[np.ndarray], Any]:
    """Draw arrays whose parts broadcast, and a computation on them."""
    rank = draw(st.integers(1, 3))
    target = [draw(st.integers(2, 3)) for _ in range(rank)]
    dtype = draw(st.sampled_from([np.float32, np.float16]))
    seed = draw(st.integers(0, 100))
    arrays, keys, turns = [], [], []
    for n in range(2):
        shape = [extent if draw(st.booleans()) else 1 for extent in target]
        shape = shape[draw(st.integers(0, rank - 1)) if n else 0 :]
        own, key = [], []
        for extent in shape:
            part, times, more = draw(st.sampled_from(STEPS))
            own.append(extent * times + more if extent > 1 else 1)
            key.append(part if extent > 1 else slice(None))
        is_turned = draw(st.booleans())
        values = np.random.default_rng(seed + n).uniform(0.5, 2, own).astype(dtype)
        arrays.append(values.T.copy() if is_turned else values)
        keys.append(tuple(key))
        turns.append(is_turned)
    names = draw(st.sampled_from(BINARY)), draw(st.sampled_from(UNARY))
    axis = draw(st.sampled_from([None, 0, -1]))
    reduced = draw(st.sampled_from(REDUCED + (OF_FLOAT32 if dtype is np.float32 else ())))

    def program(module: Any, x: Any, y: Any) -> Any:
        x, y = (
            (v.T if is_turned else v)[key]
            for v, key, is_turned in zip((x, y), keys, turns, strict=True)
        )
        found = getattr(module, names[1])(getattr(module, names[0])(x, y) * 0.5) + x
        return found if reduced is None else getattr(module, reduced)(found, axis=axis)

    return arrays, program


@settings(max_examples=12)
@given(programs())
def test_compositions(bg: Any, drawn: tuple[list[np.ndarray], Any]) -> None:
    arrays, program = drawn
    is_half = arrays[0].dtype == np.float16
    gradients_agree(
        bg, lambda x, y: program(bg, x, y), lambda x, y: program(np, x, y), arrays,
        tolerance=2e-2 if is_half else 2e-3,
    )  # fmt: skip
