"""Schedules of learning rates, as ``torch.optim.lr_scheduler``."""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.errors import UnknownName
from browsergpu.networks.optimizers import lr_scheduler as _own

for _name in dir(_own):
    if isinstance(getattr(_own, _name), type):
        globals()[_name] = getattr(_own, _name)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torch.optim.lr_scheduler.{name}", "it is not available.")
