"""Programs that are interrupted wherever CPython can interrupt them."""
