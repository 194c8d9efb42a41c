"""From a tape of elementwise operations to a kernel that computes it for several rows of arrays,
and writes what it computes where some of them lie: parameters that an optimizer changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    computed_floats,
    result_of,
)
from browsergpu.kernels.text.wgsl_types import Floats

#: In place of an operand: memory of its own, which nothing is read from.
NEW = -1


class Rule(NamedTuple):
    """What is computed for each row of ``arity`` arrays, its operands. The arrays that the ``tape``
    reads, at the places ``leaves``, are the ``operands`` of those numbers; from ``arity`` on they
    are elements of buffers that all rows share. The values at the places ``results`` replace the
    operands ``into``, or are NEW."""

    tape: tuple[int, ...]
    results: tuple[int, ...]
    leaves: tuple[int, ...]
    operands: tuple[int, ...]
    into: tuple[int, ...]
    arity: int

    @property
    def shared(self) -> int:
        """How many buffers all rows share."""
        return max(number + 1 - self.arity for number in (*self.operands, self.arity - 1))

    @property
    def written(self) -> list[int]:
        """The operands that are replaced."""
        return [number for number in self.into if number != NEW]

    @property
    def read(self) -> list[int]:
        """The operands that are not, as the tape reads them."""
        return [n for n in self.operands if n < self.arity and n not in self.into]

    @property
    def bound(self) -> int:
        """How many buffers each row has."""
        return self.arity + self.into.count(NEW)


class Lie(NamedTuple):
    """How a row's arrays lie: the ways of reading the tape's, of which those that are written are
    whole, the axes, and whether the last one's extent is a multiple of 4."""

    ways: str
    rank: int
    by_fours: bool


@lru_cache(maxsize=MOST_KERNELS)
def updating(rule: Rule, lies: tuple[Lie, ...]) -> Source:
    """The kernel for as many rows as there are of ``lies``. It binds what the rows share, then of
    each row the operands and the NEW results. Its parameters are those of the first row: how many
    elements, and how they lie; of each other row its first workgroup and these; where the elements
    lie that are shared; the numbers' words."""
    return _Rows(rule, lies).source()


class _Row(Body):
    """How one row is read."""

    def __init__(self, rule: Rule, lie: Lie, number: int, parameters: list[str]) -> None:
        super().__init__(rule.tape, rule.results, lie.ways, lie.rank, lie.by_fours)
        self._rule, self._number = rule, number
        self._parameters = parameters

    def array(self, place: int) -> str:
        return self.operand(self._rule.operands[self._rule.leaves.index(place)])

    def operand(self, number: int) -> str:
        """The name of an operand's binding."""
        return f"a{number}_{self._number}"

    def result(self, at: int) -> str:
        """The name of the binding that a result is written to."""
        into = self._rule.into[at]
        return f"y{at}_{self._number}" if into == NEW else self.operand(into)

    def reading(self, n: str) -> str:
        """Statements that read its elements, ``n`` of them, from ``at`` on."""
        rule = self._rule
        self.coordinates()
        begin = self.place_of_four(n)
        for place, number in zip(rule.leaves, rule.operands, strict=True):
            if number < rule.arity:
                read = self._read(place)
                self.line(f"v{place} = {read};")
        return f"{begin}\n  four = i;\n  {self.text()}"

    def writing(self) -> str:
        """Statements that write its results."""
        return "\n  ".join(
            storage.write_four(
                result_of(self._rule.tape[place]), self.result(at), "four", f"v{place}"
            )
            for at, place in enumerate(self._rule.results)
        )

    def bound(self) -> list[Binding]:
        """Its bindings."""
        rule = self._rule
        words = {
            number: self._words(place, self._ways[place] in IN_FOURS)
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
    """All rows."""

    def __init__(self, rule: Rule, lies: Sequence[Lie]) -> None:
        super().__init__(rule.tape, rule.results, *lies[0])
        self._rule = rule
        self._rows = [_Row(rule, lie, at, self._parameters) for at, lie in enumerate(lies)]

    def source(self) -> Source:
        """The kernel."""
        rule = self._rule
        read, firsts = [], []
        for row in self._rows:
            n = "params.n"
            if row is not self._rows[0]:
                firsts.append(self.parameter())
                n = self.parameter()
            read.append(row.reading(n))
        for place, number in zip(rule.leaves, rule.operands, strict=True):
            if number >= rule.arity:
                kind, name = result_of(rule.tape[place]), _shared(number - rule.arity)
                value = storage.read_one(kind, name, self.parameter())
                self.line(f"let v{place} = {value};")
        self.values()
        return self.kernel(f"""\
@compute @workgroup_size({THREADS})
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) id: vec3u,
        @builtin(num_workgroups) groups: vec3u) {{
  let group = id.y * groups.x + id.x;
  var four: u32;
  {self._variables()}
  {_of_each(read, firsts)}
  {self.text()}
  {_of_each([row.writing() for row in self._rows], firsts, is_read=False)}
}}
""")

    def values(self) -> None:
        """The values that are no arrays."""
        for place in self._places:
            if place not in self._rule.leaves:
                self.line(f"let v{place} = {self._value(place)};")

    def _variables(self) -> str:
        kinds = {
            place: storage.WGSL[result_of(self._rule.tape[place]).computed]
            for place, number in zip(self._rule.leaves, self._rule.operands, strict=True)
            if number < self._rule.arity
        }
        return "\n  ".join(f"var v{place}: {kind};" for place, kind in kinds.items())

    def _bound(self, words_of_one: str, results_too: bool) -> list[Binding]:
        shared = [(_shared(number), "u32", False) for number in range(self._rule.shared)]
        return shared + [binding for row in self._rows for binding in row.bound()]

    def _floats(self) -> Iterator[tuple[int, str, Floats]]:
        names = [name for name, _, _ in self._bound("", False)]
        for row in self._rows:
            for at, place in enumerate(self._rule.results):
                floats = computed_floats(self._tape, place)
                if floats is not None:
                    name = row.result(at)
                    yield names.index(name), name, floats


def _shared(number: int) -> str:
    """The name of a buffer that all rows share."""
    return f"s{number}"


def _of_each(texts: Sequence[str], firsts: Sequence[str], *, is_read: bool = True) -> str:
    """Statements for the workgroups of each row, which begin at the ``firsts``."""
    begins = ["0u", *firsts]
    found = ""
    for at, (text, begin) in enumerate(zip(texts, begins, strict=True)):
        if at + 1 < len(texts):
            found += f"if (group < {begins[at + 1]}) "
        thread = f"let at = (group - {begin}) * {THREADS}u + lane;\n  " if is_read else ""
        found += f"{{\n  {thread}{text}\n  }}"
        found += " else " if at + 1 < len(texts) else ""
    return found
