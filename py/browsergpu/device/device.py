"""The GPU: a device as plain Python, with its recorder, memory and compiled kernels."""

from __future__ import annotations

from asyncio import Future, ensure_future, gather, sleep
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from typing import Any, NamedTuple
from weakref import ReferenceType, WeakKeyDictionary, WeakSet, finalize, ref

from browsergpu.core import checks, grids
from browsergpu.core.config import BackendConfig, configured
from browsergpu.core.errors import InvalidArgument, two_devices
from browsergpu.core.params import unfit
from browsergpu.core.showing import Shown, byte_count
from browsergpu.device import tuned, warm_up
from browsergpu.device.by_use import TuningByUse
from browsergpu.device.faults import Faults
from browsergpu.gpu import platform
from browsergpu.gpu.adapter_info import AdapterInfo
from browsergpu.gpu.memory import Allocation, BufferPool
from browsergpu.gpu.nothing import ADAPTER, Nothing
from browsergpu.gpu.port import Gpu, Pipeline, closed
from browsergpu.gpu.program import BoundStep, Copy, Dispatch, Program, Step, picker
from browsergpu.kernels.base.build import Prepare, prepare
from browsergpu.kernels.base.facts import Facts
from browsergpu.kernels.base.workgroup_sizes import WorkgroupSizes
from browsergpu.kernels.choices import Choices, Picks
from browsergpu.kernels.table import KERNELS
from browsergpu.kernels.text import shaders
from browsergpu.kernels.text.wgsl_types import Floats

#: Optional features that kernels or tools make use of; a device is given those its adapter has.
WANTED_FEATURES = frozenset(
    {
        "shader-f16",
        "subgroups",
        "subgroup-size-control",
        "timestamp-query",
        "chromium-experimental-subgroup-matrix",
        "chromium-experimental-timestamp-query-inside-passes",
    }
)


_BEFORE_WARM_UP = 1.0  # seconds
MOST_PROGRAMS = 1024  # remembered; then the oldest is forgotten, which is soon made again
MOST_SOURCES = 256  # shaders of users, whose pipelines are kept

_open: WeakSet[Device] = WeakSet()


def open_devices() -> list[Device]:
    """The devices that were opened and not closed, in no particular order."""
    return [device for device in _open if not device.is_closed and device.has_values]


class _Bound(NamedTuple):
    """A program on a device: its steps, and the bytes of its temporaries."""

    steps: tuple[BoundStep, ...]
    temporaries: tuple[int, ...]


class _Remembered(dict[tuple[Any, ...], Any]):
    """What was made, by what it was made for."""

    def keep(self, key: tuple[Any, ...], value: Any, most: int = MOST_PROGRAMS) -> None:
        """Remembers one more; of too many, the oldest is forgotten."""
        if len(self) >= most:
            del self[next(iter(self))]
        self[key] = value


class _Programs:
    """Programs that were launched: ``bound``, by what makes them; ``packed``, single dispatches of
    them, by that and the ids of the buffers; ``by_use``, those whose variants take turns, where any
    do. Holds no device, as its choices hold this."""

    def __init__(self) -> None:
        self.bound = _Remembered()
        self.packed = _Remembered()
        self.by_use: TuningByUse | None = None

    def forget(self) -> None:
        """Forgets all."""
        self.bound.clear()
        self.packed.clear()
        if self.by_use is not None:
            self.by_use.forget()


