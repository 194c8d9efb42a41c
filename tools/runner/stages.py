"""The pytest runs (stages) of each mode of tests/run.py.

Markers in the test files say when and where they run (pyproject.toml defines the markers). This
module has no paths of single test files.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.vulkan import ENGINES

#: Tests that run both inside Pyodide and outside a browser.
INSIDE = "tests/browser/inside"
#: Tests that need a browser.
_IN_BROWSERS = "tests/browser"

# Each worker has its own browser, which needs a core and two gigabytes. Workers take whole files,
# long ones first (tests/conftest.py).
_BY_FILES = (
    "-n", "auto", "--maxprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder",
)  # fmt: skip
# Distribution of single tests, if there is only one file.
_BY_TESTS = ("-n", "auto", "--maxprocesses", "4", "--dist", "load")

# Random programs compared with NumPy: 10,000, half of them with assignments. The seed is fixed, as
# in CI. Most of the time is compilation, so Mesa uses its fastest setting.
_PROGRAMS = ("-m", "random_programs", INSIDE)
_OF_PROGRAMS = {
    "BROWSERGPU_NATIVE": "wgpu", "BROWSERGPU_FUZZ_PROGRAMS": "5000", "GALLIVM_PERF": "nopt",
    "CI": "1",
}  # fmt: skip


@dataclass(frozen=True)
class Stage:
    """One pytest run: its name in the summary, arguments and environment."""

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

_NATIVE = ("-m", "native and not fast and not all")

#: Without an option: each test in one place.
DEFAULT = (
    Stage("pytest", (*_BY_FILES, "-m", "(fast or not native) and not all")),
    _outside("dawn", *_NATIVE),
)

#: `--engines`: the same, and on the other engines.
ON_ENGINES = (*DEFAULT, _outside("wgpu", *_NATIVE), _IN_FIREFOX)

#: `--all`: each test in each place.
ALL = (
    Stage("pytest", _BY_FILES),
    *(_outside(engine) for engine in ENGINES),
    _IN_FIREFOX,
    Stage("10,000 random programs", (*_BY_TESTS, *_PROGRAMS), _OF_PROGRAMS),
)

MODES: Mapping[str, tuple[Stage, ...]] = {
    "fast": FAST, "default": DEFAULT, "engines": ON_ENGINES, "all": ALL,
}  # fmt: skip


def chosen(
    arguments: list[str],
    *,
    engine: str | None = None,
    plain: bool = False,
    firefox: bool = False,
) -> Stage:
    """Return the stage of the tests selected on the command line, or of all in-page tests.

    In Firefox, only tests with its marker run.
    """
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
