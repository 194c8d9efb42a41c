"""Does several things at once and stops them all when one fails."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_THREADS = 6

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def run_parallel(
    action: Callable[[_Item], _Result], items: Sequence[_Item], cancelled: threading.Event
) -> list[_Result]:
    """``action`` of every item, in order; sets ``cancelled`` when one raises, or on Ctrl-C."""
    pool = ThreadPoolExecutor(_THREADS)
    try:
        return [future.result() for future in [pool.submit(action, item) for item in items]]
    except BaseException:
        cancelled.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
