"""docs/onnx.md lists the operators that there are."""

from __future__ import annotations

import json

import pytest

from onnx_suite import table

pytestmark = pytest.mark.fast


def test_the_page_has_the_table() -> None:
    assert table.page() == table.PAGE.read_text(encoding="utf-8"), "python -m onnx_suite.table"


def test_the_goal_is_reached() -> None:
    groups = json.loads(table.RESULTS.read_text(encoding="utf-8"))["groups"]
    passed, total = groups["floats, integers and bool"]
    assert passed >= 0.9 * total
    assert sum(one[1] for one in groups.values()) == 1884
    text = table.PAGE.read_text(encoding="utf-8")
    assert f"{passed:,} of {total:,}" in text
