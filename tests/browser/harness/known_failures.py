"""The tests that fail in Firefox. docs/browsers.md lists them with reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

LIST = Path(__file__).resolve().parents[3] / "docs" / "browsers.md"
_ROW = re.compile(r"^\| `(tests/[^`]+::[^`]+)` \| (.+) \|$", re.MULTILINE)


def known_failures(text: str | None = None) -> Mapping[str, str]:
    """Return the reasons of the listed failures.

    Parameters
    ----------
    text : str, optional
        The list. By default, the list in docs/browsers.md.

    Returns
    -------
    Mapping[str, str]
        The reasons, by pytest's test names. A name without parameters stands for all tests of the
        function.
    """
    return dict(_ROW.findall(LIST.read_text(encoding="utf-8") if text is None else text))


def expect_failures(items: Iterable[pytest.Item], reasons: Mapping[str, str]) -> None:
    """Expect the listed tests to fail. A listed test that passes fails the run."""
    for item in items:
        for name in (item.nodeid, item.nodeid.partition("[")[0].removesuffix("@main")):
            if name in reasons:
                item.add_marker(pytest.mark.xfail(reason=reasons[name], strict=True))
                break
