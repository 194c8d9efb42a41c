"""``install()``: the name ``torch`` for other people's programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from browsergpu.engine.core.errors import Unsupported
from browsergpu.torch import backends
from browsergpu.torch.absent import ABSENT, module

_HERE = __package__
#: The modules under ``torch``.
_MODULES = (
    "", "accelerator", "amp", "autograd", "autograd.functional", "backends", "cuda", "cuda.amp",
    "distributions", "fft", "func", "linalg", "nn", "nn.functional", "nn.init", "nn.modules",
    "nn.parameter", "nn.utils", "nn.utils.parametrizations",
    "nn.utils.parametrize", "nn.utils.rnn", "optim", "optim.lr_scheduler", "special", "utils",
    "utils.checkpoint", "utils.data", "utils.data.dataloader", "utils.data.dataset",
    "utils.data.sampler",
)  # fmt: skip
#: Modules that are other modules here.
_SAME = {
    "cuda.amp": "amp", "nn.modules": "nn", "nn.parameter": "nn.module",
    "utils.data.dataloader": "utils.data", "utils.data.dataset": "utils.data",
    "utils.data.sampler": "utils.data",
}  # fmt: skip


#: The modules under ``torchvision``.
_VISION = ("", "datasets", "models", "transforms", "transforms.functional", "utils")


def install() -> None:
    """Put this package under the name ``torch``, for programs that import it.

    ``browsergpu.torch.vision`` gets the name ``torchvision``, unless that is installed.

    Raises
    ------
    Unsupported
        If PyTorch is installed, or has been imported.

    Examples
    --------
    >>> import browsergpu.torch
    >>> browsergpu.torch.install()
    >>> from torch import nn
    >>> nn.Linear(2, 3)
    Linear(in_features=2, out_features=3, bias=True)
    """
    own = sys.modules[_HERE]
    if sys.modules.get("torch") is own:
        return
    if "torch" in sys.modules or find_spec("torch") is not None:
        message = "PyTorch is installed here. Use import browsergpu.torch as torch."
        raise Unsupported("install", message)
    for name in _MODULES:
        _name(("torch", name), (_HERE, _SAME.get(name, name)))
    if "torchvision" not in sys.modules and find_spec("torchvision") is None:
        for name in _VISION:
            _name(("torchvision", name), (_HERE, "vision", name))
    for name in ("cudnn", "cuda", "mps"):
        settings: Any = getattr(backends, name)
        sys.modules[f"torch.backends.{name}"] = settings
    for name in ABSENT:
        sys.modules[f"torch.{name}"] = module(name)


def _name(theirs: Iterable[str], own: Iterable[str]) -> None:
    """Put a module under a name. Both are given as parts, of which some are empty."""
    sys.modules[".".join(filter(None, theirs))] = import_module(".".join(filter(None, own)))
