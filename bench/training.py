"""Measures training steps on the machine's first GPU, and PyTorch on CUDA beside them.

    python3 bench/training.py [--out lines.jsonl] [--only mlp,cnn] [--small]

Both libraries build the networks from the same source, page/networks.py, since their modules have
the same names. The script compares the losses of 200 Adam steps from the same weights on the same
batches. It then times a step: forward pass, backward pass and optimizer, with batches on the GPU.
"replayed" is a step captured with bg.capture(), "jit" a step called through bg.jit, and
"torch.compile" the same step through browsergpu.torch. Each time is the median of its repeats after
some warm-up steps, and includes the wait for the GPU. PyTorch runs eagerly, in float32 without
TF32. ``--small`` selects shapes for a software GPU. The requirements are those of bench/native.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import browsergpu as bg

sys.path.insert(0, str(Path(__file__).resolve().parent / "page"))

from networks import (
    AGREE,
    FORWARD,
    FORWARD_SMALL,
    FULL,
    SMALL,
    Forward,
    Ours,
    Task,
    Training,
)

STEPS = 200
LASTS = 0.05  # seconds of steps between two waits


class Torch:
    """PyTorch on CUDA, or on the CPU as a test of the script."""

    name = "PyTorch"

    def __init__(self) -> None:
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        self.torch, self.nn = torch, torch.nn
        self.relu = torch.nn.functional.relu
        self.attention = torch.nn.functional.scaled_dot_product_attention
        self.on = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = f"{self.on}, PyTorch {torch.__version__}"

    def array(self, x: np.ndarray) -> Any:
        return self.torch.asarray(x.astype(np.int64) if x.dtype.kind == "i" else x).to(self.on)

    def load(self, model: Any, weights: dict[str, np.ndarray]) -> Any:
        given = {name: self.torch.asarray(x) for name, x in weights.items()}
        model.load_state_dict(given, strict=False)  # running statistics keep their initial values
        return model.to(self.on)

    def adam(self, model: Any) -> Any:
        return self.torch.optim.Adam(model.parameters(), lr=1e-3)

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        return self.torch.nn.functional.cross_entropy(logits, labels)

    def concat(self, arrays: Any, axis: int) -> Any:
        return self.torch.cat(arrays, axis)

    def placed(self, model: Any) -> Any:
        return model.to(self.on)

    def halved(self, model: Any) -> Any:
        return model.to(self.on).half()

    def inferring(self) -> Any:
        return self.torch.inference_mode()

    def autocast(self) -> Any:
        return self.torch.autocast(self.on, self.torch.float16)

    def scaler(self) -> Any:
        return self.torch.amp.GradScaler(self.on)

    def wait(self, loss: Any) -> None:
        if self.on == "cuda":
            self.torch.cuda.synchronize()


class Skin(Ours):
    """``browsergpu.torch``, PyTorch's names for browsergpu."""

    name = "browsergpu.torch"

    def __init__(self) -> None:
        import browsergpu.torch

        super().__init__()
        self.torch: Any = browsergpu.torch
        self.nn = self.torch.nn
        self.relu = self.nn.functional.relu
        self.attention = self.nn.functional.scaled_dot_product_attention

    def array(self, x: np.ndarray) -> Any:
        return self.torch.as_tensor(super().array(x))

    def adam(self, model: Any) -> Any:
        return self.torch.optim.Adam(model.parameters(), lr=1e-3)

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        return self.nn.functional.cross_entropy(logits, labels)

    def concat(self, arrays: Any, axis: int) -> Any:
        return self.torch.cat(arrays, axis)

    def autocast(self) -> Any:
        return self.torch.autocast("cuda", self.torch.float16)

    def scaler(self) -> Any:
        return self.torch.amp.GradScaler()


def losses(lib: Any, task: Task, weights: dict[str, np.ndarray], steps: int) -> np.ndarray:
    training = Training(lib, task, weights)
    batches = [tuple(map(lib.array, batch)) for batch in task.batches(10)]
    found = [training.step(*batches[n % 10]) for n in range(steps)]
    return np.array([float(loss) for loss in found])


