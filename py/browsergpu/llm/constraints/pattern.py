"""Regular expressions as nondeterministic automata of bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument, InvalidType, Unsupported
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.llm.constraints.characters import (
    LAST,
    Ranges,
    byte_ranges,
    category,
    complement,
    union,
)

_MOST_STATES = 100_000
_LONGEST = 100_000
_FLAGS = re.ASCII | re.DOTALL | re.UNICODE | re.VERBOSE


class Automaton(Shown):
    """States with edges of byte ranges and empty edges. Parsed from a pattern by :func:`parsed`.

    Attributes
    ----------
    edges : list of list
        For each state: the first and last byte, and the next state.
    empty : list of list of int
        For each state: the states that follow without a byte.
    last : int
        The state at the end of a text that matches. Matches begin at state 0.
    """

    def __init__(self, op: str, name: str) -> None:
        self._op, self._name = op, name
        self.edges: list[list[tuple[int, int, int]]] = []
        self.empty: list[list[int]] = []
        self.last = 0
        self._added = 0

    def _facts(self) -> str:
        return f"of {len(self.edges)} states"

    def state(self) -> int:
        """Add a state."""
        if len(self.edges) >= _MOST_STATES:
            raise self._too_large()
        self.edges.append([])
        self.empty.append([])
        return len(self.edges) - 1

    def _too_large(self) -> InvalidArgument:
        return InvalidArgument(
            self._op, self._name, Description("a larger one"),
            f"an expression of at most {_MOST_STATES} states",
            r"Use smaller counts of repetitions, or (?a), with which \w has ASCII only.",
        )  # fmt: skip

    def add(self, items: Sequence[Any], begin: int, flags: int) -> int:
        """Add a sequence of ``re``'s parsed items after a state. Return the state at its end."""
        self._added += 1  # empty sequences can be repeated too
        if self._added > _MOST_STATES:
            raise self._too_large()
        for code, value in items:
            begin = self._item(code, value, begin, flags)
        return begin

    def _item(self, code: Any, value: Any, begin: int, flags: int) -> int:
        if code is codes.SUBPATTERN:
            _, added, removed, inner = value
            return self.add(inner, begin, self._checked((flags | added) & ~removed))
        if code is codes.BRANCH:
            end = self.state()
            for branch in value[1]:
                own = self.state()
                self.empty[begin].append(own)
                self.empty[self.add(branch, own, flags)].append(end)
            return end
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            return self._repeated(value, begin, flags)
        return self._characters(self._ranges(code, value, flags), begin)

    def _repeated(self, value: Any, begin: int, flags: int) -> int:
        least, most, items = value
        at = begin
        for _ in range(least):
            at = self.add(items, at, flags)
        if most is codes.MAXREPEAT:
            loop, end = self.state(), self.state()
            self.empty[at] += [loop, end]
            self.empty[self.add(items, loop, flags)] += [loop, end]
            return end
        end = self.state()
        for _ in range(most - least):
            self.empty[at].append(end)
            own = self.state()
            self.empty[at].append(own)
            at = self.add(items, own, flags)
        self.empty[at].append(end)
        return end

    def _characters(self, ranges: Ranges, begin: int) -> int:
        end = self.state()
        shared: dict[Any, int] = {}  # states before the same rest of a character
        for low, high in ranges:
            for parts in byte_ranges(low, high):
                at = begin
                for n, (first, last) in enumerate(parts):
                    rest = tuple(parts[n + 1 :])
                    known = not rest or (rest in shared)
                    target = end if not rest else shared[rest] if known else self.state()
                    self.edges[at].append((first, last, target))
                    if known:
                        break
                    shared[rest] = at = target
        return end

    def _ranges(self, code: Any, value: Any, flags: int) -> Ranges:
        is_ascii = bool(flags & re.ASCII)
        if code is codes.LITERAL:
            return ((value, value),)
        if code is codes.NOT_LITERAL:
            return complement(((value, value),))
        if code is codes.ANY:
            return ((0, LAST),) if flags & re.DOTALL else complement(((10, 10),))
        if code is codes.RANGE:
            return (tuple(value),)
        if code is codes.CATEGORY:
            name = str(value).removeprefix("CATEGORY_")
            found = category(name.removeprefix("NOT_"), is_ascii=is_ascii)
            return complement(found) if name.startswith("NOT_") else found
        if code is codes.IN:
            is_negated = value[0][0] is codes.NEGATE
            given = value[1:] if is_negated else value
            parts = [self._ranges(inner, own, flags) for inner, own in given]
            found = union(pair for part in parts for pair in part)
            return complement(found) if is_negated else found
        kind = str(code).lower().replace("_", " ")
        raise Unsupported(
            self._op, f"{self._name} has {kind!r}, which is not supported. Use characters, classes,"
            " groups, alternatives and repetitions."
        )  # fmt: skip

    def _checked(self, flags: int) -> int:
        if flags & ~_FLAGS:
            given = re.RegexFlag(flags & ~_FLAGS)
            raise Unsupported(self._op, f"{self._name} has the flag {given!r}. Leave it out.")
        return flags

    def fill(self, pattern: str) -> None:
        """Add the states of a pattern."""
        try:
            found = parser.parse(pattern)
            flags = self._checked(found.state.flags)
            items = list(found)
            starts, ends = (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING), (codes.AT_END,)
            if items and items[0][0] is codes.AT and items[0][1] in starts:
                items = items[1:]  # the whole text matches anyway
            if items and items[-1][0] is codes.AT and items[-1][1] in (*ends, codes.AT_END_STRING):
                items = items[:-1]
            self.last = self.add(items, self.state(), flags)
        except (re.error, OverflowError, RecursionError) as error:
            why = Description(f"{pattern[:80]!r} ({error})")
            expected = "a regular expression of Python's re"
            raise InvalidArgument(self._op, self._name, why, expected) from None
        self._prune()

    def _prune(self) -> None:
        """Remove edges to states from which no text matches."""
        before: list[list[int]] = [[] for _ in self.edges]
        for at, (edges, empty) in enumerate(zip(self.edges, self.empty, strict=True)):
            for target in (*empty, *(edge[2] for edge in edges)):
                before[target].append(at)
        alive, left = {self.last}, [self.last]
        while left:
            for at in before[left.pop()]:
                if at not in alive:
                    alive.add(at)
                    left.append(at)
        if 0 not in alive:
            raise InvalidArgument(
                self._op, self._name, Description("none"), "an expression that matches some text"
            )
        self.edges = [[edge for edge in edges if edge[2] in alive] for edges in self.edges]
        self.empty = [[one for one in empty if one in alive] for empty in self.empty]


def parsed(op: str, name: str, pattern: Any) -> Automaton:
    """Return the automaton of a pattern. ``name`` is the argument's, for errors."""
    if not isinstance(pattern, str):
        raise InvalidType(op, name, pattern, "a string")
    if len(pattern) > _LONGEST:
        given = Description(f"{len(pattern)} characters")
        raise InvalidArgument(op, name, given, f"at most {_LONGEST} characters")
    found = Automaton(op, name)
    found.fill(pattern)
    return found
