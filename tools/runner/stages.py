"""Which tests run in each mode of tests/run.py, and where: stages, one run of pytest each.

Test files say by markers when they run and where (pyproject.toml has the markers): no path of a
test stands here.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.vulkan import ENGINES

#: The tests that run inside Pyodide, and outside a browser, too.
INSIDE = "tests/browser/inside"
#: The tests that take a browser.
_IN_BROWSERS = "tests/browser"

# Each worker has a browser of its own, which takes a core and two gigabytes. They take whole files,
# the long ones first (tests/conftest.py).
_BY_FILES = (
    "-n", "auto", "--maxprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder",
)  # fmt: skip
# Single tests, where there is one file.
_BY_TESTS = ("-n", "auto", "--maxprocesses", "4", "--dist", "load")

# Random programs against NumPy: 10,000 of them, as half are of assignments, and in CI's manner the
# same ones each time. Mesa compiles them at its quickest; most of their time is compiling.
_PROGRAMS = ("-m", "random_programs", INSIDE)
_OF_PROGRAMS = {
    "BROWSERGPU_NATIVE": "wgpu", "BROWSERGPU_FUZZ_PROGRAMS": "5000", "GALLIVM_PERF": "nopt",
    "CI": "1",
}  # fmt: skip


@dataclass(frozen=True)
class Stage:
    """One run of pytest: its name in the summary, its arguments, and its environment."""

    name: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs_firefox(self) -> bool:
        """Whether its tests run in Firefox."""
        return self.environment.get("BROWSERGPU_BROWSER") == "firefox"


def _outside(engine: str, *arguments: str) -> Stage:
    return Stage(
        f"pytest, on {engine}", (*_BY_FILES, *arguments, INSIDE), {"BROWSERGPU_NATIVE": engine}
    )


_IN_FIREFOX = Stage(
    "pytest, in Firefox",
    (*_BY_FILES, "-m", "firefox", _IN_BROWSERS),
    {"BROWSERGPU_BROWSER": "firefox"},
)

#: `--fast`.
FAST = (Stage("pytest", (*_BY_FILES, "-m", "fast and not all")),)

#: Without an option: each test in one place.
DEFAULT = (
    Stage("pytest", (*_BY_FILES, "-m", "(fast or not native) and not all")),
    _outside("dawn", "-m", "native and not fast and not all"),
)

#: `--all`: each test in each place.
ALL = (
    Stage("pytest", _BY_FILES),
    *(_outside(engine) for engine in ENGINES),
    _IN_FIREFOX,
    Stage("10,000 random programs", (*_BY_TESTS, *_PROGRAMS), _OF_PROGRAMS),
)

MODES: Mapping[str, tuple[Stage, ...]] = {"fast": FAST, "default": DEFAULT, "all": ALL}


def chosen(
    arguments: list[str],
    *,
    engine: str | None = None,
    plain: bool = False,
    firefox: bool = False,
) -> Stage:
    """The stage of tests that were chosen on the command line, or of all in-page tests; in Firefox
    of those that are marked so."""
    are_named = any(argument.startswith("tests") for argument in arguments)
    if firefox:
        own = _BY_FILES if are_named else _IN_FIREFOX.arguments
        return dataclasses.replace(_IN_FIREFOX, arguments=(*own, *arguments))
    environment = {}
    if plain:
        environment["BROWSERGPU_WEBGPU"] = "plain"
    if engine:
        environment["BROWSERGPU_NATIVE"] = engine
    if environment and not are_named:
        arguments = [*arguments, INSIDE]
    return Stage("pytest", (*_BY_FILES, *arguments), environment)
