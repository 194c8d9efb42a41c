"""Time-outs of waits.

They detect hangs on slow and busy machines. They do not measure speed.
"""

PATIENCE_S = 300.0  # less than pytest gives a test (faulthandler_timeout)
PATIENCE_MS = 1000 * PATIENCE_S
#: For what a person sees change on the page.
GLANCE_MS = 180_000.0


_SHORTEST_MS, _LONGEST_MS = 10.0, 200.0


def pause_ms(waited_s: float) -> float:
    """How long to wait until the next look, after so long a wait in vain.

    A tenth of it: each look takes two programs some milliseconds, on cores that the page needs.
    """
    return min(max(_SHORTEST_MS, 100 * waited_s), _LONGEST_MS)
