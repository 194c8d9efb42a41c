"""Kernels that evaluate a trace for several rows of arrays and update some arrays in place.

Optimizers use them: a row has a parameter, its gradient and its state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    computed_floats,
    result_of,
)
from browsergpu.engine.kernels.text.wgsl_types import Floats

#: The target of a result that goes to new memory instead of an operand.
NEW = -1
#: The target of bools that no array gets: the kernel sets a word to 1 if any of them is true.
FLAG = -2


class Rule(NamedTuple):
    """The computation for each row.

    Attributes
    ----------
    trace : tuple of int
        The trace.
    results : tuple of int
        The entries of the results.
    leaves : tuple of int
        The entries that read arrays.
    operands : tuple of int
        The operand of each leaf. Operands from ``arity`` on are elements of buffers that all rows
        share.
    into : tuple of int
        The operand that each result replaces, NEW or FLAG.
    arity : int
        The number of operands of a row.
    """

    trace: tuple[int, ...]
    results: tuple[int, ...]
    leaves: tuple[int, ...]
    operands: tuple[int, ...]
    into: tuple[int, ...]
    arity: int

    @property
    def shared(self) -> int:
        """The number of buffers that all rows share."""
        return max(number + 1 - self.arity for number in (*self.operands, self.arity - 1))

    @property
    def written(self) -> list[int]:
        """The operands that results replace."""
        return [number for number in self.into if number >= 0]

    @property
    def has_flag(self) -> bool:
        """Whether the kernel sets a word."""
        return FLAG in self.into

    @property
    def read(self) -> list[int]:
        """The other operands of a row, in the order of the leaves."""
        return [n for n in self.operands if n < self.arity and n not in self.into]

    @property
    def bound(self) -> int:
        """The number of buffers of each row."""
        return self.arity + self.into.count(NEW)


class RowLayout(NamedTuple):
    """The layout of a row's arrays.

    Attributes
    ----------
    modes : str
        The access mode of each leaf. It is WHOLE for operands that results replace.
    rank : int
        Number of axes.
    by_fours : bool
        Whether the extent of the last axis is a multiple of 4.
    """

    modes: str
    rank: int
    by_fours: bool


@lru_cache(maxsize=MOST_KERNELS)
def row_update(rule: Rule, layouts: tuple[RowLayout, ...]) -> Source:
    """Return the kernel that updates one row per layout.

    Notes
    -----
    The kernel binds the shared buffers, the word that FLAG results set, then the operands and the
    NEW results of each row. The
    parameters of the first row are its number of elements and its layout. Each other row has the
    number of its first workgroup before them. The offsets of the shared elements and the words of
    the numbers follow.
    """
    return _Rows(rule, layouts).source()


class _Row(Body):
    """Statements that read and write one row."""

    def __init__(self, rule: Rule, layout: RowLayout, number: int, parameters: list[str]) -> None:
        super().__init__(rule.trace, rule.results, *layout)
        self._rule, self._number = rule, number
        self._parameters = parameters

    def array(self, place: int) -> str:
        return self.operand(self._rule.operands[self._rule.leaves.index(place)])

    def operand(self, number: int) -> str:
        """Return the name of an operand's binding."""
        return f"a{number}_{self._number}"

    def result(self, at: int) -> str:
        """Return the name of the binding that a result is written to."""
        into = self._rule.into[at]
        return f"y{at}_{self._number}" if into == NEW else self.operand(into)

    def loads(self, n: str) -> str:
        """Return statements by which thread ``at`` reads four of ``n`` elements."""
        rule = self._rule
        self.coordinates()
        begin = self.place_of_four(n)
        for place, number in zip(rule.leaves, rule.operands, strict=True):
            if number < rule.arity:
                read = self._read(place)
                self.line(f"v{place} = {read};")
        counted = f"count = {n};\n  " if rule.has_flag else ""
        return f"{begin}\n  four = i;\n  {counted}{self.text()}"

    def stores(self) -> str:
        """Return statements that write the results."""
        return "\n  ".join(
            storage.write_four(
                result_of(self._rule.trace[place]), self.result(at), "four", f"v{place}"
            )
            for at, place in enumerate(self._rule.results)
            if self._rule.into[at] != FLAG
        )

    def bound(self) -> list[Binding]:
        """Return the bindings of the row."""
        rule = self._rule
        words = {
            number: self._words(place, self._modes[place] in IN_FOURS)
            for place, number in zip(rule.leaves, rule.operands, strict=True)
        }
        results = list(zip(rule.into, rule.results, strict=True))
        written = {into: self._words(place, True) for into, place in results}
        found = [
            (self.operand(number), written.get(number) or words[number], number in written)
            for number in range(rule.arity)
        ]
        for at, (into, place) in enumerate(results):
            if into == NEW:
                found.append((self.result(at), self._words(place, True), True))
        return found


