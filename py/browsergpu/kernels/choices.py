"""Which variant of an operation a device runs: what tuning found, else what the table says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager

from browsergpu.core.errors import InvalidArgument
from browsergpu.kernels.family import Variant
from browsergpu.kernels.variants import PICKS, VARIANTS, device_class


class Forced:
    """A variant that is to do all of an operation's work, and whether it has done any."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.was_used = False


#: Operation → size class → name of the variant.
Picks = dict[str, dict[str, str]]


class Choices:
    """A device's variants, and its picks among them.

    ``tuned`` holds what measurements on the device found; what it does not name is picked by the
    table for devices of its class.
    """

    def __init__(
        self,
        info: Mapping[str, str],
        features: Set[str],
        limits: Mapping[str, int],
        tuned: Picks | None = None,
    ) -> None:
        self._available = {
            op: tuple(v for v in variants if v.runs_on(features, limits))
            for op, variants in VARIANTS.items()
        }
        self._class = device_class(info)
        self._only: dict[str, Forced] = {}
        #: Called when other variants may be chosen than before.
        self.on_change: Callable[[], None] = _nothing
        self.tuned = {} if tuned is None else tuned

    @property
    def tuned(self) -> Picks:
        """What tuning has picked: operation → size class → variant. Setting it replaces it; names
        that the device does not have are left out."""
        return {op: dict(picks) for op, picks in self._tuned.items()}

    @tuned.setter
    def tuned(self, picks: Picks) -> None:
        self._tuned = {
            op: {c: name for c, name in of_op.items() if self._find(op, name) is not None}
            for op, of_op in picks.items()
            if op in self._available
        }
        self._picked: dict[tuple[str, str], Variant | None] = {}
        self.on_change()

    @property
    def operations(self) -> Set[str]:
        """The operations that have variants."""
        return self._available.keys()

    def preferred(self, op: str) -> tuple[Variant, ...]:
        """What was picked for any class of problems, in the table's order; the first variant where
        nothing was."""
        sources = (self._tuned, PICKS.get(self._class, {}), PICKS.get("", {}))
        classes = {c for source in sources for c in source.get(op, {})}
        picked = {self.picked(op, c) for c in classes}
        variants = self._available[op]
        return tuple(v for v in variants if v in picked) or variants[:1]

    def available(self, op: str) -> tuple[Variant, ...]:
        """The operation's variants that the device can run; the last one can do every problem."""
        return self._available[op]

    def _find(self, op: str, name: str | None) -> Variant | None:
        return next((v for v in self._available[op] if v.name == name), None)

    def picked(self, op: str, size_class: str) -> Variant | None:
        """The variant that is tried first for problems of a class, if one was picked."""
        key = (op, size_class)
        if key not in self._picked:
            names = [self._tuned.get(op, {}).get(size_class)]
            for name in (self._class, ""):
                names.append(PICKS.get(name, {}).get(op, {}).get(size_class))
            found = (self._find(op, name) for name in names)
            self._picked[key] = next((v for v in found if v is not None), None)
        return self._picked[key]

    def choose(self, op: str, size_class: str, able: Callable[[Variant], bool]) -> Variant:
        """The variant for a problem of a size class: the picked one if ``able`` says that it can
        do this problem, else the first in the table's order that can."""
        if self._only:
            forced = self._only.get(op)
            if forced is not None and able(forced.variant):
                forced.was_used = True
                return forced.variant
        picked = self.picked(op, size_class)
        if picked is not None and able(picked):
            return picked
        variants = self._available[op]
        return next((v for v in variants if able(v)), variants[-1])

    @contextmanager
    def only(self, op: str, name: str) -> Iterator[Forced]:
        """Within the block, the named variant does what it is able to do of an operation; for
        measuring and testing it. Raises InvalidArgument where the device does not have it."""
        variant = self._find(op, name)
        if variant is None:
            names = ", ".join(v.name for v in self._available.get(op, ()))
            raise InvalidArgument("only", "name", name, f"a variant of {op} here: {names}")
        before = self._only.get(op)
        forced = self._only[op] = Forced(variant)
        self.on_change()
        try:
            yield forced
        finally:
            self.on_change()
            if before is None:
                del self._only[op]
            else:
                self._only[op] = before


def _nothing() -> None:
    return None
