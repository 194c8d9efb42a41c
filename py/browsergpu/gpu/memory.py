"""GPU memory: buffers in size classes, kept in a pool when freed, and statistics of them.

A freed buffer goes back to the pool at once, though commands that use it may not have run yet:
the GPU works in order, so whoever takes it next comes after them. Another thread may free one while
this one takes or frees one: what both change is changed in single steps.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count
from typing import Any
from weakref import WeakSet, ref

from browsergpu.core.errors import OutOfMemory
from browsergpu.core.showing import Shown, byte_count
from browsergpu.gpu import platform
from browsergpu.gpu.holding import Held, Holding
from browsergpu.gpu.port import Gpu, closed

_SMALLEST = 256
#: What the pool may hold: this, or as much as brings all buffers to twice what was in use at once
#: before, up to the other, or to a part of the GPU's memory where that is known. Making a large one
#: waits for the GPU, so a loop should find its own again, and the sizes that it needs one after the
#: other are more than it needs at once.
_POOL_CEILING = 512 * 2**20
_POOL_MOST = 4 * 2**30
_SHARE = 4
_WORTH_ASKING = 2**20  # from here on, wait for the GPU's word that there is room

# One sequence each for all devices, so that what is another's is never valid.
_handles = count(1)
_ids = count(1)


@dataclass(slots=True)
class Allocation:
    """A GPUBuffer: ``id`` in the recorder's table, ``nbytes`` asked for, ``capacity`` it has.
    ``label`` says whose it is, in statistics and errors."""

    handle: int
    id: int
    nbytes: int
    capacity: int
    label: str


class _Owner(ref):  # type: ignore[type-arg]
    """A weak reference to what holds a buffer, and what is called when the buffer goes back."""

    __slots__ = ("buffer", "freed")

    buffer: Allocation
    freed: Callable[[], object] | None


@lru_cache(maxsize=1024)
def size_class(nbytes: int) -> int:
    """The capacity that serves a request: a multiple of 256 bytes, at most 1/8 too large.

    Few distinct sizes make it likely that a freed buffer fits the next request.
    """
    if nbytes <= _SMALLEST:
        return _SMALLEST
    step = max(_SMALLEST, 1 << (nbytes - 1).bit_length() - 4)
    return -(-nbytes // step) * step


def _largest_class(room: int) -> int:
    """The largest of the size classes that fit: a request for as much is served."""
    if room < _SMALLEST:
        return 0
    step = max(_SMALLEST, 1 << (room - 1).bit_length() - 4)
    return room // step * step


class BufferPool(Shown):
    """Buffers of one device. All numbers are bytes, but for ``buffers``.

    ``largest`` is the most that one buffer may have, ``limit`` the most that all may have
    together (None: what the GPU gives). ``clear`` zeroes each buffer when it is taken, ``relabel``
    gives one from the pool its new label also in the browser's tools. ``memory`` is what the GPU
    has of its own, where that is known.
    """

    def __init__(
        self,
        recorder: Gpu,
        largest: int,
        limit: int | None = None,
        *,
        clear: bool = False,
        relabel: bool = False,
        memory: int | None = None,
    ) -> None:
        self._recorder = recorder
        self._share = (memory or 0) // _SHARE
        self._largest = largest
        self._limit = limit
        self._clear = clear
        self._relabel = relabel
        self._closed = False
        self._asked = 0  # bytes of the buffers that are being made
        self._capacities: dict[int, int] = {}  # id -> bytes
        self._asked_for: dict[int, int] = {}  # id -> bytes of the last request, if cleared
        # Capacity -> ids; the sizes that were freed last come last.
        self._idle: OrderedDict[int, list[int]] = OrderedDict()
        self._labels: defaultdict[str, int] = defaultdict(int)  # label -> bytes in use
        self._holding: Holding | None = None  # of what is being captured
        self._owners: dict[int, _Owner] = {}  # by the ids of their buffers
        # Owners that are gone. They come here by a function in C: a KeyboardInterrupt in a
        # destructor would be lost.
        self._gone: deque[_Owner] = deque()
        #: The values that come to lie in buffers, while something is captured.
        self.new_users: WeakSet[Any] | None = None
        #: What is held for what was captured.
        self.held = Held()
        self._in_use = 0
        self._pooled = 0
        self._most_in_use = 0
        #: The most that ``allocated`` ever was.
        self.peak = 0
        self._buffers = 0

    def _facts(self) -> str:
        return f"{byte_count(self.in_use)} in use, {byte_count(self.allocated)} allocated"

    @property
    def in_use(self) -> int:
        """Bytes of the live buffers."""
        self._reclaim()
        return self._in_use

    @property
    def pooled(self) -> int:
        """Bytes of freed buffers that wait to be used again."""
        self._reclaim()
        return self._pooled

    @property
    def buffers(self) -> int:
        """Number of live buffers."""
        self._reclaim()
        return self._buffers

    @property
    def allocated(self) -> int:
        """Bytes on the GPU: in use, pooled, and held for what was captured."""
        self._reclaim()
        return self._in_use + self._pooled + self.held.nbytes

    @property
    def by_label(self) -> dict[str, int]:
        """Bytes in use of each label."""
        self._reclaim()
        return {label: nbytes for label, nbytes in self._labels.items() if nbytes}

    def has(self, ids: Iterable[int]) -> bool:
        """Whether buffers are this device's."""
        return self._closed or all(map(self._capacities.__contains__, ids))

    def statistics(self) -> dict[str, int]:
        """The numbers above, as a dict."""
        return {
            "allocated": self.allocated,
            "in_use": self.in_use,
            "pooled": self.pooled,
            "peak": self.peak,
            "buffers": self.buffers,
        }

    def get_buffer(self, op: str, nbytes: int, label: str = "") -> Allocation:
        """A buffer of at least ``nbytes``, contents undefined; ``label`` is ``op`` by default.

        Raises OutOfMemory when no buffer of this device can be that large, or when there is no
        room even after the pool was trimmed. Where Python cannot block, the GPU's word comes from
        the next call that waits.
        """
        if self._gone:
            self._reclaim()
        capacity = size_class(nbytes)
        if capacity > self._largest:
            if nbytes > self._largest:
                limit = f"{byte_count(self._largest)}, the largest buffer"
                raise self._out_of_memory(op, nbytes, limit, self._largest)
            capacity = self._largest
        name = label or op
        identity, is_new = self._taken(op, nbytes, capacity, name)
        if self._relabel and not is_new:
            self._recorder.label_buffer(identity, name)
        if self._clear:
            try:
                self._recorder.clear(identity, 0, capacity)
            except BaseException:
                self._destroy(identity)
                raise
            self._asked_for[identity] = nbytes
        self._in_use += capacity
        self._most_in_use = max(self._most_in_use, self._in_use)
        self._buffers += 1
        self._labels[name] += capacity
        return Allocation(next(_handles), identity, nbytes, capacity, name)

    def get_lasting(self, op: str, nbytes: int, label: str) -> Allocation:
        """A small buffer of zeros that stays as long as the device, and is not counted."""
        if self._closed:
            raise closed(op)
        identity = next(_ids)
        self._recorder.create_buffer(identity, nbytes, label, op, nbytes)
        self._capacities[identity] = nbytes
        return Allocation(next(_handles), identity, nbytes, nbytes, label)

    def _taken(self, op: str, nbytes: int, capacity: int, label: str) -> tuple[int, bool]:
        """A buffer's id, and whether it was made for this."""
        holding = self._holding
        if holding is not None and holding.takes:
            reused = holding.reused(capacity)
            if reused is not None:
                self.held.nbytes -= capacity
                return reused, False
        else:
            holding = None
        is_new = False
        try:
            identity = heappop(self._idle[capacity])
            self._pooled -= capacity
        except (KeyError, IndexError):
            identity, is_new = self._make(op, nbytes, capacity, label), True
            self._capacities[identity] = capacity
            self.peak = max(self.peak, self.allocated + capacity)
        if holding is not None:
            holding.taken(identity, capacity)
        return identity, is_new

    def _make(self, op: str, nbytes: int, capacity: int, label: str) -> int:
        """A new buffer's id. Without room, the pool is trimmed and it is tried once more."""
        if self._closed:
            raise closed(op)
        if self._recorder.is_short_of_memory:  # told of a call before, which did not wait
            self.trim()
        for attempt in range(2):
            if self._limit is None or self.allocated + self._asked + capacity <= self._limit:
                identity = next(_ids)
                try:
                    made = self._recorder.try_buffer(identity, capacity, label)
                    if made is None:
                        made = self._ask(identity, op, nbytes, capacity, label)
                except BaseException:  # an interrupt: the GPU may have made it, or be about to
                    self._recorder.abandon_buffer(identity)
                    raise
                if made:
                    return identity
            if attempt == 0:
                self.trim()
        limit = "the GPU's own" if self._limit is None else byte_count(self._limit)
        raise self._out_of_memory(op, nbytes, limit, None)

    def _ask(self, identity: int, op: str, nbytes: int, capacity: int, label: str) -> bool:
        """Makes a buffer where only a wait tells whether there is room. Does not wait for small
        ones, nor while it would let another task record what is captured."""
        if capacity < _WORTH_ASKING or self._holding is not None or not platform.can_block():
            self._recorder.create_buffer(identity, capacity, label, op, nbytes)
            return True
        self._asked += capacity
        try:
            asked = self._recorder.create_buffer_checked(identity, capacity, label)
            made = platform.block_on(asked, op)
        finally:
            self._asked -= capacity
        if self._closed:  # meanwhile
            raise closed(op)
        return made

    def _out_of_memory(
        self, op: str, requested: int, limit: str, available: int | None
    ) -> OutOfMemory:
        """``available`` is what the memory limit does not say: None if there is no other one."""
        if self._limit is not None:
            left = _largest_class(self._limit - self.in_use - self._asked)
            available = min(left, self._largest)
        told = "" if available is None else f", {byte_count(available)} are available"
        return OutOfMemory(
            op,
            f"{byte_count(requested)} were requested, {byte_count(self.in_use)} are in use{told}, "
            f"and the limit is {limit}. Free what is no longer needed, or work in smaller pieces.",
            requested,
            available,
        )

    def owned_by(
        self, owner: Any, buffer: Allocation, freed: Callable[[], object] | None = None
    ) -> None:
        """Frees a buffer once its owner is gone, within the next call of the pool, or when
        :meth:`free` is called. ``freed`` is called then."""
        made = _Owner(owner, self._gone.append)
        made.buffer = buffer
        made.freed = freed
        self._owners[buffer.id] = made

    def is_owned(self, owner: Any, buffer: Allocation) -> bool:
        """Whether a buffer is this owner's."""
        made = self._owners.get(buffer.id)
        return made is not None and made() is owner

    def free(self, owner: Any, buffer: Allocation) -> None:
        """Frees an owner's buffer; nothing, where it was freed."""
        if self.is_owned(owner, buffer):
            self._give_back(self._owners[buffer.id])

    def _give_back(self, owner: _Owner) -> None:
        if owner.freed is not None:
            owner.freed()
        self.return_buffer(owner.buffer)

    def _reclaim(self) -> None:
        """Takes back the buffers of owners that are gone."""
        while self._gone:
            try:
                owner = self._gone.popleft()
            except IndexError:  # another thread has taken it
                return
            try:
                buffer = owner.buffer
            except AttributeError:  # an interrupt came before it was told its buffer
                continue
            if self._owners.get(buffer.id) is owner:
                self._give_back(owner)

    def return_buffer(self, buffer: Allocation) -> None:
        """Frees a buffer; it must not be used afterwards. Closing has freed all of them."""
        if self._closed:
            return
        self._owners.pop(buffer.id, None)
        self._in_use -= buffer.capacity
        self._buffers -= 1
        rest = self._labels[buffer.label] - buffer.capacity
        if rest:
            self._labels[buffer.label] = rest
        else:
            del self._labels[buffer.label]
        if self._holding is not None:
            self._holding.freed(buffer.id, buffer.capacity)
            self.held.nbytes += buffer.capacity
        elif buffer.id in self.held:
            self.held.wait(buffer.id, buffer.capacity)
        else:
            self._pool(buffer.id, buffer.capacity)

    def _pool(self, identity: int, capacity: int) -> None:
        """Keeps a buffer that nobody has for who needs one of its size, or destroys it."""
        most = max(_POOL_MOST, self._share)
        ceiling = max(_POOL_CEILING, min(2 * self._most_in_use, most) - self._in_use)
        if identity in self._recorder.failed or capacity > ceiling:
            self._destroy(identity)
            return
        heappush(self._idle.setdefault(capacity, []), identity)
        self._idle.move_to_end(capacity)
        self._pooled += capacity
        while self._pooled > ceiling:
            self._evict()

    def _evict(self) -> None:
        """Destroys an idle buffer of the size that none was freed of for longest: what a program
        has gone on from must not keep out what it works with."""
        try:
            capacity, idle = next(iter(self._idle.items()))
        except RuntimeError:  # another thread has freed one meanwhile
            return
        try:
            identity = heappop(idle)
        except IndexError:
            self._idle.move_to_end(capacity)
        else:
            self._pooled -= capacity
            self._destroy(identity)

    def holders(self) -> list[Any]:
        """What holds the buffers that are in use."""
        return [owner for one in list(self._owners.values()) if (owner := one()) is not None]

    def start_holding(self) -> Holding:
        """Takes and frees buffers for what is captured from now on."""
        self._reclaim()
        self._holding = Holding()
        self.new_users = WeakSet()
        return self._holding

    def end_holding(self, ids: Iterable[int]) -> None:
        """The capture is complete: buffers of those ids are held until :meth:`let_go`."""
        self._reclaim()
        holding, self._holding = self._holding, None
        self.new_users = None
        if holding is None or self._closed:
            return
        self.held.hold(ids)
        for identity, capacity in holding.free_ones().items():
            self.held.nbytes -= capacity
            if identity in self.held:
                self.held.wait(identity, capacity)
            else:
                self._pool(identity, capacity)

    def let_go(self, ids: Iterable[int]) -> None:
        """Holds buffers no longer."""
        if not self._closed:
            for identity, capacity in self.held.let_go(ids).items():
                self._pool(identity, capacity)

    def trim(self) -> int:
        """Destroys the pooled buffers, and the idle ones that read back, which are not counted.
        Returns the bytes that this gave back."""
        if self._closed:
            raise closed("trim")
        freed = self.pooled
        for capacity, idle in list(self._idle.items()):
            while idle:
                self._destroy(idle.pop())
                self._pooled -= capacity
        self._recorder.is_short_of_memory = False
        self._recorder.flush()
        self._recorder.trim_staging()
        return freed

    def close(self) -> None:
        """Forgets all buffers, which go with their device."""
        self._closed = True
        self._idle.clear()
        self._labels.clear()
        self._capacities.clear()
        self._owners.clear()
        self._gone.clear()
        self._holding, self.held = None, Held()
        self._in_use = self._pooled = self._buffers = 0

    def _destroy(self, identity: int) -> None:
        del self._capacities[identity]
        self._asked_for.pop(identity, None)
        self._recorder.destroy_buffer(identity)

    def nbytes_of(self, identity: int) -> int:
        """Bytes that the buffer with that id in the recorder's table was asked for with. Known
        where buffers are cleared."""
        return self._asked_for[identity]
