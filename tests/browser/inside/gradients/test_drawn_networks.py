"""Gradients of network and image functions, for calls that hypothesis generates."""

from __future__ import annotations

from typing import Any

import pytest

from inside.gradients.drawn.images import IMAGES
from inside.gradients.drawn.networks import NETWORKS
from inside.gradients.drawn.running import holds

pytestmark = pytest.mark.all

CALLS = NETWORKS | IMAGES


@pytest.mark.parametrize("name", CALLS)
def test_gradients(bg: Any, name: str) -> None:
    holds(bg, CALLS[name])
