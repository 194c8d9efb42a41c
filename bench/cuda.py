"""Measures the rows of bench/run.py with PyTorch on CUDA, for a column beside the browser's.

    python3 bench/cuda.py --out cuda.jsonl [--sizes small]
    .cache/venv/bin/python bench/run.py report lines.jsonl cuda.jsonl

The timing follows page/common.mjs: each sample contains enough calls to make the final wait
negligible. PyTorch runs eagerly, without TF32, and with its own fused functions where they exist.
Each result is checked against the row's reference values. Needs PyTorch and NumPy. Without CUDA it
runs on the CPU, as a test of the script only.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from suite.data import Input
from suite.row import Row
from suite.rows import SIZES, rows

LEAST_S = 0.03  # of work between two waits
WARM_S = 0.2
REPEATS = 10


class Torch:
    """PyTorch's functions for the operations of the rows."""

    def __init__(self) -> None:
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True  # autotunes convolutions, as browsergpu does
        self.torch, self.nn = torch, torch.nn.functional
        self.on = "cuda" if torch.cuda.is_available() else "cpu"
        self.version = torch.__version__

    def wait(self) -> None:
        if self.on == "cuda":
            self.torch.cuda.synchronize()

    def put(self, x: Input) -> Any:
        """Return an input on the GPU. Its copies are made there."""
        once = self.torch.from_numpy(x.copy()).to(self.on)
        return once.repeat(x.repeat, *[1] * (len(x.shape) - 1)) if x.repeat > 1 else once

    def call(self, row: Row) -> Callable[..., Any] | None:
        """Return the function that computes a row from its inputs by name, or None."""
        return getattr(self, f"_{row.op}", None)

    def _matmul(self, o: Mapping[str, Any], a: Any, b: Any) -> Any:
        left = a.mT if o.get("transpose_a") else a
        return left @ (b.mT if o.get("transpose_b") else b)

    def _conv2d(self, o: Mapping[str, Any], x: Any, w: Any) -> Any:
        return self.nn.conv2d(x, w, stride=o["stride"], padding=o["padding"])

    def _attention(self, o: Mapping[str, Any], q: Any, k: Any, v: Any) -> Any:
        return self.nn.scaled_dot_product_attention(q, k, v, is_causal=o["causal"])

    def _softmax(self, o: Mapping[str, Any], x: Any) -> Any:
        return self.torch.softmax(x, o["axis"])

    def _layer_norm(self, o: Mapping[str, Any], x: Any, gamma: Any, beta: Any) -> Any:
        return self.nn.layer_norm(x, gamma.shape, gamma, beta)

    def _sum(self, o: Mapping[str, Any], x: Any) -> Any:
        return x.sum(o["axis"])

    def _variance(self, o: Mapping[str, Any], x: Any) -> Any:
        return x.var(o["axis"], correction=0)

    def _relu(self, o: Mapping[str, Any], x: Any) -> Any:
        return self.torch.relu(x)

    def _add(self, o: Mapping[str, Any], x: Any, y: Any) -> Any:
        return x + y

    def _transpose(self, o: Mapping[str, Any], x: Any) -> Any:
        return x.T.contiguous()

    def _chain(self, o: Mapping[str, Any], x: Any, y: Any) -> Any:
        value = x
        for _ in range(0, o["length"], 2):
            value = self.torch.relu(value + y)
        return value

    def _linear_gelu(self, o: Mapping[str, Any], x: Any, w: Any, bias: Any) -> Any:
        return self.nn.gelu(self.torch.addmm(bias, x, w), approximate="tanh")

    def _add_layer_norm(
        self, o: Mapping[str, Any], x: Any, residual: Any, gamma: Any, beta: Any
    ) -> Any:
        return self.nn.layer_norm(x + residual, gamma.shape, gamma, beta)

    def _attention_block(
        self, o: Mapping[str, Any], x: Any, w_qkv: Any, b_qkv: Any, w_out: Any, b_out: Any
    ) -> Any:
        n, length, width = x.shape
        shape = (n, length, o["heads"], width // o["heads"])
        parts = (x @ w_qkv + b_qkv).chunk(3, dim=-1)
        q, k, v = (part.reshape(shape).transpose(1, 2) for part in parts)
        mixed = self.nn.scaled_dot_product_attention(q, k, v).transpose(1, 2)
        return mixed.reshape(x.shape) @ w_out + b_out + x

    def upload(self, data: Any) -> Callable[[], Any]:
        host = self.torch.from_numpy(data)
        return lambda: host.to(self.on)

    def readback(self, data: Any) -> Callable[[], Any]:
        there = self.torch.from_numpy(data).to(self.on)
        return there.cpu


def timed(issue: Callable[[], Any], wait: Callable[[], None], row: Row) -> dict[str, Any]:
    """Return the time of a call, from samples that are long compared to a wait."""

    def once(times: int) -> float:
        start = time.perf_counter()
        for _ in range(times):
            issue()
        wait()
        return time.perf_counter() - start

    once(1), once(1)
    k, took = 1, once(1)
    while not row.options.get("single") and took < LEAST_S and k < 2000:
        k = min(2000, 10 * k, max(k + 1, int(k * LEAST_S * 1.15 / max(took, 5e-5)) + 1))
        took = once(k)
    until = time.perf_counter() + WARM_S
    while time.perf_counter() < until:
        once(k)
    times = [1e3 * once(k) / k for _ in range(REPEATS)]
    return {"ms": median(times), "best_ms": min(times), "k": k, "repeats": len(times)}


def checked(row: Row, result: Any) -> dict[str, Any]:
    """Compare a result with the row's reference values."""
    told = row.as_json()["check"]
    flat = result.reshape(-1)
    error = max(abs(float(flat[i]) - v) for i, v in zip(told["at"], told["values"], strict=True))
    return {"ok": error <= row.tolerance, "error": error, "tolerance": row.tolerance}


def measure(library: Torch, row: Row) -> dict[str, Any] | None:
    """Measure a row and return its line, or None if PyTorch does not compute it."""
    if row.op in ("upload", "readback"):
        data = row.inputs["x"].copy()
        issue = getattr(library, row.op)(data)
    elif call := library.call(row):
        tensors = {name: library.put(x) for name, x in row.inputs.items()}

        def issue() -> Any:
            return call(row.options, **tensors)

    else:
        return None
    line = {"peer": "torch", "row": row.id, **timed(issue, library.wait, row)}
    return line | {"check": checked(row, issue())}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures the rows of bench/run.py with PyTorch.")
    parser.add_argument("--out", type=Path, required=True, help="file for the lines")
    parser.add_argument("--sizes", choices=SIZES, default="big", help="sizes of the rows (big)")
    options = parser.parse_args()
    library = Torch()
    with options.out.open("a", encoding="utf-8") as lines, np.errstate(all="ignore"):

        def tell(line: Mapping[str, Any]) -> None:
            text = json.dumps(line)
            lines.write(f"{text}\n")
            lines.flush()
            print(text[:160], flush=True)

        tell({"peer": "torch", "version": library.version})
        with library.torch.inference_mode():
            for row in rows(options.sizes):
                if row.array or row.first:
                    continue
                try:
                    line = measure(library, row)
                except RuntimeError as error:
                    line = {"peer": "torch", "row": row.id, "error": str(error)[:300]}
                if line:
                    tell(line)


if __name__ == "__main__":
    main()
