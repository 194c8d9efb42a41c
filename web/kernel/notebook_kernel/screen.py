"""The page's screen, as it was when the running cell began."""

#: Device pixels per CSS pixel.
density = 1.0
#: Whether figures without a style of the user's are drawn on dark paper.
is_dark = False

PAPER, INK = "#1e2123", "#e6e7e5"
_MOST = 3.0


def look(new_density: float, new_is_dark: bool) -> None:
    """Store what the page tells. Densities above 3 would make files large."""
    global density, is_dark
    density = min(max(new_density, 1.0), _MOST)
    is_dark = new_is_dark