class Device(Shown):
    """One GPUDevice with its recorder, memory and compiled kernels.

    Made by :meth:`request`. ``info`` says which GPU it is (vendor, architecture, device,
    description), ``features`` and ``limits`` are those of the device, by WebGPU's names;
    ``adapter`` is what it was made from, ``config`` how. Closed when nobody holds it any more, nor
    anything that is on it, or by :meth:`close`.
    """

    def __init__(
        self,
        adapter: AdapterInfo,
        gpu: Gpu,
        config: BackendConfig,
        sizes: WorkgroupSizes,
        picks: Picks | None = None,
    ) -> None:
        self.adapter = adapter
        self.config = config
        self.info = adapter.names
        self.features = gpu.features
        self.limits = gpu.limits
        #: Bytes of parameters that a kernel can take as immediates; 0: all go through the
        #: uniform ring.
        self.immediate_bytes = (
            self.limits.get("maxImmediateSize", 0)
            if config.immediates and gpu.has_immediates
            else 0
        )
        self.recorder = gpu
        # JavaScript's collector would take its time, as it knows nothing of the GPU's memory.
        # Python's must not be needed: nothing that the recorder holds may hold the device.
        finalize(self, self.recorder.close).atexit = False
        #: Whether :meth:`close` was called.
        self.is_closed = False
        #: What looks after the graphs of arrays that were captured, where there are some.
        self.graphs: Any = None
        self._programs = _Programs()
        self.memory = BufferPool(
            self.recorder,
            self.largest_buffer,
            config.memory_limit,
            clear=config.check_nan,
            relabel=config.debug_mode,
            memory=adapter.memory,
        )
        #: What kernels find wrong with values.
        self.faults = Faults(self.recorder, self.memory)
        _open.add(self)
        abilities = self.features | adapter.abilities
        self._variants = Choices(
            self.info, abilities, self.limits, picks, software=self.device_type == "cpu"
        )
        #: What the programs for this device depend on.
        self.facts = Facts(sizes, self._variants, self.largest_buffer)
        self._variants.on_change = self._programs.forget
        #: Requests of pipelines that were compiled already, and that had to be compiled.
        self.pipeline_hits = 0
        self.pipeline_misses = 0
        #: The words of the smallest buffers that a user's pipeline was dispatched on.
        self.smallest_bound: WeakKeyDictionary[Pipeline, list[int]] = WeakKeyDictionary()
        #: For check_nan, what pipelines of generated kernels write as floats: place among the
        #: bindings, name, where the floats stand.
        self.generated_floats: WeakKeyDictionary[Pipeline, tuple[tuple[int, str, Floats], ...]] = (
            WeakKeyDictionary()
        )
        self._compiled: dict[tuple[str, str, int | None], Pipeline] = {}
        self._sources = _Remembered()  # pipelines of users' shaders
        self._warming: Future[None] | None = None  # kept, as the event loop does not
        # The pipelines that the current workgroup sizes choose.
        self._pipelines: dict[tuple[str, str], Pipeline] = {}

    @classmethod
    async def request(cls, config: BackendConfig | None = None, **options: Any) -> Device:
        """Opens the browser's GPU with all its limits and every feature in WANTED_FEATURES.

        ``options`` are fields of BackendConfig, in place of those in ``config``. Raises NoAdapter
        where there is no WebGPU or no GPU.
        """
        chosen = configured("Device.request", config, options)
        info, open_gpu = await platform.find_gpu("Device.request", chosen)
        sizes = await _workgroup_sizes(info, chosen)
        picks = await tuned.load_picks(info.names)
        device = cls(info, await open_gpu(WANTED_FEATURES), chosen, sizes, picks)
        if device._is_tuned_by_use():
            device._programs.by_use = TuningByUse()
        if chosen.warm_up and device.device_type != "cpu":
            device._warming = ensure_future(_warm_up_slowly(ref(device)))
        return device

    @classmethod
    async def from_best_adapter(cls, **options: Any) -> Device:
        """:meth:`request` on the adapter that the browser prefers for speed."""
        return await cls.request(power_preference="high-performance", **options)

    @classmethod
    async def from_adapter_index(cls, index: int, **options: Any) -> Device:
        """:meth:`request` on one of :func:`enumerate_adapters`."""
        return await cls.request(adapter_index=index, **options)

    @classmethod
    def of_nothing(cls) -> Device:
        """One without a GPU, for arrays that have shapes and dtypes, and no values."""
        return cls(ADAPTER, Nothing(), BackendConfig(warm_up=False), WorkgroupSizes())

    def _facts(self) -> str:
        if not self.has_values:
            return "without a GPU"
        state = "closed" if self.is_closed else "lost" if self.is_lost else "open"
        kind = "GPU" if self.device_type == "gpu" else "software"
        used = f"{byte_count(self.memory.in_use)} in use"
        return f"{self.name!r} ({kind}, by {platform.engine_name()}), {state}, {used}"

    @property
    def has_values(self) -> bool:
        """Whether there is a GPU: arrays on a device :meth:`of_nothing` have no values."""
        return not isinstance(self.recorder, Nothing)

    @property
    def name(self) -> str:
        """The GPU's name, as far as the browser tells it."""
        return self.adapter.name

    @property
    def device_type(self) -> str:
        """ "cpu" for a software fallback, else "gpu"."""
        return self.adapter.device_type

    @property
    def memory_usage(self) -> dict[str, int]:
        """Bytes in use, pooled, allocated and at the peak, and the number of buffers."""
        return self.memory.statistics()

    @property
    def is_lost(self) -> bool:
        """Whether the GPU is known to be gone."""
        return self.recorder.is_lost

    @property
    def largest_buffer(self) -> int:
        """Bytes that one buffer can have: it must fit both an allocation and a binding, the
        config's max_buffer_size, and what shaders count. A multiple of 256, as all size classes
        are: kernels read and write whole vec4s."""
        own = min(self.limits["maxBufferSize"], self.limits["maxStorageBufferBindingSize"])
        return min(own, self.config.max_buffer_size or own, grids.MOST_ELEMENTS) & ~255

    @property
    def workgroup_sizes(self) -> WorkgroupSizes:
        """Threads in a workgroup, for the families of kernels that can be tuned: those found by
        an earlier ``benchmark_workgroup_sizes`` on this GPU, or the defaults. Can be set."""
        return self.facts.workgroup_sizes

    @workgroup_sizes.setter
    def workgroup_sizes(self, sizes: WorkgroupSizes) -> None:
        if not sizes.fit(self.limits):
            raise InvalidArgument(
                "workgroup_sizes", "sizes", sizes, "powers of two within the device's limits"
            )
        self.facts.workgroup_sizes = sizes
        self._pipelines.clear()
        self._programs.forget()

    def _is_tuned_by_use(self) -> bool:
        config = self.config
        if config.debug_mode or not config.enable_pipeline_cache:
            return False
        if config.tune_by_use is None:
            return self.device_type != "cpu" and not self._variants.is_measured
        return bool(config.tune_by_use)

    @property
    def variants(self) -> Choices:
        """Which variant of an operation this device runs."""
        return self._variants

    def optimal_workgroup_size(self, n: int) -> int:
        """Threads for a workgroup of an elementwise kernel on n elements: the tuned size, or less
        where n is smaller than that."""
        n = checks.integer("optimal_workgroup_size", "n", n)
        return self.workgroup_sizes.for_elements(n)

    def launch(
        self,
        op: str,
        prepare: Prepare,
        buffers: Iterable[Allocation],
        *problem: Any,
        late: tuple[float, ...] = (),
    ) -> None:
        """Records the program that ``prepare(build, *slots, *problem)`` makes, a slot for each of
        the buffers; it is made once. ``late`` are parameters that are not the program's.

        ``op`` is told by errors. Raises OutOfMemory where there is no room for temporaries. It
        :meth:`keeps pace <keep_pace>` with the GPU.
        """
        if self.recorder.is_ahead:
            self.keep_pace(op)
        ids = tuple([buffer.id for buffer in buffers])
        again = self._programs.packed.get((prepare, ids, problem))
        if again is not None and not late:
            self.pipeline_hits += 1
            self.recorder.repeat(again)
            return
        if not self.memory.has(ids):
            raise two_devices(op)
        key = (prepare, tuple(map(ids.index, ids)), problem)  # what is one buffer has one slot
        bound = self._programs.bound.get(key)
        if bound is None:
            bound = self._bind_or_take_turns(op, key, ids, late)
            if bound is None:
                return
        else:
            self.pipeline_hits += len(bound.steps)
        if bound.temporaries:
            self._run(op, bound, ids, late)
            return
        self.recorder.run(bound.steps, ids, late)
        if len(bound.steps) == 1 and not late and self.config.enable_pipeline_cache:
            self._keep_packed((prepare, ids, problem), bound.steps[0], ids)

    def _run(self, op: str, bound: _Bound, ids: tuple[int, ...], late: tuple[float, ...]) -> None:
        """Records the steps of a program on buffers, and on temporaries."""
        taken: list[Allocation] = []
        try:
            for nbytes in bound.temporaries:
                taken.append(self.memory.get_buffer(op, nbytes, "temporary"))
            self.recorder.run(bound.steps, (*ids, *[t.id for t in reversed(taken)]), late)
        finally:
            for buffer in taken:
                self.memory.return_buffer(buffer)

    def keep_pace(self, op: str) -> None:
        """Lets the GPU catch up where a moment's work is before it: an interrupt ends this wait,
        and cannot end that work. Where Python cannot block, it goes on.

        To be called before an operation has looked at anything that another task may change.
        """
        if not self.recorder.is_ahead:
            return
        if self.recorder.captured is not None:  # which no other task may add to meanwhile
            self.recorder.is_ahead = False
        elif platform.can_block():
            platform.block_on(self.recorder.catch_up(), op)
        else:
            self.recorder.is_ahead = False  # until the recorder says so again

    def _keep_packed(self, key: tuple[Any, ...], step: BoundStep, ids: tuple[int, ...]) -> None:
        if step.pipeline is not None:
            self._programs.packed.keep(key, self.recorder.packed(step, ids))

    def _bind(self, op: str, key: tuple[Any, ...]) -> _Bound:
        bound = self.bound(self.prepared(key), op)
        if self.config.enable_pipeline_cache:
            self._programs.bound.keep(key, bound)
        return bound

    def _bind_or_take_turns(
        self, op: str, key: tuple[Any, ...], ids: tuple[int, ...], late: tuple[float, ...]
    ) -> _Bound | None:
        """:meth:`_bind`, unless variants take turns at the program: then the call has been done."""
        by_use = self._programs.by_use
        if by_use is None:
            return self._bind(op, key)
        contest = by_use.contest(key)
        if contest is None:
            with self._variants.noting() as asked:
                bound = self._bind(op, key)
            contest = by_use.enter(self, key, asked, bound)
            if contest is None:
                return bound
            del self._programs.bound[key]
        by_use.run(self, op, key, contest, lambda it: self._run(op, it, ids, late))
        return None

    def prepared(self, key: tuple[Any, ...]) -> Program:
        """The program of a key: what prepares it, its slots and its problem."""
        function, slots, problem = key
        return prepare(self.facts, function, *slots, *problem)

    def bound(self, program: Program, op: str = "launch") -> _Bound:
        """A program on this device. Raises Unsupported, in the name of ``op``, where a grid or a
        parameter of it is more than WebGPU or the shader counts: nothing is recorded then."""
        most = self.limits.get("maxComputeWorkgroupsPerDimension", grids.MAX_PER_DIMENSION)
        for step in program.steps:
            if not isinstance(step, Dispatch):
                continue
            if max(step.grid) > most:
                raise unfit(op, step.kernel, "the grid", step.grid, most)
            KERNELS[step.kernel].params.check(op, step.kernel, step.fields)
        return _Bound(tuple(map(self._bind_step, program.steps)), program.temporaries)

    def _bind_step(self, step: Step) -> BoundStep:
        if isinstance(step, Copy):
            return BoundStep(None, (), picker((step.source, step.target)), (step.nbytes,), False)
        pipeline = self.pipeline(step.kernel, step.configuration)
        return BoundStep(pipeline, step.grid, picker(step.slots), step.fields, step.open)

    def pipeline(self, kernel: str, configuration: str = "") -> Pipeline:
        """The kernel compiled in one of its configurations, from the cache after the first time."""
        pipeline = self._pipelines.get((kernel, configuration))
        if pipeline is None:
            return self._find_or_compile(kernel, configuration)
        self.pipeline_hits += 1
        return pipeline

    def warm_up(self, ops: Iterable[str] | None = None) -> None:
        """Starts to compile kernels in the background, so that their first use need not wait.

        ``ops`` names operations ("gemm"), kernels of the table ("softmax_rows") or kernels in one
        configuration ("unary.relu"); None stands for the most used ones. What does not compile is
        told by its first use.
        """
        self._compile_ahead("warm_up", ops)

    async def warm_up_async(self, ops: Iterable[str] | None = None) -> None:
        """:meth:`warm_up`, and waits until they are compiled."""
        for pipeline in self._compile_ahead("warm_up_async", ops):
            await self.recorder.compiled(pipeline)

    def _compile_ahead(self, op: str, ops: Iterable[str] | None) -> list[Pipeline]:
        self.check_open(op)
        names = warm_up.MOST_USED if ops is None else ops
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise InvalidArgument(op, "ops", names, "a sequence of names")
        return [
            self.compiled_ahead(*kernel) for kernel in warm_up.kernels(op, names, self.variants)
        ]

    def compiled_ahead(self, name: str, configuration: str) -> Pipeline:
        """A kernel in one of its configurations, which is compiled in the background, in case it is
        needed: where it does not compile, only its use tells."""
        key = self._key(name, configuration)
        if key not in self._compiled:
            self._compiled[key] = self._compile(*key, ahead=True)
        return self._compiled[key]

    def _key(self, name: str, configuration: str) -> tuple[str, str, int | None]:
        """What a pipeline is known by: with its workgroups' threads, where these are tuned."""
        family = KERNELS[name].family
        return name, configuration, None if family is None else self.workgroup_sizes[family]

    def _find_or_compile(self, name: str, configuration: str) -> Pipeline:
        key = self._key(name, configuration)
        pipeline = self._compiled.get(key)
        if pipeline is None or not self.config.enable_pipeline_cache:
            self.pipeline_misses += 1
            pipeline = self._compiled[key] = self._compile(*key)
        else:
            self.pipeline_hits += 1
        if self.config.enable_pipeline_cache:
            self._pipelines[name, configuration] = pipeline
        return pipeline

    def _compile(
        self, name: str, configuration: str, threads: int | None, *, ahead: bool = False
    ) -> Pipeline:
        kernel = KERNELS[name]
        immediate = 0 < kernel.params.nbytes <= self.immediate_bytes
        size = {} if threads is None else {"THREADS": threads}
        code, constants = shaders.to_compile(
            kernel.shader, {**kernel.configurations[configuration], **size}, immediates=immediate
        )
        return self.recorder.create_pipeline(
            label=f"{name}.{configuration}" if configuration else name,
            file=kernel.shader,
            sections=shaders.sections(kernel.shader),
            code=code,
            entry_point=kernel.entry_point,
            signature=kernel.signature,
            constants=constants,
            parameter_format=kernel.params.format,
            immediate=immediate,
            kernel=name,
            ahead=ahead,
        )

    def compile_source(
        self,
        *,
        key: str,
        label: str,
        file: str,
        code: str,
        entry_point: str,
        signature: str,
        parameter_format: str,
    ) -> Pipeline:
        """A sized pipeline of source that is not in the table; parameters are immediates. The same
        ``key`` gives the pipeline that was made first, unless that was refused: then an error tells
        where it was asked for this time. Of too many, the one used longest ago is forgotten."""
        pipeline: Pipeline | None = self._sources.pop((key,), None)
        if pipeline is not None and pipeline.id not in self.recorder.refused:
            self.pipeline_hits += 1
        else:
            self.pipeline_misses += 1
            pipeline = self.recorder.create_pipeline(
                label=label,
                file=file,
                code=code,
                entry_point=entry_point,
                signature=signature,
                constants={},
                parameter_format=parameter_format,
                immediate=bool(parameter_format),
                sized=True,
            )
        self._sources.keep((key,), pipeline, MOST_SOURCES)
        return pipeline

    @property
    def pipeline_count(self) -> int:
        """Pipelines that are kept, of users' shaders included."""
        return len(self._compiled) + len(self._sources)

    def check_open(self, op: str) -> None:
        """Raises NotInitialized, in the name of ``op``, after :meth:`close`."""
        if self.is_closed:
            raise closed(op)

    def close(self) -> None:
        """Destroys the device with all its buffers. Closing twice is allowed."""
        self.is_closed = True
        self.memory.close()
        self.recorder.close()


