"""From a tape of elementwise operations to the WGSL of one kernel.

A kernel computes four neighbouring elements a thread. Sizes, strides, offsets and numbers are its
parameters, so that one kernel serves all arrays that are laid out alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from browsergpu.core.element_types import FLOAT16, TYPES, UINT32, ElementType
from browsergpu.core.places import Section
from browsergpu.core.showing import Shown
from browsergpu.kernels.fused import storage, wide
from browsergpu.kernels.fused.operations import CHECKED_PLACE, Overload, Written, numbered
from browsergpu.kernels.text import shaders
from browsergpu.kernels.text.wgsl_types import F16, F32, Floats

THREADS = 256  # in a workgroup
FILE = "fused.wgsl"  # what errors in generated text are told by
_MOST_NAMES = 6  # of operations, in a label
#: Names of entries whose value is one that was there before.
_MOVES = frozenset(("", "astype", "load", "where"))
#: Kernels that are remembered. A program of everyday has tens of them.
MOST_KERNELS = 512

# An entry of a tape is a whole number: what it is in the lowest 16 bits, then 12 bits for the place
# of each operand. What it is: an array to read, a number, the place of an element, an array to load
# elements of, the loading of them, or an overload.
OPERAND_BITS = 12
LARGEST_TAPE = 1 << OPERAND_BITS
_KIND_BITS = 16
_KIND = (1 << _KIND_BITS) - 1
_OPERAND = LARGEST_TAPE - 1
#: Where the places of the first two operands begin.
FIRST_BIT = _KIND_BITS
SECOND_BIT = _KIND_BITS + OPERAND_BITS
_LEAF = 0
_NUMBER = len(TYPES)
#: The entry whose value is the place of an element in the result, a uint32.
PLACE = 2 * len(TYPES)
_LOADED = PLACE + 1
_LOAD = _LOADED + len(TYPES)
#: The entry of an operation without its operands is this and the overload's number.
FIRST_OVERLOAD = _LOAD + len(TYPES)

#: How an array is read: WHOLE, its elements in the result's order from its memory's beginning;
#: MOVED, from an offset that is a multiple of 4; ROWS, four neighbours at once, rows of them;
#: FLAT, one element for four neighbours; EACH, four by themselves; TURNED, so, but what lies beside
#: each other in memory is wanted in rows below each other; SAME, one element for all; OWN, the
#: elements that the kernel is about to write, from the binding that it writes.
WHOLE, MOVED, ROWS, FLAT, EACH, TURNED, SAME, OWN = "WMRFETSO"
#: Of these it matters where in the result an element is.
PLACED = (ROWS, FLAT, EACH, TURNED)
#: And of these four neighbours lie beside each other, from a multiple of 4 on.
IN_FOURS = (WHOLE, MOVED, ROWS)
#: Rows and columns that a workgroup computes where an array is TURNED: what one thread reads of it
#: lies beside what threads of the rows below read, so that it comes from the memory once.
TILE = 32


#: The place of what an index outside would write: nothing is written there.
NOWHERE = 0xFFFFFFFF


def leaf(kind: ElementType) -> int:
    """The entry of an array to read."""
    return _LEAF + kind.number


def loaded(kind: ElementType) -> int:
    """The entry of an array that :func:`load` takes elements of."""
    return _LOADED + kind.number


def load(kind: ElementType, array: int, at: int) -> int:
    """The entry of the elements of a loaded array at the places that another entry says (int32 or
    uint32), counted from the beginning of its memory; none of them may be outside."""
    return with_operands(_LOAD + kind.number, (array, at))


def number(kind: ElementType) -> int:
    """The entry of a number."""
    return _NUMBER + kind.number


def operation(overload_number: int, *operands: int) -> int:
    """The entry of an operation on the entries at those places."""
    return with_operands(FIRST_OVERLOAD + overload_number, operands)


def with_operands(entry: int, operands: Sequence[int]) -> int:
    """An entry with other operands."""
    entry &= _KIND
    shift = _KIND_BITS
    for place in operands:
        entry |= place << shift
        shift += OPERAND_BITS
    return entry


class Traffic(NamedTuple):
    """What a kernel computes, reads and writes for each element.

    Attributes
    ----------
    operations : int
        The number of operations.
    reads : tuple of tuple
        The access mode and the bits of each array, in the order of their parameters.
    into : str
        The access mode of what is written; empty for packed memory of its own.
    bits : int
        The bits that are written.
    rank : int
        The number of axes.
    reduction : int
        The number of a reduction's parameters, which follow the number of elements. 0 if the kernel
        reduces nothing.
    """

    operations: int
    reads: tuple[tuple[str, int], ...]
    into: str
    bits: int
    rank: int
    reduction: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A kernel. It binds the leaves that it needs and then what it writes. How many parameters it
    has: the number of elements, the extents of all axes but the first, of each leaf the offset and
    the strides as far as its way of reading has them, and the numbers' words."""

    code: str
    signature: str
    parameters: int
    #: What the code is joined from, by the first lines: what somebody wrote has a name of its own.
    sections: tuple[Section, ...]
    #: What the kernel does, in a few words.
    label: str
    #: Of what it writes and has computed as floats: the place among the bindings, the name, where
    #: the floats stand. Nothing that is only moved.
    floats: tuple[tuple[int, str, Floats], ...]
    #: Whether it notes indices that are outside.
    checks: bool
    #: What it computes and moves, where that is known.
    traffic: Traffic | None = None


