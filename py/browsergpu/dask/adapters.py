"""Which GPU a worker takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from browsergpu.core.errors import NoAdapter
from browsergpu.gpu import adapter_info, platform
from browsergpu.gpu.adapters import enumerate_adapters


def gpus() -> list[int]:
    """The indices of the machine's GPUs: of those in software only where there are no others.
    Raises NoAdapter where there are none."""
    found = enumerate_adapters()
    if not found:
        raise NoAdapter("LocalCluster", platform.why_no_adapter())
    return [info.index for info in adapter_info.gpus(found)]


def memory_of(adapters: Sequence[int]) -> int | None:
    """The bytes that each of some GPUs has of its own; None where that is told of none, as where
    this process has no GPU."""
    if not platform.is_available():
        return None
    found = {info.index: info.memory for info in enumerate_adapters()}
    return min((n for index in adapters if (n := found.get(index)) is not None), default=None)


def adapter_of(name: Any, adapters: Sequence[int]) -> int:
    """The one of some adapters that a worker takes: they take turns by the number that its name
    is, or ends with, as those of ``dask worker --nworkers 4 --name gpu``; one whose name is an
    address takes the first."""
    text = str(name)
    number = None if "://" in text else re.search(r"\d+$", text)
    return adapters[int(number[0]) % len(adapters) if number else 0]
