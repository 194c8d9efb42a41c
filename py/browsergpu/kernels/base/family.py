"""What a family of kernels declares of itself: rows of THE TABLE, what its work amounts to, and its
operations that have variants.

Each family's module has a ``FAMILY`` at its end, or the module ``…_facts`` beside it; ``table.py``
lists them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field

from browsergpu.core.params import Params
from browsergpu.kernels.base.workgroup_sizes import Family

READ = "r"
WRITE = "w"  # read and write

Configurations = Mapping[str, Mapping[str, int]]
#: Names, and the numbers that stand for them in the WGSL.
Codes = Mapping[str, int]
#: A dispatch's parameters by their names.
Fields = Mapping[str, float]
#: Floating-point operations, and bytes that must be moved. Bytes count every operand once, as if
#: caches were perfect; reads of the output where it is updated are counted too.
Work = tuple[float, float]
Cost = Callable[[Fields], Work]


@dataclass(frozen=True)
class Binding:
    """A storage buffer of a kernel: its @binding number, name in the shader and access."""

    number: int
    name: str
    access: str


@dataclass(frozen=True)
class Kernel:
    """One entry point of one shader file, and the override constants it may be made with."""

    name: str
    shader: str
    bindings: tuple[Binding, ...]
    params: Params
    entry_point: str = "main"
    configurations: Configurations = field(default_factory=lambda: {"": {}})
    #: The family of kernels whose workgroup size is tuned together: the shader's THREADS is then
    #: an override, set to the device's size for the family. None: the shader has its own size.
    family: Family | None = None
    #: Its work, of one layer of z where it is batched. None for small helpers, which count as
    #: nothing.
    cost: Cost | None = None

    @property
    def signature(self) -> str:
        """Bindings as the recorder wants them: ``"0r1w"``."""
        return "".join(f"{b.number}{b.access}" for b in self.bindings)


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """One way to do an operation: a kernel in a configuration, and what it needs of a device.

    ``features`` are the device's, or its adapter's abilities. ``traits`` is what the operation
    must know of it to lay out a grid, such as the extents of a tile. ``workgroup_bytes`` and
    ``threads`` are of a workgroup. ``classes`` are the size classes for which it may be tried on
    real work, all where there are none.
    """

    name: str
    kernel: str
    configuration: str = ""
    features: frozenset[str] = frozenset()
    workgroup_bytes: int = 0
    threads: int = 1
    traits: Mapping[str, int] = field(default_factory=dict)
    classes: frozenset[str] = frozenset()

    def runs_on(self, features: Set[str], limits: Mapping[str, int]) -> bool:
        """Whether a device with such features and limits can run it."""
        return (
            self.features <= features
            and self.workgroup_bytes <= limits["maxComputeWorkgroupStorageSize"]
            and self.threads <= limits["maxComputeInvocationsPerWorkgroup"]
        )


@dataclass(frozen=True)
class Operation:
    """An operation that several kernels can do.

    The last variant runs on every device and can do every problem. The operation sorts problems
    into a few size classes. ``picks`` says what was quickest for a class when it was measured:
    device class → size class → variant. A device class is "vendor architecture", "vendor", a kind
    of devices ("software", "integrated", "discrete") or "", which holds for every device that
    nothing else says more about, if the variant is safe there (``unmeasured.py``).
    ``browsergpu.tune()``, and tuning by use, measure on the user's own device instead.
    """

    name: str
    variants: tuple[Variant, ...]
    picks: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Problem:
    """Work that stands for a size class when variants are measured: how many float32 each of its
    buffers has, and what prepares it, as ``prepare(build, *slots)``. The buffers hold ones."""

    op: str
    size_class: str
    elements: tuple[int, ...]
    prepare: Callable[..., None]


@dataclass(frozen=True)
class KernelFamily:
    """All that a family declares.

    ``problems`` has a typical one of each size class that is tuned. ``warm_up`` names what a new
    device compiles in the background, as ``Device.warm_up`` takes it, with its place among those of
    all families: the smaller, the sooner.
    """

    kernels: tuple[Kernel, ...]
    operations: tuple[Operation, ...] = ()
    problems: tuple[Problem, ...] = ()
    warm_up: Mapping[str, int] = field(default_factory=dict)


#: What the kernels of subgroup matrices need of a device.
MATRICES = frozenset(
    {
        "shader-f16",
        "subgroups",
        "chromium-experimental-subgroup-matrix",
        "subgroups of 32",
        "matrices f16 f32 16x16x16",
    }
)


def bindings(*names: str, written: int = 1, first: int = 0) -> tuple[Binding, ...]:
    """Numbered from ``first``; the last ones are written, the others are only read."""
    read = len(names) - written
    return tuple(Binding(first + i, n, WRITE if i >= read else READ) for i, n in enumerate(names))


def by_code(codes: Codes, constant: str = "OP") -> Configurations:
    """A configuration for each name, which sets the constant to its code."""
    return {name: {constant: code} for name, code in codes.items()}


def of_elements(reads: int, operations: int) -> Cost:
    """The work of a kernel that does so much for each of n words that it writes."""
    return lambda f: (operations * f["n"], 4 * (reads + 1) * f["n"])
