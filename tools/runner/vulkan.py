"""Software Vulkan drivers for the tests outside a browser."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from runner import debian
from runner.chromium import VARIABLE

#: WebGPU engines outside a browser.
ENGINES = ("dawn", "wgpu")
_DRIVERS = (Path("/usr/share/vulkan/icd.d"), Path("/etc/vulkan/icd.d"))
_CHROMIUM = Path("/usr/lib/chromium")  # Debian's; its command is a script elsewhere


def ensure_vulkan(say: Callable[[str], None]) -> None:
    """Install Debian's lavapipe if it is missing.

    If that fails, the tests use the machine's own driver, or the one beside Chromium, which takes
    minutes.
    """
    has_one = any(path for folder in _DRIVERS for path in folder.glob("lvp_icd*.json"))
    if sys.platform == "linux" and not has_one and debian.can_install():
        debian.install("mesa-vulkan-drivers", say)


def software_gpu(engine: str) -> dict[str, str]:
    """Return the environment in which an engine finds only a software GPU.

    "wgpu" uses lavapipe. "dawn" uses the SwiftShader beside Chromium, since Dawn refuses lavapipe
    before Mesa 23. Raises FileNotFoundError if the driver is missing.
    """
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