def result_of(entry: int) -> ElementType:
    """The type of an entry's value."""
    what = entry & _KIND
    if what >= FIRST_OVERLOAD:
        return numbered(what - FIRST_OVERLOAD).result
    if what == PLACE:
        return UINT32
    return TYPES[(what - (what > PLACE)) % len(TYPES)]


@lru_cache(maxsize=1 << 14)
def name_of(entry: int) -> str:
    """The name of an entry's operation; "" for what is none."""
    what = entry & _KIND
    if what >= FIRST_OVERLOAD:
        return numbered(what - FIRST_OVERLOAD).operation.name
    return "load" if what >= _LOAD else ""


def computed_floats(code: Sequence[int], place: int) -> Floats | None:
    """Return the layout of the floats that a value is computed as.

    None for other values, and for values that are only moved.
    """
    kind = result_of(code[place])
    if kind.kind not in "fc" or _is_moved(code, place):
        return None
    return F16 if kind is FLOAT16 else F32


def _is_moved(code: Sequence[int], place: int) -> bool:
    name = name_of(code[place])
    if name == "astype":
        return _is_moved(code, operands_of(code[place])[0])
    return name in _MOVES


def is_leaf(entry: int) -> bool:
    """Whether an entry is an array to read, or to load from."""
    what = entry & _KIND
    return what < _NUMBER or _LOADED <= what < _LOAD


def is_number(entry: int) -> bool:
    """Whether an entry is a number."""
    return _NUMBER <= entry & _KIND < PLACE


def is_loaded(entry: int) -> bool:
    """Whether an entry is an array to load from."""
    return _LOADED <= entry & _KIND < _LOAD


def is_elementwise(entry: int) -> bool:
    """Whether an entry is an array, a number, or an operation of ours on values: nothing that knows
    where an element is."""
    what = entry & _KIND
    if what < FIRST_OVERLOAD:
        return what < PLACE
    made = numbered(what - FIRST_OVERLOAD)
    return made.written is None and made.operation is not CHECKED_PLACE


def checks(entry: int) -> bool:
    """Whether an entry notes an index that is outside."""
    what = entry & _KIND
    return what >= FIRST_OVERLOAD and numbered(what - FIRST_OVERLOAD).operation is CHECKED_PLACE


def knows_place(entry: int) -> bool:
    """Whether an entry's value depends on where in the result an element is."""
    what = entry & _KIND
    if what < FIRST_OVERLOAD:
        return what == PLACE
    if checks(entry):
        return True
    written = numbered(what - FIRST_OVERLOAD).written
    return written is not None and written.knows_place


@lru_cache(maxsize=1 << 14)
def operands_of(entry: int) -> tuple[int, ...]:
    """The places of an operation's operands; none of anything else."""
    what = entry & _KIND
    if what < _LOAD:
        return ()
    count = 2 if what < FIRST_OVERLOAD else len(numbered(what - FIRST_OVERLOAD).given)
    return tuple(
        [entry >> (_KIND_BITS + n * OPERAND_BITS) & _OPERAND for n in range(count)],
    )


def needed(tape: Sequence[int], results: Sequence[int]) -> list[int]:
    """The places of the entries that some depend on, themselves included, in order."""
    wanted = [False] * len(tape)
    for place in results:
        wanted[place] = True
    for place in range(len(tape) - 1, -1, -1):
        if wanted[place]:
            for operand in operands_of(tape[place]):
                wanted[operand] = True
    return [place for place, is_wanted in enumerate(wanted) if is_wanted]


