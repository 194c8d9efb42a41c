"""Vulkan drivers in software, on which the tests run outside a browser."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from runner import debian
from runner.chromium import VARIABLE

#: Of WebGPU outside a browser.
ENGINES = ("dawn", "wgpu")
_DRIVERS = (Path("/usr/share/vulkan/icd.d"), Path("/etc/vulkan/icd.d"))
_CHROMIUM = Path("/usr/lib/chromium")  # Debian's; its command is a script elsewhere


def ensure_vulkan(say: Callable[[str], None]) -> None:
    """Install Debian's, lavapipe, where it is absent. Where that cannot be done the test takes
    the machine's own driver, or the one beside Chromium, which takes minutes."""
    has_one = any(path for folder in _DRIVERS for path in folder.glob("lvp_icd*.json"))
    if sys.platform == "linux" and not has_one and debian.can_install():
        debian.install("mesa-vulkan-drivers", say)


def software_gpu(engine: str) -> dict[str, str]:
    """The environment in which an engine, "wgpu" or "dawn", finds a GPU in software and no other:
    lavapipe, and SwiftShader, which lies beside Chromium, as Dawn refuses lavapipe before Mesa 23.
    Raises FileNotFoundError where there is none."""
    if engine == "wgpu":
        found = [path for folder in _DRIVERS for path in folder.glob("lvp_icd*.json")]
    else:
        beside = (Path(os.environ.get(VARIABLE, "")).resolve().parent, _CHROMIUM)
        found = [path for folder in beside for path in folder.glob("vk_swiftshader_icd.json")]
    if not found:
        where = "lavapipe (apt-get install mesa-vulkan-drivers)"
        wanted = where if engine == "wgpu" else "Chromium's SwiftShader"
        raise FileNotFoundError(f"the tests on {engine} need {wanted}; tests/run.py gets it")
    return {
        "BROWSERGPU_ENGINE": engine,
        "VK_DRIVER_FILES": str(found[0]),
        "VK_ICD_FILENAMES": str(found[0]),  # for older loaders
    }
