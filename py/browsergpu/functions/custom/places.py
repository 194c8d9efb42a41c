"""Custom kernels with raw or given arrays: a shader with one thread per element."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from struct import pack
from typing import Any, NamedTuple

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.context import current
from browsergpu.arrays.in_place import become
from browsergpu.arrays.numbers import words_of
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import FLOAT32, INT32, UINT32, ElementType
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.grids import cover
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Description
from browsergpu.engine.kernels.c_text.translation import translate, translate_preamble
from browsergpu.engine.kernels.fused.custom import ONE
from browsergpu.engine.kernels.text import shaders
from browsergpu.engine.tensors import custom
from browsergpu.functions import creation, manipulation
from browsergpu.functions.custom.declarations import Parameter
from browsergpu.functions.custom.memory import readable, writable

_THREADS = 256
#: WGSL types of elements in memory, for types of 32 bits or more.
_WORDS = {"f": "f32", "i": "i32", "u": "u32", "b": "u32", "c": "vec2f"}
_WIDE = {"f": FLOAT32, "i": INT32, "u": UINT32}


class Operand(NamedTuple):
    """A parameter in the shader."""

    name: str
    computed: str
    #: "number", "each" (one element per thread) or "raw".
    way: str
    is_output: bool
    #: Whether an output's array has elements before the call.
    is_given: bool = False


def run(
    name: str, inputs: Sequence[Parameter], outputs: Sequence[Parameter],
    kinds: Sequence[ElementType], values: Sequence[Any], given: Sequence[Array] | None,
    letters: Mapping[str, ElementType], body: str, preamble: str, size: int | None,
) -> tuple[Array, ...]:  # fmt: skip
    """Run a shader with one thread per element. Return the outputs, which are ``given`` or new."""
    shape = _shape(name, inputs, outputs, values, given, size)
    first = next((one for one in (*values, *(given or ())) if isinstance(one, Array)), None)
    device = current().device if first is None else first.device
    count = product(shape)
    of_inputs, of_outputs = kinds[: len(inputs)], kinds[len(inputs) :]
    results = given
    if results is None:
        if any(one.is_raw for one in outputs):
            advice = "Give it as an argument after the inputs."
            raise InvalidArgument(
                name, "args", Description("no output"), "have raw outputs", advice
            )
        results = [creation.zeros(shape, dtype=kind.numpy, device=device) for kind in of_outputs]
    if count == 0:
        return tuple(results)
    operands, arrays, numbers = [], [], []
    for one, kind, value in zip(inputs, of_inputs, values, strict=True):
        way = "raw" if one.is_raw else "each" if isinstance(value, Array) else "number"
        operands.append(Operand(one.name, kind.computed, way, False))
        if isinstance(value, Array):
            spread = value if one.is_raw else manipulation.broadcast_to(value, shape)
            arrays.append(readable(_widened(spread, kind)))
        else:
            numbers.append((value, kind))
    written = []
    for one, kind, result in zip(outputs, of_outputs, results, strict=True):
        way = "raw" if one.is_raw else "each"
        operands.append(Operand(one.name, kind.computed, way, True, given is not None))
        wide = _widened(result, kind)
        made = writable(wide, [*arrays, *results])
        written.append((result, wide, made, kind))
    by_letter = tuple((letter, kind.computed) for letter, kind in letters.items())
    code = _code(name, tuple(operands), body, preamble, by_letter)
    words = [count]
    for value, kind in numbers:
        words += words_of(value, kind)
    data = pack(f"<{len(words)}I", *words)
    bound = [*arrays, *(made for _, _, made, _ in written)]
    device.throttle(name)
    custom.dispatch(
        device, name, code, "main", [x.node.storage.buffer for x in bound],
        custom.workgroups(name, cover(count, _THREADS)),
        uniform_data=data + bytes(-len(data) % 16),
    )  # fmt: skip
    for result, wide, made, kind in written:
        if wide is result:
            become(result, made)
        else:
            result[...] = made.astype(kind.numpy)
    return tuple(results)


def _widened(x: Array, kind: ElementType) -> Array:
    return x.astype(_WIDE[kind.computed].numpy) if kind.bits < 32 else x


def _shape(
    name: str, inputs: Sequence[Parameter], outputs: Sequence[Parameter], values: Sequence[Any],
    given: Sequence[Array] | None, size: int | None,
) -> Shape:  # fmt: skip
    """Return the shape of the grid of threads."""
    each = [x.shape for one, x in zip(inputs, values, strict=True)
            if isinstance(x, Array) and not one.is_raw]  # fmt: skip
    of_outputs = [x.shape for one, x in zip(outputs, given or (), strict=False) if not one.is_raw]
    if size is not None:
        if each or of_outputs:
            expected = "None if an array is not raw, which determines the size"
            raise InvalidArgument(name, "size", size, expected)
        return (size,)
    if not each and not of_outputs:
        expected = "given if all arrays are raw"
        raise InvalidArgument(name, "size", size, expected)
    try:
        shape = np.broadcast_shapes(*each, *of_outputs)
    except ValueError:
        shown = Description(" and ".join(map(str, [*each, *of_outputs])))
        raise InvalidArgument(name, "args", shown, "have shapes that broadcast to one") from None
    for one in of_outputs:
        if one != shape:
            raise InvalidArgument(name, "out", Description(f"shape {one}"), f"have shape {shape}")
    return shape


@lru_cache(maxsize=256)
def _code(
    name: str, operands: tuple[Operand, ...], body: str, preamble: str,
    by_letter: tuple[tuple[str, str], ...],
) -> str:  # fmt: skip
    letters = dict(by_letter)
    before = translate_preamble(preamble, letters, "own_")
    each = {one.name: one.computed for one in operands if one.way != "raw"}
    raw = {one.name: one.computed for one in operands if one.way == "raw"}
    made = translate(body, each, letters, before, raw)
    text = made.text
    for letter, computed in letters.items():
        text = _with_type(text, letter, ONE[computed])
    fields, declared, begin, end = ["n: u32"], [], [], []
    at = 1
    for one in operands:
        kind = ONE[one.computed]
        if one.way == "number":
            if one.computed == "c":
                fields += [f"given_{one.name}_re: f32", f"given_{one.name}_im: f32"]
                value = f"vec2f(params.given_{one.name}_re, params.given_{one.name}_im)"
            else:
                fields.append(f"given_{one.name}: {_WORDS[one.computed]}")
                value = f"params.given_{one.name}"
            value = f"{value} != 0u" if one.computed == "b" else value
            begin.append(f"let {one.name} = {value};")
            continue
        access = "read_write" if one.is_output else "read"
        array = one.name if one.way == "raw" else f"{one.name}_elements"
        declared.append(
            f"@group(0) @binding({at}) var<storage, {access}> {array}: "
            f"array<{_WORDS[one.computed]}>;"
        )
        at += 1
        if one.way == "raw":
            continue
        read = f"{array}[i]" + (" != 0u" if one.computed == "b" else "")
        if not one.is_output:
            begin.append(f"let {one.name} = {read};")
            continue
        begin.append(f"var {one.name}: {kind}" + (f" = {read};" if one.is_given else ";"))
        value = f"u32({one.name})" if one.computed == "b" else one.name
        end.append(f"{array}[i] = {value};")
    return f"""\
struct Params {{ {", ".join(fields)} }}
@group(0) @binding(0) var<uniform> params: Params;
{chr(10).join(declared)}
{before.text}
@compute @workgroup_size({_THREADS})
fn main(@builtin(global_invocation_id) own_id: vec3u, @builtin(num_workgroups) own_grid: vec3u) {{
  let i = own_id.y * own_grid.x * {_THREADS}u + own_id.x;
  if (i >= params.n) {{
    return;
  }}
  {" ".join(begin)}
{text}
  ;
  {" ".join(end)}
}}
{shaders.load(*sorted(made.includes)) if made.includes else ""}"""


def _with_type(text: str, letter: str, kind: str) -> str:
    return re.sub(rf"\b{letter}\b", kind, text)
