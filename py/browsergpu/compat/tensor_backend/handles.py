"""Handles of tensors, and their metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

from browsergpu.engine.core.dtypes import DType

TensorHandle = NewType("TensorHandle", int)


@dataclass(frozen=True, slots=True)
class TensorMeta:
    """Metadata of a tensor, which needs no read."""

    shape: tuple[int, ...]
    dtype: DType
    nbytes: int  # on the device
