"""Progress messages during downloads."""

import io

import pytest

from devsite.progress import Console, human_size

pytestmark = pytest.mark.fast


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (9_596_462, "9.6 MB"),
        (106_366_595, "106.4 MB"),
        (12_345_678_901, "12.3 GB"),
        (5_000_000_000_000, "5000.0 GB"),
    ],
)
def test_sizes(size: int, text: str) -> None:
    assert human_size(size) == text


def test_each_file_is_counted_with_its_size() -> None:
    stream = io.StringIO()
    console = Console(stream)
    console.begin(2, 3_000_000)
    console.received("a.wasm", 1_000_000, "npm")
    console.received("b.whl", 2_000_000, "pip")
    assert stream.getvalue().splitlines() == [
        "Fetching 2 files, 3.0 MB",
        "[1/2] a.wasm, 1.0 MB from npm (1.0 MB of 3.0 MB)",
        "[2/2] b.whl, 2.0 MB from pip (3.0 MB of 3.0 MB)",
    ]


def test_a_log_gets_no_fleeting_lines() -> None:
    stream = io.StringIO()
    Console(stream).working("pip: 5 MB")
    assert stream.getvalue() == ""


def test_a_terminals_fleeting_line_is_erased() -> None:
    stream = Terminal()
    console = Console(stream)
    console.working("12345")
    console.note("done")
    assert stream.getvalue() == "12345\r     \rdone\n"
