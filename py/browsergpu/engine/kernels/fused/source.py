"""Kernels that evaluate a trace: their WGSL, and the encoding of a trace's entries.

Each thread computes four neighbouring elements. Sizes, strides, offsets and numbers are parameters,
so one kernel serves all arrays with the same access modes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from browsergpu.engine.core.element_types import FLOAT16, TYPES, UINT32, ElementType
from browsergpu.engine.core.places import Section
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.kernels.fused import storage, wide
from browsergpu.engine.kernels.fused.operations import CHECKED_PLACE, CustomCode, Overload, numbered
from browsergpu.engine.kernels.text import shaders
from browsergpu.engine.kernels.text.wgsl_types import F16, F32, Floats

THREADS = 256  # of a workgroup
FILE = "fused.wgsl"  # the file name of generated code in error messages
_MOST_NAMES = 6  # maximum operations in a label
#: Names of entries that compute no new values.
_MOVES = frozenset(("", "astype", "load", "where"))
#: Maximum of cached kernels. Typical programs have tens of kernels.
MOST_KERNELS = 512

# An entry of a trace is an integer. Its lowest 16 bits are the kind: an array that is read in
# order, a number, the index of the element, an array that is read by index, a read by index, or an
# overload. Then come 12 bits per operand, the operand's position in the trace.
OPERAND_BITS = 12
LARGEST_TRACE = 1 << OPERAND_BITS
_KIND_BITS = 16
_KIND = (1 << _KIND_BITS) - 1
_OPERAND = LARGEST_TRACE - 1
#: The lowest bits of the first two operands.
FIRST_BIT = _KIND_BITS
SECOND_BIT = _KIND_BITS + OPERAND_BITS
_LEAF = 0
_NUMBER = len(TYPES)
#: The entry for the index of the element in the result, a uint32.
PLACE = 2 * len(TYPES)
_LOADED = PLACE + 1
_LOAD = _LOADED + len(TYPES)
#: The kind of an operation is this constant plus the overload's number.
FIRST_OVERLOAD = _LOAD + len(TYPES)

#: Access modes of an array:
#:
#: - WHOLE: packed, from the start of its memory, in the order of the result.
#: - MOVED: packed, from an offset that is a multiple of 4.
#: - ROWS: strided rows of four neighbouring elements.
#: - FLAT: one element for four neighbouring results (the last stride is 0).
#: - EACH: four elements at four computed indices.
#: - TURNED: like EACH, but neighbours in memory belong to successive rows of the result.
#: - SAME: one element for all results.
#: - OWN: the elements that the kernel overwrites, from the binding that it writes.
WHOLE, MOVED, ROWS, FLAT, EACH, TURNED, SAME, OWN = "WMRFETSO"
#: The modes that need the coordinates of an element.
PLACED = (ROWS, FLAT, EACH, TURNED)
#: The modes that access four neighbours as one vector, from a multiple of 4 on.
IN_FOURS = (WHOLE, MOVED, ROWS)
#: Rows and columns that a workgroup computes if an array is TURNED. Threads of successive rows then
#: read neighbouring elements, so the GPU reads each part of the memory once.
TILE = 32

#: The index that stands for an index outside the array. Nothing is written there.
NOWHERE = 0xFFFFFFFF


def leaf(kind: ElementType) -> int:
    """Return the entry of an array that is read in order."""
    return _LEAF + kind.number


def loaded(kind: ElementType) -> int:
    """Return the entry of an array that :func:`load` reads."""
    return _LOADED + kind.number


def load(kind: ElementType, array: int, at: int) -> int:
    """Return the entry that reads a loaded array by index.

    Parameters
    ----------
    kind : ElementType
        The type of the elements.
    array : int
        The position of the array's entry in the trace.
    at : int
        The position of the entry with the indices (int32 or uint32). They count from the start of
        the array's memory and must be inside it.
    """
    return with_operands(_LOAD + kind.number, (array, at))


def number(kind: ElementType) -> int:
    """Return the entry of a number."""
    return _NUMBER + kind.number


def operation(overload_number: int, *operands: int) -> int:
    """Return the entry of an operation. ``operands`` are positions in the trace."""
    return with_operands(FIRST_OVERLOAD + overload_number, operands)


def with_operands(entry: int, operands: Sequence[int]) -> int:
    """Return an entry with other operands."""
    entry &= _KIND
    shift = _KIND_BITS
    for place in operands:
        entry |= place << shift
        shift += OPERAND_BITS
    return entry


class Traffic(NamedTuple):
    """The work of a kernel per element.

    Attributes
    ----------
    operations : int
        The number of operations.
    reads : tuple of tuple
        The access mode and the bits of each array, in the order of their parameters.
    into : str
        The access mode of the written region. Empty if the kernel writes packed results.
    bits : int
        The bits that the kernel writes.
    rank : int
        The number of axes.
    reduction : int
        The number of a reduction's parameters, which follow the number of elements. 0 if the kernel
        is no reduction.
    skipped : int
        The number of other parameters that follow the number of elements.
    """

    operations: int
    reads: tuple[tuple[str, int], ...]
    into: str
    bits: int
    rank: int
    reduction: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A generated kernel.

    It binds the leaves that it needs, then the results.

    Attributes
    ----------
    code : str
        The WGSL.
    signature : str
        The bindings in the recorder's format.
    parameters : int
        The number of parameters. They are the number of elements, the extents of all axes but the
        first, the offset and the strides of each leaf, and the words of the numbers. Extents,
        offsets and strides are left out if no access mode needs them.
    sections : tuple of Section
        The parts of the code by their first lines. Custom code has a file name of its own.
    label : str
        A short description.
    floats : tuple of tuple
        For each result with computed floats, the number of the binding, the name and the layout of
        the floats. Results that are only moved are not listed.
    checks : bool
        Whether the kernel records indices that are out of bounds.
    helpers : str
        The part of the code with functions of shader files.
    traffic : Traffic or None
        The work per element, if it is known.
    """

    code: str
    signature: str
    parameters: int
    sections: tuple[Section, ...]
    label: str
    floats: tuple[tuple[int, str, Floats], ...]
    checks: bool
    helpers: str = ""
    traffic: Traffic | None = None


