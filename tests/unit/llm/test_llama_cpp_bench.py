"""Libraries of one GPU's kernels, which bench/llama_cpp.py makes for llama.cpp."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "bench"))

import llama_cpp  # noqa: E402

pytestmark = pytest.mark.fast

HEAD = 64


def entry(code: int, payload: bytes) -> bytes:
    """Return a container's entry with the kernels of one GPU."""
    head = struct.pack("<HHIQ", 2, 1, HEAD, len(payload)).ljust(28, b"\1")
    return (head + struct.pack("<I", code)).ljust(HEAD, b"\1") + payload


def container(*entries: bytes) -> bytes:
    data = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(data)) + data


def test_kernels_of_other_gpus_are_zeroed() -> None:
    pointer = struct.pack("<IHHQ", 0xBA55ED50, 2, 16, 2**40)
    before, after = b"code" + pointer, b"data"
    first = container(entry(75, b"old!"), entry(90, b"kept"))
    second = container(entry(90, b"also"), entry(120, b"new!"))
    library = before + first + after + second
    found = llama_cpp.without_other_kernels(library)
    expected = library.replace(b"old!", bytes(4)).replace(b"new!", bytes(4))
    assert found == expected
