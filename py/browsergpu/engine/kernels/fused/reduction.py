"""Kernels that evaluate a trace and reduce its value.

The elements have the shape [outer, length, inner]. The kernel reduces the middle axis in chunks,
see engine/kernels/base/cuts.py. It writes 32-bit words in the type of the computation.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from browsergpu.engine.core.element_types import (
    BOOL,
    COMPLEX64,
    FLOAT32,
    INT32,
    INT64,
    UINT32,
    UINT64,
    ElementType,
)
from browsergpu.engine.kernels.fused import storage
from browsergpu.engine.kernels.fused.operations import numbered
from browsergpu.engine.kernels.fused.source import MOST_KERNELS, THREADS, Body, Source, result_of
from browsergpu.engine.kernels.text.wgsl_types import F32

#: The type of a reduction's result, by the letter of its computation.
WIDE: dict[str, ElementType] = {
    "f": FLOAT32,
    "i": INT32,
    "u": UINT32,
    "b": BOOL,
    "c": COMPLEX64,
    "I": INT64,
    "U": UINT64,
}
#: Divisions of the elements among threads. ROWS and ALIGNED_ROWS reduce rows (inner is 1), and
#: chunks of aligned rows consist of complete groups of four. FOUR_COLUMNS gives each thread four
#: neighbouring columns (inner is a multiple of 4), COLUMNS one.
ROWS, ALIGNED_ROWS, FOUR_COLUMNS, COLUMNS = "rows", "aligned rows", "four columns", "columns"

_FIELDS = ("outer", "length", "inner", "chunk", "chunks", "lanes")
_FUNCTIONS = {
    ROWS: "reduce_rows",
    ALIGNED_ROWS: "reduce_rows",
    FOUR_COLUMNS: "reduce_columns",
    COLUMNS: "reduce_columns",
}
#: The words of the first of four values, by the letter of the computation.
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
# Bools are words in workgroup memory. On NVIDIA GPUs, naga's code for arrays of bool gives wrong
# values (wgpu 0.32 on an H100: all() of ones was false).
#: For four equal values: the type of one value in workgroup memory, its expression, and the
#: expression of the four values.
_ONE = {
    "f": ("f32", "v.x", "vec4f(one)"),
    "i": ("i32", "v.x", "vec4i(one)"),
    "u": ("u32", "v.x", "vec4u(one)"),
    "b": ("u32", "u32(v.x)", "vec4<bool>(one != 0u)"),
    "c": ("vec2f", "vec2f(v.re.x, v.im.x)", "C(vec4f(one.x), vec4f(one.y))"),
    "I": _ONE_WIDE,
    "U": _ONE_WIDE,
}
#: The same for four different values, if workgroup memory needs another type.
_FOUR = {"b": ("vec4u", "vec4u(v)", "(one != vec4u())")}


@lru_cache(maxsize=MOST_KERNELS)
def reduction(
    trace: tuple[int, ...],
    modes: str,
    rank: int,
    by_fours: bool,
    overload_number: int,
    division: str,
    scaled: bool,
    threads: int = THREADS,
) -> Source:
    """Return the kernel that reduces the elements of a trace's last entry.

    Parameters
    ----------
    trace : tuple of int
        The trace.
    modes : str
        The access mode of each leaf.
    rank : int
        Number of axes of the elements.
    by_fours : bool
        Whether the extent of the last axis is a multiple of 4.
    overload_number : int
        The number of the overload that combines two elements.
    division : str
        The division of the elements: ROWS, ALIGNED_ROWS, FOUR_COLUMNS or COLUMNS.
    scaled : bool
        Whether results are multiplied by a float.
    threads : int, optional
        Threads of a workgroup.

    Notes
    -----
    The kernel's parameters are the number of elements, the fields of a Cut, the words of the
    identity element, the float if ``scaled``, and the other parameters of :class:`Source`.
    """
    place = len(trace) - 1
    body = Body(trace, (place,), modes, rank, by_fours)
    made = numbered(overload_number)
    kind = made.result
    for name in _FIELDS:
        body.parameter(name)
    nothing = storage.of_parameter(kind, [body.parameter() for _ in range(max(1, kind.bits // 32))])
    scaled_value = f"v * bitcast<f32>({body.parameter()})" if scaled else "v"
    body.include_for(result_of(trace[place]), kind)
    body.include(f"lib/fused/{_FUNCTIONS[division]}.wgsl")
    body.coordinates()
    body.values()
    value = storage.converted(f"v{place}", result_of(trace[place]), kind)
    # A custom operation skips elements after the end, but none of the combined elements is one.
    combined = body.applied(made, "a", "b")
    inside = "let i = (params.n >> 2u) + 1u;\n  " if made.custom else ""
    kernel = body.kernel(
        f"""\
alias Four = {storage.WGSL[kind.computed]};
const THREADS = {threads}u;
const ALIGNED = {"true" if division == ALIGNED_ROWS else "false"};
const WIDTH = {4 if division == FOUR_COLUMNS else 1}u;
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

{_functions(kind, division)}
@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {{
  {_FUNCTIONS[division]}(group, groups, thread);
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


def _functions(kind: ElementType, division: str) -> str:
    """Return the declarations of a type that the shader files need."""
    computed = kind.computed
    # Four columns have different values. Otherwise the four values are equal, and a quarter of the
    # workgroup memory is enough. Software GPUs are slow to compile and to clear that memory.
    kept, one_of, four_of = (
        _FOUR.get(computed, ("Four", "v", "one")) if division == FOUR_COLUMNS else _ONE[computed]
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
