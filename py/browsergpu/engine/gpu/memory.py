"""GPU memory: a pool of buffers in size classes, with statistics.

A freed buffer returns to the pool at once, even if commands that use it have not run yet. This is
safe because the GPU runs commands in order: commands of the next user run later. Threads may
allocate and free buffers concurrently, so shared state changes only in atomic steps.
"""

from __future__ import annotations

from asyncio import gather
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple
from weakref import WeakSet, ref

from browsergpu.engine.core.errors import OutOfMemory
from browsergpu.engine.core.showing import Shown, byte_count
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.holding import Held, Holding
from browsergpu.engine.gpu.port import Gpu, closed

_SMALLEST = 256
#: Creating a large buffer waits for the GPU, so a loop should find its own buffers again. A loop
#: needs several sizes one after the other, which together exceed the bytes in use at one time. The
#: pool may therefore hold _POOL_CEILING bytes, and more until all buffers reach twice the peak of
#: the bytes in use. Then it holds at most 1/_SHARE of the GPU's memory. If that is unknown or
#: small, all buffers together have at most _POOL_MOST bytes, or the pool has 1/_SHARE of the bytes
#: in use.
_POOL_CEILING = 512 * 2**20
_POOL_MOST = 4 * 2**30
_SHARE = 4
_WORTH_ASKING = 2**20  # from this size on, wait for the GPU to confirm

# All devices share the counters, so the id of one device's buffer is never valid on another.
_handles = count(1)
_ids = count(1)


class Allocation(NamedTuple):
    """A GPUBuffer from the pool.

    Attributes
    ----------
    handle : int
        Number of this allocation.
    id : int
        The buffer's id in the recorder's table.
    nbytes : int
        Bytes that were requested.
    capacity : int
        Bytes that the buffer has.
    label : str
        Name of the user, for statistics and errors.
    """

    handle: int
    id: int
    nbytes: int
    capacity: int
    label: str


#: Makes an Allocation without a call in Python.
_new: Any = tuple.__new__


class _Owner(ref):  # type: ignore[type-arg]
    """A weak reference to a buffer's owner, with the callback to call when the buffer is freed."""

    __slots__ = ("buffer", "freed")

    buffer: Allocation
    freed: Callable[[], object] | None


