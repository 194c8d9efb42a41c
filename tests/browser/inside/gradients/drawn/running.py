"""The number of generated calls, and the other values that hypothesis generates.

Two calls of each function, with different values in each run except in CI. Set
BROWSERGPU_FUZZ_GRADIENTS=200 to run more.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from inside.gradients.drawn.directions import COTANGENTS, Call, agrees

CALLS = int(os.environ.get("BROWSERGPU_FUZZ_GRADIENTS", "2"))


def holds(bg: Any, calls: st.SearchStrategy[Call]) -> None:
    """Compare the gradients of drawn calls."""

    @settings(max_examples=CALLS)
    @given(calls, st.integers(0, 2**16), st.sampled_from(COTANGENTS))
    def compare(call: Call, seed: int, cotangent: str) -> None:
        agrees(bg, call, seed, cotangent)

    compare()
