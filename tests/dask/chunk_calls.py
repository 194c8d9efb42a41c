"""Run the calls of calls.txt over chunks of NumPy and of browsergpu, on a software GPU.

This is a program, because the tests' own process has no GPU. It writes one line of JSON per call,
with the call's outcome:

``right``: the values are right, in browsergpu chunks. ``host``: the values are right, in NumPy
chunks. ``refused``: browsergpu raised an error. ``dask``: Dask raised an error. Anything else is a
fault.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

TABLE = Path(__file__).with_name("calls.txt")
#: The dtypes that replace 64-bit dtypes on the GPU.
DEMOTED = {"float64": "float32", "complex128": "complex64"}


class Call(NamedTuple):
    """One line of the table; ``expected`` is the expected outcome."""

    section: str
    name: str
    text: str
    expected: str


def calls() -> Iterator[Call]:
    """Yield the lines of the table."""
    section = name = ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line.startswith("    "):
            mark, found, text = line.strip().partition(": ")
            if found and mark in ("host", "refused", "dask", "scipy"):
                yield Call(section, name, text, "host" if mark == "scipy" else mark)
            else:
                yield Call(section, name, line.strip(), "right")
        elif line and not line.startswith("#"):
            name = line


def data() -> dict[str, np.ndarray]:
    """Return the operands by name.

    v, w, u: vectors; u is between 0 and 1. m, l: matrices of 6 × 8. s, positive: square matrices.
    rows, whole: m in chunks of rows. tall: m.T in chunks of rows. one: v in one chunk. gaps: m with
    NaN. n: a vector of small integers. i, j: matrices of small integers; j is above 0. b, c: bools.
    z: complex.
    """
    draw = np.random.default_rng(5)

    def floats(*shape: int) -> np.ndarray:
        return draw.standard_normal(shape).astype(np.float32)

    v, w, m, l = floats(12), floats(12), floats(6, 8), floats(6, 8)  # noqa: E741
    s = floats(6, 6) + 4 * np.eye(6, dtype=np.float32)
    return {
        "v": v, "w": w, "m": m, "l": l, "s": s, "one": v, "rows": m, "whole": m,
        "u": (draw.random(12) * 0.8 + 0.1).astype(np.float32), "tall": m.T.copy(),
        "positive": s @ s.T, "gaps": np.where(m > 1, np.nan, m).astype(np.float32),
        "n": draw.integers(0, 7, 12).astype(np.int32),
        "i": draw.integers(-20, 20, (6, 8)).astype(np.int32),
        "j": draw.integers(1, 9, (6, 8)).astype(np.int32),
        "b": v > 0, "c": m > 0, "z": (m + 1j * l).astype(np.complex64),
    }  # fmt: skip


#: Chunk sizes of the arrays that do not use the default.
CHUNKS: dict[str, Any] = {
    "tall": (4, 6), "rows": (2, 8), "whole": (2, 8), "s": (3, 3), "positive": (3, 3), "one": -1,
}  # fmt: skip


def put(x: Any, key: Any, value: Any) -> Any:
    """Return a copy with a value assigned."""
    made = x.copy()
    made[key] = value
    return made


def stored(store: Any, x: Any) -> Any:
    """Return the array that a function stored in a NumPy array."""
    import dask.array as da

    target = np.zeros(x.shape, x.dtype)
    store(x, target)
    return da.from_array(target)


def through_npy_files(x: Any) -> Any:
    """Write an array to files and read it again."""
    import dask.array as da

    with tempfile.TemporaryDirectory() as folder:
        da.to_npy_stack(folder, x)
        return da.from_array(da.from_npy_stack(folder).compute())


def evaluated(call: Call, arrays: dict[str, np.ndarray], several: bool, backend: str) -> Any:
    """Return the lazy result of a call, and the chunks of its computed values."""
    import dask
    import dask.array as da

    chunks = {
        name: CHUNKS.get(name, 5 if x.ndim == 1 else (4, 3)) if several else -1
        for name, x in arrays.items()
    }
    names: dict[str, Any] = {
        name: da.from_array(x, chunks=chunks[name]).to_backend(backend)
        for name, x in arrays.items()
    }
    names |= {
        "da": da,
        "np": np,
        "put": put,
        "stored": stored,
        "through_npy_files": through_npy_files,
        "BACKEND": backend,
        "L": arrays["l"],
    }
    makes = call.section == "creation"
    with dask.config.set({"array.backend": backend}) if makes else nullcontext():
        lazy = eval(call.text, names)
    if isinstance(lazy, tuple | list):
        return lazy, dask.compute(*lazy)
    return lazy, dask.compute(lazy)


def difference(got: Any, expected: Any) -> str:
    """Describe how a value differs from NumPy's; "" if it does not."""
    found, known = np.asarray(got), np.asarray(expected)
    if found.shape != known.shape:
        return f"shape {found.shape} instead of {known.shape}"
    if DEMOTED.get(found.dtype.name, found.dtype.name) != DEMOTED.get(
        known.dtype.name, known.dtype.name
    ):
        return f"{found.dtype} instead of {known.dtype}"
    # Up to 48 float32 numbers are summed in another order.
    if not np.allclose(found, known, rtol=2e-4, atol=2e-5, equal_nan=True):
        return f"{found.tolist()} instead of {known.tolist()}"
    return ""


def outcome(call: Call, arrays: dict[str, np.ndarray], several: bool) -> str:
    """Return the outcome of a call over browsergpu chunks."""
    import browsergpu as bg

    _, expected = evaluated(call, arrays, several, "numpy")
    try:
        lazy, found = evaluated(call, arrays, several, "browsergpu")
    except bg.errors.BackendError as error:
        return f"refused {type(error).__name__}: {error}"
    except Exception as error:
        module = error.__traceback__
        while module is not None and module.tb_next is not None:
            module = module.tb_next
        where = "" if module is None else module.tb_frame.f_globals["__name__"]
        kind = "dask" if where.startswith("dask.") and isinstance(error, ValueError) else "raw"
        return f"{kind} {type(error).__name__}: {error} ({where})"
    for got, known in zip(found, expected, strict=True):
        if problem := difference(got, known):
            return f"wrong {problem}"
    if not all(isinstance(one, bg.Array) for one in found):
        return "host"
    known = (lazy.dtype.name, DEMOTED.get(lazy.dtype.name)) if hasattr(lazy, "dtype") else ()
    if isinstance(getattr(lazy, "_meta", None), bg.Array) and found[0].dtype.name not in known:
        return f"wrong dask says {lazy.dtype}, and it is {found[0].dtype}"
    return "right"


def main() -> None:
    """Print a line for each call, in one chunk and in several."""
    import dask

    import browsergpu as bg
    import browsergpu.dask

    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    bg.set_x64("quiet")
    dask.config.set(scheduler="synchronous")
    arrays = data()
    for call in calls():
        for several in (False, True):
            line = [call.section, call.name, call.text, several, outcome(call, arrays, several)]
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    sys.exit(main())
