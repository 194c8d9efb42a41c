"""Custom kernels: WGSL source that is checked, compiled once and dispatched on buffers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from operator import le
from struct import unpack
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, Unsupported
from browsergpu.engine.core.grids import MAX_PER_DIMENSION
from browsergpu.engine.core.showing import Description, byte_count
from browsergpu.engine.device import host_memory
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.memory import Allocation
from browsergpu.engine.gpu.port import Pipeline
from browsergpu.engine.kernels.text.reflect import Reflection, Resource, reflect, without_comments
from browsergpu.engine.tensors import transfers

_REQUIRES = "requires immediate_address_space; "
_SURROGATE = re.compile("[\ud800-\udfff]")  # an unpaired surrogate
_DECLARED = re.compile(r"\brequires\b[^;]*\bimmediate_address_space\b")


@dataclass(frozen=True, slots=True, eq=False)
class _Kernel:
    """An entry point of a WGSL source.

    Attributes
    ----------
    reflection
        The parsed source.
    entry_point
        The name of the entry point.
    resources
        The buffers by binding number.
    signature
        The bindings, for the recorder.
    code
        The source to compile.
    digest
        A hash of the source.
    """

    reflection: Reflection
    entry_point: str
    resources: list[Resource]
    signature: str
    code: str
    digest: str


def source_text(op: str, name: str, value: Any) -> str:
    """Return WGSL source as str. It may be given as UTF-8 bytes."""
    expected = "WGSL source, as str or UTF-8 bytes"
    if isinstance(value, str):
        if not value.isascii() and _SURROGATE.search(value):
            raise InvalidArgument(op, name, value, expected)
        return value
    if not isinstance(value, bytes | bytearray | memoryview):
        raise InvalidArgument(op, name, value, expected)
    try:
        return bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidArgument(op, name, value, expected) from None


def workgroups(op: str, value: Any) -> tuple[int, int, int]:
    """Return a workgroup count: one to three integers from 1 to 65,535."""
    expected = f"1 to 3 integers from 1 to {MAX_PER_DIMENSION}"
    given = value if checks.is_several(value) else (value,)
    counts = checks.dimensions(op, "workgroup_count", given, minimum=1)
    if not 1 <= len(counts) <= 3 or max(counts) > MAX_PER_DIMENSION:
        raise InvalidArgument(op, "workgroup_count", value, expected)
    x, y, z = (*counts, 1, 1)[:3]
    return x, y, z


def dispatch(
    device: Device,
    op: str,
    source: str,
    entry_point: str | None,
    buffers: Sequence[Allocation],
    workgroup_count: tuple[int, int, int],
    *,
    push_constants: Any = None,
    uniform_data: Any = None,
) -> None:
    """Run a custom kernel on buffers.

    Parameters
    ----------
    device
        The device.
    op
        The name of the function, for error messages.
    source
        The WGSL source.
    entry_point
        The name of the entry point, or None if there is one.
    buffers
        The storage buffers of group 0, in the order of their binding numbers. ``arrayLength``
        returns the requested size.
    workgroup_count
        The number of workgroups along each axis.
    push_constants
        The bytes of the shader's ``var<immediate>``, or None if it has none.
    uniform_data
        The bytes of the shader's ``var<uniform>`` in group 0, or None if it has none.

    Notes
    -----
    WebGPU binds whole words and at least one. A buffer of 5 bytes is bound as two words, and an
    empty buffer as one word of 0.
    """
    if not isinstance(entry_point, str | None):
        raise InvalidArgument(op, "entry_point", entry_point, "a name, or None for the only one")
    kernel = _prepare(op, source, entry_point)
    constants = _push_constants(device, op, kernel.reflection, push_constants)
    bound, uniform = _bind(device, op, kernel.resources, buffers, uniform_data)
    recorder = device.recorder
    try:
        pipeline = _pipeline(device, kernel, len(constants))
        sizes = [
            0 if resource.access == "u" else max(1, -(-buffer.nbytes // 4))
            for resource, buffer in zip(kernel.resources, bound, strict=True)
        ]
        untried = _is_untried(device, pipeline, sizes)
        if untried:  # an invalid command drops its whole batch, so it gets its own
            recorder.submit()
        for buffer in buffers:
            if buffer.nbytes == 0:
                recorder.clear(buffer.id, 0, 4)
        ids = (buffer.id for buffer in bound)
        recorder.dispatch(pipeline, *workgroup_count, *ids, *sizes, *constants)
        if untried:
            recorder.submit()
    finally:
        if uniform is not None:
            device.memory.return_buffer(uniform)


def _is_untried(device: Device, pipeline: Pipeline, sizes: list[int]) -> bool:
    """Return whether a pipeline has never run on buffers as small as these.

    WebGPU refuses a buffer that is smaller than the shader's struct or vector.
    """
    smallest = device.smallest_bound.get(pipeline)
    if smallest is not None and all(map(le, smallest, sizes)):
        return False
    device.smallest_bound[pipeline] = [*map(min, smallest or sizes, sizes)]
    return True


@lru_cache(maxsize=256)
def _prepare(op: str, source: str, entry_point: str | None) -> _Kernel:
    """Parse a source and check its entry point and bindings."""
    reflection = reflect(source)
    entry = _entry_point(op, reflection, entry_point)
    resources = _ordered(op, reflection)
    code = source
    if reflection.uses_immediates and not _DECLARED.search(without_comments(source)):
        code = _REQUIRES + source
    return _Kernel(
        reflection,
        entry,
        resources,
        "".join(f"{r.binding}{r.access}" for r in resources),
        code,
        sha256(source.encode()).hexdigest()[:12],
    )


def _entry_point(op: str, reflection: Reflection, wanted: str | None) -> str:
    names = [entry.name for entry in reflection.entry_points]
    if not names:
        raise InvalidArgument(
            op, "shader", Description("source without one"), "WGSL with a @compute function"
        )
    if wanted is None:
        if len(names) > 1:
            raise InvalidArgument(op, "entry_point", None, f"one of {', '.join(names)}")
        return names[0]
    if wanted not in names:
        raise InvalidArgument(op, "entry_point", wanted, f"one of {', '.join(names)}")
    return wanted


def _ordered(op: str, reflection: Reflection) -> list[Resource]:
    """Return the shader's buffers by binding number. Refuse other resources."""
    found: dict[int, Resource] = {}
    for resource in reflection.resources:
        if resource.access == "?":
            raise InvalidArgument(
                op,
                "shader",
                Description(f"{resource.name}, which is neither"),
                "have only storage and uniform buffers, not textures",
            )
        if resource.group is None or resource.binding is None:
            raise InvalidArgument(
                op,
                "shader",
                Description(f"other expressions at {resource.name}"),
                "have plain numbers as @group and @binding",
            )
        if resource.group != 0:
            raise InvalidArgument(
                op,
                "shader",
                Description(f"{resource.name} in @group({resource.group})"),
                "have all buffers in @group(0)",
            )
        if resource.binding in found:
            others = f"{found[resource.binding].name} and {resource.name}"
            raise InvalidArgument(
                op,
                "shader",
                Description(f"{others} at @binding({resource.binding})"),
                "have one buffer at each binding",
            )
        found[resource.binding] = resource
    return [found[binding] for binding in sorted(found)]


