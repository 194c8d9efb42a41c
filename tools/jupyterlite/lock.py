"""pyodide-lock.json for a folder of wheels.

Pyodide checks each wheel against its lock. The release's lock has the hashes of wheels that the
Pyodide project built. Builds of pure-Python packages in a package registry have the same version
but other bytes.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Packages = Mapping[str, Mapping[str, Any]]


def closure(packages: Packages, names: Iterable[str]) -> dict[str, str]:
    """Return the versions of the named packages and of all their dependencies."""
    known = {_plain(name): package for name, package in packages.items()}
    found: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = _plain(waiting.pop())
        if name not in found:
            found[name] = str(known[name]["version"])
            waiting += known[name]["depends"]
    return found


def lacking(versions: Mapping[str, str], wheels: Iterable[Path]) -> dict[str, str]:
    """Return the packages without a wheel in the folder."""
    there = {_identity(wheel) for wheel in wheels}
    return {name: version for name, version in versions.items() if (name, version) not in there}


def lock_of(lock: Mapping[str, Any], wheels: Iterable[Path]) -> dict[str, Any]:
    """Return the release's lock, adapted to a folder that has only these wheels.

    Missing packages are removed, so that they can be installed from elsewhere. Pyodide and micropip
    look up packages of the lock nowhere else.
    """
    there = {_identity(wheel): wheel for wheel in wheels}
    packages = {}
    for name, package in lock["packages"].items():
        wheel = there.get((_plain(name), package["version"]))
        if wheel is not None:
            facts = {"file_name": wheel.name, "sha256": _sha256(wheel)}
            packages[name] = {**package, **facts}
    return {**lock, "packages": packages}


def _identity(wheel: Path) -> tuple[str, str]:
    name, version = wheel.name.split("-")[:2]
    return _plain(name), version


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
