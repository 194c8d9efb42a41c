"""The GPU device in plain Python, with its recorder, memory and compiled kernels."""

from __future__ import annotations

from asyncio import Future, ensure_future, gather, sleep
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple
from weakref import ReferenceType, WeakKeyDictionary, WeakSet, finalize, ref

from browsergpu.engine.core import checks, grids
from browsergpu.engine.core.config import BackendConfig, configured
from browsergpu.engine.core.errors import InvalidArgument, two_devices
from browsergpu.engine.core.params import unfit
from browsergpu.engine.core.showing import Shown, byte_count
from browsergpu.engine.device import tuned, warm_up
from browsergpu.engine.device.by_use import TuningByUse
from browsergpu.engine.device.faults import Faults
from browsergpu.engine.device.first_results import quick_program
from browsergpu.engine.device.generated import GeneratedPipelines
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.adapter_info import AdapterInfo
from browsergpu.engine.gpu.memory import Allocation, BufferPool
from browsergpu.engine.gpu.nothing import ADAPTER, Nothing
from browsergpu.engine.gpu.port import Gpu, Pipeline, closed
from browsergpu.engine.gpu.program import (
    BoundStep,
    Copy,
    Dispatch,
    Generated,
    Program,
    Step,
    picker,
)
from browsergpu.engine.kernels.base.build import Prepare, prepare
from browsergpu.engine.kernels.base.chains import chain_of, constants_of
from browsergpu.engine.kernels.base.facts import Facts
from browsergpu.engine.kernels.base.workgroup_sizes import WorkgroupSizes
from browsergpu.engine.kernels.choices import Choices, Picks
from browsergpu.engine.kernels.table import KERNELS
from browsergpu.engine.kernels.text import shaders

#: Optional features that kernels or tools use. A device gets those features that its adapter has.
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
MOST_PROGRAMS = 1024  # cached programs; the oldest is dropped
MOST_SOURCES = 256  # cached pipelines of custom kernels

#: Returns the id of a buffer.
_ID_OF = attrgetter("id")

_open: WeakSet[Device] = WeakSet()


def open_devices() -> list[Device]:
    """Return the devices that were opened and not closed, in no particular order."""
    return [device for device in _open if not device.is_closed and device.has_values]


class _Bound(NamedTuple):
    """A program prepared for a device: its steps, and the bytes of its temporaries."""

    steps: tuple[BoundStep, ...]
    temporaries: tuple[int, ...]


class _Remembered(dict[tuple[Any, ...], Any]):
    """A cache that drops the oldest entry when it is full."""

    def keep(self, key: tuple[Any, ...], value: Any, most: int = MOST_PROGRAMS) -> None:
        """Add an entry. If the cache is full, drop the oldest one."""
        if len(self) >= most:
            del self[next(iter(self))]
        self[key] = value


class _Programs:
    """The program caches of a device.

    ``bound`` caches programs by their keys. ``packed`` caches single dispatches, by key and buffer
    ids. ``by_use`` is the autotuning, if any. It holds no device, because the device's choices hold
    this object.
    """

    def __init__(self) -> None:
        self.bound = _Remembered()
        self.packed = _Remembered()
        self.by_use: TuningByUse | None = None

    def forget(self) -> None:
        """Clear the caches."""
        self.bound.clear()
        self.packed.clear()
        if self.by_use is not None:
            self.by_use.forget()


