"""Small stand-ins for the packages of data and games that the programs import.

They are built on the ``torch`` that the program uses, and draw data of the right shapes.
"""

from __future__ import annotations

import sys
import urllib.request
from types import ModuleType
from typing import Any

import numpy as np

#: Samples of a data set.
COUNT = 256


def module(name: str, **contents: Any) -> ModuleType:
    """Make a module importable."""
    made = ModuleType(name)
    made.__dict__.update(contents)
    sys.modules[name] = made
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, made)
    return made


def digits(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pictures of 28 x 28 bytes with a bright square at a place for each class."""
    draw = np.random.RandomState(seed)
    labels = draw.randint(0, 10, COUNT)
    pictures = draw.randint(0, 60, (COUNT, 28, 28)).astype(np.uint8)
    for picture, label in zip(pictures, labels, strict=True):
        top, left = 2 + 12 * (label // 5), 1 + 5 * (label % 5)
        picture[top : top + 10, left : left + 5] = 250
    return pictures, labels


def install(torch: Any) -> None:
    """Make the packages importable."""

    class MNIST:
        def __init__(
            self, root: Any, train: bool = True, download: bool = False, transform: Any = None
        ) -> None:
            del root, download
            pictures, labels = digits(0 if train else 1)
            self.data, self.targets = torch.from_numpy(pictures), torch.from_numpy(labels)
            self._pictures, self._labels, self.transform = pictures, labels, transform

        def __len__(self) -> int:
            return COUNT

        def __getitem__(self, at: int) -> Any:
            picture = self._pictures[at]
            made = picture if self.transform is None else self.transform(picture)
            return made, int(self._labels[at])

    class FakeData:
        def __init__(self, size: int = 64, image_size: Any = (3, 64, 64), transform: Any = None):
            self.shape, self.size = tuple(image_size), 16
            del size, transform

        def __len__(self) -> int:
            return self.size

        def __getitem__(self, at: int) -> Any:
            draw = np.random.RandomState(at)
            return torch.from_numpy(draw.rand(*self.shape).astype(np.float32)), 0

    class Compose:
        def __init__(self, steps: Any) -> None:
            self.steps = steps

        def __call__(self, x: Any) -> Any:
            for step in self.steps:
                x = step(x)
            return x

    def to_tensor(picture: Any) -> Any:
        return torch.from_numpy(np.asarray(picture)[None].astype(np.float32) / 255)

    def center_crop(size: int) -> Any:
        def cut(picture: Any) -> Any:
            left, top = (picture.width - size) // 2, (picture.height - size) // 2
            return picture.crop((left, top, left + size, top + size))

        return cut

    def normalize(mean: Any, std: Any) -> Any:
        return lambda x: (x - mean[0]) / std[0]

    module("torchvision")
    module("torchvision.datasets", MNIST=MNIST, FakeData=FakeData)
    module(
        "torchvision.transforms", Compose=Compose, ToTensor=lambda: to_tensor,
        Normalize=normalize, Lambda=lambda function: function, CenterCrop=center_crop,
        Resize=lambda size: lambda picture: picture.resize((size, size)),
    )  # fmt: skip
    module("torchvision.utils", save_image=lambda *_, **__: None)
    module("gymnasium", make=lambda *_, **__: Pole())
    module("six")
    module("six.moves", urllib=urllib)
    module("requests")
    module("tiktoken")
    module("regex")
    module("matplotlib", use=lambda _: None)
    plots = module("matplotlib.pyplot")
    for name in [
        "figure",
        "title",
        "xlabel",
        "ylabel",
        "xticks",
        "yticks",
        "plot",
        "savefig",
        "close",
    ]:
        setattr(plots, name, lambda *_, **__: None)


class Pole:
    """The game CartPole: a pole on a cart."""

    spec = type("Spec", (), {"reward_threshold": 475.0})()

    def __init__(self) -> None:
        self.draw = np.random.RandomState(0)

    def reset(self, seed: int | None = None) -> Any:
        """Begin a game."""
        self.draw = self.draw if seed is None else np.random.RandomState(seed)
        self.state = self.draw.uniform(-0.05, 0.05, 4)
        self.steps = 0
        return self.state.astype(np.float32), {}

    def step(self, action: int) -> Any:
        """Push the cart to the left (0) or right (1)."""
        x, speed, angle, turn = self.state
        force = 10.0 if action else -10.0
        sine, cosine = np.sin(angle), np.cos(angle)
        pushed = (force + 0.05 * turn**2 * sine) / 1.1
        gain = (9.8 * sine - cosine * pushed) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        faster = pushed - 0.05 * gain * cosine / 1.1
        self.state = np.array([x + 0.02 * speed, speed + 0.02 * faster, angle + 0.02 * turn,
                               turn + 0.02 * gain])  # fmt: skip
        self.steps += 1
        is_over = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.2095
        return self.state.astype(np.float32), 1.0, bool(is_over), self.steps >= 500, {}

    def render(self) -> None:
        """Show nothing."""
