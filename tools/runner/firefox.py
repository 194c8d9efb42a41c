"""Finds or installs a Firefox for the browser tests."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from runner import debian
from runner.problem import CannotPrepare
from runner.versions import version_of

# The first version with WebAssembly's JavaScript Promise Integration enabled.
OLDEST = 153
VARIABLE = "BROWSERGPU_FIREFOX"
_SYSTEM_NAMES = (
    "firefox",
    "firefox-esr",
    "/Applications/Firefox.app/Contents/MacOS/firefox",
)


@dataclass(frozen=True)
class Firefox:
    """A browser that is recent enough."""

    path: str
    version: str


def ensure_firefox(say: Callable[[str], None]) -> Firefox:
    """Find the Firefox to test with, or install one.

    The one in BROWSERGPU_FIREFOX, else the system's, else Debian's.

    Raises
    ------
    CannotPrepare
        No Firefox was found or could be installed. The message says how to get one.
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
    """Yield paths to try. Debian's is installed only if the earlier ones are unsuitable."""
    yield from filter(None, map(shutil.which, _SYSTEM_NAMES))
    if debian.can_install() and debian.install("firefox-esr", say):
        yield from filter(None, [shutil.which("firefox-esr")])


def _version(path: str) -> str:
    """Return the version of a Firefox that starts and is recent enough."""
    found = version_of(path, r"\bFirefox (\d+)(?:\.\d+)+")
    version = found[0].removeprefix("Firefox ")
    if int(found[1]) < OLDEST:
        raise CannotPrepare(f"{path} is Firefox {version}; JSPI needs {OLDEST} or newer")
    return version
