"""Kernels that compute the gradients of a norm of rows, from values of a trace."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from browsergpu.engine.core.element_types import FLOAT16, FLOAT32, ElementType
from browsergpu.engine.core.grids import blocks
from browsergpu.engine.kernels.base.cuts import power_of_two
from browsergpu.engine.kernels.fused import storage
from browsergpu.engine.kernels.fused.source import MOST_KERNELS, THREADS, Body, Source, result_of
from browsergpu.engine.kernels.text.wgsl_types import F16, F32

#: vec4s of a row that each thread may hold in registers. The smallest sufficient number is used.
_KEPT = (1, 2, 4, 8)
_USUAL = 4
#: Maximum workgroups that write sums. More would write more partial sums than they save time.
_MOST_GROUPS = 256


class NormPlan(NamedTuple):
    """How rows are divided among threads.

    Attributes
    ----------
    kept
        The vec4s of a row that each thread holds.
    lanes
        The threads of a row, a power of two.
    groups
        The number of workgroups.
    """

    kept: int
    lanes: int
    groups: int


@lru_cache(maxsize=1024)
def norm_plan(rows: int, length: int, *, has_sums: bool) -> NormPlan | None:
    """Return the division of nonempty rows, or None for rows that the kernel does not support."""
    if length % 4 or length > 4 * _KEPT[-1] * THREADS:
        return None
    lanes = min(THREADS, power_of_two(blocks(length, 4 * _USUAL)))
    kept = next(count for count in _KEPT if length <= 4 * count * lanes)
    groups = blocks(rows, THREADS // lanes)
    most = _MOST_GROUPS if has_sums else 65_535
    return NormPlan(kept, lanes, min(groups, most))


@lru_cache(maxsize=MOST_KERNELS)
def norm_gradient(
    trace: tuple[int, ...],
    places: tuple[int, ...],
    modes: str,
    rank: int,
    by_fours: bool,
    kind: ElementType,
    kept: int,
    parts: int,
    *,
    is_centred: bool,
) -> Source:
    """Return the kernel that computes gradients of a norm.

    Parameters
    ----------
    trace : tuple of int
        The trace.
    places : tuple of int
        The positions of three floats: the input, the gradient of the result, and this gradient
        times the factors. A fourth one is a float32 array of the whole shape, which is added to the
        input's gradient.
    modes : str
        The access mode of each leaf.
    rank : int
        Number of axes of the elements.
    by_fours : bool
        Whether the extent of the last axis is a multiple of 4.
    kind : ElementType
        The type of the input's gradient, which the kernel writes.
    kept : int
        The vec4s of a row that each thread holds.
    parts : int
        1 to write the partial sums of the gradient for the factors too, as float32, and 2 for those
        of the summands as well.
    is_centred : bool
        Whether the norm subtracts the mean.

    Notes
    -----
    The kernel's parameters are the number of elements, the number and the length of rows, the
    threads of a row, the workgroups, the bits of eps, and the other parameters of :class:`Source`.
    """
    body = Body(trace, places, modes, rank, by_fours)
    for name in ("rows", "length", "lanes", "groups", "eps"):
        body.parameter(name)
    body.include("lib/floats.wgsl", "lib/rows.wgsl", "lib/fused/norm_gradient.wgsl")
    body.include_for(FLOAT32)
    body.coordinates()
    body.values()
    x, g, own = (
        storage.converted(f"v{place}", result_of(trace[place]), FLOAT32) for place in places[:3]
    )
    residual = [f" + bitcast<vec4f>({body.array(place)}[to])" for place in places[3:]]
    part = "sums[to] = value;" if parts else ""
    kernel = body.kernel(
        f"""\
const KEPT = {kept}u;
const PARTS = {parts}u;
const CENTRED = {"true" if is_centred else "false"};

struct Given {{
  x: vec4f,
  g: vec4f,
  own: vec4f,
}}

fn elements(i: u32) -> Given {{
  {body.text()}
  return Given({x}, {g}, {own});
}}

fn write_gradient(to: u32, value: vec4f) {{
  let found = value{"".join(residual)};
  {storage.write_four(kind, "y", "to", "found")}
}}

fn write_part(to: u32, value: vec4f) {{
  {part}
}}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {{
  norm_gradient(group, thread);
}}
""",
        named="norm gradient",
        words=storage.FOUR[kind.bits],
        beside=(("sums", "vec4f", True),) if parts else (),
    )
    first = kernel.signature.count("r") + kernel.signature.count("w") - 1 - bool(parts)
    floats = [(first, "y", F16 if kind is FLOAT16 else F32)]
    if parts:
        floats.append((first + 1, "sums", F32))
    traffic = body.traffic()
    if traffic is not None:
        traffic = traffic._replace(
            operations=traffic.operations + (14 if is_centred else 9) + 3 * parts,
            bits=kind.bits,
            skipped=5,
        )
    return replace(kernel, traffic=traffic, floats=tuple(floats))