class _Rows(Body):
    """The kernel of all rows."""

    def __init__(self, rule: Rule, layouts: Sequence[RowLayout]) -> None:
        super().__init__(rule.trace, rule.results, *layouts[0])
        self._rule = rule
        self._rows = [_Row(rule, one, at, self._parameters) for at, one in enumerate(layouts)]

    def source(self) -> Source:
        """Return the kernel."""
        rule = self._rule
        read, firsts = [], []
        for row in self._rows:
            n = "params.n"
            if row is not self._rows[0]:
                firsts.append(self.parameter())
                n = self.parameter()
            read.append(row.loads(n))
        for place, number in zip(rule.leaves, rule.operands, strict=True):
            if number >= rule.arity:
                kind, name = result_of(rule.trace[place]), _shared(number - rule.arity)
                value = storage.read_one(kind, name, self.parameter())
                self.line(f"let v{place} = {value};")
        self.values()
        return self.kernel(f"""\
@compute @workgroup_size({THREADS})
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) id: vec3u,
        @builtin(num_workgroups) groups: vec3u) {{
  let group = id.y * groups.x + id.x;
  var four: u32;
  {self._declarations()}
  {for_each(read, firsts)}
  {self.text()}
  {for_each([row.stores() for row in self._rows], firsts, places=False)}
  {self._flags()}
}}
""")

    def _flags(self) -> str:
        """Return statements that set the word if a FLAG result is true inside the row."""
        inside = "(4u * four + vec4u(0u, 1u, 2u, 3u) < vec4u(count))"
        return "\n  ".join(
            f"if (any(v{place} & {inside})) {{\n    atomicStore(&flag[0], 1u);\n  }}"
            for place, into in zip(self._rule.results, self._rule.into, strict=True)
            if into == FLAG
        )

    def values(self) -> None:
        """Add statements that compute all values except the leaves."""
        for place in self._places:
            if place not in self._rule.leaves:
                self.line(f"let v{place} = {self._value(place)};")

    def _declarations(self) -> str:
        kinds = {
            place: storage.WGSL[result_of(self._rule.trace[place]).computed]
            for place, number in zip(self._rule.leaves, self._rule.operands, strict=True)
            if number < self._rule.arity
        }
        counted = ["var count: u32;"] if self._rule.has_flag else []
        own = [f"var v{place}: {kind};" for place, kind in kinds.items()]
        return "\n  ".join([*counted, *own])

    def _bound(self, words_of_one: str, results_too: bool) -> list[Binding]:
        shared = [(_shared(number), "u32", False) for number in range(self._rule.shared)]
        if self._rule.has_flag:
            shared.append(("flag", "atomic<u32>", True))
        return shared + [binding for row in self._rows for binding in row.bound()]

    def _floats(self) -> Iterator[tuple[int, str, Floats]]:
        names = [name for name, _, _ in self._bound("", False)]
        for row in self._rows:
            for at, place in enumerate(self._rule.results):
                floats = computed_floats(self._trace, place)
                if floats is not None:
                    name = row.result(at)
                    yield names.index(name), name, floats


def _shared(number: int) -> str:
    """Return the name of a buffer that all rows share."""
    return f"s{number}"