async def _warm_up_slowly(found: ReferenceType[Device]) -> None:
    """A few at a time: they compile side by side, but the GPU's process parses shaders one after
    the other, and what the user needs meanwhile must not queue behind all of them. What is needed
    at once is not slowed down at all: the others wait for a moment. Keeps no device open."""
    await sleep(_BEFORE_WARM_UP)
    device = found()
    if device is None:
        return
    kernels = iter(warm_up.kernels("warm_up", warm_up.MOST_USED, device.variants))
    del device

    def start_one() -> Coroutine[Any, Any, None] | None:
        device = found()
        if device is None or device.is_closed or device.is_lost:
            return None
        kernel = next(kernels, None)
        if kernel is None:
            return None
        return device.recorder.compiled(device.compiled_ahead(*kernel))

    async def compile_some() -> None:
        while (compiling := start_one()) is not None:
            await compiling

    await gather(*(compile_some() for _ in range(4)))


async def _workgroup_sizes(info: AdapterInfo, config: BackendConfig) -> WorkgroupSizes:
    """The config's size, else what tuning has saved for this GPU, else the defaults."""
    sizes = await tuned.load_sizes(info.names) or WorkgroupSizes()
    threads: Any = config.preferred_workgroup_size
    if threads is not None:
        sizes = replace(sizes, elementwise=threads)
        if not sizes.fit(info.limits):
            raise InvalidArgument(
                "Device.request",
                "preferred_workgroup_size",
                threads,
                "a power of two within the device's limits",
            )
    return sizes if sizes.fit(info.limits) else WorkgroupSizes()
