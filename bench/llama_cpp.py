"""Speed of llama.cpp with Vulkan or CUDA: tokens a second of decoding, and of prompts.

    python3 bench/llama_cpp.py build vulkan FOLDER      # here: 25 MB compressed
    python3 bench/llama_cpp.py build cuda FOLDER        # here: 23 MB compressed
    python3 bench/random_gguf.py llama-1b Q4_0 llama-1b-q4_0.gguf
    python3 bench/llama_cpp.py run FOLDER llama-1b-q4_0.gguf model.gguf

``build`` needs npm, git and g++ on Linux. The libraries come from the npm packages
@node-llama-cpp/linux-x64-…, and llama-bench is compiled against them from the sources of the same
release of llama.cpp, which the package node-llama-cpp holds. Vulkan's libraries have cooperative
matrices. CUDA's are those of an older release, the last one with kernels of compute capability 9.0
(H100, H200) for CUDA 13.0. Kernels for other GPUs are zeroed, which makes the folder small once
compressed. ``run`` needs the folder, Python, and a Vulkan loader and driver, or CUDA's runtime and
cuBLAS (of a toolkit or of PyTorch's packages) and a driver.

``run`` measures with llama-bench and prints a JSON line for each row, like bench/language.py:
prompts of 512 tokens, and decoding after 16 tokens. llama-bench reads the logits of each token and
takes the next token at random, so its times include no sampling. Each number is the median of the
last half of the repeats. Vulkan's software devices are measured only if GGML_VK_VISIBLE_DEVICES
names them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: The version of node-llama-cpp with the libraries of a backend: llama.cpp 0.5.0 and b7324.
VERSIONS = {"vulkan": "3.22.1", "cuda": "3.14.4"}
_COMMON = "libllama-common.so"
_INCLUDED = ("common", "include", "ggml/include", "vendor")
_FATBIN, _GPU_CODE = 0xBA55ED50, 90  # the magic of CUDA's containers, and the kernels to keep


def build(backend: str, folder: Path) -> None:
    """Fill a folder with llama.cpp's libraries and llama-bench."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        package = f"@node-llama-cpp/linux-x64-{backend}@{VERSIONS[backend]}"
        libraries = _unpacked(package, Path(temporary) / "libraries")
        for path in libraries.glob("bins/*/*.so*"):
            shutil.copy(path, folder)
        sources = _unpacked(f"node-llama-cpp@{VERSIONS[backend]}", Path(temporary) / "sources")
        llama = Path(temporary) / "llama.cpp"
        bundle = sources / "llama" / "gitRelease.bundle"
        clone = ["git", "-c", "advice.detachedHead=false", "clone", "--quiet", bundle, llama]
        subprocess.run(clone, check=True)
        _compile(folder, llama, Path(temporary))
    for path in folder.glob("libggml-cuda.so"):
        path.write_bytes(without_other_kernels(path.read_bytes()))


def _compile(folder: Path, llama: Path, temporary: Path) -> None:
    tool = llama / "tools" / "llama-bench"
    sources = list(tool.glob("*.cpp"))
    linked = [next(folder.glob("libllama.*.so")), next(folder.glob("libggml.*.so"))]
    if (folder / _COMMON).exists():
        linked.append(folder / _COMMON)
    else:  # older releases link it statically
        about = temporary / "about.cpp"
        texts = ("COMMIT", "COMPILER", "BUILD_TARGET")
        lines = ["int LLAMA_BUILD_NUMBER;", *(f'const char * LLAMA_{t} = "";' for t in texts)]
        about.write_text("\n".join(lines), "utf-8")
        sources += [about, *(llama / "common" / f"{name}.cpp" for name in ("common", "log"))]
    command = [
        "g++", "-O2", "-DNDEBUG", "-std=c++17", "-s", "-ffunction-sections", "-Wl,--gc-sections",
        *(f"-I{llama / path}" for path in _INCLUDED), f"-I{tool}", *sources,
        "-o", folder / "llama-bench", *linked, folder / "libggml-base.so", "-lpthread",
        "-Wl,-rpath,$ORIGIN", "-Wl,--unresolved-symbols=ignore-in-shared-libs",
    ]  # fmt: skip
    subprocess.run(command, check=True)


def _unpacked(package: str, folder: Path) -> Path:
    """Unpack a package from npm and return the folder of its files."""
    folder.mkdir()
    command = ["npm", "pack", "--silent", package]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    shutil.unpack_archive(next(folder.glob("*.tgz")), folder, filter="data")
    return folder / "package"


def without_other_kernels(library: bytes) -> bytes:
    """Return a CUDA library with zeros in place of the kernels of other GPUs."""
    data = bytearray(library)
    magic, at = _FATBIN.to_bytes(4, "little"), 0
    while (at := data.find(magic, at)) >= 0:
        _, version, head, size = struct.unpack_from("<IHHQ", data, at)
        if version != 1:  # a pointer to a container has the magic of another version
            at += 4
            continue
        entry, at = at + head, at + head + size
        while entry < at:
            head, size = struct.unpack_from("<4xIQ", data, entry)
            (code,) = struct.unpack_from("<I", data, entry + 28)
            if code != _GPU_CODE:
                data[entry + head : entry + head + size] = bytes(size)
            entry += head + size
    return bytes(data)


def run(folder: Path, files: Sequence[Path], prompt: int, tokens: int, repeats: int) -> None:
    """Print the rows of each file."""
    for file in files:
        wanted = {
            "prompt": ["-p", prompt, "-n", 0, "-r", 2 * repeats],
            "decode": ["-p", 0, "-n", tokens, "-d", 16, "-r", repeats],
        }
        for row, options in wanted.items():
            print(json.dumps(_row(folder, file, row, options)), flush=True)


def _row(folder: Path, file: Path, row: str, options: Sequence[Any]) -> dict[str, Any]:
    name = f"{row}: {file.stem}"
    command = [folder / "llama-bench", "-m", file, "-o", "jsonl", *map(str, options)]
    finished = subprocess.run(command, capture_output=True, text=True, env=_environment())
    if finished.returncode:
        return {"peer": "llama.cpp", "row": name, "error": finished.stderr[-600:]}
    told = json.loads(finished.stdout)
    if not told["gpu_info"]:
        return {"peer": "llama.cpp", "row": name, "error": f"no GPU: {finished.stderr[-600:]}"}
    rates = told["samples_ts"]
    return {
        "peer": "llama.cpp", "row": name, "tokens": told["n_prompt"] or told["n_gen"],
        "per_second": round(statistics.median(rates[len(rates) // 2 :]), 1),
        "best": round(max(rates), 1), "backend": told["backends"], "gpu": told["gpu_info"],
        "model": told["model_type"],
    }  # fmt: skip


def _environment() -> dict[str, str]:
    """Return the environment, with CUDA's libraries of Python packages for the loader."""
    packaged = [str(lib) for path in sys.path for lib in Path(path).glob("nvidia/*/lib")]
    given = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, [*given, *packaged]))}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build")
    building.add_argument("backend", choices=VERSIONS)
    building.add_argument("folder", type=Path)
    running = commands.add_parser("run")
    running.add_argument("folder", type=Path)
    running.add_argument("files", type=Path, nargs="+", help="GGUF files")
    running.add_argument("--prompt", type=int, default=512)
    running.add_argument("--tokens", type=int, default=256)
    running.add_argument("--repeats", type=int, default=6)
    options = parser.parse_args(arguments)
    if options.command == "build":
        build(options.backend, options.folder)
    else:
        run(options.folder, options.files, options.prompt, options.tokens, options.repeats)


if __name__ == "__main__":
    main(sys.argv[1:])
