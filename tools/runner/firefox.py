"""Finds a Firefox that can run the browser tests, or brings one."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from devsite.processes import run_program
from runner import debian
from runner.problem import CannotPrepare

# The first with WebAssembly's JavaScript Promise Integration switched on.
OLDEST = 153
VARIABLE = "BROWSERGPU_FIREFOX"
_SYSTEM_NAMES = (
    "firefox",
    "firefox-esr",
    "/Applications/Firefox.app/Contents/MacOS/firefox",
)


@dataclass(frozen=True)
class Firefox:
    """A browser that is new enough."""

    path: str
    version: str


def ensure_firefox(say: Callable[[str], None]) -> Firefox:
    """Find the Firefox to test with, or install one.

    The one in BROWSERGPU_FIREFOX, else the system's, else Debian's.

    Raises
    ------
    CannotPrepare
        There is none, and none can be installed; the message says how to get one.
    """
    if chosen := os.environ.get(VARIABLE):
        try:
            return Firefox(chosen, _version(chosen))
        except CannotPrepare as problem:
            raise CannotPrepare(f"{VARIABLE}: {problem}") from problem
    for path in _places(say):
        try:
            return Firefox(path, _version(path))
        except CannotPrepare as problem:
            say(str(problem))
    raise CannotPrepare(
        f"No Firefox of version {OLDEST} or newer was found, and none could be installed. "
        f"Install one (Debian: apt-get install firefox-esr), or set {VARIABLE} to one's path."
    )


def _places(say: Callable[[str], None]) -> Iterator[str]:
    """Paths to try; Debian's is installed only where the ones before it will not do."""
    yield from filter(None, map(shutil.which, _SYSTEM_NAMES))
    if debian.can_install() and debian.install("firefox-esr", say):
        yield from filter(None, [shutil.which("firefox-esr")])


def _version(path: str) -> str:
    """The version of a Firefox that starts and is new enough."""
    if not Path(path).is_file():
        raise CannotPrepare(f"no file {path}")
    try:
        finished = run_program([path, "--version"], folder=Path.cwd(), timeout=60.0)
    except OSError as error:
        raise CannotPrepare(f"{path} does not start: {error.strerror}") from error
    found = re.search(r"\bFirefox (\d+)(?:\.\d+)+", finished.output)
    if not finished.succeeded or found is None:
        raise CannotPrepare(
            f"{path} --version gave no version: {finished.last_lines(1) or 'no output'}"
        )
    version = found[0].removeprefix("Firefox ")
    if int(found[1]) < OLDEST:
        raise CannotPrepare(f"{path} is Firefox {version}; JSPI needs {OLDEST} or newer")
    return version
