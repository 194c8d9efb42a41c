"""Kernels in which several pieces of work share one grid of workgroups."""

from __future__ import annotations

from collections.abc import Sequence

from browsergpu.engine.kernels.fused.source import THREADS


def for_each(texts: Sequence[str], firsts: Sequence[str], *, places: bool = True) -> str:
    """Return statements by which the workgroups of each piece execute its text.

    Parameters
    ----------
    texts : sequence of str
        The statements of each piece.
    firsts : sequence of str
        The number of the first workgroup of each piece but the first.
    places : bool, optional
        Whether the texts need ``at``, the place of a thread in its piece.
    """
    begins = ["0u", *firsts]
    found = ""
    for at, (text, begin) in enumerate(zip(texts, begins, strict=True)):
        is_last = at + 1 == len(texts)
        place = f"let at = (group - {begin}) * {THREADS}u + lane;\n  " if places else ""
        found += "" if is_last else f"if (group < {begins[at + 1]}) "
        found += f"{{\n  {place}{text}\n  }}" + ("" if is_last else " else ")
    return found
