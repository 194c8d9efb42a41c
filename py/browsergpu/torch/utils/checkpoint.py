"""Recomputation in the backward pass, as ``torch.utils.checkpoint``."""

from __future__ import annotations

from typing import Any

from browsergpu.autograd import custom
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.torch.tensors.tensor import as_tensors


def checkpoint(function: Any, *args: Any, use_reentrant: Any = None, **options: Any) -> Any:
    """Call a function, and compute it again in the backward pass instead of keeping its values."""
    del use_reentrant  # both ways have the same result
    if options.pop("preserve_rng_state", True) is not True:
        raise InvalidArgument("checkpoint", "preserve_rng_state", False, "True")
    return as_tensors(custom.checkpoint(function)(*args, **options), args)
