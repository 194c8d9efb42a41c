"""Malformed GGUF files raise errors, and take no more memory or time than their size allows."""

from __future__ import annotations

import io
import struct
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.llm.files.gguf import GGUF
from browsergpu.llm.files.gguf_writer import save_gguf

pytestmark = pytest.mark.fast

TENSORS = {"a": np.ones((2, 3), np.float32), "b": np.arange(40, dtype=np.int16)}
METADATA = {
    "general.architecture": "llama",
    "flag": True,
    "count": 7,
    "negative": -3,
    "factor": 0.5,
    "tokens": ["a", "ü", ""],
    "scores": np.array([1.5, -2.0], np.float32),
    "kinds": np.array([1, 6], np.int32),
}


def written(tensors: Any = TENSORS, metadata: Any = METADATA) -> bytes:
    file = io.BytesIO()
    save_gguf(file, tensors, metadata)
    return file.getvalue()


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def header(tensors: int, entries: int, rest: bytes = b"", version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, entries) + rest


def tensor(name: str, shape: tuple[int, ...], code: int = 0, offset: int = 0) -> bytes:
    axes = len(shape)
    return text(name) + struct.pack(f"<I{axes}QIQ", axes, *shape, code, offset)


def test_written_files_are_read() -> None:
    found = GGUF(written())
    assert [*found.metadata] == [*METADATA]
    for key, value in METADATA.items():
        assert np.array_equal(found.metadata[key], value), key
    assert found.metadata["flag"] is True
    assert np.array_equal(found.numpy("a"), TENSORS["a"])
    assert np.array_equal(found.numpy("b"), TENSORS["b"])
    assert found.tensors["a"].shape == (2, 3)
    assert found.tensors["a"].begin % 32 == 0
    assert "a" in found
    assert len(found) == 2


def test_version_2_and_alignment() -> None:
    data = written({}, {"general.alignment": 64})
    assert GGUF(data[:4] + struct.pack("<I", 2) + data[8:]).metadata == {"general.alignment": 64}


@pytest.mark.parametrize("length", [0, 3, 4, 7, 12, 23, 24, 40, 100, 200, 300, -17, -33])
def test_truncated_files(length: int) -> None:
    data = written()
    with pytest.raises(InvalidArgument, match=r"^GGUF: file must "):
        GGUF(data[:length])


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"GGML" + bytes(60), "begin with GGUF"),
        (header(0, 0, version=4), "version 2 or 3, not 4"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "little-endian"),
        (header(2**63, 0, bytes(100)), "at most 4 tensors"),
        (header(0, 2**63, bytes(100)), "at most 7 metadata"),
        (header(0, 1, struct.pack("<Q", 2**64 - 1) + bytes(50)), "bytes for a key"),
        (header(0, 1, text("k") + struct.pack("<I", 13) + bytes(9)), "not type 13"),
        (header(0, 1, text("k") + struct.pack("<IIQ", 9, 8, 2**60)), "strings in 'k'"),
        (header(0, 1, text("k") + struct.pack("<IIQ", 9, 10, 2**61)), "numbers in 'k'"),
        (header(0, 1, text("k") + struct.pack("<IIQ", 9, 9, 1) + bytes(20)), "array of arrays"),
        (header(0, 1, text("k") + struct.pack("<IB", 7, 2)), "bools of 0 and 1"),
        (header(0, 2, (text("k") + struct.pack("<IB", 7, 1)) * 2), "once, not 'k' twice"),
        (header(1, 0, tensor("t", (1,) * 5)), "at most 4 axes"),
        (header(1, 0, tensor("t", (2**62, 2**62)) + bytes(64)), "bytes of tensors for 't'"),
        (header(1, 0, tensor("t", (1,), 16) + bytes(64)), "type 16"),
        (header(1, 0, tensor("t", (33,), 8) + bytes(64)), "multiple of 32 elements for Q8_0"),
        (header(1, 0, tensor("t", (1,), 0, 4) + bytes(64)), "multiple of 32"),
        (header(2, 0, tensor("t", (1,)) * 2 + bytes(64)), "once, not 't' twice"),
        (
            header(2, 0, tensor("s", (16,)) + tensor("t", (8,), 0, 32) + bytes(99)),
            "'s' and 't' do",
        ),
        (
            header(0, 1, text("general.alignment") + struct.pack("<II", 4, 24)),
            "power of two as general.alignment, not 24",
        ),
        (header(0, 1, text("general.alignment") + struct.pack("<II", 4, 0)), "not 0"),
    ],
)  # fmt: skip
def test_malformed_files(data: bytes, match: str) -> None:
    with pytest.raises(InvalidArgument, match=match):
        GGUF(data)


def test_random_damage_is_refused_or_read() -> None:
    """No changed byte makes the reader fail with another error."""
    data = bytearray(written())
    generator = np.random.default_rng(5)
    for _ in range(2000):
        own = bytearray(data)
        for at in generator.integers(0, 330, 3):
            own[at] = generator.integers(0, 256)
        with suppress(InvalidArgument):
            GGUF(bytes(own))


def test_values_that_cannot_be_written() -> None:
    for metadata in ({"k": None}, {"k": {"a": 1}}, {"k": ["a", 1]}, {"k": 2**70}):
        with pytest.raises(InvalidArgument, match="save_gguf: k must be"):
            written({}, metadata)
    with pytest.raises(TypeError, match="t must be"):
        written({"t": np.ones(3, np.complex64)}, {})
