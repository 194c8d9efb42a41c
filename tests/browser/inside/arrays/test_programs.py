"""Random programs of 5 to 50 operations against NumPy, evaluated lazily and step by step.

Assignments to small arrays use both methods, that of large arrays and that of small ones. Elements
are read on the GPU, and from copies of the memory on the host.

The tests run 80 programs, half of them with assignments. tests/run.py also runs 10,000 outside a
browser. Set BROWSERGPU_FUZZ_PROGRAMS=10000 to run more.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = [pytest.mark.native, pytest.mark.random_programs, pytest.mark.firefox]

PROGRAMS = int(os.environ.get("BROWSERGPU_FUZZ_PROGRAMS", "40"))
A_TEST = 20  # so that tests report progress


#: Steps that combine assignments with values, views and pending operations on both.
ASSIGNING = ("number", "part", "overwritten", "assign", "in place", "moved", "forgotten", "add")


@pytest.mark.parametrize("named", [(), ASSIGNING], ids=["all", "assigning"])
@pytest.mark.parametrize("batch", range(max(1, PROGRAMS // A_TEST)))
def test_random_programs(bg: Any, batch: int, named: tuple[str, ...]) -> None:
    from browsergpu.arrays.indexing import assignment
    from browsergpu.arrays.lazy.element_reads import ElementReads
    from inside.arrays.programs import Machine

    @settings(max_examples=A_TEST)
    @given(st.lists(st.integers(0, 2**16 - 1), min_size=30, max_size=250))
    def run(program: list[int]) -> None:
        own = [
            (number + batch) & 0xFFFF for number in program
        ]  # each batch has programs of its own
        for eager, least in ((False, 0 if named else assignment.LEAST), (True, 0)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(assignment, "LEAST", least)
                if eager:  # read elements from copies of the memory on the host
                    patch.setattr(ElementReads, "is_copy_due", lambda self: True)
                Machine(bg, eager=eager, named=named).run(own)

    run()
