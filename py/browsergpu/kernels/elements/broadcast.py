"""Arithmetic of two arrays that are broadcast to one shape."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from browsergpu.core.dtypes import DType
from browsergpu.core.grids import blocks, fold
from browsergpu.core.params import params
from browsergpu.core.remembered import remembered
from browsergpu.core.shapes import Shape, merged
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.base.family import Codes, Fields, Kernel, KernelFamily, Work, bindings
from browsergpu.kernels.elements.strided import gather

#: Numbers of indices that the kernels are compiled for; at least the smallest is used.
_RANKS = (2, 3, 5)
_LARGEST = _RANKS[-1]


class _Plan(NamedTuple):
    """The rank to compile for, the kernel's extents and strides, whether four elements can be taken
    at once, how many axes are left, and the innermost strides of both operands."""

    rank: int
    fields: tuple[int, ...]
    wide: bool
    axes: int
    steps: tuple[int, int]


@remembered
def _plan(a_steps: Shape, b_steps: Shape, shape: Shape) -> _Plan | None:
    """None for too many axes."""
    extents, a, b = merged(shape, a_steps, b_steps)
    if len(extents) > _LARGEST:
        return None
    unused = _LARGEST - len(extents)
    fields = (*(*extents, *(1,) * unused)[1:], *a, *(0,) * unused, *b, *(0,) * unused)
    rank = min(rank for rank in _RANKS if rank >= len(extents))
    # The kernel looks for the innermost index in its rank's last place.
    wide = len(extents) == rank and extents[-1] % 4 == 0 and _is_wide(a) and _is_wide(b)
    return _Plan(rank, fields, wide, len(extents), (a[-1], b[-1]) if extents else (0, 0))


def _is_wide(strides: tuple[int, ...]) -> bool:
    """Whether four neighbours of an operand are one element, or a vec4."""
    return strides[-1] == 0 or (strides[-1] == 1 and all(s % 4 == 0 for s in strides[:-1]))


def broadcast(
    build: Build,
    op: str,
    a: Slot,
    a_steps: Shape,
    b: Slot,
    b_steps: Shape,
    y: Slot,
    shape: Shape,
    n: int,
) -> None:
    """y = a op b for words, read with those strides in y's shape; y is neither a nor b, and has
    n > 0 elements."""
    plan = _plan(a_steps, b_steps, shape)
    if plan is not None:
        wide = plan.wide
        threads = build.facts.workgroup_sizes.elementwise
        build.dispatch(
            "broadcast_vectors" if wide else "broadcast", f"{op}_{plan.rank}",
            fold(blocks(n, 4 * threads if wide else threads)), (a, b, y), n, *plan.fields,
        )  # fmt: skip
        return
    # Operands that alternate too often over the axes are first brought to the full shape.
    whole = build.temporary(4 * n), build.temporary(4 * n)
    for slot, steps, target in ((a, a_steps, whole[0]), (b, b_steps, whole[1])):
        gather(build, op, slot, steps, target, shape)
    broadcast(build, op, whole[0], (1,), whole[1], (1,), y, (n,), n)
    build.release(*whole)


#: What the parameter ``kinds`` of :func:`mixed` is the sum of; an op counts _OP times.
MIXED_CODES: Codes = {"add": 0, "sub": 1, "mul": 2, "div": 3}
_A_HALVES, _B_HALVES, Y_HALVES, _FOUR, _A_STEPS, _B_STEPS, _EXCHANGED = 1, 2, 4, 8, 16, 32, 64
_OP = 256


def takes_mixed(a_steps: Shape, b_steps: Shape, shape: Shape) -> bool:
    """Whether :func:`mixed` can do it: not where operands alternate too often over the axes."""
    return _plan(a_steps, b_steps, shape) is not None


def mixed(
    build: Build,
    op: str,
    a: Slot,
    a_type: DType,
    a_steps: Shape,
    b: Slot,
    b_type: DType,
    b_steps: Shape,
    y: Slot,
    y_type: DType,
    shape: Shape,
    n: int,
) -> None:
    """y = a op b for floats of any type, read with those strides in y's shape, with n > 0 elements,
    where ``takes_mixed``; y is one of a and b only where both are y's elements one by one, and not
    both of them."""
    kinds = _OP * MIXED_CODES[op]
    kinds |= Y_HALVES if y_type is DType.F16 else 0
    grid = fold(blocks(n, 4 * build.facts.workgroup_sizes.elementwise))
    if y in (a, b):
        other, kind = (b, b_type) if y == a else (a, a_type)
        kinds |= (_B_HALVES if kind is DType.F16 else 0) | (0 if y == a else _EXCHANGED)
        build.dispatch("mixed_in_place", "", grid, (other, y), n, *(0,) * 14, kinds)
        return
    plan = _plan(a_steps, b_steps, shape)
    assert plan is not None
    if plan.wide or plan.axes == 1:  # along one axis, four may reach past its end
        a_step, b_step = plan.steps
        kinds |= _FOUR | (_A_STEPS if a_step else 0) | (_B_STEPS if b_step else 0)
    kinds |= _A_HALVES if a_type is DType.F16 else 0
    kinds |= _B_HALVES if b_type is DType.F16 else 0
    build.dispatch("mixed", str(plan.rank), grid, (a, b, y), n, *plan.fields, kinds)


CODES: Codes = {
    "add": 0, "sub": 1, "mul": 2, "div": 3, "integer_add": 4, "integer_sub": 5, "integer_mul": 6,
}  # fmt: skip
_CONFIGURATIONS = {
    f"{op}_{rank}": {"OP": code, "RANK": rank} for op, code in CODES.items() for rank in _RANKS
}
_PARAMS = params(
    "n: u32", "extent1: u32", "extent2: u32", "extent3: u32", "extent4: u32", "a0: u32", "a1: u32",
    "a2: u32", "a3: u32", "a4: u32", "b0: u32", "b1: u32", "b2: u32", "b3: u32", "b4: u32",
)  # fmt: skip
_MIXED_PARAMS = params(*_PARAMS.declared, "kinds: u32")


def _work(f: Fields) -> Work:
    return f["n"], 4 * (_read(f, "a") + _read(f, "b") + f["n"])


def _read(f: Fields, operand: str) -> float:
    """Elements of an operand that is broadcast."""
    extents = [f[f"extent{i}"] for i in range(1, 5)]
    extents.insert(0, f["n"] / prod(extents))
    return prod(extent for i, extent in enumerate(extents) if f[f"{operand}{i}"])


def _mixed_work(f: Fields) -> Work:
    operations, nbytes = _work(f)
    kinds = int(f["kinds"])
    a, b = (_read(f, operand) for operand in ("a", "b"))
    spared = a * bool(kinds & _A_HALVES) + b * bool(kinds & _B_HALVES)
    spared += f["n"] * bool(kinds & Y_HALVES)
    return operations, nbytes - 2 * spared


def _mixed_work_in_place(f: Fields) -> Work:
    kinds = int(f["kinds"])
    own, other = 2 if kinds & Y_HALVES else 4, 2 if kinds & _B_HALVES else 4
    return f["n"], (2 * own + other) * f["n"]


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "broadcast", "broadcast.wgsl", bindings("a", "b", "y"), _PARAMS, "main",
            _CONFIGURATIONS, "elementwise", _work,
        ),
        Kernel(
            "broadcast_vectors", "broadcast.wgsl", bindings("a_vectors", "b_vectors", "y_vectors"),
            _PARAMS, "main_vectors", _CONFIGURATIONS, "elementwise", _work,
        ),
        Kernel(
            "mixed", "mixed.wgsl", bindings("a", "b", "y"), _MIXED_PARAMS, "main",
            {str(rank): {"RANK": rank} for rank in _RANKS}, "elementwise", _mixed_work,
        ),
        Kernel(
            "mixed_in_place", "mixed.wgsl", bindings("b", "y", first=1), _MIXED_PARAMS,
            "main_in_place", {"": {"RANK": _RANKS[0]}}, "elementwise", _mixed_work_in_place,
        ),
    )
)  # fmt: skip
