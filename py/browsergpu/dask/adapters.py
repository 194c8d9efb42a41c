"""Assignment of GPUs to workers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from browsergpu.engine.core.errors import NoAdapter
from browsergpu.engine.gpu import adapter_info, platform
from browsergpu.engine.gpu.adapters import enumerate_adapters


def gpus() -> list[int]:
    """Return the indices of the machine's GPUs, or of software adapters if it has no GPU.

    Raises NoAdapter if there is none.
    """
    found = enumerate_adapters()
    if not found:
        raise NoAdapter("LocalCluster", platform.why_no_adapter())
    return [info.index for info in adapter_info.gpus(found)]


def memory_of(adapters: Sequence[int]) -> int | None:
    """Return the smallest memory of some GPUs in bytes, or None if it is unknown.

    It is unknown, for example, if this process has no GPU.
    """
    if not platform.is_available():
        return None
    found = {info.index: info.memory for info in enumerate_adapters()}
    return min((n for index in adapters if (n := found.get(index)) is not None), default=None)


def adapter_of(name: Any, adapters: Sequence[int]) -> int:
    """Return the adapter for a worker.

    Adapters are assigned in turn, by the number at the end of the worker's name, as in ``dask
    worker --nworkers 4 --name gpu``. A worker whose name is an address gets the first one.
    """
    text = str(name)
    number = None if "://" in text else re.search(r"\d+$", text)
    return adapters[int(number[0]) % len(adapters) if number else 0]
