"""Wheels without compiled modules."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from devsite.uncompiled import uncompiled, uncompiled_name

FILES = {
    "fast/__init__.py": b"try:\n    from ._fast import add\nexcept ImportError:\n"
    b"    from ._slow import add\n",
    "fast/_slow.py": b"def add(a, b):\n    return a + b\n",
    "fast/py.typed": b"",
    "fast-1.2.dist-info/METADATA": b"Metadata-Version: 2.4\nName: fast\nVersion: 1.2\n",
    "fast-1.2.dist-info/licenses/LICENSE.txt": b"MIT\n",
}


@pytest.fixture
def wheels(tmp_path: Path) -> list[Path]:
    """The same package for two platforms, with other line ends and another order."""
    paths = []
    for tag, module, end in (("linux", "so", b"\n"), ("win_amd64", "pyd", b"\r\n")):
        path = tmp_path / f"fast-1.2-cp312-cp312-{tag}.whl"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
            own = {
                **FILES, f"fast/_fast.{module}": b"machine code", "fast/_fast.c": b"code",
                "fast-1.2.dist-info/WHEEL": f"Tag: cp312-cp312-{tag}".encode(),
                "fast-1.2.dist-info/RECORD": b"",
            }  # fmt: skip
            for name in sorted(own, reverse=module == "pyd"):
                wheel.writestr(name, own[name].replace(b"\n", end))
        paths.append(path)
    return paths


def test_the_bytes_are_the_same_for_all_platforms(wheels: list[Path]) -> None:
    first, second = (uncompiled(path) for path in wheels)
    assert first == second
    assert uncompiled_name(wheels[0]) == "fast-1.2-py3-none-any.whl"


def test_the_wheel_has_the_python_modules(wheels: list[Path], tmp_path: Path) -> None:
    path = tmp_path / uncompiled_name(wheels[1])
    path.write_bytes(uncompiled(wheels[1]))
    with zipfile.ZipFile(path) as wheel:
        own = {name: wheel.read(name) for name in wheel.namelist()}
    folder = "fast-1.2.dist-info"
    assert {name: own[name] for name in FILES} == FILES
    assert own.keys() == {*FILES, f"{folder}/WHEEL", f"{folder}/RECORD"}
    assert b"Tag: py3-none-any" in own[f"{folder}/WHEEL"]
    for line in own[f"{folder}/RECORD"].decode().splitlines()[:-1]:
        name, digest, size = line.split(",")
        expected = base64.urlsafe_b64encode(hashlib.sha256(own[name]).digest()).decode()
        assert (digest, int(size)) == (f"sha256={expected.rstrip('=')}", len(own[name]))
    code = "import sys; sys.path.insert(0, sys.argv[1]); import fast; print(fast.add(1, 2))"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert done.stdout.strip() == "3", done.stderr
