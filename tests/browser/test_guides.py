"""The guides' examples run, and give and raise what is said beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.lab import Lab
from harness.problems import assert_none
from playwright.sync_api import Page

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDES = ("arrays", "coming-from-numpy", "coming-from-cupy")

#: Looks whether a value is the one that is said: by its text, floats to the digits that are given.
CHECKS = """
import math


def gives(value, said):
    if isinstance(value, float) and "." in said:
        digits = len(said.partition(".")[2])
        assert math.isclose(value, float(said), abs_tol=0.51 * 10**-digits), value
    else:
        assert repr(value) == said, value
"""
RAISES = """
try:
    {code}
except {said}:
    pass
else:
    raise AssertionError('{said} was not raised')
"""


def checked(code: str) -> str:
    """The code of an example, with what is said beside a line asserted."""
    lines = []
    for line in code.splitlines():
        said = re.fullmatch(r"(\S.*?)  # (→|raises) (.+)", line)
        if said is None:
            lines.append(line)
        elif said[2] == "→":
            lines.append(f"gives({said[1]}, {said[3]!r})")
        else:
            lines.append(RAISES.format(code=said[1], said=said[3]))
    return "\n".join(lines)


@pytest.fixture(scope="module")
def page(lab: Lab) -> Iterator[Page]:
    """A page for all guides: booting takes seconds."""
    found: list[str] = []
    page = lab.new_page(found.append)
    page.goto(f"{lab.site_url}/?notebook=none")
    page.evaluate("browsergpu.ready")
    page.evaluate("code => browsergpu.run(code)", CHECKS)
    yield page
    page.context.close()
    assert_none(found)


@pytest.mark.parametrize("name", GUIDES)
def test_the_examples(name: str, page: Page) -> None:
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) > 3
    for code in examples:
        page.evaluate("code => browsergpu.run(code)", checked(code))


@pytest.mark.parametrize("name", [*GUIDES, "gallery"])
def test_the_files_they_name_exist(name: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)", (DOCS / f"{name}.md").read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (DOCS / link).exists()] == []
