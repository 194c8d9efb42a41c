"""Kernels that write several arrays into parts of one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from browsergpu.kernels.fused import storage
from browsergpu.kernels.fused.source import (
    IN_FOURS,
    MOST_KERNELS,
    THREADS,
    Binding,
    Body,
    Source,
    result_of,
)


class Piece(NamedTuple):
    """An array, and where it goes: the tape that reads it and casts it, the ways of writing and
    reading it, the axes, and whether the last one's extent is a multiple of 4."""

    tape: tuple[int, ...]
    into: str
    way: str
    rank: int
    by_fours: bool

    @property
    def in_fours(self) -> bool:
        """Whether it is written by four neighbours at once."""
        return self.into in IN_FOURS


@lru_cache(maxsize=MOST_KERNELS)
def joining(pieces: tuple[Piece, ...]) -> Source:
    """The kernel for as many arrays as there are pieces: all are written in fours, or none is.

    It binds the arrays, then what it writes. Its parameters are those of the first piece: how many
    elements, and how they go and lie; of each other piece its first workgroup and these.
    """
    return _Pieces(pieces).source()


class _Piece(Body):
    """How one array is read and written."""

    def __init__(self, piece: Piece, number: int, parameters: list[str]) -> None:
        tape, into, way, rank, by_fours = piece
        super().__init__(tape, (len(tape) - 1,), way, rank, by_fours, into)
        self._piece, self._number = piece, number
        self._parameters = parameters

    def array(self, place: int) -> str:
        return f"x{self._number}"

    def statements(self, n: str) -> str:
        """Reads and writes four of ``n`` elements."""
        place = len(self._tape) - 1
        kind, value = result_of(self._tape[place]), f"v{place}"
        self.coordinates()
        begin = self.place_of_four(n)
        self.target()
        self.values()
        if self._piece.in_fours:
            self.line(storage.write_four(kind, "y", "to", value))
        else:
            behind = [f"4u * i + {lane}u < {n}" for lane in (1, 2, 3)]
            inside = ["", *([""] * 3 if self._by_fours else behind)]
            self.line(storage.write_each(kind, "y", "to", value, inside))
        return f"{begin}\n  {self.text()}"

    def bound(self) -> list[Binding]:
        """Its binding."""
        return [(self.array(0), self._words(0, self._piece.way in IN_FOURS), False)]


class _Pieces(Body):
    """All arrays."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        tape, into, way, rank, by_fours = pieces[0]
        super().__init__(tape, (len(tape) - 1,), way, rank, by_fours, into)
        self._pieces = [_Piece(piece, at, self._parameters) for at, piece in enumerate(pieces)]

    def source(self) -> Source:
        """The kernel."""
        texts, firsts = [], []
        for piece in self._pieces:
            n = "params.n"
            if piece is not self._pieces[0]:
                firsts.append(self.parameter())
                n = self.parameter()
            texts.append(piece.statements(n))
        kind = result_of(self._tape[-1])
        words = storage.FOUR[kind.bits]
        if self._into not in IN_FOURS:
            words = "u32" if kind.bits >= storage.WORD else "atomic<u32>"
        return self.kernel(
            f"""\
@compute @workgroup_size({THREADS})
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) id: vec3u,
        @builtin(num_workgroups) groups: vec3u) {{
  let group = id.y * groups.x + id.x;
  {_of_each(texts, firsts)}
}}
""",
            named="join",
            words=words,
        )

    def _bound(self, words_of_one: str, results_too: bool) -> list[Binding]:
        read = [binding for piece in self._pieces for binding in piece.bound()]
        return [*read, ("y", words_of_one, True)]


def _of_each(texts: Sequence[str], firsts: Sequence[str]) -> str:
    """Statements for the workgroups of each piece, which begin at the ``firsts``."""
    begins = ["0u", *firsts]
    found = ""
    for at, (text, begin) in enumerate(zip(texts, begins, strict=True)):
        is_last = at + 1 == len(texts)
        found += "" if is_last else f"if (group < {begins[at + 1]}) "
        thread = f"let at = (group - {begin}) * {THREADS}u + lane;"
        found += f"{{\n  {thread}\n  {text}\n  }}" + ("" if is_last else " else ")
    return found
