"""Custom elementwise operations: the user's code computes one element in a generated kernel."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from browsergpu.engine.core.element_types import ElementType
from browsergpu.engine.core.places import users_place
from browsergpu.engine.kernels.c_text import writer
from browsergpu.engine.kernels.c_text.translation import translate, translate_preamble
from browsergpu.engine.kernels.fused.operations import CustomCode, Operation, Types
from browsergpu.engine.kernels.fused.storage import WGSL

#: The WGSL type of one element, by the letter of its computation.
ONE = writer.WGSL
#: The name of the element's index in the user's code.
PLACE_NAME = "i"


@dataclass(frozen=True, slots=True)
class Typed:
    """The types of the outputs and of the template letters, for given operand types."""

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
    """Return one operation per output of a custom kernel.

    The GPU's compiler removes the work that several outputs have in common.

    Parameters
    ----------
    name : str
        The name of the operation, which also appears in compiler errors.
    inputs, outputs : tuple of str
        The names of the operands and the outputs.
    body : str
        Statements in WGSL or C that assign to the outputs.
    typed : callable
        Function from the operands' types to the types of the outputs and template letters.
    includes : tuple of str, optional
        The shader files that the body needs.
    preamble : str, optional
        Functions that the body calls.
    """

    def one(at: int) -> Operation:
        def rule(types: Types) -> tuple[Types, ElementType]:
            return types, typed(types).outputs[at]

        def write(number: int, types: Types) -> CustomCode:
            return _custom_code(
                name, number, inputs, outputs, body, at, types, typed(types), includes, preamble
            )

        return Operation(name, rule, {}, write=write)

    return tuple(map(one, range(len(outputs))))


def _custom_code(
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
) -> CustomCode:
    function = f"own{number}"
    letters = {letter: kind.computed for letter, kind in typed.letters.items()}
    before = translate_preamble(preamble, letters, f"{function}_")
    kinds = [kind.computed for kind in (*types, *typed.outputs)]
    made = translate(body, dict(zip((*inputs, *outputs), kinds, strict=True)), letters, before, {})
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
        # Elements after the end are not computed. A loop might never end there.
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
    return CustomCode(
        file=name,
        before=(
            f"{before.text}fn {function}_of({given}{PLACE_NAME}: u32) -> {ONE[result]}"
            f" {{ {declared}\n"
        ),
        body=body,
        after=after,
        expression=f"{function}({', '.join(f'{{{n}}}' for n in range(len(types)))}, i)",
        recorded=users_place(),  # the kernels are generated later
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
