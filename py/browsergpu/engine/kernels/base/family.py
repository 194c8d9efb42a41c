"""Declarations of a kernel family: rows of THE TABLE, work, and operations with variants.

Each family's module, or the module ``…_facts`` beside it, ends with a ``FAMILY``. ``table.py``
lists all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field

from browsergpu.engine.core.params import Params
from browsergpu.engine.kernels.base.workgroup_sizes import Family

READ = "r"
WRITE = "w"  # read and write

Configurations = Mapping[str, Mapping[str, int]]
#: Names and their codes in the WGSL.
Codes = Mapping[str, int]
#: A dispatch's parameters by name.
Fields = Mapping[str, float]
#: Floating-point operations, and bytes that must be moved. Each operand counts once, as with
#: perfect caches. An output that is updated also counts as read.
Work = tuple[float, float]
Cost = Callable[[Fields], Work]


@dataclass(frozen=True)
class Binding:
    """A storage buffer of a kernel: its @binding number, name in the shader and access mode."""

    number: int
    name: str
    access: str


@dataclass(frozen=True)
class Kernel:
    """One entry point of a shader file, with its configurations (values of override constants)."""

    name: str
    shader: str
    bindings: tuple[Binding, ...]
    params: Params
    entry_point: str = "main"
    configurations: Configurations = field(default_factory=lambda: {"": {}})
    #: Kernels whose workgroup size is tuned together. The shader's THREADS is then an override with
    #: the device's size for them. None if the shader has a fixed size.
    family: Family | None = None
    #: The work of one layer of z. None for small helpers, whose work is ignored.
    cost: Cost | None = None

    @property
    def signature(self) -> str:
        """Bindings in the recorder's format, ``"0r1w"``."""
        return "".join(f"{b.number}{b.access}" for b in self.bindings)


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """One implementation of an operation: a kernel in a configuration, and its requirements.

    Attributes
    ----------
    features : frozenset of str
        Required features of the device or abilities of its adapter.
    traits : Mapping
        Properties that the operation needs for the grid, such as the extents of a tile.
    workgroup_bytes, threads : int
        Memory and threads of a workgroup.
    classes : frozenset of str
        Size classes for autotuning. Empty means all of them.
    is_quick : bool
        Whether a driver compiles it much sooner than the others. It computes first results.
    """

    name: str
    kernel: str
    configuration: str = ""
    features: frozenset[str] = frozenset()
    workgroup_bytes: int = 0
    threads: int = 1
    traits: Mapping[str, int] = field(default_factory=dict)
    classes: frozenset[str] = frozenset()
    is_quick: bool = False

    def runs_on(self, features: Set[str], limits: Mapping[str, int]) -> bool:
        """Return whether a device with these features and limits supports the variant."""
        return (
            self.features <= features
            and self.workgroup_bytes <= limits["maxComputeWorkgroupStorageSize"]
            and self.threads <= limits["maxComputeInvocationsPerWorkgroup"]
        )


@dataclass(frozen=True)
class Operation:
    """An operation that several kernels implement.

    The last variant runs on every device and supports every problem. The operation divides problems
    into a few size classes.

    ``picks`` holds the tuned defaults: device class → size class → variant. A device class is
    "vendor architecture", "vendor", a kind of device ("software", "integrated", "discrete"), or "".
    The class "" applies to every device without a more specific class, if the variant is safe there
    (``unmeasured.py``). ``browsergpu.tune()`` and autotuning measure on the user's device instead.
    """

    name: str
    variants: tuple[Variant, ...]
    picks: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Problem:
    """A representative problem of a size class, for measurements.

    It has the number of float32 elements of each buffer and the function ``prepare(build,
    *slots)``. The buffers are filled with ones.
    """

    op: str
    size_class: str
    elements: tuple[int, ...]
    prepare: Callable[..., None]


@dataclass(frozen=True)
class KernelFamily:
    """All declarations of a family.

    ``problems`` has one representative problem per tuned size class. ``warm_up`` lists the kernels
    that a new device compiles in the background, in the format of ``Device.warm_up``. A smaller
    rank is compiled sooner.
    """

    kernels: tuple[Kernel, ...]
    operations: tuple[Operation, ...] = ()
    problems: tuple[Problem, ...] = ()
    warm_up: Mapping[str, int] = field(default_factory=dict)


#: Abilities that kernels with subgroup matrices require.
MATRICES = frozenset(
    {
        "shader-f16",
        "subgroups",
        "chromium-experimental-subgroup-matrix",
        "subgroups of 32",
        "matrices f16 f32 16x16x16",
    }
)
#: The ability to read subnormal float16 numbers by unpack2x16float.
SUBNORMAL_HALVES = frozenset({"subnormal halves"})


def bindings(*names: str, written: int = 1, first: int = 0) -> tuple[Binding, ...]:
    """Return bindings numbered from ``first``. The last ``written`` are writable."""
    read = len(names) - written
    return tuple(Binding(first + i, n, WRITE if i >= read else READ) for i, n in enumerate(names))


def by_code(codes: Codes, constant: str = "OP") -> Configurations:
    """Return one configuration per name, which sets the constant to the name's code."""
    return {name: {constant: code} for name, code in codes.items()}


def of_elements(reads: int, operations: int) -> Cost:
    """Return the cost of an elementwise kernel, per word written."""
    return lambda f: (operations * f["n"], 4 * (reads + 1) * f["n"])
