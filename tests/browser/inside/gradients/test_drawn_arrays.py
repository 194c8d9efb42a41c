"""Gradients of statistics, sorting and reordering, for calls that hypothesis generates."""

from __future__ import annotations

from typing import Any

import pytest

from inside.gradients.drawn.arrays import ARRAYS
from inside.gradients.drawn.running import holds

pytestmark = pytest.mark.all


@pytest.mark.parametrize("name", ARRAYS)
def test_gradients(bg: Any, name: str) -> None:
    holds(bg, ARRAYS[name])
