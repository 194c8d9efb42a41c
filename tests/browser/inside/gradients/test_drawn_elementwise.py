"""Gradients of elementwise functions, for calls that hypothesis generates."""

from __future__ import annotations

from typing import Any

import pytest

from inside.gradients.drawn.elementwise import ELEMENTWISE
from inside.gradients.drawn.running import holds

pytestmark = pytest.mark.all


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_gradients(bg: Any, name: str) -> None:
    holds(bg, ELEMENTWISE[name])