def seconds_of(work: Callable[[], Any], wait: Callable[[Any], None]) -> float:
    """Return the median seconds of a call.

    A second of calls comes first, since an idle GPU lowers its clock.
    """
    until = time.perf_counter() + 1.0
    begin, calls = time.perf_counter(), 0
    while time.perf_counter() < until:
        wait(work())
        calls += 1
    each = (time.perf_counter() - begin) / calls
    count = max(1, round(LASTS / each))
    found = []
    for _ in range(9):
        begin = time.perf_counter()
        for _ in range(count):
            last = work()
        wait(last)
        found.append((time.perf_counter() - begin) / count)
    return median(found)


def speed(lib: Any, task: Task, weights: dict[str, np.ndarray]) -> dict[str, float]:
    training = Training(lib, task, weights)
    x, y = (lib.array(part) for part in task.batches(1)[0])
    found = {lib.name: seconds_of(lambda: training.step(x, y), lib.wait)}
    if isinstance(lib, Skin):
        compiled = lib.torch.compile(training.step)
        found["torch.compile"] = seconds_of(lambda: compiled(x, y), lib.wait)
    elif isinstance(lib, Ours):
        with bg.capture() as graph:
            loss = training.step(x, y)

        def again() -> Any:
            graph.replay()
            return loss

        found["replayed"] = seconds_of(again, lib.wait)
        graph.close()
        step = bg.jit(training.step)
        found["jit"] = seconds_of(lambda: step(x, y), lib.wait)
    return found


def forward(lib: Any, name: str, is_half: bool, table: Any) -> dict[str, float]:
    """Return the seconds of a model's forward pass."""
    model = Forward(lib, name, is_half, table)

    def go() -> Any:
        found = model.go()
        if isinstance(lib, Ours):
            bg.eval(found)
        return found

    found = {lib.name: seconds_of(go, lib.wait)}
    if isinstance(lib, Ours):
        with bg.capture() as graph:
            logits = model.go()

        def again() -> Any:
            graph.replay()
            return logits

        found["replayed"] = seconds_of(again, lib.wait)
        graph.close()
        compiled = model.compiled()
        found["jit"] = seconds_of(compiled, lib.wait)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    libs: list[Any] = [Ours(), Skin()]
    try:
        libs.append(Torch())
    except ImportError:
        print("PyTorch is not installed")
    print(*(f"{lib.name}: {lib.device}" for lib in libs), sep="\n", flush=True)
    lines = []
    for name, task in (SMALL if options.small else FULL).items():
        if options.only and name not in options.only.split(","):
            continue
        weights = task.weights()
        line: dict[str, Any] = {"network": name, "seconds": {}}
        if name in AGREE:
            compared = [lib for lib in libs if not isinstance(lib, Skin)]
            runs = [losses(lib, task, weights, STEPS) for lib in compared]
            line["first, last"] = [[float(run[0]), float(run[-1])] for run in runs]
            if len(runs) == 2:
                off = np.abs(runs[0] - runs[1]) / np.maximum(np.abs(runs[1]), 1e-3)
                line["off by"] = {str(n): float(off[:n].max()) for n in (10, 50, STEPS)}
        for lib in libs:
            try:
                line["seconds"] |= speed(lib, task, weights)
            except Exception as error:  # continue with the other libraries
                line["seconds"][lib.name] = f"{type(error).__name__}: {error}"
        print(json.dumps(line), flush=True)
        lines.append(line)
    for name in FORWARD_SMALL if options.small else FORWARD:
        if options.only and "forward" not in options.only.split(","):
            continue
        for is_half in (False, True):
            line = {"forward": name, "dtype": "f16" if is_half else "f32", "seconds": {}}
            for lib in libs[:1] + libs[2:]:
                try:
                    table = FORWARD_SMALL if options.small else FORWARD
                    line["seconds"] |= forward(lib, name, is_half, table)
                except Exception as error:  # continue with the other libraries
                    line["seconds"][lib.name] = f"{type(error).__name__}: {error}"
            print(json.dumps(line), flush=True)
            lines.append(line)
    if options.out:
        options.out.write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
