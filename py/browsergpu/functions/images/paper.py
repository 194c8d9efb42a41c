"""The paper and ink of plots, light or dark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

#: Colors of curves with less contrast than this on dark paper need light paper.
_CONTRAST = 1.7


@dataclass(frozen=True)
class Paper:
    """The color of the paper, and of axes and texts on it, as numbers from 0 to 1."""

    paper: tuple[float, float, float]
    ink: tuple[float, float, float]

    def printed(self, painted: np.ndarray) -> np.ndarray:
        """Return uint8 RGB [height, width, 3] of a black-on-white image with these colors."""
        share = painted[..., :3] / 255
        mixed = share * np.asarray(self.paper) + (1 - share) * np.asarray(self.ink)
        rounded: np.ndarray = np.round(255 * mixed).astype(np.uint8)
        return rounded


LIGHT = Paper((1.0, 1.0, 1.0), (0.0, 0.0, 0.0))
DARK = Paper((30 / 255, 33 / 255, 35 / 255), (230 / 255, 231 / 255, 229 / 255))

# Whether the page wants dark figures, if its Python knows it.
_find_dark: Callable[[], bool] | None = None


def know_theme(find: Callable[[], bool]) -> None:
    """Call ``find()`` for the theme of each plot without an own one."""
    global _find_dark
    _find_dark = find


def choose(dark: bool | None, colors: list[np.ndarray]) -> Paper:
    """Return the paper for curves of these colors. None means the page's theme."""
    if dark is None:
        wanted = _find_dark is not None and _find_dark()
        dark = wanted and all(_contrast(color[:3], DARK.paper) >= _CONTRAST for color in colors)
    return DARK if dark else LIGHT


def _contrast(one: np.ndarray, other: tuple[float, ...]) -> float:
    darker, lighter = sorted((_luminance(np.asarray(one)), _luminance(np.asarray(other))))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(rgb: np.ndarray) -> float:
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ np.array([0.2126, 0.7152, 0.0722]))