@lru_cache(maxsize=MOST_KERNELS)
def source(
    tape: tuple[int, ...],
    results: tuple[int, ...],
    ways: str,
    rank: int,
    by_fours: bool,
    threads: int = THREADS,
) -> Source:
    """Return the kernel that writes the values of some entries of a trace.

    Parameters
    ----------
    tape : tuple of int
        The trace.
    results : tuple of int
        The places of the entries.
    ways : str
        The access mode of each leaf that they need.
    rank : int
        Number of axes of the results.
    by_fours : bool
        Whether the last axis has a multiple of 4 elements.
    threads : int, optional
        Threads of a workgroup. The default only if an access mode is TURNED.
    """
    body = Body(tape, results, ways, rank, by_fours)
    body.coordinates()
    body.values()
    for place in results:
        body.line(storage.write_four(result_of(tape[place]), f"y{place}", "i", f"v{place}"))
    return replace(body.kernel(each_four(body, threads)), traffic=body.traffic())


def each_four(body: Body, threads: int = THREADS) -> str:
    """Return the function in which each thread computes four neighbouring elements."""
    return f"""\
@compute @workgroup_size({threads})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {{
  let at = id.y * groups.x * {threads}u + id.x;
  {body.place_of_four("params.n")}
  {body.text()}
}}
"""


def _in_tiles(extents: Sequence[str], n: str) -> str:
    """Statements that say which four of n elements a thread computes where each workgroup has a
    tile. The extents are those of all axes but the first."""
    columns = extents[-1]
    rows = extents[-2] if len(extents) > 1 else f"{n} / {columns}"
    across, fours = TILE // 4, f"({columns} / 4u)"
    assert across * TILE == THREADS
    return f"""\
let rows = {rows};
  let tiles = vec2u(({columns} + {TILE - 1}u) / {TILE}u, (rows + {TILE - 1}u) / {TILE}u);
  let tile = at / {THREADS}u;
  let row = tile / tiles.x % tiles.y * {TILE}u + at / {across}u % {TILE}u;
  let column = tile % tiles.x * {across}u + at % {across}u;
  if (row >= rows || column >= {fours}) {{
    return;
  }}
  let i = (tile / (tiles.x * tiles.y) * rows + row) * {fours} + column;"""


def _label(names: Sequence[str]) -> str:
    shown = [*names[:_MOST_NAMES], *["…"] * (len(names) > _MOST_NAMES)]
    return f"fused: {' '.join(shown)}" if names else "fused"


#: A binding: its name, the type of its elements, and whether it is written.
Binding = tuple[str, str, bool]


def bindings(bound: Sequence[Binding]) -> tuple[str, str]:
    """The declarations of storage buffers, and their signature."""
    lines = [
        f"@group(0) @binding({at}) var<storage, {'read_write' if is_written else 'read'}> "
        f"{name}: array<{words}>;"
        for at, (name, words, is_written) in enumerate(bound)
    ]
    letters = ["w" if is_written else "r" for _, _, is_written in bound]
    return "\n".join(lines), "".join(f"{at}{letter}" for at, letter in enumerate(letters))


