"""The points where CPython can raise KeyboardInterrupt, and a way to raise it there.

CPython runs a signal handler only at certain instructions: after a call, at the start of a
function, and before a jump back (``CHECK_EVAL_BREAKER`` in CPython 3.11's ``ceval.c``). A trace
function raises KeyboardInterrupt at one of these points, so a test can try all of them instead of
sending signals at random.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any

#: A file, a function's qualified name, and the offset of an instruction in it.
Point = tuple[str, str, int]

_CALLS = {"CALL", "CALL_FUNCTION_EX"}
_YIELDED = 2  # a RESUME after a yield or an await does not check for signals


@lru_cache(None)
def offsets(code: CodeType) -> frozenset[int]:
    """Return the offsets of the instructions before which a function can be interrupted.

    A real interrupt is raised after a call, within the try block of the call. The trace function
    raises before the next instruction, within that instruction's try block. Offsets are returned
    only where both are the same block.
    """
    blocks = dis._parse_exception_table(code)  # type: ignore[attr-defined]

    def block(offset: int) -> Any:
        return next((one for one in blocks if one.start <= offset < one.end), None)

    known = [one for one in dis.get_instructions(code) if one.opname != "CACHE"]
    found = set()
    for one, following in pairwise(known):
        begins = one.opname == "RESUME" and (one.arg or 0) < _YIELDED
        looks = one.opname in _CALLS or begins or following.opname == "JUMP_BACKWARD"
        if looks and block(one.offset) == block(following.offset):
            found.add(following.offset)
    return frozenset(found)


class Interrupter:
    """Runs functions and raises KeyboardInterrupt in them at new points.

    Parameters
    ----------
    wanted : callable
        Called with each new point: returns whether to raise there.
    """

    def __init__(self, wanted: Callable[[Point], bool]) -> None:
        self._wanted = wanted
        #: Every point seen so far.
        self.met: set[Point] = set()
        #: The functions that were running when the interrupt was raised, innermost first.
        self.raised_in: list[str] = []

    def run(self, work: Callable[[], object]) -> None:
        """Call a function and interrupt it at most once."""
        self.raised_in = []
        sys.settrace(self._entered)
        try:
            work()
        finally:
            sys.settrace(None)

    def _entered(self, frame: FrameType, _event: str, _arg: Any) -> Any:
        code = frame.f_code
        if code.co_name == "<module>" or "importlib" in code.co_filename:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._stepped

    def _stepped(self, frame: FrameType, event: str, _arg: Any) -> Any:
        if event != "opcode" or self.raised_in:
            return self._stepped
        code = frame.f_code
        if frame.f_lasti in offsets(code):
            point = code.co_filename, code.co_qualname, frame.f_lasti
            if point not in self.met:
                self.met.add(point)
                if self._wanted(point):
                    self.raised_in = list(_names(frame))
                    raise KeyboardInterrupt
        return self._stepped


def _names(frame: FrameType | None) -> Any:
    while frame is not None:
        yield f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_qualname}"
        frame = frame.f_back
