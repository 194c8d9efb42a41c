"""Networks and training tasks, with one source for PyTorch and browsergpu.

A library object ``lib`` has the modules as ``nn``, with the same names in both libraries. Its other
members cover the differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import browsergpu as bg
from browsergpu import nn as own_nn
from browsergpu.engine.gpu.platform import block_on


class Ours:
    """browsergpu."""

    name, nn, relu = "browsergpu", own_nn, staticmethod(own_nn.relu)
    attention = staticmethod(own_nn.scaled_dot_product_attention)

    def __init__(self) -> None:
        self.device = bg.init().name

    def array(self, x: np.ndarray) -> Any:
        return bg.asarray(x.astype(np.int32) if x.dtype.kind == "i" else x)

    def load(self, model: Any, weights: dict[str, np.ndarray]) -> Any:
        model.load_state_dict({name: bg.asarray(x) for name, x in weights.items()})
        return model

    def adam(self, model: Any) -> Any:
        return bg.optim.Adam(model.parameters(), lr=1e-3)

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        return own_nn.cross_entropy(logits, labels)

    def concat(self, arrays: Any, axis: int) -> Any:
        return bg.concat(arrays, axis=axis)

    def placed(self, model: Any) -> Any:
        return model

    def halved(self, model: Any) -> Any:
        return model.to(dtype=bg.float16)

    def inferring(self) -> Any:
        return bg.no_grad()

    def autocast(self) -> Any:
        return bg.autocast()

    def scaler(self) -> Any:
        return bg.amp.GradScaler()

    def wait(self, loss: Any) -> None:
        block_on(loss.ready(), "ready")


def mlp(lib: Any, width: int = 512) -> Any:
    nn = lib.nn
    return nn.Sequential(
        nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)
    )


def cnn(lib: Any, width: int = 32) -> Any:
    nn = lib.nn
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(2 * width * 49, 10),
    )  # fmt: skip


def resnet18(lib: Any, width: int = 64) -> Any:
    nn = lib.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, before: int, after: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(before, after, 3, stride=stride, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(after)
            self.conv2 = nn.Conv2d(after, after, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(after)
            self.downsample = nn.Identity()
            if stride > 1 or before != after:
                self.downsample = nn.Sequential(
                    nn.Conv2d(before, after, 1, stride=stride, bias=False), nn.BatchNorm2d(after)
                )

        def forward(self, x: Any) -> Any:
            y = self.bn2(self.conv2(lib.relu(self.bn1(self.conv1(x)))))
            return lib.relu(y + self.downsample(x))

    widths = [width, 2 * width, 4 * width, 8 * width]
    blocks, before = [], width
    for number, after in enumerate(widths):
        blocks += [Block(before, after, 1 + (number > 0)), Block(after, after, 1)]
        before = after
    return nn.Sequential(
        nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
        nn.MaxPool2d(3, stride=2, padding=1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(before, 1000),
    )  # fmt: skip


def resnet50(lib: Any, width: int = 64) -> Any:
    nn = lib.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, before: int, within: int, stride: int) -> None:
            super().__init__()
            after = 4 * within
            self.conv1 = nn.Conv2d(before, within, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(within)
            self.conv2 = nn.Conv2d(within, within, 3, stride=stride, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(within)
            self.conv3 = nn.Conv2d(within, after, 1, bias=False)
            self.bn3 = nn.BatchNorm2d(after)
            self.downsample = nn.Identity()
            if stride > 1 or before != after:
                self.downsample = nn.Sequential(
                    nn.Conv2d(before, after, 1, stride=stride, bias=False), nn.BatchNorm2d(after)
                )

        def forward(self, x: Any) -> Any:
            y = lib.relu(self.bn1(self.conv1(x)))
            y = lib.relu(self.bn2(self.conv2(y)))
            return lib.relu(self.bn3(self.conv3(y)) + self.downsample(x))

    blocks, before = [], width
    for number, count in enumerate((3, 4, 6, 3)):
        within = width << number
        for block in range(count):
            blocks.append(Block(before, within, 1 + (number > 0 and block == 0)))
            before = 4 * within
    return nn.Sequential(
        nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
        nn.MaxPool2d(3, stride=2, padding=1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(before, 1000),
    )  # fmt: skip


def gpt(lib: Any, layers: int = 12, width: int = 768, heads: int = 12, words: int = 50257,
        length: int = 512) -> Any:  # fmt: skip
    nn = lib.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attn = nn.Linear(width, 3 * width)
            self.proj = nn.Linear(width, width)
            self.mlp = nn.Sequential(
                nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"),
                nn.Linear(4 * width, width),
            )  # fmt: skip

        def forward(self, x: Any, kept: Any = None) -> Any:
            n, s, _ = x.shape
            three = self.attn(self.ln_1(x)).reshape(n, s, 3, heads, width // heads)
            q, k, v = (three[:, :, part].swapaxes(1, 2) for part in range(3))
            if kept is not None:  # keys and values of earlier tokens
                k, v = (lib.concat([old, new], 2) for old, new in zip(kept, (k, v), strict=True))
            y = lib.attention(q, k, v, is_causal=kept is None)
            x = x + self.proj(y.swapaxes(1, 2).reshape(n, s, width))
            return x + self.mlp(self.ln_2(x))

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(length, width)
            self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
            self.ln_f = nn.LayerNorm(width)
            self.head = nn.Linear(width, words, bias=False)

        def forward(self, x: Any, kept: Any = None) -> Any:
            first = 0 if kept is None else kept[0][0].shape[2]
            places = lib.array(np.arange(first, first + x.shape[1], dtype=np.int32))
            x = self.wte(x) + self.wpe(places)
            for block, own in zip(self.blocks, kept or [None] * layers, strict=True):
                x = block(x, own)
            return self.head(self.ln_f(x)).reshape(-1, words)

    return Model()


class Task:
    """A network and its source of batches. With ``is_mixed``, its products use float16."""

    def __init__(
        self, make: Callable[..., Any], batch: tuple[int, ...], classes: int, *,
        is_mixed: bool = False, **sizes: int,
    ) -> None:  # fmt: skip
        self.is_mixed = is_mixed
        self.make, self.batch, self.classes, self.sizes = make, batch, classes, sizes

    @property
    def is_text(self) -> bool:
        return self.make is gpt

    def batches(self, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
        rng = np.random.default_rng(0)
        found = []
        for _ in range(count):
            if self.is_text:
                text = rng.integers(0, self.classes, (self.batch[0], self.batch[1] + 1), np.int32)
                text[:, 1::2] = text[:, :-1:2] // 2  # something to learn
                found.append((text[:, :-1].copy(), text[:, 1:].reshape(-1).copy()))
            else:
                y = rng.integers(0, self.classes, self.batch[:1], np.int32)
                x = rng.normal(size=self.batch).astype(np.float32)
                x.reshape(len(y), -1)[np.arange(len(y)), y] += 4
                found.append((x, y))
        return found

    def weights(self) -> dict[str, np.ndarray]:
        own_nn.init.seed(1)
        state = self.make(Ours(), **self.sizes).state_dict()
        return {name: np.asarray(x) for name, x in state.items()}


FULL = {
    "mlp": Task(mlp, (128, 784), 10),
    "cnn": Task(cnn, (64, 1, 28, 28), 10),
    "transformer": Task(gpt, (8, 64), 500, layers=4, width=128, heads=4, words=500, length=64),
    "resnet18": Task(resnet18, (32, 3, 224, 224), 1000),
    "gpt2": Task(gpt, (4, 512), 50257),
    "gpt2-mixed": Task(gpt, (4, 512), 50257, is_mixed=True),
}
SMALL = {
    "mlp": Task(mlp, (16, 784), 10, width=32),
    "cnn": Task(cnn, (8, 1, 28, 28), 10, width=4),
    "transformer": Task(gpt, (2, 16), 50, layers=2, width=32, heads=2, words=50, length=16),
    "resnet18": Task(resnet18, (2, 3, 32, 32), 1000, width=4),
    "gpt2-mixed": Task(
        gpt, (2, 16), 50, is_mixed=True, layers=2, width=32, heads=2, words=50, length=16
    ),
}
AGREE = ("mlp", "cnn", "transformer")


class Training:
    """One network in one library."""

    def __init__(self, lib: Any, task: Task, weights: dict[str, np.ndarray]) -> None:
        self.lib = lib
        self.model = lib.load(task.make(lib, **task.sizes), weights)
        self.optimizer = lib.adam(self.model)
        self.scaler = lib.scaler() if task.is_mixed else None

    def step(self, x: Any, y: Any) -> Any:
        if self.scaler is not None:
            return self._mixed(x, y)
        loss = self.lib.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def _mixed(self, x: Any, y: Any) -> Any:
        with self.lib.autocast():
            loss = self.lib.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.detach()


#: Models for forward passes: the model, the shape of a batch, and the number of cached tokens.
FORWARD: dict[str, tuple[Any, tuple[int, ...], int]] = {
    "resnet50, 1": (resnet50, (1, 3, 224, 224), 0),
    "resnet50, 32": (resnet50, (32, 3, 224, 224), 0),
    "gpt2, 1024 tokens": (gpt, (1, 1024), 0),
    "gpt2, a token after 512": (gpt, (1, 1), 512),
}
FORWARD_SMALL: dict[str, tuple[Any, tuple[int, ...], int]] = {
    "resnet50, 1": (resnet50, (1, 3, 32, 32), 0),
}


class Forward:
    """A model for inference, in float16 if ``is_half``."""

    def __init__(self, lib: Any, name: str, is_half: bool, table: Any = FORWARD) -> None:
        make, shape, before = table[name]
        own_nn.init.seed(1)
        model = make(lib, length=1024) if make is gpt else make(lib)
        self.lib, self.kept = lib, None
        self.model = (lib.halved(model) if is_half else lib.placed(model)).eval()
        rng = np.random.default_rng(0)
        kind = np.float16 if is_half else np.float32
        if make is gpt:
            self.x = lib.array(rng.integers(0, 50257, shape, np.int32))
            old = (1, 12, before, 64)
            if before:
                self.kept = [
                    [lib.array(rng.normal(size=old).astype(kind)) for _ in range(2)]
                    for _ in range(12)
                ]
        else:
            self.x = lib.array(rng.normal(size=shape).astype(kind))

    def go(self) -> Any:
        """The logits."""
        return self.logits(self.x, self.kept)

    def logits(self, x: Any, kept: Any) -> Any:
        """The logits of tokens or images, after the keys and values of earlier tokens."""
        with self.lib.inferring():
            return self.model(x) if kept is None else self.model(x, kept)

    def compiled(self) -> Any:
        """The same as ``go`` through bg.jit. The inputs are arguments, else jit would compute what
        depends on them once.
        """
        logits = bg.jit(self.logits)

        def go() -> Any:
            return logits(self.x, self.kept)

        go.explain = logits.explain  # type: ignore[attr-defined]
        return go
