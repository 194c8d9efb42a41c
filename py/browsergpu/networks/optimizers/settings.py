"""An optimiser's settings as its formula has them, so that the replays of a graph follow them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.graphs.hooks import checked, each_time
from browsergpu.arrays.update import Draft
from browsergpu.core.errors import InvalidArgument
from browsergpu.core.showing import Shown

#: A group of parameters: "params", and its settings by their names.
Group = dict[str, Any]


class Settings(Shown):
    """The settings of a group while a formula is recorded.

    A formula has no other way to them. In a block of ``capture()`` a number is computed again
    before each replay. Where a setting decides about the formula itself, a replay after a change
    raises InvalidArgument.

    Parameters
    ----------
    op : str
        The optimiser's name.
    like : Array
        An array of the device.
    draft : Draft
        The formula.
    group : dict
        The group, whose values may change at any time.
    key : tuple
        Of the step and of parameters that have come as far: these share numbers.
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
        """A number that is computed from the group; in a block an array without axes."""
        group = self._group
        return each_time(self._like, (*self._key, name), lambda: value(group))

    def computed(self, name: str, value: Callable[[Group], float]) -> Any:
        """:meth:`array` for the formula."""
        return self.drafted(self.array(name, value))

    def drafted(self, x: Any) -> Any:
        """A number, or an array without axes, for the formula."""
        return self._draft.number(x)

    def number(self, name: str) -> Any:
        """A setting that is a number, for the formula."""
        return self.computed(name, lambda group: group[name])

    def share(self, name: str, at: int | None = None) -> tuple[Any, Any]:
        """A setting b, or the one at a place of it, and 1 - b, for the formula."""

        def value(group: Group) -> float:
            return group[name] if at is None else group[name][at]  # type: ignore[no-any-return]

        own = f"{name} {at}"
        return self.computed(own, value), self.computed(f"1 - {own}", lambda g: 1 - value(g))

    def beginning(self, name: str) -> float:
        """A setting that only a state's first value is made of: later changes have no effect,
        replayed or not."""
        return self._group[name]  # type: ignore[no-any-return]

    def is_set(self, name: str) -> bool:
        """Whether a setting is True, or another number than 0. No replay can follow a change."""
        found = bool(self._group.get(name, False))
        self._check(name, lambda now: now == found, "0" if not found else "other than 0")
        return found

    def is_used(self, name: str) -> bool:
        """Whether the formula has a term that is 0 where a setting is. Replays follow all values
        of one that is not 0 in the block."""
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
