"""The wheels that marimo's page needs, in the format of Pyodide's lock file."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_YAML = "pyyaml-6.0.3"
_OF_THE_LOCK = ("jedi", "packaging", "pygments")


def pure_yaml(environment: Path, folder: Path) -> Path:
    """Build a PyYAML wheel from an environment, without the C extension.

    No registry has a PyYAML wheel for Pyodide.
    """
    (installed,) = environment.glob("[Ll]ib/**/site-packages/yaml")
    name, version = _YAML.split("-")
    about = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
        "RECORD": "",
    }
    wheel = folder / f"{_YAML}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as content:
        for module in installed.glob("*.py"):
            content.write(module, f"yaml/{module.name}")
        for file, text in about.items():
            content.writestr(f"{_YAML}.dist-info/{file}", text)
    return wheel


def with_marimo(lock: dict[str, Any], wheels: Iterable[Path]) -> dict[str, Any]:
    """Return Pyodide's lock with the missing wheels added, as marimo's server does.

    `jupyterlite.lock.lock_of` adds files and hashes.
    """
    packages = dict(lock["packages"])
    named = {}
    for wheel in wheels:
        name, version = wheel.name.split("-")[:2]
        name = name.replace("_", "-")
        named[name] = {
            "name": name, "version": version, "install_dir": "site", "package_type": "package",
            "imports": [], "depends": [],
        }  # fmt: skip
        if packages.get(name, {}).get("version") != version:
            packages[name] = named[name]
    # The page requests marimo and few other packages by name, so marimo depends on the others.
    packages["marimo-base"]["depends"] = [*sorted(named.keys() - {"marimo-base"}), *_OF_THE_LOCK]
    return {**lock, "packages": packages}
