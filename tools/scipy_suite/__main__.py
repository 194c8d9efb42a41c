"""Run SciPy's tests on arrays of the GPU, and print a table of what passed.

``python -m scipy_suite [module]``, from ``tools``, where browsergpu, an engine for it, SciPy and
pytest are installed. On a machine without a GPU it takes SwiftShader.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile

from runner.vulkan import software_gpu

MODULES = ("cluster", "fft", "linalg", "ndimage", "signal", "special", "stats")
_COUNT = re.compile(r"(\d+) (passed|failed|skipped|xfailed|xpassed|error)")


def run(module: str) -> dict[str, int]:
    """Return how many tests of a module of SciPy's passed, failed and so on."""
    command = [
        sys.executable, "-m", "pytest", "-p", "scipy_suite.plugin", "-p", "no:cacheprovider", "-q",
        "-m", "array_api_backends", "--pyargs", f"scipy.{module}",
    ]  # fmt: skip
    environment = os.environ | software_gpu(os.environ.get("BROWSERGPU_ENGINE", "dawn"))
    environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command, env=environment, cwd=folder, stdout=-1, text=True, check=False
        )
    lines = done.stdout.strip().splitlines()
    for line in lines:
        if line.startswith(("FAILED", "ERROR")):
            print(line, file=sys.stderr)
    return {kind: int(count) for count, kind in _COUNT.findall(lines[-1])}


def main() -> None:
    """Print a table of the modules that are named, by default of all."""
    print("| module | passed | failed | skipped |\n| --- | --- | --- | --- |")
    for module in sys.argv[1:] or MODULES:
        found = run(module)
        failed = found.get("failed", 0) + found.get("error", 0)
        skipped = found.get("skipped", 0) + found.get("xfailed", 0)
        passed = found.get("passed", 0) + found.get("xpassed", 0)
        print(f"| `{module}` | {passed} | {failed} | {skipped} |", flush=True)


main()
