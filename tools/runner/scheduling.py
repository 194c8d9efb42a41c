"""Distribution of test files among pytest's workers that survives a worker's crash."""

from collections.abc import Mapping

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

#: A worker starts a test only when it knows the next one, or that there is none.
_KNOWN = 2

_Tests = Mapping[str, bool]


class FileScheduling(LoadFileScheduling):  # type: ignore[misc]
    """Scheduler like pytest-xdist's ``--dist loadfile`` that does not hang after a crash.

    After a crash, pytest-xdist 3.8 reassigns also the finished files and the crashed test. A worker
    with a finished file, or with a file of one test, then waits for more tests, while the scheduler
    waits for the end of a test. A replacement worker that still collects its tests fails the whole
    run with a ``KeyError`` if tests are sent to it.
    """

    def remove_node(self, node: WorkerController) -> str | None:
        """Requeue the worker's remaining tests and return the test in which it crashed."""
        units = self.assigned_work.pop(node)
        left = [test for unit in units.values() for test in _unfinished(unit)]
        if not left:
            return None
        crashed = left[0]
        for file, unit in units.items():
            rest = {test: False for test in _unfinished(unit) if test != crashed}
            if rest:
                self.workqueue[file] = rest
        for other in self.assigned_work:
            self._reschedule(other)
        return crashed

    def _reschedule(self, node: WorkerController) -> None:
        if node not in self.registered_collections:
            return  # It gets its first tests after collection.
        super()._reschedule(node)
        while not node.shutting_down and self._pending_of(self.assigned_work[node]) < _KNOWN:
            if not self.workqueue:
                node.shutdown()
                return
            self._assign_work_unit(node)


def _unfinished(unit: _Tests) -> list[str]:
    return [test for test, is_finished in unit.items() if not is_finished]
