"""Pipeline compilation in threads. Engines compile synchronously, but release the GIL."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from struct import Struct
from typing import Any

from browsergpu.engine.core.places import Section
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.native.bindings import Bindings, Layout
from browsergpu.engine.gpu.native.complaints import Complaint, of_shader

_THREADS = 4
#: naga knows neither the directive nor the address space that it names.
_REQUIRES = re.compile(r"^requires [^;]*;", re.MULTILINE)

#: naga's code for bools in workgroup memory is wrong on NVIDIA's GPUs: with wgpu 0.32 an H100 read
#: false where true was stored. Dawn is right there.
_NO_BOOLS = (
    "bool must not be in workgroup memory on wgpu-native with an NVIDIA GPU, whose values would be"
    " wrong. Use u32, or BROWSERGPU_ENGINE=dawn."
)
_NVIDIA = 0x10DE  # PCI's number of the vendor
_WORKGROUP_VARIABLE = re.compile(r"\bvar\s*<\s*workgroup\s*,?\s*>\s*\w+\s*:\s*([^;=]+)")
_TYPE = re.compile(r"(?:alias|struct)\s+(\w+)\s*(?:=\s*([^;]+);|\{([^}]*)\})")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"\w+")


def workgroup_bools_are_wrong(device: Any) -> bool:
    """Return whether bools in workgroup memory are wrong on a device of wgpu-native."""
    found: bool = device.adapter.info.get("vendor_id") == _NVIDIA
    return found


def has_workgroup_bools(code: str) -> bool:
    """Return whether a shader keeps bools in workgroup memory.

    Aliases and structs are followed.
    """
    if "workgroup" not in code:
        return False
    code = _COMMENT.sub(" ", code)
    types = {name: text or members for name, text, members in _TYPE.findall(code)}
    words = {word for text in _WORKGROUP_VARIABLE.findall(code) for word in _WORD.findall(text)}
    new = words
    while new:
        new = {word for name in new & types.keys() for word in _WORD.findall(types[name])} - words
        words |= new
    return "bool" in words


class Step(Shown):
    """One kernel in one configuration, compiled or being compiled."""

    __slots__ = (
        "failure", "future", "group_words", "handle", "label", "layout", "number", "pack",
        "pipeline", "recorded", "uniform",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        label: str,
        layout: Layout,
        sized: bool,
        parameter_format: str,
        uniform: bool,
    ) -> None:
        self.number = number
        self.label = label
        self.layout = layout
        self.group_words = len(layout.numbers) * (2 if sized else 1)
        self.pack = Struct(f"<{parameter_format}").pack if parameter_format else None
        self.uniform = uniform
        self.recorded = ""  # the user's line that recorded it
        self.future: Future[None] | None = None
        self.pipeline: Any = None
        self.handle: Any = None
        self.failure: Complaint | None = None


class Compiler(Shown):
    """Creates the pipelines of one device."""

    def __init__(self, device: Any, bindings: Bindings, *, is_dawn: bool) -> None:
        self._device = device
        self._bindings = bindings
        self._is_dawn = is_dawn
        self._refuses_bools = not is_dawn and workgroup_bools_are_wrong(device)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="browsergpu")
        self.milliseconds = 0.0
        self._end = 0.0

    def start(
        self,
        step: Step,
        code: str,
        entry_point: str,
        constants: Mapping[str, float],
        immediate_bytes: int,
        sections: Sequence[Section],
    ) -> None:
        """Compile a step's pipeline in the background."""
        layout = self._bindings.pipeline_layout(step.layout, immediate_bytes, step.uniform)
        step.future = self._threads.submit(
            self._compile, step, code, entry_point, dict(constants), layout, list(sections)
        )

    def _compile(
        self,
        step: Step,
        code: str,
        entry_point: str,
        constants: dict[str, float],
        layout: Any,
        sections: list[Section],
    ) -> None:
        started = time.perf_counter()
        if not self._is_dawn:
            code = _REQUIRES.sub(lambda found: " " * len(found[0]), code)
        try:
            if self._refuses_bools and has_workgroup_bools(code):
                raise ValueError(_NO_BOOLS)
            module = self._device.create_shader_module(code=code, label=sections[0][0])
            step.pipeline = self._device.create_compute_pipeline(
                label=step.label,
                layout=layout,
                compute={"module": module, "entry_point": entry_point, "constants": constants},
            )
            step.handle = step.pipeline._internal
        except Exception as error:  # each engine has its own exception classes
            step.failure = of_shader(step.label, error, sections, step.recorded)
        # Count overlapping compilations only once.
        now = time.perf_counter()
        self.milliseconds += 1e3 * (now - max(started, self._end))
        self._end = now

    def close(self) -> None:
        """Start no further compilation, and wait for those in progress."""
        self._threads.shutdown(wait=True, cancel_futures=True)
