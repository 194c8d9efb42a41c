"""From a tape of elementwise operations, and one that brings its elements together, to the WGSL of
one kernel.

The elements are [outer, length, inner], of which the kernel reduces the middle axis, chunk by
chunk: see cuts.py. What it writes are whole words, in the type that it computes in.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from browsergpu.core.element_types import (
    BOOL,
    COMPLEX64,
    FLOAT32,
    INT32,
    INT64,
    UINT32,
    UINT64,
    ElementType,
)
from browsergpu.kernels.fused import storage
from browsergpu.kernels.fused.operations import numbered
from browsergpu.kernels.fused.source import MOST_KERNELS, THREADS, Body, Source, result_of
from browsergpu.kernels.text.wgsl_types import F32

#: The type of a reduction's result, by what it is computed in.
WIDE: dict[str, ElementType] = {
    "f": FLOAT32,
    "i": INT32,
    "u": UINT32,
    "b": BOOL,
    "c": COMPLEX64,
    "I": INT64,
    "U": UINT64,
}
#: How elements are dealt out: whole rows (inner is 1), those whose chunks are of fours throughout,
#: four neighbouring columns to a thread (inner is a multiple of 4), or one.
ROWS, ALIGNED_ROWS, FOUR_COLUMNS, COLUMNS = "rows", "aligned rows", "four columns", "columns"

_FIELDS = ("outer", "length", "inner", "chunk", "chunks", "lanes")
_FUNCTIONS = {
    ROWS: "reduce_rows",
    ALIGNED_ROWS: "reduce_rows",
    FOUR_COLUMNS: "reduce_columns",
    COLUMNS: "reduce_columns",
}
#: The words of the first of four values, by what they are computed in.
_WORDS = {
    "f": ("bitcast<u32>(v.x)",),
    "i": ("bitcast<u32>(v.x)",),
    "u": ("v.x",),
    "b": ("u32(v.x)",),
    "c": ("bitcast<u32>(v.re.x)", "bitcast<u32>(v.im.x)"),
    "I": ("v.low.x", "v.high.x"),
    "U": ("v.low.x", "v.high.x"),
}
_ONE_WIDE = ("vec2u", "vec2u(v.low.x, v.high.x)", "Long(vec4u(one.x), vec4u(one.y))")
# In workgroup memory bools are words: on NVIDIA's GPUs naga's code for arrays of bool gives wrong
# values (wgpu 0.32 on an H100: all() of ones was false).
#: The type of one of four alike values in workgroup memory, its value, and the four of it.
_ONE = {
    "f": ("f32", "v.x", "vec4f(one)"),
    "i": ("i32", "v.x", "vec4i(one)"),
    "u": ("u32", "v.x", "vec4u(one)"),
    "b": ("u32", "u32(v.x)", "vec4<bool>(one != 0u)"),
    "c": ("vec2f", "vec2f(v.re.x, v.im.x)", "C(vec4f(one.x), vec4f(one.y))"),
    "I": _ONE_WIDE,
    "U": _ONE_WIDE,
}
#: The same of four values of their own, where the type in workgroup memory is another.
_FOUR = {"b": ("vec4u", "vec4u(v)", "(one != vec4u())")}


@lru_cache(maxsize=MOST_KERNELS)
def reduction(
    tape: tuple[int, ...],
    ways: str,
    rank: int,
    by_fours: bool,
    overload_number: int,
    dealt: str,
    scaled: bool,
    threads: int = THREADS,
) -> Source:
    """Return the kernel that reduces the elements of a trace's last entry.

    Parameters
    ----------
    tape : tuple of int
        The trace.
    ways : str
        The access mode of each leaf.
    rank : int
        Number of axes of the elements.
    by_fours : bool
        Whether the last axis has a multiple of 4 elements.
    overload_number : int
        The operation on two elements.
    dealt : str
        How threads share the elements: ROWS, ALIGNED_ROWS, FOUR_COLUMNS or COLUMNS.
    scaled : bool
        Whether results are multiplied by a float.
    threads : int, optional
        Threads of a workgroup.

    Notes
    -----
    The kernel's parameters are the number of elements, the fields of a Cut, the words of the
    identity element, the float if ``scaled``, and those of :class:`Source`.
    """
    place = len(tape) - 1
    body = Body(tape, (place,), ways, rank, by_fours)
    made = numbered(overload_number)
    kind = made.result
    for name in _FIELDS:
        body.parameter(name)
    nothing = storage.of_parameter(kind, [body.parameter() for _ in range(max(1, kind.bits // 32))])
    scaled_value = f"v * bitcast<f32>({body.parameter()})" if scaled else "v"
    body.include_for(result_of(tape[place]), kind)
    body.include(f"lib/fused/{_FUNCTIONS[dealt]}.wgsl")
    body.coordinates()
    body.values()
    value = storage.converted(f"v{place}", result_of(tape[place]), kind)
    # A text of somebody's own leaves out elements beyond the end: none that is combined is one.
    combined = body.applied(made, "a", "b")
    inside = "let i = (params.n >> 2u) + 1u;\n  " if made.written else ""
    kernel = body.kernel(
        f"""\
