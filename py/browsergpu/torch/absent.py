"""Modules of PyTorch that are not available, whose names can be imported."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from browsergpu.engine.core.errors import Unsupported
from browsergpu.engine.core.showing import Shown

#: The modules, with advice.
ABSENT = {
    "distributed": "There is one process.",
    "nn.parallel": "There is one GPU. Use the module itself.",
    "multiprocessing": "There are no worker processes.",
    "onnx": "Save the state_dict().",
    "profiler": "Use browsergpu.profile.",
    "hub": "Build the model, and load its state_dict().",
    "jit": "Use torch.compile.",
    "sparse": "Tensors are dense.",
}


class Absent(Shown):
    """A name of such a module. It can be imported, and a call raises Unsupported."""

    def __init__(self, name: str, advice: str) -> None:
        self._name, self._advice = name, advice

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Raise Unsupported, except for the question whether the module is available."""
        if self._name.endswith((".is_available", ".is_initialized")):
            return False
        raise Unsupported(self._name, f"it is not available. {self._advice}")


def module(name: str) -> ModuleType:
    """Return a module whose names are all absent."""
    made = ModuleType(f"torch.{name}", f"torch.{name} is not available.")

    def getter(own: str) -> Any:
        if own.startswith("_"):
            raise AttributeError(f"module 'torch.{name}' has no attribute {own!r}")
        return Absent(f"torch.{name}.{own}", ABSENT[name])

    made.__getattr__ = getter  # type: ignore[method-assign]
    return made
