"""Elementwise operations that users write: WGSL of one element, within a generated kernel."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from browsergpu.core.element_types import ElementType
from browsergpu.core.places import users_place
from browsergpu.kernels.c_text import writing
from browsergpu.kernels.c_text.translating import preamble_of, translated
from browsergpu.kernels.fused.operations import Operation, Types, Written
from browsergpu.kernels.fused.storage import WGSL

#: What one element is in WGSL, by what it is computed in.
ONE = writing.WGSL
#: The name that a text has for an element's place in the result.
PLACE_NAME = "i"


@dataclass(frozen=True, slots=True)
class Typed:
    """What the operands' types come to: those of the outputs, and of the letters that stand for
    types."""

    outputs: Types
    letters: Mapping[str, ElementType]


def operations(
    name: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    body: str,
    typed: Callable[[Types], Typed],
    includes: tuple[str, ...] = (),
    preamble: str = "",
) -> tuple[Operation, ...]:
    """The operations that give each of the outputs, of statements that assign to them, in WGSL or
    in C. Several outputs are as many functions, of which a compiler leaves out what is done twice.
    ``includes`` are the shader files that the statements need, ``preamble`` functions that they
    call."""

    def one(at: int) -> Operation:
        def rule(types: Types) -> tuple[Types, ElementType]:
            return types, typed(types).outputs[at]

        def write(number: int, types: Types) -> Written:
            return _written(
                name, number, inputs, outputs, body, at, types, typed(types), includes, preamble
            )

        return Operation(name, rule, {}, write=write)

    return tuple(map(one, range(len(outputs))))


def _written(
    name: str,
    number: int,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    body: str,
    at: int,
    types: Types,
    typed: Typed,
    includes: tuple[str, ...],
    preamble: str,
) -> Written:
    function = f"own{number}"
    letters = {letter: kind.computed for letter, kind in typed.letters.items()}
    before = preamble_of(preamble, letters, f"{function}_")
    kinds = [kind.computed for kind in (*types, *typed.outputs)]
    made = translated(body, dict(zip((*inputs, *outputs), kinds, strict=True)), letters, before, {})
    body = made.text
    result = typed.outputs[at].computed
    given = "".join(
        f"{own}: {ONE[kind.computed]}, " for own, kind in zip(inputs, types, strict=True)
    )
    declared = " ".join(
        f"var {own}: {ONE[kind.computed]};"
        for own, kind in zip(outputs, typed.outputs, strict=True)
    )
    for letter, kind in typed.letters.items():
        body = re.sub(rf"\b{letter}\b", ONE[kind.computed], body)
    fours = "".join(f"a{n}: {WGSL[kind.computed]}, " for n, kind in enumerate(types))
    lanes = "\n".join(
        # What is beyond the end is not computed: a loop there might never end.
        f"  if (count > {lane}u) {{ {_assigned(result, lane, _call(function, types, lane))} }}"
        for lane in range(4)
    )
    after = f"""
  ; return {outputs[at]};
}}
fn {function}({fours}at: u32) -> {WGSL[result]} {{
  let count = params.n - 4u * at;
  var y: {WGSL[result]};
{lanes}
  return y;
}}
"""
    return Written(
        file=name,
        before=(
            f"{before.text}fn {function}_of({given}{PLACE_NAME}: u32) -> {ONE[result]}"
            f" {{ {declared}\n"
        ),
        body=body,
        after=after,
        expression=f"{function}({', '.join(f'{{{n}}}' for n in range(len(types)))}, i)",
        recorded=users_place(),  # its kernels are made later
        knows_place=re.search(rf"\b{PLACE_NAME}\b", body) is not None,
        includes=(*includes, *sorted(made.includes)),
    )


def _call(function: str, types: Types, lane: int) -> str:
    letter = "xyzw"[lane]
    operands = [
        f"vec2f(a{n}.re.{letter}, a{n}.im.{letter})" if kind.computed == "c" else f"a{n}.{letter}"
        for n, kind in enumerate(types)
    ]
    return f"{function}_of({', '.join([*operands, f'4u * at + {lane}u'])})"


def _assigned(result: str, lane: int, value: str) -> str:
    letter = "xyzw"[lane]
    if result == "c":
        return f"let v = {value}; y.re.{letter} = v.x; y.im.{letter} = v.y;"
    return f"y.{letter} = {value};"
