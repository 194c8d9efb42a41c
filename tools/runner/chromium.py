"""Finds or installs a Chromium for the browser tests."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from devsite.processes import run_program
from runner import debian
from runner.problem import CannotPrepare
from runner.versions import version_of

# The first version with WebAssembly's JavaScript Promise Integration; WebGPU came earlier.
OLDEST = 137
VARIABLE = "BROWSERGPU_CHROMIUM"
_DOWNLOAD_TIMEOUT = 900.0
_SYSTEM_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "microsoft-edge",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
_WHERE_PLAYWRIGHTS_IS = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


@dataclass(frozen=True)
class Chromium:
    """A browser that is recent enough."""

    path: str
    version: str


def ensure_chromium(python: Path, memory: Path, say: Callable[[str], None]) -> Chromium:
    """Return the Chromium for the tests.

    It is the one in BROWSERGPU_CHROMIUM, else Playwright's, else the system's, else Debian's. The
    file ``memory`` stores its path for the next run.
    """
    if chosen := os.environ.get(VARIABLE):
        return _chosen(chosen)
    remembered = memory.read_text(encoding="utf-8") if memory.exists() else ""
    for path in _places(remembered, python, say):
        try:
            chromium = Chromium(path, _version(path))
        except CannotPrepare as problem:
            say(str(problem))
            continue
        memory.write_text(path, encoding="utf-8")
        return chromium
    raise CannotPrepare(
        f"No Chromium of version {OLDEST} or newer was found, and none could be installed. "
        f"Install one (Debian: apt-get install chromium), or set {VARIABLE} to one's path."
    )


def _chosen(path: str) -> Chromium:
    try:
        return Chromium(path, _version(path))
    except CannotPrepare as problem:
        raise CannotPrepare(f"{VARIABLE}: {problem}") from problem


def _places(remembered: str, python: Path, say: Callable[[str], None]) -> Iterator[str]:
    """Yield paths to try. Later ones are installed only if the earlier ones are unsuitable."""
    if Path(remembered).is_file():
        yield remembered
    if own := _playwrights(python, say):
        yield own
    yield from filter(None, map(shutil.which, _SYSTEM_NAMES))
    if debian.can_install() and debian.install("chromium", say):
        yield from filter(None, [shutil.which("chromium")])


def _playwrights(python: Path, say: Callable[[str], None]) -> str | None:
    """Return Playwright's browser, and download it if it is missing."""
    asked = run_program([str(python), "-c", _WHERE_PLAYWRIGHTS_IS], folder=Path.cwd(), timeout=60.0)
    path = asked.last_lines(1)
    if not asked.succeeded:
        say(f"Playwright does not start:\n{asked.last_lines()}")
        return None
    if Path(path).is_file():
        return path
    say("Fetching Playwright's Chromium")
    finished = run_program(
        [str(python), "-m", "playwright", "install", "--no-shell", "chromium"],
        folder=Path.cwd(),
        timeout=_DOWNLOAD_TIMEOUT,
        # Milliseconds. The default of 30 s, with several retries, is long without a network.
        environment={"PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "5000"},
    )
    if not finished.succeeded:
        say("Playwright's Chromium cannot be downloaded here")
        return None
    if debian.can_install():
        # Installs Chromium's libraries, if they are missing.
        run_program(
            [str(python), "-m", "playwright", "install-deps", "chromium"],
            folder=Path.cwd(),
            timeout=_DOWNLOAD_TIMEOUT,
        )
    return path


def _version(path: str) -> str:
    """Return the version of a Chromium that starts and is recent enough."""
    found = version_of(path, r"\b(\d+)(?:\.\d+){3}\b")
    if int(found[1]) < OLDEST:
        raise CannotPrepare(
            f"{path} is Chromium {found[0]}; WebGPU together with JSPI needs {OLDEST} or newer"
        )
    return found[0]
