"""Settings of optimizers in update formulas, which replays of a captured graph follow."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.graphs.hooks import checked, each_time
from browsergpu.arrays.update import Draft
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Shown

#: A parameter group: "params" and settings by name.
Group = dict[str, Any]


class Settings(Shown):
    """The settings of a group while a formula is recorded.

    A formula gets settings only from here. In a block of ``capture()``, numbers are computed again
    before each replay. If a setting determines the formula itself, a replay after a change raises
    InvalidArgument.

    Parameters
    ----------
    op : str
        Name of the optimizer.
    like : Array
        An array on the device.
    draft : Draft
        The formula.
    group : dict
        The group, whose values may change at any time.
    key : tuple
        Identifies the step, and parameters with the same number of steps, which share numbers.
    """

    def __init__(
        self, op: str, like: Array, draft: Draft, group: Group, key: tuple[Hashable, ...]
    ) -> None:
        self._op = op
        self._like = like
        self._draft = draft
        self._group = group
        self._key = key

    def array(self, name: str, value: Callable[[Group], float]) -> Any:
        """Return a number computed from the group.

        In a block of ``capture()``, it is a 0-d array.
        """
        group = self._group
        return each_time(self._like, (*self._key, name), lambda: value(group))

    def computed(self, name: str, value: Callable[[Group], float]) -> Any:
        """Return the result of :meth:`array` as an operand of the formula."""
        return self.drafted(self.array(name, value))

    def drafted(self, x: Any) -> Any:
        """Return a number or a 0-d array as an operand of the formula."""
        return self._draft.number(x)

    def number(self, name: str) -> Any:
        """Return a numeric setting as an operand of the formula."""
        return self.computed(name, lambda group: group[name])

    def share(self, name: str, at: int | None = None) -> tuple[Any, Any]:
        """Return a setting b, or an item of it, and 1 - b, as operands of the formula."""

        def value(group: Group) -> float:
            return group[name] if at is None else group[name][at]  # type: ignore[no-any-return]

        own = f"{name} {at}"
        return self.computed(own, value), self.computed(f"1 - {own}", lambda g: 1 - value(g))

    def beginning(self, name: str) -> float:
        """Return a setting that only the initial state depends on. Later changes have no effect."""
        return self._group[name]  # type: ignore[no-any-return]

    def is_set(self, name: str) -> bool:
        """Return whether a setting is True or nonzero. A replay after a change raises an error."""
        found = bool(self._group.get(name, False))
        self._check(name, lambda now: now == found, "0" if not found else "other than 0")
        return found

    def is_used(self, name: str) -> bool:
        """Return whether a setting is nonzero, so that the formula needs its term.

        Replays follow all values of a setting that was nonzero in the block.
        """
        found = bool(self._group[name])
        if not found:
            self._check(name, lambda now: not now, "0")
        return found

    def _check(self, name: str, is_as_before: Callable[[bool], bool], before: str) -> None:
        op, group = self._op, self._group

        def check() -> None:
            now = group.get(name, False)
            if not is_as_before(bool(now)):
                expected = f"{before}, as in the block of capture()"
                raise InvalidArgument(op, name, now, expected, "Capture the step again.")

        checked(self._like, check)