class Device(Shown):
    """One GPUDevice with its recorder, memory and compiled kernels.

    Created by :meth:`request`. Closed by :meth:`close`, or when neither the device nor anything on
    it is referenced any more.

    Attributes
    ----------
    adapter : AdapterInfo
        The GPU that the device was created from.
    config : BackendConfig
        The device's options.
    info : dict
        The GPU's vendor, architecture, device and description.
    features : frozenset of str
        The device's features, by WebGPU's names.
    limits : dict
        The device's limits, by WebGPU's names.
    """

    #: The kind of device, as ``x.device.type`` in PyTorch.
    type = "webgpu"

    @property
    def index(self) -> int:
        """The number of the GPU."""
        return self.adapter.index

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
        #: Maximum bytes of parameters that a kernel can take as immediates. 0 if all parameters go
        #: through the uniform ring.
        self.immediate_bytes = (
            self.limits.get("maxImmediateSize", 0)
            if config.immediates and gpu.has_immediates
            else 0
        )
        self.recorder = gpu
        # JavaScript's garbage collector would come late, since it does not know the GPU's memory.
        # Python's must not be needed either: no object that the recorder holds may hold the device.
        finalize(self, self.recorder.close).atexit = False
        #: Whether :meth:`close` was called.
        self.is_closed = False
        #: The manager of captured graphs of arrays, if there are any.
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
        #: Invalid values that kernels report.
        self.faults = Faults(self.recorder, self.memory)
        _open.add(self)
        abilities = self.features | adapter.abilities
        self._variants = Choices(
            self.info, abilities, self.limits, picks, software=self.device_type == "cpu"
        )
        #: The properties that programs for this device depend on.
        self.facts = Facts(sizes, self._variants, self.largest_buffer)
        self._variants.on_change = self._programs.forget
        #: Requests for compiled pipelines, and requests that needed a compilation.
        self.pipeline_hits = 0
        self._misses = 0
        #: Sizes in words of the smallest buffers that a custom kernel was dispatched on.
        self.smallest_bound: WeakKeyDictionary[Pipeline, list[int]] = WeakKeyDictionary()
        #: The pipelines of generated kernels.
        self.generated = GeneratedPipelines(
            self.recorder, self.faults, self.immediate_bytes, cached=config.enable_pipeline_cache
        )
        self._compiled: dict[tuple[str, str, int | None], Pipeline] = {}
        self._sources = _Remembered()  # pipelines of custom kernels
        #: Whether calls run kernels that compile sooner until the selected ones are compiled.
        self.has_quick_results = False
        self.quick_operations: dict[tuple[tuple[str, str], ...], float] = {}
        self._warming: Future[None] | None = None  # the event loop keeps only a weak reference
        # The pipelines for the current workgroup sizes.
        self._pipelines: dict[tuple[str, str], Pipeline] = {}

    @classmethod
    async def request(cls, config: BackendConfig | None = None, **options: Any) -> Device:
        """Open the GPU with all its limits and the features in WANTED_FEATURES that it has.

        Parameters
        ----------
        config : BackendConfig, optional
            Options of the device.
        **options
            Fields of BackendConfig, which override ``config``.

        Returns
        -------
        Device
            The open device.

        Raises
        ------
        NoAdapter
            If there is no WebGPU or no GPU.
        """
        chosen = configured("Device.request", config, options)
        info, open_gpu = await platform.find_gpu("Device.request", chosen)
        sizes = await _workgroup_sizes(info, chosen)
        picks = await tuned.load_picks(info.names)
        device = cls(info, await open_gpu(WANTED_FEATURES), chosen, sizes, picks)
        if device._is_tuned_by_use():
            device._programs.by_use = TuningByUse()
        device.has_quick_results = device._wants_quick_results()
        if chosen.warm_up and device.device_type != "cpu":
            device._warming = ensure_future(_warm_up_slowly(ref(device)))
        return device

    @classmethod
    async def from_best_adapter(cls, **options: Any) -> Device:
        """Call :meth:`request` with power_preference="high-performance"."""
        return await cls.request(power_preference="high-performance", **options)

    @classmethod
    async def from_adapter_index(cls, index: int, **options: Any) -> Device:
        """Open one of the GPUs that :func:`enumerate_adapters` lists, as :meth:`request` does."""
        return await cls.request(adapter_index=index, **options)

    @classmethod
    def of_nothing(cls) -> Device:
        """Return a device without a GPU, for arrays with shapes and dtypes but no values."""
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
        """Whether there is a GPU. Arrays on a device from :meth:`of_nothing` have no values."""
        return type(self.recorder) is not Nothing  # isinstance() of a protocol is slow

    @property
    def name(self) -> str:
        """The GPU's name, as far as the browser reports it."""
        return self.adapter.name

    @property
    def device_type(self) -> str:
        """ "cpu" for a software adapter, else "gpu"."""
        return self.adapter.device_type

    @property
    def memory_usage(self) -> dict[str, int]:
        """Bytes in use, pooled, allocated and at the peak, and the number of buffers."""
        return self.memory.statistics()

    @property
    def is_lost(self) -> bool:
        """Whether the GPU is known to be lost."""
        return self.recorder.is_lost

    @property
    def largest_buffer(self) -> int:
        """Maximum bytes of one buffer.

        The buffer must fit an allocation, a binding, the config's max_buffer_size, and the integers
        of shaders. The value is a multiple of 256, as all size classes are, because kernels read
        and write whole vec4s.
        """
        own = min(self.limits["maxBufferSize"], self.limits["maxStorageBufferBindingSize"])
        return min(own, self.config.max_buffer_size or own, grids.MOST_ELEMENTS) & ~255

    @property
    def workgroup_sizes(self) -> WorkgroupSizes:
        """Threads in a workgroup, for the kernel families that can be tuned. Can be set.

        The sizes are the results of an earlier ``benchmark_workgroup_sizes`` on this GPU, or the
        defaults.
        """
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

    def _wants_quick_results(self) -> bool:
        config = self.config
        is_plain = config.enable_pipeline_cache and not config.debug_mode
        return is_plain and config.tune_by_use is not False and self.device_type != "cpu"

    @property
    def variants(self) -> Choices:
        """The variants of operations that this device runs."""
        return self._variants

    def optimal_workgroup_size(self, n: int) -> int:
        """Return the threads of a workgroup for an elementwise kernel on n elements.

        It is the tuned size, or less if n is smaller.
        """
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
        """Record the program of an operation. It calls :meth:`throttle` first.

        The program is ``prepare(build, *slots, *problem)``, with a slot for each buffer. It is
        prepared once and cached.

        Parameters
        ----------
        op : str
            Name of the operation, for errors.
        prepare : callable
            Makes the program.
        buffers : iterable of Allocation
            The operands.
        *problem
            Further arguments of ``prepare``.
        late : tuple of float
            Parameters of open steps, which are not part of the program.

        Raises
        ------
        OutOfMemory
            If there is no room for temporaries.
        """
        if self.recorder.is_ahead:
            self.throttle(op)
        ids = tuple(map(_ID_OF, buffers))
        again = self._programs.packed.get((prepare, ids, problem))
        if again is not None and not late:
            self.pipeline_hits += 1
            self.recorder.repeat(again)
            return
        if not self.memory.has(ids):
            raise two_devices(op)
        key = (prepare, tuple(map(ids.index, ids)), problem)  # equal buffers share a slot
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
        """Record the steps of a program on buffers, after allocating its temporaries."""
        taken: list[Allocation] = []
        try:
            for nbytes in bound.temporaries:
                taken.append(self.memory.get_buffer(op, nbytes, "temporary"))
            self.recorder.run(bound.steps, (*ids, *[t.id for t in reversed(taken)]), late)
        finally:
            for buffer in taken:
                self.memory.return_buffer(buffer)

    @contextmanager
    def unthrottled(self) -> Iterator[None]:
        """Record the commands of a block without waiting for the GPU in between.

        All kernels of the block compile at the same time. An interrupt cannot end the block's work
        once it is submitted, so the block must have an end, such as one pass through a network.
        """
        self.recorder.unpaced += 1
        try:
            yield
        finally:
            self.recorder.unpaced -= 1

    def throttle(self, op: str) -> None:
        """Wait for the GPU if too many recorded commands are unfinished.

        An interrupt can end this wait, but not work that is submitted. If Python cannot block, it
        returns at once. An operation must call it before it reads state that another task may
        change.
        """
        if not self.recorder.is_ahead:
            return
        if self.recorder.captured is not None:  # waiting would let other tasks run
            self.recorder.is_ahead = False
        elif platform.can_block():
            platform.block_on(self.recorder.catch_up(), op)
        else:
            self.recorder.is_ahead = False  # until the recorder sets it again

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
        """Return the program as :meth:`_bind` does, or run it and return None.

        None means that the call is done: the program's kernels are being compiled, or variants take
        turns for it.
        """
        if self.has_quick_results and self.recorder.captured is None:
            quick = quick_program(self, key)
            if quick is not None:
                self._run(op, self.bound(quick, op), ids, late)  # not kept
                return None
        by_use = self._programs.by_use
        if by_use is None:
            return self._bind(op, key)
        comparison = by_use.comparison(key)
        if comparison is None:
            with self._variants.noting() as asked:
                bound = self._bind(op, key)
            comparison = by_use.enter(self, key, asked, bound)
            if comparison is None:
                return bound
            del self._programs.bound[key]
        by_use.run(self, op, key, comparison, lambda it: self._run(op, it, ids, late))
        return None

    def prepared(self, key: tuple[Any, ...]) -> Program:
        """Return the program of a key: the preparing function, the slots and the problem."""
        function, slots, problem = key
        return prepare(self.facts, function, *slots, *problem)

    def bound(self, program: Program, op: str = "launch") -> _Bound:
        """Prepare a program for this device.

        Raises Unsupported, in the name of ``op``, if a grid or parameter exceeds the limits of
        WebGPU or the shader. Nothing is recorded in that case.
        """
        most = self.limits.get("maxComputeWorkgroupsPerDimension", grids.MAX_PER_DIMENSION)
        for step in program.steps:
            if isinstance(step, Copy):
                continue
            name = step.source.label if isinstance(step, Generated) else step.kernel
            if max(step.grid) > most:
                raise unfit(op, name, "the grid", step.grid, most)
            if isinstance(step, Dispatch):
                KERNELS[name].params.check(op, name, step.fields)
        return _Bound(tuple(map(self._bind_step, program.steps)), program.temporaries)

    def _bind_step(self, step: Step) -> BoundStep:
        if isinstance(step, Copy):
            return BoundStep(None, (), picker((step.source, step.target)), (step.nbytes,), False)
        if isinstance(step, Generated):
            compiled = self.generated.compiled
            pipeline = self.generated.pipeline(step.source)
            self.pipeline_hits += self.generated.compiled == compiled
        else:
            pipeline = self.pipeline(step.kernel, step.configuration)
        return BoundStep(pipeline, step.grid, picker(step.slots), step.fields, step.open)

    def pipeline(self, kernel: str, configuration: str = "") -> Pipeline:
        """Return a kernel compiled in one of its configurations. Cached."""
        pipeline = self._pipelines.get((kernel, configuration))
        if pipeline is None:
            return self._find_or_compile(kernel, configuration)
        self.pipeline_hits += 1
        return pipeline

    def warm_up(self, ops: Iterable[str] | None = None) -> None:
        """Start compiling kernels in the background, so that their first use need not wait.

        Parameters
        ----------
        ops : iterable of str, optional
            Names of operations ("gemm"), kernels of the table ("softmax_rows") or kernels in one
            configuration ("cast.f32_f16"). The most used kernels by default.

        Notes
        -----
        The first use of a kernel raises the error if it does not compile.
        """
        self._compile_ahead("warm_up", ops)

    async def warm_up_async(self, ops: Iterable[str] | None = None) -> None:
        """Compile kernels, as :meth:`warm_up` does, and wait until they are compiled."""
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
        """Return a kernel that is compiled in the background, in case it is needed.

        A compilation error is raised only if the kernel is used.
        """
        key = self._key(name, configuration)
        if key not in self._compiled:
            self._compiled[key] = self._compile(*key, ahead=True)
        return self._compiled[key]

    def known_pipeline(self, name: str, configuration: str) -> Pipeline | None:
        """Return a kernel that is compiled or being compiled, or None."""
        return self._compiled.get(self._key(name, configuration))

    def _key(self, name: str, configuration: str) -> tuple[str, str, int | None]:
        """Return the cache key of a pipeline, with the workgroup size if it is tuned."""
        family = KERNELS[name].family
        return name, configuration, None if family is None else self.workgroup_sizes[family]

    def _find_or_compile(self, name: str, configuration: str) -> Pipeline:
        key = self._key(name, configuration)
        pipeline = self._compiled.get(key)
        if pipeline is None or not self.config.enable_pipeline_cache:
            self._misses += 1
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
        chain = chain_of(configuration)
        includes = () if chain is None else chain.includes
        code, constants = shaders.to_compile(
            kernel.shader,
            {**constants_of(kernel, configuration), **size},
            immediates=immediate,
            includes=includes,
        )
        if chain is not None:
            code = shaders.with_chain(code, chain.function, kernel.params.fields[0][0])
        return self.recorder.create_pipeline(
            label=f"{name}.{configuration}" if configuration else name,
            file=kernel.shader,
            sections=shaders.sections(kernel.shader, *includes),
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
        """Return a sized pipeline for source code that is not in the table.

        Parameters are immediates. The same ``key`` returns the same pipeline, unless it was
        refused. It is then compiled again, so that errors name the current line of the user's code.
        If the cache is full, the least recently used pipeline is dropped.
        """
        pipeline: Pipeline | None = self._sources.pop((key,), None)
        if pipeline is not None and pipeline.id not in self.recorder.refused:
            self.pipeline_hits += 1
        else:
            self._misses += 1
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
        """Number of cached pipelines, including those of generated and custom kernels."""
        return len(self._compiled) + len(self._sources) + len(self.generated)

    @property
    def pipeline_misses(self) -> int:
        """Number of pipelines that were not in the cache and had to be compiled."""
        return self._misses + self.generated.compiled

    def check_open(self, op: str) -> None:
        """Raise NotInitialized, in the name of ``op``, after :meth:`close`."""
        if self.is_closed:
            raise closed(op)

    def close(self) -> None:
        """Destroy the device with all its buffers. Closing twice is allowed."""
        self.is_closed = True
        self.memory.close()
        self.recorder.close()


async def _warm_up_slowly(found: ReferenceType[Device]) -> None:
    """Compile the most used kernels, four at a time, without keeping the device open.

    Pipelines compile concurrently, but the GPU process parses shaders one after the other. Kernels
    that the user needs must not queue behind all of them. The start is delayed, so that kernels
    needed at once are not slowed down.
    """
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
    """Return the config's size, else the saved tuned sizes of this GPU, else the defaults."""
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
