#!/usr/bin/env python3
"""Makes ready what the tests need and runs all of them: python3 tests/run.py [pytest arguments]"""

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

if sys.version_info < (3, 11):  # noqa: UP036 - this line is for older ones
    sys.exit(f"tests/run.py needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

TESTS = Path(__file__).resolve().parent
REPOSITORY = TESTS.parent
sys.path.insert(0, str(REPOSITORY / "py"))
sys.path.insert(0, str(TESTS))

from devsite.errors import SiteError
from devsite.lock import cache_lock
from devsite.progress import Console
from devsite.site import prepare
from runner.checks import run_check, summary
from runner.chromium import VARIABLE, Chromium, ensure_chromium
from runner.environment import ensure_environment
from runner.problem import CannotPrepare
from runner.wheels import ensure_wheels


def main(pytest_arguments: list[str]) -> int:
    """Prepare, run every check, and return 0 where all passed."""
    signal.signal(signal.SIGTERM, _stop)
    cache = REPOSITORY / ".cache"
    progress = Console(sys.stdout)
    try:
        prepare(progress=progress)
        with cache_lock(cache / "tests.lock", progress):
            python, chromium = _prepare_tests(cache, progress.note)
    except (SiteError, CannotPrepare) as error:
        print(f"The tests cannot run.\n{error}", file=sys.stderr)
        return 1
    print(f"Chromium {chromium.version} ({chromium.path}), Python {sys.version.split()[0]}")
    tool = [str(python), "-m"]
    checks = {
        "ruff check": [*tool, "ruff", "check"],
        "ruff format": [*tool, "ruff", "format", "--check"],
        "mypy": [*tool, "mypy"],
        "pytest": [*tool, "pytest", *pytest_arguments],
    }
    environment = {VARIABLE: chromium.path}
    outcomes = [
        run_check(name, command, REPOSITORY, environment) for name, command in checks.items()
    ]
    print(f"\n{summary(outcomes)}")
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _prepare_tests(cache: Path, say: Callable[[str], None]) -> tuple[Path, Chromium]:
    """The Python and the Chromium to test with."""
    python = ensure_environment(cache / "venv", TESTS / "requirements.txt", say)
    ensure_wheels(cache / "test-wheels", TESTS / "pyodide-requirements.txt", python, say)
    return python, ensure_chromium(python, cache / "chromium", say)


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
