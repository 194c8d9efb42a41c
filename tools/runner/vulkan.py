"""A Vulkan driver in software, on which the test of naga (tests/unit/test_naga.py) compiles."""

import sys
from collections.abc import Callable
from pathlib import Path

from runner import debian

_DRIVERS = (Path("/usr/share/vulkan/icd.d"), Path("/etc/vulkan/icd.d"))


def ensure_vulkan(say: Callable[[str], None]) -> None:
    """Install Debian's, lavapipe, where it is absent. Where that cannot be done the test takes
    the machine's own driver, or the one beside Chromium, which takes minutes."""
    has_one = any(path for folder in _DRIVERS for path in folder.glob("lvp_icd*.json"))
    if sys.platform == "linux" and not has_one and debian.can_install():
        debian.install("mesa-vulkan-drivers", say)
