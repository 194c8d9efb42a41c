"""Time-outs of waits.

They detect hangs on slow and busy machines. They do not measure speed.
"""

PATIENCE_S = 300.0  # less than pytest's faulthandler_timeout
PATIENCE_MS = 1000 * PATIENCE_S
#: For visible changes on the page.
GLANCE_MS = 180_000.0


_SHORTEST_MS, _LONGEST_MS = 10.0, 200.0


def pause_ms(waited_s: float) -> float:
    """Return the pause before the next check, after waiting ``waited_s`` seconds.

    The pause is a tenth of the wait so far. Each check costs two processes some milliseconds of the
    cores that the page needs.
    """
    return min(max(_SHORTEST_MS, 100 * waited_s), _LONGEST_MS)