class Body(Shown):
    """The part of a kernel that computes four neighbouring elements, the ``i``-th four. What it
    writes lies packed, or, ``into`` a part of an array, as a way of reading says."""

    def __init__(
        self,
        tape: tuple[int, ...],
        results: tuple[int, ...],
        ways: str,
        rank: int,
        by_fours: bool,
        into: str = "",
    ) -> None:
        self._tape = tape
        self._results = results
        self._places = needed(tape, results)
        self._leaves = tuple(place for place in self._places if is_leaf(tape[place]))
        #: The array that indices outside are noted in, if there is one.
        self._faults = {
            operands_of(tape[place])[-1] for place in self._places if checks(tape[place])
        }
        laid_out = (place for place in self._leaves if not is_loaded(tape[place]))
        self._ways = dict(zip(laid_out, ways, strict=True))
        self._rank = rank
        self._by_fours = by_fours
        self._into = into
        #: Whether a workgroup computes a tile of rows and columns.
        self.in_tiles = TURNED in ways
        self._parameters = ["n"]  # which the library's files know
        self.extents: list[str] = []  # of all axes but the first, where they are parameters
        self._includes = dict.fromkeys(storage.INCLUDES)
        for place in self._places:
            self.include_for(result_of(tape[place]))
        self._lines: list[str] = []
        self._written: dict[int, Written] = {}

    def values(self) -> None:
        """v0, v1, …: the values of the entries that are needed."""
        reads = {place: self._read(place) for place in self._ways}
        for place in self._places:
            if not is_loaded(self._tape[place]):
                self.line(f"let v{place} = {reads.get(place) or self._value(place)};")

    def place_of_four(self, n: str) -> str:
        """Statements that say which four of n elements the thread ``at`` computes."""
        place = _in_tiles(self.extents, n) if self.in_tiles else "let i = at;"
        return f"""\
{place}
  if (4u * i >= {n}) {{
    return;
  }}"""

    def line(self, text: str) -> None:
        """Another statement."""
        self._lines.append(text)

    def text(self) -> str:
        """All statements."""
        return "\n  ".join(self._lines)

    def array(self, place: int) -> str:
        """The name of the binding that an array is read from."""
        if place in self._faults:
            return "faults"
        return f"x{place}"

    def parameter(self, name: str = "") -> str:
        """Another parameter of the kernel, a u32, in WGSL."""
        self._parameters.append(name or f"p{len(self._parameters)}")
        return f"params.{self._parameters[-1]}"

    def include(self, *files: str) -> None:
        """Has the kernel include shader files."""
        self._includes |= dict.fromkeys(files)

    def include_for(self, *kinds: ElementType) -> None:
        """Has the kernel include what values of these types need, beside what each kernel has."""
        wide_kinds = [kind for kind in kinds if kind.computed in "IU"]
        if wide_kinds:
            self.include(*wide.WORDS)
            if len({kind.computed in "IU" for kind in kinds}) > 1:
                self.include(*wide.CONVERSIONS)

    def applied(self, made: Overload, *values: str) -> str:
        """An operation on values of the types that it casts to, in WGSL, of the type in which its
        result is computed."""
        if made.written is not None:
            self._written[made.number] = made.written
        self.include(*made.includes)
        return made.expression.format(*values)

    def kernel(
        self, functions: str, *, named: str = "", words: str = "u32", results_too: bool = False
    ) -> Source:
        """The kernel whose functions these are. It writes each result in fours, ``y`` and the
        result's place; where it is ``named``, an operation, ``words`` of one thing, ``y``, and then
        the ``results_too``, if so."""
        declared, signature = bindings(self._bound(words if named else "", results_too))
        fields = ", ".join(f"{name}: u32" for name in self._parameters)
        code = f"""\
struct Params {{ {fields} }}
{declared}
{shaders.PARAMETERS}
{functions}"""
        code += shaders.load(*self._includes)
        sections: list[Section] = [(FILE, 1)]
        for one in self._written.values():
            code += one.before
            begin = code.count("\n") + 1
            code += one.body
            sections.append((one.file, begin, one.recorded))
            sections.append((FILE, code.count("\n") + 2))  # from the next line on
            code += one.after
        names = [name for place in self._places if (name := name_of(self._tape[place]))]
        return Source(
            code,
            signature,
            len(self._parameters),
            tuple(sections),
            _label([*names, *([named] if named else [])]),
            () if named else tuple(self._floats()),
            bool(self._faults),
        )

    def traffic(self) -> Traffic | None:
        """Return what the kernel computes and moves; None with custom code or loaded elements."""
        entries = [self._tape[place] for place in self._places]
        if any(is_loaded(entry) or not is_elementwise(entry) for entry in entries):
            return None
        names = [name_of(entry) for entry in entries]
        return Traffic(
            operations=len([name for name in names if name not in _MOVES]),
            reads=tuple([(m, result_of(self._tape[at]).bits) for at, m in self._ways.items()]),
            into=self._into,
            bits=sum(result_of(self._tape[at]).bits for at in self._results),
            rank=self._rank,
        )

    def _floats(self) -> Iterator[tuple[int, str, Floats]]:
        for number, place in enumerate(self._results, len(self._leaves)):
            floats = computed_floats(self._tape, place)
            if floats is not None:
                yield number, f"y{place}", floats

    def _bound(self, words_of_one: str, results_too: bool) -> list[Binding]:
        read: list[Binding] = []
        for place in self._leaves:
            if place in self._faults:
                read.append(("faults", "atomic<u32>", True))
            elif self._ways.get(place) != OWN:
                in_fours = self._ways.get(place, EACH) in IN_FOURS
                read.append((self.array(place), self._words(place, in_fours), False))
        written = [("y", words_of_one, True)] if words_of_one else []
        if results_too or not words_of_one:
            written += [(f"y{place}", self._words(place, True), True) for place in self._results]
        return read + written

    def _words(self, place: int, in_fours: bool) -> str:
        return storage.FOUR[result_of(self._tape[place]).bits] if in_fours else "u32"

    def coordinates(self) -> None:
        """c0, c1, … along the axes: of the first of four elements where all four lie in a row, else
        of each of them."""
        if not any(way in PLACED for way in (*self._ways.values(), self._into)):
            return
        extents = self.extents = [self.parameter() for _ in range(self._rank - 1)]
        first = "4u * i" if self._by_fours else "4u * i + vec4u(0u, 1u, 2u, 3u)"
        one = "u32" if self._by_fours else "vec4u"
        self.line(f"let r{self._rank - 1} = {first};")
        for axis in range(self._rank - 1, 0, -1):
            self.line(f"let r{axis - 1} = r{axis} / {one}({extents[axis - 1]});")
            self.line(f"let c{axis} = r{axis} - r{axis - 1} * {one}({extents[axis - 1]});")
        self.line("let c0 = r0;")

    def target(self) -> None:
        """``to``: where four elements go, a vec4u of their places; the number of the four, where
        they lie beside each other."""
        if self._into == MOVED:
            self.line(f"let to = i + {self.parameter()};")
        elif self._into == ROWS:
            self.line(f"let to = ({self._place()[0]}) >> 2u;")
        else:
            self.line(f"let to = {self._four_places(*self._place())};")

    def _place(self) -> tuple[str, str]:
        """Where an element is by its coordinates, the first of four where these lie in a row, and
        how far apart those in a row are."""
        offset = self.parameter()
        strides = [self.parameter() for _ in range(self._rank)]
        terms = [offset, *(f"c{n} * {stride}" for n, stride in enumerate(strides))]
        return " + ".join(terms), strides[-1]

    def _four_places(self, at: str, step: str) -> str:
        return f"vec4u({at}) + vec4u(0u, 1u, 2u, 3u) * {step}" if self._by_fours else f"vec4u({at})"

    def _read(self, place: int) -> str:
        kind, way, name = result_of(self._tape[place]), self._ways[place], self.array(place)
        if way == OWN:
            read = storage.read_four if self._into in IN_FOURS else storage.read_each
            return read(kind, "y", "to")
        if way == WHOLE:
            return storage.read_four(kind, name, "i")
        if way == MOVED:
            return storage.read_four(kind, name, f"i + {self.parameter()}")
        if way == SAME:
            return storage.read_one(kind, name, self.parameter())
        at, step = self._place()
        if way == ROWS:
            return storage.read_four(kind, name, f"({at}) >> 2u")
        if way == FLAT:
            self.line(f"let a{place} = {at};")
            return storage.read_one(kind, name, f"a{place}")
        self.line(f"let a{place} = {self._four_places(at, step)};")
        return storage.read_each(kind, name, f"a{place}")

    def _checked(self, entry: int, made: Overload) -> str:
        """The place of an index, which is noted where it is outside."""
        index, extent, check, _ = operands_of(entry)
        self.include(*made.includes)
        value, least = (
            storage.converted(f"v{place}", given, to)
            for place, given, to in zip(
                (index, extent), made.given[:2], made.cast_to[:2], strict=True
            )
        )
        kind = made.cast_to[0]
        name = ("wide_" if kind.bits == 64 else "") + ("un" if kind.kind == "u" else "") + "signed"
        return f"checked_{name}({value}, {least}, v{check}.x, i)"

    def _value(self, place: int) -> str:
        entry = self._tape[place]
        what = entry & _KIND
        if what == PLACE:
            return "4u * i + vec4u(0u, 1u, 2u, 3u)"
        if _LOAD <= what < FIRST_OVERLOAD:
            array, at = operands_of(entry)
            self.line(f"let a{place} = vec4u(v{at});")
            return storage.read_each(result_of(entry), f"x{array}", f"a{place}")
        if what < PLACE:
            kind = TYPES[what - _NUMBER]
            words = [self.parameter() for _ in range(max(1, kind.bits // 32))]
            return storage.of_parameter(kind, words)
        made = numbered(what - FIRST_OVERLOAD)
        self.include_for(*made.given, *made.cast_to)
        if made.operation is CHECKED_PLACE:
            return self._checked(entry, made)
        values = [
            storage.converted(f"v{operand}", source, target)
            for operand, source, target in zip(
                operands_of(entry), made.given, made.cast_to, strict=True
            )
        ]
        if not made.expression:  # a change of type
            return values[0]
        value = self.applied(made, *values)
        # What the operation computed may not be of the result's bits.
        return storage.narrowed(value, made.result) if made.result.bits < 32 else value
