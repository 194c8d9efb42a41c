"""The host's copy of a kept buffer."""

from __future__ import annotations

import pytest

from browsergpu.engine.device.kept import KeptContents

pytestmark = pytest.mark.fast


def test_a_write_replaces_the_start_and_may_be_longer() -> None:
    kept = KeptContents()
    for data, expected in (
        (b"abc", b"abc"), (b"X", b"Xbc"), (b"12345", b"12345"), (b"", b"12345"),
    ):  # fmt: skip
        kept.write(memoryview(data))
        assert kept.data == expected


def test_a_write_changes_the_copy_in_place() -> None:
    kept = KeptContents()
    kept.write(memoryview(bytes(100)))
    before = kept.data
    kept.write(memoryview(b"abcd"))
    assert kept.data is before
    assert len(before) == 100


def test_a_read_does_not_undo_later_writes() -> None:
    kept = KeptContents()
    kept.write(memoryview(b"......"))
    read = kept.begin_read()
    kept.write(memoryview(b"WW"))
    kept.end_read(read, memoryview(b"rrrr"))
    assert kept.data == b"WWrr.."


def test_reads_that_end_in_another_order_than_they_began() -> None:
    kept = KeptContents()
    first, second, third = kept.begin_read(), kept.begin_read(), kept.begin_read()
    kept.end_read(second, memoryview(b"22"))
    kept.end_read(third, None)  # the read failed
    kept.end_read(first, memoryview(b"1111"))
    assert kept.data == b"2211"


def test_reads_of_a_buffer_that_was_replaced_tell_nothing() -> None:
    kept = KeptContents()
    kept.write(memoryview(b"kept"))
    read = kept.begin_read()
    kept.forget_reads()
    kept.end_read(read, memoryview(b"read"))
    assert kept.data == b"kept"
