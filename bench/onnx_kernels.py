"""Counts the kernels that ``bg.jit`` dispatches for ONNX models, natively, on any device.

    python bench/onnx_kernels.py FOLDER [small|full] [part of a name]

FOLDER has the unpacked packages of tools/onnx_suite/requirements.txt. Prints a row for each model:
the kernels of a replay, and the largest difference from onnxruntime's result on the CPU, relative
to the largest element, if onnxruntime is installed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import browsergpu as bg

BENCH = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCH.parent / "tools"), str(BENCH)]

from suite.onnx_cases import Case, cases, expected  # noqa: E402

#: The last call replays.
_CALLS = 4


def counted(case: Case) -> tuple[int, list[np.ndarray]]:
    """Return the number of kernels of a replay, and the results."""
    beside = {name: x.copy().tobytes() for name, x in case.weights.items()}
    model = bg.onnx.load(next(iter(case.files.values())), external=beside)
    arrays = {name: x if isinstance(x, np.ndarray) else x.copy() for name, x in case.inputs.items()}
    given = {name: x.item() if x.ndim == 0 else bg.asarray(x) for name, x in arrays.items()}
    call = bg.jit(model)
    for _ in range(_CALLS):
        found = call(**given)
    results = found if isinstance(found, tuple) else (found,)
    variants = call.explain().variants
    assert variants, call.explain()
    return variants[-1]["kernels"], [np.asarray(x) for x in results]


def difference(case: Case, found: list[np.ndarray]) -> str:
    """Return the largest difference from onnxruntime's results, or a dash without onnxruntime."""
    try:
        results = expected(case)[0]
    except ImportError:
        return "–"
    return format(max(map(_relative, found, results.values())), ".1e")


def _relative(x: np.ndarray, y: np.ndarray) -> float:
    wide = y.astype(np.float64)
    return float(np.abs(x - wide).max() / max(float(np.abs(wide).max()), 1e-30))


def main() -> None:
    """Print a table."""
    folder = Path(sys.argv[1])
    sizes, part = (*sys.argv[2:4], "")[:2] if len(sys.argv) > 2 else ("full", "")
    print("| model | kernels | difference |\n| --- | --- | --- |", flush=True)
    for case in cases(sizes, folder):
        if part in case.id:
            kernels, found = counted(case)
            row: list[Any] = [case.id, kernels, difference(case, found)]
            print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