def _bind(
    device: Device,
    op: str,
    resources: list[Resource],
    buffers: Sequence[Allocation],
    uniform_data: Any,
) -> tuple[list[Allocation], Allocation | None]:
    storage = [r for r in resources if r.access != "u"]
    uniforms = [r for r in resources if r.access == "u"]
    if len(storage) != len(buffers):
        names = ", ".join(r.name for r in storage) or "none"
        raise InvalidArgument(
            op,
            "bindings",
            Description(f"{len(buffers)} buffers"),
            f"have {len(storage)} buffers, as the shader has: {names}",
        )
    bindings = device.limits["maxBindingsPerBindGroup"]
    for resource in resources:
        if resource.binding is not None and resource.binding >= bindings:
            raise InvalidArgument(
                op,
                "shader",
                Description(f"@binding({resource.binding}) of {resource.name}"),
                f"have binding numbers less than {bindings}, this device's limit",
            )
    most = device.limits["maxStorageBuffersPerShaderStage"]
    if len(storage) > most:
        raise InvalidArgument(
            op, "bindings", Description(f"{len(storage)} buffers"), f"at most {most}"
        )
    if len(uniforms) != (uniform_data is not None):
        raise InvalidArgument(
            op, "uniform_data", uniform_data, f"data for {len(uniforms)} uniform buffers"
        )
    for i, (first, buffer) in enumerate(zip(storage, buffers, strict=True)):
        for second, other in zip(storage[i + 1 :], buffers[i + 1 :], strict=True):
            if buffer is other and "w" in (first.access, second.access):
                raise InvalidArgument(
                    op,
                    "bindings",
                    Description(f"one buffer as {first.name} and {second.name}"),
                    "have different buffers where one is written (WebGPU forbids it)",
                )
    uniform = None
    if uniform_data is not None:
        view = host_memory.source_view(op, "uniform_data", uniform_data)
        largest = device.limits["maxUniformBufferBindingSize"]
        if not 0 < view.nbytes <= largest:
            raise InvalidArgument(
                op,
                "uniform_data",
                Description(byte_count(view.nbytes)),
                f"1 byte to {byte_count(largest)}",
            )
        uniform = device.memory.get_buffer(op, view.nbytes, "uniform_data")
        try:
            transfers.write(device, uniform, 0, view)
        except BaseException:
            device.memory.return_buffer(uniform)
            raise
    given = iter(buffers)
    bound = [uniform if r.access == "u" else next(given) for r in resources]
    return [b for b in bound if b is not None], uniform


def _push_constants(device: Device, op: str, reflection: Reflection, value: Any) -> tuple[int, ...]:
    if reflection.uses_immediates and device.immediate_bytes == 0:
        raise Unsupported(
            op,
            "the shader declares var<immediate>, which this browser or device does not have; "
            "use a uniform buffer instead",
        )
    if value is None:
        if reflection.uses_immediates:
            raise InvalidArgument(
                op, "push_constants", None, "the bytes of the shader's var<immediate>"
            )
        return ()
    view = host_memory.source_view(op, "push_constants", value)
    if view.nbytes == 0 and not reflection.uses_immediates:
        return ()
    if not reflection.uses_immediates:
        raise InvalidArgument(
            op,
            "push_constants",
            Description(byte_count(view.nbytes)),
            "None, as the shader declares no var<immediate>",
        )
    if view.nbytes % 4 or not 0 < view.nbytes <= device.immediate_bytes:
        raise InvalidArgument(
            op,
            "push_constants",
            Description(byte_count(view.nbytes)),
            f"a multiple of 4, at most {device.immediate_bytes}",
        )
    return unpack(f"<{view.nbytes // 4}I", view.tobytes())


def _pipeline(device: Device, kernel: _Kernel, words: int) -> Pipeline:
    return device.compile_source(
        key=f"{kernel.digest}/{kernel.entry_point}/{words}",
        label=kernel.entry_point,
        file=f"custom-{kernel.digest}.wgsl",
        code=kernel.code,
        entry_point=kernel.entry_point,
        signature=kernel.signature,
        parameter_format="I" * words,
    )
