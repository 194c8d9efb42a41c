"""Random valid and invalid calls of both APIs against NumPy: results, refusals, and side effects.

The default is 10,000 calls in total. Set BROWSERGPU_FUZZ_CALLS=100000 to run more.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.native

CALLS = int(os.environ.get("BROWSERGPU_FUZZ_CALLS", "10000"))
CALLS_AN_EXAMPLE = 100
CALLS_A_TEST = 1000  # so that tests report progress
BATCHES = range(max(1, CALLS // (2 * CALLS_A_TEST)))  # for each of the two APIs


def play(machine: Any, batch: int) -> None:
    """Make at least CALLS_A_TEST calls.

    Each seed is one call, and seed 0 is none, so hypothesis shrinks a failure to the seeds that
    cause it.
    """
    calls = 0

    @settings(max_examples=CALLS_A_TEST // CALLS_AN_EXAMPLE + 5)
    @given(st.lists(st.integers(0, 2**32 - 1), min_size=CALLS_AN_EXAMPLE,
                    max_size=CALLS_AN_EXAMPLE))  # fmt: skip
    def run(seeds: list[int]) -> None:
        nonlocal calls
        machine.forget()
        for seed in filter(None, seeds):
            machine.call((batch << 32) + seed)
            calls += 1
        machine.finish()

    try:
        run()
    finally:
        machine.forget()
    assert calls >= CALLS_A_TEST


@pytest.mark.parametrize("batch", BATCHES)
def test_random_calls_of_the_compute_backend(backend: Any, batch: int) -> None:
    from inside.fuzz.backend import Machine

    play(Machine(backend), batch)


@pytest.mark.parametrize("batch", BATCHES)
def test_random_calls_of_the_tensor_backend(backend: Any, batch: int) -> None:
    from browsergpu import TensorBackend
    from inside.fuzz.tensors import Machine

    play(Machine(backend, TensorBackend(backend)), batch)
