"""Sends test files to pytest's workers, also after one of them died."""

from collections.abc import Mapping

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

#: A worker starts a test once it knows the next one, or that there is none.
_KNOWN = 2

_Tests = Mapping[str, bool]


class FileScheduling(LoadFileScheduling):  # type: ignore[misc]
    """As pytest-xdist's ``--dist loadfile``, which waits without end after a crash.

    pytest-xdist 3.8 gives another worker the finished files of the dead one and the test that
    crashed, too. A worker that got a finished file, or a file of one test, waits for more tests,
    and the scheduler for the end of a test. A worker that still collects its tests, as one that
    replaces another does, ends the whole run with a ``KeyError`` when it is sent some.
    """

    def remove_node(self, node: WorkerController) -> str | None:
        """Put the tests that are left of a worker back. Return the test in which it died."""
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
            return  # It gets its first tests when it has collected them.
        super()._reschedule(node)
        while not node.shutting_down and self._pending_of(self.assigned_work[node]) < _KNOWN:
            if not self.workqueue:
                node.shutdown()
                return
            self._assign_work_unit(node)


def _unfinished(unit: _Tests) -> list[str]:
    return [test for test, is_finished in unit.items() if not is_finished]
