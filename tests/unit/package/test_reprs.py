"""No repr of the package contains a memory address."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

import browsergpu
from browsergpu.engine.device.device import Device

pytestmark = pytest.mark.fast

#: Modules that can be imported only in a page.
IN_A_PAGE = "browsergpu.engine.gpu.browser."


def modules() -> Iterator[str]:
    for module in pkgutil.walk_packages(browsergpu.__path__, "browsergpu."):
        if not f"{module.name}.".startswith(IN_A_PAGE) and not module.name.endswith("__main__"):
            yield module.name


@pytest.mark.parametrize("name", sorted(modules()))
def test_each_class_defines_a_repr(name: str) -> None:
    own = [
        kind.__qualname__
        for kind in vars(importlib.import_module(name)).values()
        if inspect.isclass(kind)
        and kind.__module__ == name
        and not kind.__name__.startswith("_")
        and not getattr(kind, "_is_protocol", False)
        and kind.__repr__ is object.__repr__
    ]
    assert not own, "give them core.showing.Shown as a base"


def test_a_device_without_a_gpu_says_so() -> None:
    device = Device.of_nothing()
    assert repr(device) == "<Device without a GPU>"
    assert repr(device.memory) == "<BufferPool 0 bytes in use, 0 bytes allocated>"
