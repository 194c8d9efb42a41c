"""Runs actions in parallel and stops all when one fails."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from queue import Empty, SimpleQueue
from typing import TypeVar

_THREADS = 6
_GRACE = 2.0

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def run_parallel(
    action: Callable[[_Item], _Result], items: Sequence[_Item], cancelled: threading.Event
) -> list[_Result]:
    """Return the results of ``action`` for every item, in order.

    It sets ``cancelled`` when an action raises, or on Ctrl-C. It does not use a ThreadPoolExecutor,
    since Python joins its threads at exit. Ctrl-C would then wait for a server that does not
    answer.
    """
    waiting: SimpleQueue[tuple[_Item, Future[_Result]]] = SimpleQueue()
    futures = [Future[_Result]() for _ in items]
    for job in zip(items, futures, strict=True):
        waiting.put(job)

    def work() -> None:
        while not cancelled.is_set():
            try:
                item, future = waiting.get_nowait()
            except Empty:
                return
            try:
                future.set_result(action(item))
            except BaseException as error:
                future.set_exception(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in items[:_THREADS]]
    for thread in threads:
        thread.start()
    try:
        for future in wait(futures, return_when=FIRST_EXCEPTION).done:
            future.result()
        return [future.result() for future in futures]
    except BaseException:
        cancelled.set()
        raise
    finally:
        for thread in threads:
            thread.join(_GRACE)
