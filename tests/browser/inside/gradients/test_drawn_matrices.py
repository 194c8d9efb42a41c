"""Gradients of products, linear algebra and transforms, for generated calls."""

from __future__ import annotations

from typing import Any

import pytest

from inside.gradients.drawn.matrices import MATRICES
from inside.gradients.drawn.running import holds

pytestmark = pytest.mark.all


@pytest.mark.parametrize("name", MATRICES)
def test_gradients(bg: Any, name: str) -> None:
    holds(bg, MATRICES[name])