def result_of(entry: int) -> ElementType:
    """Return the type of an entry's value."""
    what = entry & _KIND
    if what >= FIRST_OVERLOAD:
        return numbered(what - FIRST_OVERLOAD).result
    if what == PLACE:
        return UINT32
    return TYPES[(what - (what > PLACE)) % len(TYPES)]


@lru_cache(maxsize=1 << 14)
def name_of(entry: int) -> str:
    """Return the name of an entry's operation, or "" for arrays and numbers."""
    what = entry & _KIND
    if what >= FIRST_OVERLOAD:
        return numbered(what - FIRST_OVERLOAD).operation.name
    return "load" if what >= _LOAD else ""


def overload_at(entry: int) -> Overload | None:
    """Return the overload of an entry, or None if the entry is no operation."""
    what = entry & _KIND
    return numbered(what - FIRST_OVERLOAD) if what >= FIRST_OVERLOAD else None


def computed_floats(code: Sequence[int], place: int) -> Floats | None:
    """Return the layout of the floats of a computed value.

    Return None for other types and for values that are only moved.
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
    """Return whether an entry is an array."""
    what = entry & _KIND
    return what < _NUMBER or _LOADED <= what < _LOAD


def is_number(entry: int) -> bool:
    """Return whether an entry is a number."""
    return _NUMBER <= entry & _KIND < PLACE


def is_loaded(entry: int) -> bool:
    """Return whether an entry is an array that is read by index."""
    return _LOADED <= entry & _KIND < _LOAD


def is_elementwise(entry: int) -> bool:
    """Return whether an entry's value cannot depend on the index of the element.

    True for arrays that are read in order, numbers, and all operations but custom ones and index
    checks.
    """
    what = entry & _KIND
    if what < FIRST_OVERLOAD:
        return what < PLACE
    made = numbered(what - FIRST_OVERLOAD)
    return made.custom is None and made.operation is not CHECKED_PLACE


def checks(entry: int) -> bool:
    """Return whether an entry records indices that are out of bounds."""
    what = entry & _KIND
    return what >= FIRST_OVERLOAD and numbered(what - FIRST_OVERLOAD).operation is CHECKED_PLACE


def knows_place(entry: int) -> bool:
    """Return whether an entry uses the index of the element in the result."""
    what = entry & _KIND
    if what < FIRST_OVERLOAD:
        return what == PLACE
    if checks(entry):
        return True
    written = numbered(what - FIRST_OVERLOAD).custom
    return written is not None and written.knows_place


@lru_cache(maxsize=1 << 14)
def operands_of(entry: int) -> tuple[int, ...]:
    """Return the positions of an entry's operands in the trace."""
    what = entry & _KIND
    if what < _LOAD:
        return ()
    count = 2 if what < FIRST_OVERLOAD else len(numbered(what - FIRST_OVERLOAD).given)
    return tuple(
        [entry >> (_KIND_BITS + n * OPERAND_BITS) & _OPERAND for n in range(count)],
    )


