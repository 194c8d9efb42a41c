"""Run SciPy's tests on GPU arrays and print a table of results.

Run ``python -m scipy_suite [--gpu] [module …]`` in ``tools``. It requires browsergpu, an engine,
SciPy and pytest. It uses a software GPU, or with ``--gpu`` the machine's GPU and pytest-xdist on
all cores.
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


def run(module: str, *, on_gpu: bool) -> dict[str, int]:
    """Return how many tests of a SciPy module passed, failed and so on."""
    command = [
        sys.executable, "-m", "pytest", "-p", "scipy_suite.plugin", "-p", "no:cacheprovider", "-q",
        "-m", "array_api_backends", "--pyargs", f"scipy.{module}",
    ]  # fmt: skip
    if on_gpu:
        environment = dict(os.environ)
        command += ["-n", "auto", "--dist", "worksteal"]
    else:
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
    """Print a table of the named modules, by default of all."""
    names = sys.argv[1:]
    on_gpu = "--gpu" in names
    print("| module | passed | failed | skipped |\n| --- | --- | --- | --- |")
    for module in [name for name in names if name != "--gpu"] or MODULES:
        found = run(module, on_gpu=on_gpu)
        failed = found.get("failed", 0) + found.get("error", 0)
        skipped = found.get("skipped", 0) + found.get("xfailed", 0)
        passed = found.get("passed", 0) + found.get("xpassed", 0)
        print(f"| `{module}` | {passed} | {failed} | {skipped} |", flush=True)


main()
