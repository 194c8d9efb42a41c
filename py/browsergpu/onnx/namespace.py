"""The package's functions, under the names of the package: ``bg.add``, ``bg.nn.conv2d``."""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.above import ABOVE

bg: Any = ABOVE.namespace