def needed(trace: Sequence[int], results: Sequence[int]) -> list[int]:
    """Return the sorted positions of the results and of all entries that they depend on."""
    wanted = [False] * len(trace)
    for place in results:
        wanted[place] = True
    for place in range(len(trace) - 1, -1, -1):
        if wanted[place]:
            for operand in operands_of(trace[place]):
                wanted[operand] = True
    return [place for place, is_wanted in enumerate(wanted) if is_wanted]


@lru_cache(maxsize=MOST_KERNELS)
def source(
    trace: tuple[int, ...],
    results: tuple[int, ...],
    modes: str,
    rank: int,
    by_fours: bool,
    threads: int = THREADS,
    over: tuple[tuple[int, int], ...] = (),
) -> Source:
    """Return the kernel that writes the values of some entries of a trace.

    Parameters
    ----------
    trace : tuple of int
        The trace.
    results : tuple of int
        The positions of the entries.
    modes : str
        The access mode of each leaf that the results need.
    rank : int
        Number of axes of the results.
    by_fours : bool
        Whether the extent of the last axis is a multiple of 4.
    threads : int, optional
        Threads of a workgroup. The default only if an access mode is TURNED.
    over : tuple of tuple of int, optional
        The leaves whose elements the kernel overwrites, each with the entry of the new value. Their
        access mode is WHOLE, and the kernel reads them from the binding of the result.
    """
    body = Body(trace, results, modes, rank, by_fours, over=over)
    body.coordinates()
    body.values()
    for place in results:
        body.line(storage.write_four(result_of(trace[place]), f"y{place}", "i", f"v{place}"))
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
    """Return statements that choose a thread's four elements if each workgroup computes a tile.

    ``extents`` are the extents of all axes but the first.
    """
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


#: A binding: its name, the WGSL type of its elements, and whether the kernel writes it.
Binding = tuple[str, str, bool]


def bindings(bound: Sequence[Binding]) -> tuple[str, str]:
    """Return the declarations of storage buffers, and their signature."""
    lines = [
        f"@group(0) @binding({at}) var<storage, {'read_write' if is_written else 'read'}> "
        f"{name}: array<{words}>;"
        for at, (name, words, is_written) in enumerate(bound)
    ]
    letters = ["w" if is_written else "r" for _, _, is_written in bound]
    return "\n".join(lines), "".join(f"{at}{letter}" for at, letter in enumerate(letters))


