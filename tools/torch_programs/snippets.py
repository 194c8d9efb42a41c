"""Compare browsergpu.torch with PyTorch, on one expression after the other.

    python -m torch_programs.snippets --pytorch PYTHON [-k TEXT]

The expressions are in ``snippets.txt``. This Python evaluates them with ``browsergpu.torch``, and
``PYTHON`` with PyTorch. Shapes and dtypes must be equal, and numbers equal within a relative error
of 1e-4. The script prints the expressions whose results differ, and the counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

_HERE = Path(__file__).resolve()


def expressions(text: str) -> list[str]:
    """Return the expressions that contain a text."""
    lines = (_HERE.parent / "snippets.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#") and text in line]


def values(torch: Any) -> dict[str, Any]:
    """Return the values that the expressions use."""
    draw = np.random.default_rng(0)

    def floats(*shape: int) -> Any:
        return torch.from_numpy(draw.normal(size=shape).astype(np.float32))

    def grad(function: Any, x: Any) -> Any:
        own = x.detach().clone().requires_grad_()
        function(own).backward()
        return own.grad

    q = floats(3, 3)
    found: dict[str, Any] = {
        "a": floats(2, 3), "b": floats(2, 3), "p": floats(2, 3).abs() + 0.3, "v": floats(3), "q": q,
        "s": q @ q.T + torch.eye(3), "c": floats(2, 3, 4),
        "i": torch.tensor([[1, 2, 7], [-4, 2, 9]]), "j": torch.tensor([3, 1, 2]),
        "u": torch.tensor([[1, 250], [3, 4]], dtype=torch.uint8),
        "m": torch.tensor([[True, False, True], [False, False, True]]),
        "k": torch.tensor([0, 2, 1]), "z": torch.complex(floats(2), floats(2)),
        "h": floats(2, 3).half(), "t": floats(2, 3, 6, 6), "grad": grad,
    }  # fmt: skip
    found["u"] = found["u"].repeat(1, 2)[:, :3]
    return found | {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np}


def told(x: Any, torch: Any) -> Any:
    """Return a result in a form that JSON has."""
    if isinstance(x, torch.Tensor):
        whole = x.detach()
        parts = np.asarray(whole.tolist())
        if parts.dtype.kind == "c":
            parts = np.stack([parts.real, parts.imag])
        numbers = [repr(float(n)) for n in parts.ravel()]
        return {"tensor": str(x.dtype).removeprefix("torch."), "shape": [*x.shape], "of": numbers}
    if isinstance(x, np.ndarray):
        return {"array": str(x.dtype), "of": x.tolist()}
    if isinstance(x, dict):
        return {str(key): told(one, torch) for key, one in x.items()}
    if isinstance(x, tuple | list):
        return [told(one, torch) for one in x]
    if isinstance(x, bool | int | str):
        return x
    if isinstance(x, float):
        return {"number": repr(x)}
    return str(x).removeprefix("torch.")


def dump(is_theirs: bool, text: str) -> None:
    """Print the results of the expressions as JSON, one a line."""
    if not is_theirs:
        sys.path.insert(0, str(_HERE.parents[2] / "py"))
        import browsergpu.torch

        browsergpu.torch.install()
    import torch  # type: ignore[import-not-found,unused-ignore]

    warnings.simplefilter("ignore")
    for one in expressions(text):
        try:
            torch.manual_seed(0)
            found = told(eval(one, values(torch)), torch)
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(found), flush=True)


def is_equal(own: Any, theirs: Any) -> bool:
    """Whether two results are equal within the tolerance."""
    if isinstance(own, dict) and isinstance(theirs, dict):
        if own.keys() != theirs.keys() or "error" in own:
            return False
        return all(
            _are_close(own[key], theirs[key]) if key in ("of", "number") else
            is_equal(own[key], theirs[key]) for key in own
        )  # fmt: skip
    if isinstance(own, list) and isinstance(theirs, list):
        return len(own) == len(theirs) and all(map(is_equal, own, theirs))
    return type(own) is type(theirs) and own == theirs


def _are_close(own: Any, theirs: Any) -> bool:
    a, b = (np.asarray(x, dtype=float) for x in (own, theirs))
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)


def results(python: str, options: list[str]) -> list[Any]:
    """Return the results of the expressions in a Python."""
    command = [python, "-m", "torch_programs.snippets", "--dump", *options]
    done = subprocess.run(command, cwd=_HERE.parents[1], stdout=-1, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    """Compare the results, and print those that differ and the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pytorch", help="a Python that has PyTorch")
    parser.add_argument("-k", default="", help="only expressions that contain this")
    parser.add_argument("--dump", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--theirs", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.dump:
        dump(chosen.theirs, chosen.k)
        return
    if not chosen.pytorch:
        parser.error("--pytorch is required")
    theirs = results(chosen.pytorch, ["--theirs", "-k", chosen.k])
    own = results(sys.executable, ["-k", chosen.k])
    count = equal = 0
    for text, mine, right in zip(expressions(chosen.k), own, theirs, strict=True):
        if isinstance(right, dict) and "error" in right:
            print(f"PyTorch fails: {text}: {right['error']}")
            continue
        count += 1
        if is_equal(mine, right):
            equal += 1
        else:
            print(f"{text}\n    found {str(mine)[:300]}\n    PyTorch {str(right)[:300]}")
    print(f"{equal} of {count} expressions have PyTorch's results")


if __name__ == "__main__":
    main()
