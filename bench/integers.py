"""Measures the cost of 64-bit integers, the default, against 32-bit ones, and of ``debug``.

    python3 bench/integers.py [elements]

The requirements are those of bench/native.py. Each number is the median of its repeats in
milliseconds, including the wait for the GPU. If PyTorch finds a GPU, its times are in a column
beside browsergpu's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from native import Ours, Torch, seconds_of

import browsergpu as bg

ELEMENTS = 1 << 24


def rows(library: Any, xp: Any, dtype: str, n: int) -> Iterator[tuple[str, float]]:
    """Print a name and times in milliseconds."""
    rng = np.random.default_rng(0)
    x, y = (library.upload(rng.integers(1, 2**31, n).astype(dtype)) for _ in range(2))
    part = library.upload(rng.integers(0, 2**31, n // 8).astype(dtype))
    index = library.upload(rng.integers(0, n, n).astype(dtype))
    table = library.upload(rng.random(n, dtype=np.float32))
    programs: dict[str, Callable[[], Any]] = {
        "x + y": lambda: x + y,
        "x * y": lambda: x * y,
        "x // y": lambda: x // y,
        "x < y": lambda: x < y,
        "sum(x)": lambda: xp.sum(x),
        "cumulative sum of an eighth": lambda: xp.cumsum(part, 0),
        "sort of an eighth": lambda: xp.sort(part),
        "take of float32": lambda: table[index],
    }
    for name, program in programs.items():
        yield name, 1e3 * seconds_of(lambda program=program: library.wait(_one(program())))


def _one(found: Any) -> Any:
    return found if hasattr(found, "dtype") else found[0]  # torch.sort returns values and indices


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else ELEMENTS
    ours = Ours()
    columns = [f"{ours.name}: int32", "int64"]
    found = [dict(rows(ours, bg, dtype, n)) for dtype in ("int32", "int64")]
    with bg.debug():
        columns.append("int64 after debug()")
        found.append(dict(rows(ours, bg, "int64", n)))
    try:
        torch = Torch()
    except ImportError as none:
        print(f"Without PyTorch: {none}")
    else:
        columns += [f"{torch.name}: int32", "int64"]
        found += [dict(rows(torch, torch.torch, dtype, n)) for dtype in ("int32", "int64")]
    print(f"milliseconds, {n:,} elements; {'; '.join(columns)}")
    for name in found[0]:
        print(f"{name:32}" + "".join(f"{column[name]:10.3f}" for column in found), flush=True)


if __name__ == "__main__":
    main()
