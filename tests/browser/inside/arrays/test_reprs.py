"""Reprs show facts without an address, and do not wait for the GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]

ADDRESS = re.compile(r"0x[0-9a-f]{6}")
#: The depth to which public attributes are followed.
DEPTH = 3


def held_by_users(bg: Any, backend: Any) -> Iterator[tuple[str, Any]]:
    """Yield objects of each public class that programs create."""
    from browsergpu import nn, optim

    x = bg.ones((4, 3))
    weight = nn.Parameter(bg.ones((3,)))
    executor, tensors = bg.KernelExecutor(backend), bg.TensorBackend(backend)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    optimizer = optim.Adam(model.parameters())
    dataset = bg.data.ArrayDataset(np.ones((6, 2), np.float32))
    with bg.capture() as graph:
        y = x + 1
    yield from {
        "device": backend.device, "backend": backend, "executor": executor, "tensors": tensors,
        "group": bg.BackendGroup([backend]), "device array": executor.full((2,), 1.0),
        "buffer": bg.Buffer(backend.device, 64, usage="storage"), "array": x, "graph": graph,
        "result": y, "parameter": weight, "noted": weight * 2,
        "generator": bg.random.default_rng(1),
        "model": model, "optimizer": optimizer, "scaler": bg.amp.GradScaler(),
        "schedule": optim.lr_scheduler.StepLR(optimizer, 2), "dataset": dataset,
        "loader": bg.data.DataLoader(dataset, 2), "subset": bg.data.Subset(dataset, [0, 1]),
        "handle": weight.register_hook(lambda g: g), "info": bg.__array_namespace_info__(),
        "no_grad": bg.no_grad(), "autocast": bg.autocast(), "rule": bg.custom_vjp(bg.sin),
        "kernel": bg.ElementwiseKernel("float32 x", "float32 y", "y = x * 2;", "twice"),
        "config": backend.device.config, "adapter": backend.device.adapter,
    }.items()  # fmt: skip
    graph.close()


def reached(name: str, value: Any, depth: int, known: set[int]) -> Iterator[tuple[str, Any]]:
    """Yield an object, and the package's objects that its public attributes lead to."""
    if id(value) in known or not type(value).__module__.startswith("browsergpu"):
        return
    known.add(id(value))
    yield name, value
    if not depth:
        return
    for own in dir(value):
        # Attributes of arrays are new arrays, without end.
        if own.startswith("_") or own in ("T", "mT", "real", "imag", "grad"):
            continue
        try:
            found = getattr(value, own)
        except Exception:
            continue
        if not callable(found) or hasattr(type(found), "shape"):
            yield from reached(f"{name}.{own}", found, depth - 1, known)


def test_no_object_shows_an_address(bg: Any, backend: Any) -> None:
    known: set[int] = set()
    kept = list(held_by_users(bg, backend))  # keep them, so that ids stay unique
    found = [pair for name, value in kept for pair in reached(name, value, DEPTH, known)]
    assert len(found) > 40
    for name, value in found:
        assert not ADDRESS.search(repr(value)), f"{name}: {value!r}"


def test_a_device_shows_name_engine_kind_state_and_memory(bg: Any, backend: Any) -> None:
    from browsergpu.engine.gpu.platform import block_on, engine_name

    device = block_on(bg.Device.request(warm_up=False), "test")
    kind = "software" if device.device_type == "cpu" else "GPU"
    start = f"<Device {device.name!r} ({kind}, by {engine_name()}), "
    assert repr(device) == f"{start}open, 0 bytes in use>"
    x = bg.ones((1 << 18,), device=device)
    bg.eval(x)
    assert repr(device) == f"{start}open, 1 MiB (1,048,576 bytes) in use>"
    assert repr(device.memory).startswith("<BufferPool 1 MiB (1,048,576 bytes) in use, ")
    device.close()
    assert repr(device) == f"{start}closed, 0 bytes in use>"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda bg: bg.WasmBackend(), "<WasmBackend not open>"),
        (lambda bg: bg.no_grad(), "<no_grad>"),
        (lambda bg: bg.data.ArrayDataset(np.ones((6, 2))), "<ArrayDataset of 6 samples>"),
        (lambda bg: bg.custom_vjp(len), "<custom_vjp of the function len>"),
    ],
)  # fmt: skip
def test_facts(bg: Any, make: Any, text: str) -> None:
    assert repr(make(bg)) == text
