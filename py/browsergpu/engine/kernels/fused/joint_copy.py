"""Kernels that copy several arrays into regions of one array."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from browsergpu.engine.kernels.fused import storage
from browsergpu.engine.kernels.fused.shared_grid import for_each
from browsergpu.engine.kernels.fused.source import (
    IN_FOURS,
    MOST_KERNELS,
    THREADS,
    Binding,
    Body,
    Source,
    result_of,
)


class Piece(NamedTuple):
    """An array to copy.

    Attributes
    ----------
    trace : tuple of int
        The trace that reads and casts the array.
    into : str
        The access mode of the region that is written.
    mode : str
        The access mode of the array.
    rank : int
        Number of axes.
    by_fours : bool
        Whether the extent of the last axis is a multiple of 4.
    """

    trace: tuple[int, ...]
    into: str
    mode: str
    rank: int
    by_fours: bool

    @property
    def in_fours(self) -> bool:
        """Whether each write stores four neighbouring elements."""
        return self.into in IN_FOURS


@lru_cache(maxsize=MOST_KERNELS)
def joint_copy(pieces: tuple[Piece, ...]) -> Source:
    """Return the kernel that copies all pieces.

    Either all pieces are written in fours, or none.

    Notes
    -----
    The kernel binds the arrays, then the array that it writes. The parameters of the first piece
    are its number of elements and its layout. Each other piece has the number of its first
    workgroup before them.
    """
    return _Pieces(pieces).source()


class _Piece(Body):
    """Statements that read and write one array."""

    def __init__(self, piece: Piece, number: int, parameters: list[str]) -> None:
        trace, into, mode, rank, by_fours = piece
        super().__init__(trace, (len(trace) - 1,), mode, rank, by_fours, into)
        self._piece, self._number = piece, number
        self._parameters = parameters

    def array(self, place: int) -> str:
        return f"x{self._number}"

    def statements(self, n: str) -> str:
        """Return statements that copy four of ``n`` elements."""
        place = len(self._trace) - 1
        kind, value = result_of(self._trace[place]), f"v{place}"
        self.coordinates()
        begin = self.place_of_four(n)
        self.target()
        self.values()
        if self._piece.in_fours:
            self.line(storage.write_four(kind, "y", "to", value))
        else:
            inside = storage.existing(self._by_fours, n)
            self.line(storage.write_each(kind, "y", "to", value, inside))
        return f"{begin}\n  {self.text()}"

    def included(self) -> tuple[str, ...]:
        """Return the shader files that the statements need."""
        return tuple(self._includes)

    def bound(self) -> list[Binding]:
        """Return the binding of the array."""
        return [(self.array(0), self._words(0, self._piece.mode in IN_FOURS), False)]


class _Pieces(Body):
    """The kernel of all arrays."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        trace, into, mode, rank, by_fours = pieces[0]
        super().__init__(trace, (len(trace) - 1,), mode, rank, by_fours, into)
        self._pieces = [_Piece(piece, at, self._parameters) for at, piece in enumerate(pieces)]

    def source(self) -> Source:
        """Return the kernel."""
        texts, firsts = [], []
        for piece in self._pieces:
            n = "params.n"
            if piece is not self._pieces[0]:
                firsts.append(self.parameter())
                n = self.parameter()
            texts.append(piece.statements(n))
            self.include(*piece.included())
        kind = result_of(self._trace[-1])
        words = storage.FOUR[kind.bits]
        if self._into not in IN_FOURS:
            words = storage.words_of_each(kind)
        return self.kernel(
            f"""\
@compute @workgroup_size({THREADS})
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) id: vec3u,
        @builtin(num_workgroups) groups: vec3u) {{
  let group = id.y * groups.x + id.x;
  {for_each(texts, firsts)}
}}
""",
            named="join",
            words=words,
        )

    def _bound(self, words_of_one: str, results_too: bool) -> list[Binding]:
        read = [binding for piece in self._pieces for binding in piece.bound()]
        return [*read, ("y", words_of_one, True)]