class Body(Shown):
    """The statements of a kernel that compute the ``i``-th group of four neighbouring elements.

    The kernel writes packed results, or a region with the access mode ``into``.
    """

    def __init__(
        self,
        trace: tuple[int, ...],
        results: tuple[int, ...],
        modes: str,
        rank: int,
        by_fours: bool,
        into: str = "",
        over: Sequence[tuple[int, int]] = (),
    ) -> None:
        self._trace = trace
        self._over = dict(over)
        self._results = results
        self._places = needed(trace, results)
        self._leaves = tuple(place for place in self._places if is_leaf(trace[place]))
        #: The position of the buffer for indices that are out of bounds, if there is one.
        self._faults = {
            operands_of(trace[place])[-1] for place in self._places if checks(trace[place])
        }
        laid_out = (place for place in self._leaves if not is_loaded(trace[place]))
        self._modes = dict(zip(laid_out, modes, strict=True))
        self._rank = rank
        self._by_fours = by_fours
        self._into = into
        #: Whether a workgroup computes a tile of rows and columns.
        self.in_tiles = TURNED in modes
        self._parameters = ["n"]  # shader files use this name
        #: The parameters with the extents of all axes but the first, if any mode needs them.
        self.extents: list[str] = []
        self._includes = dict.fromkeys(storage.INCLUDES)
        for place in self._places:
            self.include_for(result_of(trace[place]))
        self._lines: list[str] = []
        self._custom: dict[int, CustomCode] = {}

    def values(self) -> None:
        """Add statements that compute the values v0, v1, … of the needed entries."""
        reads = {place: self._read(place) for place in self._modes}
        for place in self._places:
            if not is_loaded(self._trace[place]):
                self.line(f"let v{place} = {reads.get(place) or self._value(place)};")

    def place_of_four(self, n: str) -> str:
        """Return statements that choose which four of ``n`` elements thread ``at`` computes."""
        place = _in_tiles(self.extents, n) if self.in_tiles else "let i = at;"
        return f"""\
{place}
  if (4u * i >= {n}) {{
    return;
  }}"""

    def line(self, text: str) -> None:
        """Add a statement."""
        self._lines.append(text)

    def text(self) -> str:
        """Return all statements."""
        return "\n  ".join(self._lines)

    def array(self, place: int) -> str:
        """Return the name of the binding that an array is read from."""
        if place in self._faults:
            return "faults"
        return f"y{self._over[place]}" if place in self._over else f"x{place}"

    def parameter(self, name: str = "") -> str:
        """Add a u32 parameter and return its WGSL expression."""
        self._parameters.append(name or f"p{len(self._parameters)}")
        return f"params.{self._parameters[-1]}"

    def include(self, *files: str) -> None:
        """Include shader files."""
        self._includes |= dict.fromkeys(files)

    def include_for(self, *kinds: ElementType) -> None:
        """Include the shader files for values of these types."""
        wide_kinds = [kind for kind in kinds if kind.computed in "IU"]
        if wide_kinds:
            self.include(*wide.WORDS)
            if len({kind.computed in "IU" for kind in kinds}) > 1:
                self.include(*wide.CONVERSIONS)

    def applied(self, made: Overload, *values: str) -> str:
        """Return the WGSL of an operation on values of the types that it casts to."""
        if made.custom is not None:
            self._custom[made.number] = made.custom
        self.include(*made.includes)
        return made.expression.format(*values)

    def kernel(
        self,
        functions: str,
        *,
        named: str = "",
        words: str = "u32",
        results_too: bool = False,
        beside: Sequence[Binding] = (),
    ) -> Source:
        """Return the kernel with these functions.

        Parameters
        ----------
        functions : str
            The WGSL of the functions.
        named : str, optional
            The name of an operation that writes an array ``y``. By default, the kernel writes
            each result to a binding ``y<position>``.
        words : str, optional
            The WGSL type of the elements of ``y``.
        results_too : bool, optional
            Whether a named kernel also has the bindings of the results.
        beside : sequence of tuple, optional
            Further bindings, after the others.
        """
        bound = self._bound(words if named else "", results_too)
        declared, signature = bindings([*bound, *beside])
        fields = ", ".join(f"{name}: u32" for name in self._parameters)
        code = f"""\
struct Params {{ {fields} }}
{declared}
{shaders.PARAMETERS}
{functions}"""
        helpers = shaders.load(*self._includes)
        code += helpers
        sections: list[Section] = [(FILE, 1)]
        for one in self._custom.values():
            code += one.before
            begin = code.count("\n") + 1
            code += one.body
            sections.append((one.file, begin, one.recorded))
            sections.append((FILE, code.count("\n") + 2))  # starts on the next line
            code += one.after
        names = [name for place in self._places if (name := name_of(self._trace[place]))]
        return Source(
            code,
            signature,
            len(self._parameters),
            tuple(sections),
            _label([*names, *([named] if named else [])]),
            () if named else tuple(self._floats()),
            bool(self._faults),
            helpers,
        )

    def traffic(self) -> Traffic | None:
        """Return the work per element, or None with custom code or reads by index."""
        entries = [self._trace[place] for place in self._places]
        if any(is_loaded(entry) or not is_elementwise(entry) for entry in entries):
            return None
        names = [name_of(entry) for entry in entries]
        return Traffic(
            operations=len([name for name in names if name not in _MOVES]),
            reads=tuple([(m, result_of(self._trace[at]).bits) for at, m in self._modes.items()]),
            into=self._into,
            bits=sum(result_of(self._trace[at]).bits for at in self._results),
            rank=self._rank,
        )

    def _floats(self) -> Iterator[tuple[int, str, Floats]]:
        for number, place in enumerate(self._results, len(self._leaves) - len(self._over)):
            floats = computed_floats(self._trace, place)
            if floats is not None:
                yield number, f"y{place}", floats

    def _bound(self, words_of_one: str, results_too: bool) -> list[Binding]:
        read: list[Binding] = []
        for place in self._leaves:
            if place in self._faults:
                read.append(("faults", "atomic<u32>", True))
            elif self._modes.get(place) != OWN and place not in self._over:
                in_fours = self._modes.get(place, EACH) in IN_FOURS
                read.append((self.array(place), self._words(place, in_fours), False))
        written = [("y", words_of_one, True)] if words_of_one else []
        if results_too or not words_of_one:
            written += [(f"y{place}", self._words(place, True), True) for place in self._results]
        return read + written

    def _words(self, place: int, in_fours: bool) -> str:
        return storage.FOUR[result_of(self._trace[place]).bits] if in_fours else "u32"

    def coordinates(self) -> None:
        """Add statements that compute the coordinates c0, c1, … if any access mode needs them.

        If the last extent is a multiple of 4, they are the coordinates of the first of four
        elements. Otherwise each is a vector with the coordinates of all four.
        """
        if not any(mode in PLACED for mode in (*self._modes.values(), self._into)):
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
        """Add a statement that computes ``to``, the indices where four elements are written.

        For modes in IN_FOURS, it is the index of the group of four, otherwise a vec4u.
        """
        if self._into == MOVED:
            self.line(f"let to = i + {self.parameter()};")
        elif self._into == ROWS:
            self.line(f"let to = ({self._place()[0]}) >> 2u;")
        else:
            self.line(f"let to = {self._four_places(*self._place())};")

    def _place(self) -> tuple[str, str]:
        """Return an expression for an element's index in memory, and the last stride."""
        offset = self.parameter()
        strides = [self.parameter() for _ in range(self._rank)]
        terms = [offset, *(f"c{n} * {stride}" for n, stride in enumerate(strides))]
        return " + ".join(terms), strides[-1]

    def _four_places(self, at: str, step: str) -> str:
        return f"vec4u({at}) + vec4u(0u, 1u, 2u, 3u) * {step}" if self._by_fours else f"vec4u({at})"

    def _read(self, place: int) -> str:
        kind, mode, name = result_of(self._trace[place]), self._modes[place], self.array(place)
        if mode == OWN:
            read = storage.read_four if self._into in IN_FOURS else storage.read_each
            return read(kind, "y", "to")
        if mode == WHOLE:
            return storage.read_four(kind, name, "i")
        if mode == MOVED:
            return storage.read_four(kind, name, f"i + {self.parameter()}")
        if mode == SAME:
            return storage.read_one(kind, name, self.parameter())
        at, step = self._place()
        if mode == ROWS:
            return storage.read_four(kind, name, f"({at}) >> 2u")
        if mode == FLAT:
            self.line(f"let a{place} = {at};")
            return storage.read_one(kind, name, f"a{place}")
        self.line(f"let a{place} = {self._four_places(at, step)};")
        return storage.read_each(kind, name, f"a{place}")

    def _checked(self, entry: int, made: Overload) -> str:
        """Return an expression for a checked index. The kernel records one out of bounds."""
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
        entry = self._trace[place]
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
        if not made.expression:  # a cast
            return values[0]
        value = self.applied(made, *values)
        # The computed value may exceed the bits of the result type.
        return storage.narrowed(value, made.result) if made.result.bits < 32 else value
