"""Run array-api-extra's tests on GPU arrays.

Run ``python -m array_api_extra_suite [options of pytest]`` in ``tools``. It requires browsergpu, an
engine, array-api-extra, SciPy, typing_extensions and pytest, and uses a software GPU.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from runner.vulkan import software_gpu


def main() -> int:
    """Run the tests, and return pytest's exit code."""
    command = [
        sys.executable, "-m", "pytest", "-p", "array_api_extra_suite.plugin", "-p",
        "no:cacheprovider", "-q", "-k", "browsergpu", "-o", "xfail_strict=true",
        "--pyargs", "array_api_extra.tests.main", *sys.argv[1:],
    ]  # fmt: skip
    environment = os.environ | software_gpu(os.environ.get("BROWSERGPU_ENGINE", "dawn"))
    environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(command, env=environment, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
