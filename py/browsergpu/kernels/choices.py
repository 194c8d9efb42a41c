"""Which variant of an operation a device runs: what tuning found, else what the table says, else
what is safe on such a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from contextvars import ContextVar

from browsergpu.core.errors import InvalidArgument
from browsergpu.core.showing import Shown
from browsergpu.kernels.base.family import Variant
from browsergpu.kernels.unmeasured import Caution, caution_for, is_measured, kind_of
from browsergpu.kernels.variants import PICKS, VARIANTS, device_class


class Forced(Shown):
    """A variant that is to do all of an operation's work, and whether it has done any."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.was_used = False


#: Operation → size class → name of the variant.
Picks = dict[str, dict[str, str]]
#: A choice that was made: the operation, the size class, and what says whether a variant is able.
Asked = tuple[str, str, Callable[[Variant], bool]]


class Choices(Shown):
    """A device's variants, and its picks among them.

    ``tuned`` holds what measurements on the device found; what it does not name is picked by the
    table for devices of its class, where they were measured. On all others a pick must be safe
    (:mod:`~browsergpu.kernels.unmeasured`). ``info`` has the device's names; ``software``: it is
    no GPU.
    """

    def __init__(
        self,
        info: Mapping[str, str],
        features: Set[str],
        limits: Mapping[str, int],
        tuned: Picks | None = None,
        *,
        software: bool = False,
    ) -> None:
        self._available = {
            op: tuple(v for v in variants if v.runs_on(features, limits))
            for op, variants in VARIANTS.items()
        }
        #: Whether the table's picks were measured on such a device.
        self.is_measured = is_measured(info)
        kind = kind_of(info, limits, software=software)
        #: The table's classes that it belongs to, the most exact first; the last holds for all.
        self._classes = (*filter(None, (device_class(info), kind)), "")
        self._is_software = kind == "software"
        self._caution = Caution() if self.is_measured else caution_for(kind, limits, features)
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
        sources = (self._tuned, *(PICKS.get(name, {}) for name in self._classes))
        classes = {c for source in sources for c in source.get(op, {})}
        picked = {self.picked(op, c) for c in classes}
        variants = self._available[op]
        return tuple(v for v in variants if v in picked) or self._safe(op)[:1]

    def available(self, op: str) -> tuple[Variant, ...]:
        """The operation's variants that the device can run; the last one can do every problem."""
        return self._available[op]

    def _find(self, op: str, name: str | None) -> Variant | None:
        return next((v for v in self._available[op] if v.name == name), None)

    def _safe(self, op: str) -> tuple[Variant, ...]:
        """Those that may do a problem for which nothing was picked, in the table's order."""
        variants = self._available[op]
        return tuple(v for v in variants[:-1] if self._caution.is_safe(v)) + variants[-1:]

    def picked(self, op: str, size_class: str) -> Variant | None:
        """The variant that is tried first for problems of a class, if one was picked."""
        key = (op, size_class)
        if key not in self._picked:
            found = self._find(op, self._tuned.get(op, {}).get(size_class))
            safe = self._safe(op)
            for name in self._classes:
                if found is None:
                    found = self._find(op, PICKS.get(name, {}).get(op, {}).get(size_class))
                    found = found if found in safe else None
            self._picked[key] = found
        return self._picked[key]

    def choose(self, op: str, size_class: str, able: Callable[[Variant], bool]) -> Variant:
        """The variant for a problem of a size class: the picked one if ``able`` says that it can
        do this problem, else the first in the table's order that can, and is safe."""
        if self._only:
            forced = self._only.get(op)
            if forced is not None and able(forced.variant):
                forced.was_used = True
                return forced.variant
        noted = _NOTED.get()
        if noted is not None and noted[0] is self:
            _, turn, asked = noted
            asked.append((op, size_class, able))
            if turn is not None and turn[:2] == (op, size_class) and able(turn[2]):
                return turn[2]
        picked = self.picked(op, size_class)
        if picked is not None and able(picked):
            return picked
        variants = self._safe(op)
        return next((v for v in variants if able(v)), variants[-1])

    # -- tuning by use: device/by_use.py ---------------------------------------------------------

    def is_open(self, op: str, size_class: str) -> bool:
        """Whether a class has no pick by measuring yet, and one is wanted. In software it is not
        where the table has a pick of its own: others would take seconds to compile."""
        if size_class in self._tuned.get(op, {}):
            return False
        own = self._classes[:-1] if self._is_software else ()
        return all(size_class not in PICKS.get(name, {}).get(op, {}) for name in own)

    def plausible(self, op: str, size_class: str, able: Callable[[Variant], bool]) -> list[Variant]:
        """The variants that may take turns at a problem; the general one is the last."""
        *others, general = self._available[op]
        possible = [v for v in others if self._caution.is_possible(v)]
        wanted = [v for v in possible if not v.classes or size_class in v.classes]
        return [v for v in (*wanted, general) if able(v)]

    def settle(self, op: str, size_class: str, name: str) -> None:
        """Picks a variant for a class that was open. Programs with that class must not be kept."""
        self._tuned.setdefault(op, {})[size_class] = name
        self._picked.pop((op, size_class), None)

    @property
    def is_forced(self) -> bool:
        """Whether a block of :meth:`only` is open."""
        return bool(self._only)

    @contextmanager
    def noting(self, turn: tuple[str, str, Variant] | None = None) -> Iterator[list[Asked]]:
        """The choices within the block, by this thread; in a ``turn`` the variant is chosen for its
        operation and size class, where it is able."""
        asked: list[Asked] = []
        token = _NOTED.set((self, turn, asked))
        try:
            yield asked
        finally:
            _NOTED.reset(token)

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


#: Whose choices are noted in this thread, the turn that is taken, and what was asked.
_NOTED: ContextVar[tuple[Choices, tuple[str, str, Variant] | None, list[Asked]] | None]
_NOTED = ContextVar("noted", default=None)
