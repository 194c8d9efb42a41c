"""Compare ``browsergpu.jax`` with JAX on snippets, and on pages of JAX's documentation.

    python -m jax_programs --jax PYTHON [README.md thinking_in_jax.md ...] [-k NAME]

``--jax`` is a Python that has JAX 0.10.2. It fetches nothing: pages are files of a checkout of
jax-ml/jax. A snippet passes if both return equal dtypes and shapes, and values within a tolerance,
or if both raise. Cells of pages pass if both run, or both raise.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_HERE = Path(__file__).resolve().parent
_FUNCTIONS = (
    "abs", "arccos", "arcsin", "arctan", "ceil", "cos", "cosh", "exp", "exp2", "expm1", "fabs",
    "floor", "invert", "isfinite", "log", "log10", "log1p", "log2", "logical_not", "negative",
    "positive", "rad2deg", "reciprocal", "rint", "sign", "sin", "sinc", "sinh", "sqrt", "square",
    "tan", "tanh", "trunc", "cbrt", "isnan", "conj", "real", "imag", "i0", "arcsinh", "round",
)  # fmt: skip
_FUNCTIONS_2 = (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "maximum",
    "minimum", "equal", "less", "greater_equal", "logical_and", "arctan2", "hypot", "logaddexp",
    "bitwise_and", "left_shift", "fmod", "copysign", "float_power", "fmax",
)  # fmt: skip
_DTYPES = ("bool", "int8", "uint8", "int16", "int32", "uint32", "float16", "float32", "complex64")


def snippets() -> dict[str, str]:
    """Return all snippets by kind and number."""
    found = {}
    for path in sorted((_HERE / "snippets").glob("*.txt")):
        blocks = re.split(r"\n\n+(?=\S)", path.read_text(encoding="utf-8").strip())
        for n, text in enumerate(blocks):
            found[f"{path.stem}#{n + 1}"] = text
    for name in _FUNCTIONS:
        parts = [f"jnp.{name}(jnp.array([0, 1, 1], '{kind}') + jnp.array(0, '{kind}'))"
                 for kind in _DTYPES]  # fmt: skip
        for kind, part in zip(_DTYPES, parts, strict=True):
            found[f"elementwise#{name} {kind}"] = part
    for name in _FUNCTIONS_2:
        for n, kind in enumerate(_DTYPES):
            for other in _DTYPES[n:]:
                found[f"pairs#{name} {kind} {other}"] = (
                    f"jnp.{name}(jnp.array([1, 1, 0], '{kind}'), jnp.array([1, 1, 1], '{other}'))"
                )
            for number in ("1", "1.5", "True"):
                found[f"pairs#{name} {kind} {number}"] = (
                    f"jnp.{name}(jnp.array([1, 1, 0], '{kind}'), {number})"
                )
    return found


def cells(path: Path) -> dict[str, str]:
    """Return the code cells of a page. Timings run their code once."""
    text = path.read_text(encoding="utf-8")
    found = {}
    pattern = r"```(?:python|\{code-cell\}[^\n]*)\n(.*?)```"
    for n, block in enumerate(re.findall(pattern, text, re.DOTALL)):
        lines = [
            re.sub(r"^%timeit (?:-\S+ )*", "", line) for line in block.splitlines()
            if not line.startswith((":", "%xmode"))
        ]  # fmt: skip
        found[f"{path.name}#{n + 1}"] = "\n".join(lines)
    return found


def _ran(python: str, which: str, given: Path) -> Any:
    command = [python, str(_HERE / "evaluate.py"), which, str(given)]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "MPLBACKEND": "agg"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{which} failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def _is_close(x: str, y: str, dtype: str) -> bool:
    a, b = float(x), float(y)
    if a == b or (math.isnan(a) and math.isnan(b)):
        return True
    if not (math.isfinite(a) and math.isfinite(b)):
        return False
    # The GPU's functions are within a few units of the last place, and sums differ in order.
    size = {"float16": 4e-3, "float32": 3e-5, "complex64": 3e-5, "float64": 3e-5}.get(dtype, 0.0)
    return abs(a - b) <= size * max(1.0, abs(a), abs(b))


def difference(ours: Any, theirs: Any) -> str:
    """Return what differs between two descriptions, or an empty text."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if "values" in theirs:
            if ours.get("dtype") != theirs["dtype"] or ours.get("shape") != theirs["shape"]:
                own = f"{ours.get('dtype', ours)}{ours.get('shape')}"
                return f"{own} for {theirs['dtype']}{theirs['shape']}"
            pairs = zip(ours["values"], theirs["values"], strict=True)
            wrong = [pair for pair in pairs if not _is_close(*pair, theirs["dtype"])]
            return f"{wrong[:4]}" if wrong else ""
        if "items" in theirs and "items" in ours and len(ours["items"]) == len(theirs["items"]):
            parts = enumerate(zip(ours["items"], theirs["items"], strict=True))
            return "; ".join(f"[{n}] {one}" for n, pair in parts if (one := difference(*pair)))
        if "dict" in theirs and "dict" in ours and ours["dict"].keys() == theirs["dict"].keys():
            both = [(ours["dict"][key], theirs["dict"][key]) for key in theirs["dict"]]
            return "; ".join(one for pair in both if (one := difference(*pair)))
        if "number" in theirs and "number" in ours:
            same = _is_close(ours["number"], theirs["number"], "float32")
            return "" if same else f"{ours['number']} for {theirs['number']}"
    return "" if ours == theirs else f"{str(ours)[:80]} for {str(theirs)[:80]}"


def compared(name: str, ours: Any, theirs: Any) -> str:
    """Return why a snippet fails, or an empty text."""
    if "raised" in theirs:
        return "" if "raised" in ours else f"does not raise {theirs['raised'][0]}"
    if "raised" in ours:
        return f"{ours['raised'][0]}: {ours['message']}"
    return (
        ""
        if name.partition("#")[0].endswith(".md")
        else difference(ours["result"], theirs["result"])
    )


def main() -> None:
    """Run the snippets on both, and print the counts by kind and the differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jax", required=True, help="a Python that has JAX")
    parser.add_argument("-k", default="", help="run snippets whose names contain this")
    parser.add_argument("pages", nargs="*", type=Path)
    chosen = parser.parse_args()
    given = snippets()
    for path in chosen.pages:
        given |= cells(path)
    given = {name: text for name, text in given.items() if chosen.k in name}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "snippets.json"
        file.write_text(json.dumps(given), encoding="utf-8")
        theirs = _ran(chosen.jax, "jax", file)
        ours = _ran(sys.executable, "browsergpu", file)
    passed: Counter[str] = Counter()
    number: Counter[str] = Counter()
    for name in given:
        kind = name.partition("#")[0]
        number[kind] += 1
        why = compared(name, ours[name], theirs[name])
        passed[kind] += not why
        if why:
            print(f"{name}: {why}")
    for kind, count in number.items():
        print(f"{kind}: {passed[kind]} of {count}")


if __name__ == "__main__":
    main()