alias Four = {storage.WGSL[kind.computed]};
const THREADS = {threads}u;
const ALIGNED = {"true" if dealt == ALIGNED_ROWS else "false"};
const WIDTH = {4 if dealt == FOUR_COLUMNS else 1}u;
var<workgroup> partial: array<Kept, THREADS>;

fn elements(i: u32) -> Four {{
  {body.text()}
  return {value};
}}

fn nothing() -> Four {{
  return {nothing};
}}

fn combine(a: Four, b: Four) -> Four {{
  {inside}return {combined};
}}

fn scaled(v: Four) -> Four {{
  return {scaled_value};
}}

{_functions(kind, dealt)}
@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {{
  {_FUNCTIONS[dealt]}(group, groups, thread);
}}
""",
        named=made.operation.name,
    )
    traffic = body.traffic()
    if traffic is not None:
        traffic = traffic._replace(
            operations=traffic.operations + 1,
            bits=kind.bits,
            reduction=len(_FIELDS) + max(1, kind.bits // 32) + scaled,
        )
    written = ((kernel.signature.count("r"), "y", F32),) if kind.kind in "fc" else ()
    return replace(kernel, traffic=traffic, floats=written)


def _functions(kind: ElementType, dealt: str) -> str:
    """What the shader files need to know of a type."""
    computed = kind.computed
    # Four columns have each its value; elsewhere the four are alike, and a quarter of the
    # workgroup's memory does, which GPUs in software are slow to compile and to clear.
    kept, one_of, four_of = (
        _FOUR.get(computed, ("Four", "v", "one")) if dealt == FOUR_COLUMNS else _ONE[computed]
    )
    words = "\n".join(
        f"  y[{len(_WORDS[computed])}u * to + {n}u] = {word};"
        for n, word in enumerate(_WORDS[computed])
    )
    if computed == "c":
        parts = ("C(v.re.{0}, v.im.{0})", "C(vec4f(v.re[k]), vec4f(v.im[k]))")
    elif computed in "IU":
        parts = ("Long(v.low.{0}, v.high.{0})", "Long(vec4u(v.low[k]), vec4u(v.high[k]))")
    else:
        parts = ("v.{0}", "Four(v[k])")
    turned, lane = parts
    chosen = storage.select_of(kind)
    return f"""\
alias Kept = {kept};

fn one_of(v: Four) -> Kept {{
  return {one_of};
}}

fn four_of(one: Kept) -> Four {{
  return {four_of};
}}

fn chosen(no: Four, yes: Four, which: vec4<bool>) -> Four {{
  return {chosen}(no, yes, which);
}}

fn turned_by_two(v: Four) -> Four {{
  return {turned.format("zwxy")};
}}

fn turned_by_one(v: Four) -> Four {{
  return {turned.format("yxwz")};
}}

fn lane_of(v: Four, k: u32) -> Four {{
  return {lane};
}}

fn write(to: u32, v: Four) {{
{words}
}}
"""