@lru_cache(maxsize=1024)
def size_class(nbytes: int) -> int:
    """Return the capacity for a request: a multiple of 256 bytes, at most 1/8 too large.

    A small number of distinct sizes makes it likely that a freed buffer fits the next request.
    """
    if nbytes <= _SMALLEST:
        return _SMALLEST
    step = max(_SMALLEST, 1 << (nbytes - 1).bit_length() - 4)
    return -(-nbytes // step) * step


def _largest_class(room: int) -> int:
    """Return the largest size class that fits into the available bytes."""
    if room < _SMALLEST:
        return 0
    step = max(_SMALLEST, 1 << (room - 1).bit_length() - 4)
    return room // step * step


class BufferPool(Shown):
    """The buffers of one device. All numbers are bytes, except ``buffers``.

    Parameters
    ----------
    recorder : Gpu
        The device.
    largest : int
        Maximum size of one buffer.
    limit : int, optional
        Maximum size of all buffers together. None for no limit but the GPU's.
    clear : bool
        Whether to zero each buffer when it is allocated.
    relabel : bool
        Whether reused buffers get their new label in the browser's developer tools.
    memory : int, optional
        Bytes of the GPU's own memory, if known.
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
        self._asked = 0  # bytes of buffers being created
        self._capacities: dict[int, int] = {}  # id -> bytes
        self._asked_for: dict[int, int] = {}  # id -> bytes of the last request, if cleared
        # Capacity -> ids, ordered by the time of the last free.
        self._idle: OrderedDict[int, list[int]] = OrderedDict()
        self._labels: defaultdict[str, int] = defaultdict(int)  # label -> bytes in use
        self._holding: Holding | None = None  # of the capture in progress
        self._owners: dict[int, _Owner] = {}  # by buffer id
        # Owners that were garbage-collected. A C function appends them, because a KeyboardInterrupt
        # in a Python destructor would be lost.
        self._gone: deque[_Owner] = deque()
        #: The values that get a buffer while a capture is in progress.
        self.new_users: WeakSet[Any] | None = None
        #: Buffers that captured graphs use.
        self.held = Held()
        #: The number of writes in place to the memory of arrays.
        self.writes = 0
        self._in_use = 0
        self._pooled = 0
        self._most_in_use = 0
        #: The peak of ``allocated``.
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
        """Bytes of the free buffers in the pool."""
        self._reclaim()
        return self._pooled

    @property
    def buffers(self) -> int:
        """Number of live buffers."""
        self._reclaim()
        return self._buffers

    @property
    def allocated(self) -> int:
        """Bytes on the GPU: in use, pooled, and held by captured graphs."""
        self._reclaim()
        return self._in_use + self._pooled + self.held.nbytes

    @property
    def by_label(self) -> dict[str, int]:
        """Bytes in use for each label."""
        self._reclaim()
        return {label: nbytes for label, nbytes in self._labels.items() if nbytes}

    def has(self, ids: Iterable[int]) -> bool:
        """Return whether all buffers belong to this device."""
        return self._closed or all(map(self._capacities.__contains__, ids))

    def statistics(self) -> dict[str, int]:
        """Return the properties above as a dict."""
        return {
            "allocated": self.allocated,
            "in_use": self.in_use,
            "pooled": self.pooled,
            "peak": self.peak,
            "buffers": self.buffers,
        }

    def get_buffer(self, op: str, nbytes: int, label: str = "") -> Allocation:
        """Return a buffer of at least ``nbytes`` with undefined contents.

        Parameters
        ----------
        op : str
            Name of the operation, for errors.
        nbytes : int
            Bytes that are needed.
        label : str, optional
            Name of the user. ``op`` by default.

        Raises
        ------
        OutOfMemory
            If no buffer of this device can be that large, or if there is no room after trimming the
            pool. If Python cannot block, the next call that waits for the GPU raises it instead.
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
        is_new = False
        holding, reused = self._holding, None
        if holding is not None:
            if holding.takes:
                reused = holding.reused(capacity)
            else:
                holding = None
        if reused is not None:
            identity = reused
            self.held.nbytes -= capacity
        else:
            try:
                identity = heappop(self._idle[capacity])
                self._pooled -= capacity
            except (KeyError, IndexError):
                identity, is_new = self._make(op, nbytes, capacity, name), True
                self._capacities[identity] = capacity
                self.peak = max(self.peak, self.allocated + capacity)
            if holding is not None:
                holding.taken(identity, capacity)
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
        if self._in_use > self._most_in_use:
            self._most_in_use = self._in_use
        self._buffers += 1
        self._labels[name] += capacity
        made: Allocation = _new(Allocation, (next(_handles), identity, nbytes, capacity, name))
        return made

    def get_lasting(self, op: str, nbytes: int, label: str) -> Allocation:
        """Return a small zeroed buffer that lives as long as the device and is not counted."""
        if self._closed:
            raise closed(op)
        identity = next(_ids)
        self._recorder.create_buffer(identity, nbytes, label, op, nbytes)
        self._capacities[identity] = nbytes
        return Allocation(next(_handles), identity, nbytes, nbytes, label)

    def _make(self, op: str, nbytes: int, capacity: int, label: str) -> int:
        """Create a buffer and return its id. Without room, trim the pool and try once more."""
        if self._closed:
            raise closed(op)
        if self._recorder.is_short_of_memory:  # reported for an earlier call that did not wait
            self.trim()
        for attempt in range(2):
            if self._limit is None or self.allocated + self._asked + capacity <= self._limit:
                identity = next(_ids)
                try:
                    made = self._recorder.try_buffer(identity, capacity, label)
                    if made is None:
                        made = self._ask(identity, op, nbytes, capacity, label)
                except BaseException:  # interrupted: the buffer may exist, now or soon
                    self._recorder.abandon_buffer(identity)
                    raise
                if made:
                    return identity
            if attempt == 0:
                self.trim()
        limit = "the GPU's own" if self._limit is None else byte_count(self._limit)
        raise self._out_of_memory(op, nbytes, limit, None)

    def _ask(self, identity: int, op: str, nbytes: int, capacity: int, label: str) -> bool:
        """Create a buffer on a GPU that reports a lack of memory only to a wait.

        Small buffers are not waited for. Nor is any buffer during a capture, since another task
        could record commands in the meantime.
        """
        if capacity < _WORTH_ASKING or self._holding is not None or not platform.can_block():
            self._recorder.create_buffer(identity, capacity, label, op, nbytes)
            return True
        self._asked += capacity
        try:
            asked = self._recorder.create_buffer_checked(identity, capacity, label)
            made = platform.block_on(asked, op)
        finally:
            self._asked -= capacity
        if self._closed:  # closed during the wait
            raise closed(op)
        return made

    def reserve(self, op: str, sizes: Iterable[int]) -> None:
        """Create free buffers for coming requests, by one wait for the GPU.

        Otherwise each request for a large buffer waits. Nothing is reserved if there is no room for
        all of them, during a capture, or if Python cannot block.

        Parameters
        ----------
        op : str
            Name of the operation, for errors.
        sizes : iterable of int
            Bytes of each request.
        """
        large = (n for n in sizes if _WORTH_ASKING <= size_class(n) <= self._largest)
        wanted = Counter(map(size_class, large))
        self._reclaim()
        wanted.subtract({capacity: len(idle) for capacity, idle in self._idle.items()})
        made = {next(_ids): capacity for capacity in wanted.elements()}
        total = sum(made.values())
        is_full = self._limit is not None and self.allocated + self._asked + total > self._limit
        if not made or is_full or self._holding is not None or not platform.can_block():
            return
        if self._closed:
            raise closed(op)
        self._asked += total
        try:
            there = platform.block_on(self._all_created(made), op)
        except BaseException:  # interrupted: they may exist, now or soon
            for identity in made:
                self._recorder.abandon_buffer(identity)
            raise
        finally:
            self._asked -= total
        if self._closed:  # closed during the wait
            raise closed(op)
        for (identity, capacity), is_there in zip(made.items(), there, strict=True):
            if not is_there:
                continue
            self._capacities[identity] = capacity
            if not all(there):
                self._destroy(identity)
                continue
            heappush(self._idle.setdefault(capacity, []), identity)
            self._idle.move_to_end(capacity)
            self._pooled += capacity
        self.peak = max(self.peak, self.allocated)

    async def _all_created(self, wanted: Mapping[int, int]) -> list[bool]:
        create = self._recorder.create_buffer_checked
        return await gather(*(create(one, nbytes, "reserved") for one, nbytes in wanted.items()))

    def _out_of_memory(
        self, op: str, requested: int, limit: str, available: int | None
    ) -> OutOfMemory:
        """Return the error for a request that does not fit.

        ``available`` is used if there is no memory limit. None leaves it out of the message.
        """
        if self._limit is not None:
            left = _largest_class(self._limit - self.in_use - self._asked)
            available = min(left, self._largest)
        told = "" if available is None else f", {byte_count(available)} are available"
        return OutOfMemory(
            op,
            f"{byte_count(requested)} were requested, {byte_count(self.in_use)} are in use{told}, "
            f"and the limit is {limit}. Free unneeded arrays, or work in smaller pieces.",
            requested,
            available,
        )

    def owned_by(
        self, owner: Any, buffer: Allocation, freed: Callable[[], object] | None = None
    ) -> None:
        """Make an object the owner of a buffer.

        The buffer is freed by :meth:`free`, or by the next call of the pool after the owner is
        garbage-collected. ``freed`` is called at that time.
        """
        made = _Owner(owner, self._gone.append)
        made.buffer = buffer
        made.freed = freed
        self._owners[buffer.id] = made

    def is_owned(self, owner: Any, buffer: Allocation) -> bool:
        """Return whether an object owns a buffer."""
        made = self._owners.get(buffer.id)
        return made is not None and made() is owner

    def free(self, owner: Any, buffer: Allocation) -> None:
        """Free an owner's buffer. Do nothing if it is freed already."""
        if self.is_owned(owner, buffer):
            freed = self._owners[buffer.id].freed
            if freed is not None:
                freed()
            self.return_buffer(buffer)

    def _reclaim(self) -> None:
        """Free the buffers of garbage-collected owners."""
        gone, owners = self._gone, self._owners
        while gone:
            try:
                owner = gone.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                buffer = owner.buffer
            except AttributeError:  # an interrupt came before the buffer was assigned
                continue
            if owners.get(buffer.id) is owner:
                if owner.freed is not None:
                    owner.freed()
                self.return_buffer(buffer)

    def return_buffer(self, buffer: Allocation) -> None:
        """Free a buffer, which must not be used afterwards. Do nothing on a closed device."""
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
        elif buffer.id in self.held.counts:
            self.held.wait(buffer.id, buffer.capacity)
        else:
            self._pool(buffer.id, buffer.capacity)

    def _pool(self, identity: int, capacity: int) -> None:
        """Keep a free buffer for later requests, or destroy it if the pool is full."""
        is_small = self._pooled + capacity <= _POOL_CEILING
        ceiling = _POOL_CEILING if is_small else self._ceiling()
        if identity in self._recorder.failed or capacity > ceiling:
            self._destroy(identity)
            return
        heappush(self._idle.setdefault(capacity, []), identity)
        self._idle.move_to_end(capacity)
        self._pooled += capacity
        while self._pooled > ceiling:
            self._evict()

    def _ceiling(self) -> int:
        """Return the most bytes that the pool may hold now."""
        beside = max(
            self._share, _POOL_MOST - self._in_use, min(_POOL_MOST, self._in_use // _SHARE)
        )
        return max(_POOL_CEILING, min(2 * self._most_in_use - self._in_use, beside))

    def _evict(self) -> None:
        """Destroy a free buffer of the size whose last free is longest ago.

        Buffers of a finished phase of the program must not keep out buffers of the current one.
        """
        try:
            capacity, idle = next(iter(self._idle.items()))
        except RuntimeError:  # another thread freed one in the meantime
            return
        try:
            identity = heappop(idle)
        except IndexError:
            self._idle.move_to_end(capacity)
        else:
            self._pooled -= capacity
            self._destroy(identity)

    def holders(self) -> list[Any]:
        """Return the owners of the buffers in use."""
        return [owner for one in list(self._owners.values()) if (owner := one()) is not None]

    def start_holding(self) -> Holding:
        """Start a capture, to which the buffers allocated from now on belong."""
        self._reclaim()
        self._holding = Holding()
        self.new_users = WeakSet()
        return self._holding

    def unowned(self) -> set[int]:
        """Return the ids of the free buffers of the capture in progress."""
        self._reclaim()
        holding = self._holding
        return set() if holding is None else set(holding.free_ones())

    def end_holding(self, ids: Iterable[int]) -> None:
        """End the capture. Hold the given buffers until :meth:`let_go`."""
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
        """Release the buffers of a captured graph."""
        if not self._closed:
            for identity, capacity in self.held.let_go(ids).items():
                self._pool(identity, capacity)

    def trim(self) -> int:
        """Destroy the free buffers, and the free staging buffers, which are not counted.

        Returns
        -------
        int
            The bytes that were freed.
        """
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
        """Forget all buffers. Closing the device destroys them."""
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
        """Return the bytes last requested for a buffer id. Known only if buffers are cleared."""
        return self._asked_for[identity]
