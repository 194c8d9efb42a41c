"""Selection of the kernel variant that a device runs.

Results of tuning come first, then tuned defaults, then the first variant that is safe on the
device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from contextvars import ContextVar

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.kernels.base.family import Variant
from browsergpu.engine.kernels.unmeasured import Caution, caution_for, is_measured, kind_of
from browsergpu.engine.kernels.variants import PICKS, VARIANTS, device_class


class Forced(Shown):
    """A variant that :meth:`Choices.only` forces, and whether it ran."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.was_used = False


#: Operation → size class → name of the variant.
Picks = dict[str, dict[str, str]]
#: One recorded choice: operation, size class, and a predicate for the variants that support it.
Asked = tuple[str, str, Callable[[Variant], bool]]


class Choices(Shown):
    """The variants that a device supports, and the selection among them.

    Variants in ``tuned`` were measured on this device and come first. Tuned defaults follow, but a
    device without measurements uses only those that are safe
    (:mod:`~browsergpu.engine.kernels.unmeasured`).

    Parameters
    ----------
    info : Mapping
        Vendor, architecture, device and description of the GPU.
    features, limits : Set, Mapping
        WebGPU features and limits of the device.
    tuned : Picks, optional
        Variants that tuning found.
    software : bool
        Whether the device is a software renderer.
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
        #: Whether the tuned defaults were measured on such a device.
        self.is_measured = is_measured(info)
        kind = kind_of(info, limits, software=software)
        #: Device classes in the table, the most specific first. The last, "", matches every device.
        self._classes = (*filter(None, (device_class(info), kind)), "")
        self._is_software = kind == "software"
        self._caution = Caution() if self.is_measured else caution_for(kind, limits, features)
        self._only: dict[str, Forced] = {}
        #: Called when the selection may have changed.
        self.on_change: Callable[[], None] = _nothing
        self.tuned = {} if tuned is None else tuned

    @property
    def tuned(self) -> Picks:
        """Variants that tuning found: operation → size class → variant.

        Assigning replaces all of them. Names of variants that the device does not support are
        dropped.
        """
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
        """Operations that have variants."""
        return self._available.keys()

    def preferred(self, op: str) -> tuple[Variant, ...]:
        """Return the selected variants of all size classes, in the table's order.

        If none is selected, return the first safe variant.
        """
        sources = (self._tuned, *(PICKS.get(name, {}) for name in self._classes))
        classes = {c for source in sources for c in source.get(op, {})}
        picked = {self.picked(op, c) for c in classes}
        variants = self._available[op]
        return tuple(v for v in variants if v in picked) or self._safe(op)[:1]

    def available(self, op: str) -> tuple[Variant, ...]:
        """Return the variants that the device supports. The last one supports every problem."""
        return self._available[op]

    def quick(self, op: str) -> Variant | None:
        """Return the variant that compiles soonest, if one is much quicker than the others."""
        return next((v for v in self._available[op] if v.is_quick), None)

    def _find(self, op: str, name: str | None) -> Variant | None:
        return next((v for v in self._available[op] if v.name == name), None)

    def _safe(self, op: str) -> tuple[Variant, ...]:
        """Return the variants that are safe without a measurement, in the table's order."""
        variants = self._available[op]
        return tuple(v for v in variants[:-1] if self._caution.is_safe(v)) + variants[-1:]

    def picked(self, op: str, size_class: str) -> Variant | None:
        """Return the variant that is tried first for a size class, or None."""
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
        """Return the variant for a problem of a size class.

        This is the selected variant if ``able`` accepts it, else the first safe one that ``able``
        accepts.
        """
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

    # -- autotuning during normal calls: device/by_use.py ----------------------------------------

    def is_open(self, op: str, size_class: str) -> bool:
        """Return whether autotuning should measure a size class.

        A class that was measured is closed. On a software renderer, so is a class with a tuned
        default for this kind of device, since compiling other variants takes seconds.
        """
        if size_class in self._tuned.get(op, {}):
            return False
        own = self._classes[:-1] if self._is_software else ()
        return all(size_class not in PICKS.get(name, {}).get(op, {}) for name in own)

    def plausible(self, op: str, size_class: str, able: Callable[[Variant], bool]) -> list[Variant]:
        """Return the variants to measure for a problem. The general one is the last."""
        *others, general = self._available[op]
        possible = [v for v in others if self._caution.is_possible(v)]
        wanted = [v for v in possible if not v.classes or size_class in v.classes]
        return [v for v in (*wanted, general) if able(v)]

    def settle(self, op: str, size_class: str, name: str) -> None:
        """Set the variant of an open size class. The caller must discard programs of that class."""
        self._tuned.setdefault(op, {})[size_class] = name
        self._picked.pop((op, size_class), None)

    @property
    def is_forced(self) -> bool:
        """Whether a block of :meth:`only` is active."""
        return bool(self._only)

    @contextmanager
    def noting(
        self, turn: tuple[str, str, Variant] | None = None, *, first: bool = False
    ) -> Iterator[list[Asked]]:
        """Record the choices that this thread makes within the block.

        ``turn`` forces one variant for its operation and size class, for problems that it supports.
        ``first`` is ``is_first_result`` in the block.
        """
        asked: list[Asked] = []
        token = _NOTED.set((self, turn, asked))
        other = _FIRST.set(first)
        try:
            yield asked
        finally:
            _FIRST.reset(other)
            _NOTED.reset(token)

    @property
    def is_first_result(self) -> bool:
        """Whether a program is wanted whose kernels compile soon, as others still compile."""
        return _FIRST.get()

    @contextmanager
    def only(self, op: str, name: str) -> Iterator[Forced]:
        """Use the named variant within the block, for every problem that it supports.

        This is for measurements and tests. Raises InvalidArgument if the device does not support
        the variant.
        """
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


#: The recorder of this thread: its Choices, the forced variant, and the recorded choices.
_NOTED: ContextVar[tuple[Choices, tuple[str, str, Variant] | None, list[Asked]] | None]
_NOTED = ContextVar("noted", default=None)
_FIRST: ContextVar[bool] = ContextVar("first", default=False)
