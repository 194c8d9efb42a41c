"""Adam's parameter update, by a generated kernel."""

from __future__ import annotations

from functools import cache

import numpy as np

from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.grids import fold
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.fused.layout import layout, workgroups
from browsergpu.engine.kernels.fused.row_update import RowLayout, Rule, row_update
from browsergpu.engine.kernels.fused.source import WHOLE
from browsergpu.engine.kernels.fused.trace_builder import TraceBuilder


def adam(build: Build, param: Slot, grad: Slot, m: Slot, v: Slot, n: int) -> None:
    """Add one in-place step for n float32 parameters.

    The four buffers must be different, and n must not be 0. The kernel overwrites up to three
    elements after the last one of ``param``, ``m`` and ``v``. The :func:`factors` are passed when
    the program runs.
    """
    rank, by_fours, modes, words = layout((n,), (((n,), None, 0),))
    rows = RowLayout(WHOLE + modes + WHOLE + WHOLE, rank, by_fours)
    grid = fold(workgroups(n, rank, modes, words))
    kernel = row_update(_rule(), (rows,))
    build.generated(kernel, grid, (param, grad, m, v), n, *words, open=True)


def factors(*, lr: float, beta1: float, beta2: float, eps: float, step: int) -> tuple[int, ...]:
    """Return the kernel's numbers for a step and the optimizer's settings, as words of float32.

    1 - beta and 1 - beta^step are computed in double precision: in float32, 1 - 0.999 is wrong in
    the fifth digit.
    """
    numbers = (
        lr, beta1, beta2, 1.0 - beta1, 1.0 - beta2, eps, 1.0 - beta1**step, 1.0 - beta2**step,
    )  # fmt: skip
    return tuple(np.array(numbers, np.float32).view(np.uint32).tolist())


@cache
def _rule() -> Rule:
    """Return one step of Adam (https://arxiv.org/abs/1412.6980, algorithm 1)."""
    trace = TraceBuilder()
    param, grad, m, v = (trace.array(FLOAT32) for _ in range(4))
    lr, beta1, beta2, rest1, rest2, eps, correction1, correction2 = (
        trace.number(FLOAT32) for _ in range(8)
    )
    apply = trace.apply
    first = apply("add", apply("multiply", beta1, m), apply("multiply", rest1, grad))
    square = apply("multiply", apply("multiply", rest2, grad), grad)
    second = apply("add", apply("multiply", beta2, v), square)
    root = apply("sqrt", apply("divide", second, correction2))
    rate = apply("multiply", lr, apply("divide", first, correction1))
    change = apply("divide", rate, apply("add", root, eps))
    changed = apply("subtract", param, change)
    return Rule(
        trace=tuple(trace.code),
        results=(changed, first, second),
        leaves=(param, grad, m, v),
        operands=(0, 1, 2, 3),
        into=(0, 2, 3),
        arity=4,
    )
