"""The kernels that can do one operation's work, and which of them is picked for which problem.

``VARIANTS`` lists an operation's variants; what they need of a device stands beside them. The last
one of an operation runs on every device and can do every problem. Operations sort their problems
into a few size classes; ``PICKS`` says what was quickest for a class when it was measured, for a
class of devices. ``browsergpu.tune()`` measures on the user's own device instead.

The variants' kernels are in ``kernels.py``, the code that sorts problems in ``ops``.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """One way to do an operation: a kernel in a configuration, and what it needs of a device.

    ``features`` are the device's, or its adapter's abilities. ``traits`` is what the operation
    must know of it to lay out a grid, such as the extents of a tile. ``workgroup_bytes`` and
    ``threads`` are of a workgroup.
    """

    name: str
    kernel: str
    configuration: str = ""
    features: frozenset[str] = frozenset()
    workgroup_bytes: int = 0
    threads: int = 1
    traits: Mapping[str, int] = field(default_factory=dict)

    def runs_on(self, features: Set[str], limits: Mapping[str, int]) -> bool:
        """Whether a device with such features and limits can run it."""
        return (
            self.features <= features
            and self.workgroup_bytes <= limits["maxComputeWorkgroupStorageSize"]
            and self.threads <= limits["maxComputeInvocationsPerWorkgroup"]
        )


#: What the kernels of subgroup matrices need of a device.
_MATRICES = frozenset(
    {
        "shader-f16",
        "subgroups",
        "chromium-experimental-subgroup-matrix",
        "subgroups of 32",
        "matrices f16 f32 16x16x16",
    }
)


#: Tiles of attention_tiled: head_dim, queries of a workgroup, threads that share one, queries of a
#: thread.
ATTENTION_TILES = (
    (64, 96, 8, 6), (64, 64, 16, 4), (64, 48, 16, 6), (64, 32, 16, 4), (32, 96, 8, 6),
    (128, 48, 8, 4),
)  # fmt: skip
#: Tiles of attention_matrix: head_dim, and how many subgroups share the same queries.
ATTENTION_MATRICES = ((64, 1), (64, 2), (32, 1), (128, 1))


def _attention_tiles(suffix: str = "") -> tuple[Variant, ...]:
    """Those of attention_tiled, by their head_dim and queries."""
    return tuple(
        Variant(
            f"{head_dim}x{rows}",
            "attention_tiled",
            f"{head_dim}x{rows}{suffix}",
            workgroup_bytes=4 * (rows * (head_dim + 4 * lanes) + 4 * lanes * head_dim),
            threads=lanes * rows // each,
            traits={"head_dim": head_dim, "rows": rows},
        )
        for head_dim, rows, lanes, each in ATTENTION_TILES
    )


def _attention_matrices() -> tuple[Variant, ...]:
    """Those of attention_matrix, of 4 subgroups with 16 queries each."""
    return tuple(
        Variant(
            f"matrix {head_dim}x{64 // split}",
            "attention_matrix",
            f"{head_dim}x{64 // split}",
            features=_MATRICES,
            workgroup_bytes=9_216 * split * (2 if head_dim > 64 else 1) + 14_864,
            threads=128,
            traits={"head_dim": head_dim, "rows": 64 // split},
        )
        for head_dim, split in ATTENTION_MATRICES
    )


def _window(name: str, filters: int) -> Variant:
    """A variant of conv2d_window with tiles of 8 or 16 filters, which does not split sums."""
    traits = {"rows": 4, "columns": 8, "filters": filters, "depth": 16, "workgroups": 0}
    nbytes = 15_616 if filters == 16 else 12_288
    return Variant(
        name, "conv2d_window", str(filters), workgroup_bytes=nbytes, threads=128, traits=traits
    )


def _convolution(
    name: str, filters: int, pixels: int, depth: int, workgroups: int, nbytes: int, threads: int
) -> Variant:
    """A variant of conv2d with a tile of filters × pixels, ``depth`` steps at a time, which splits
    sums until it has so many workgroups."""
    traits = {"filters": filters, "pixels": pixels, "depth": depth, "workgroups": workgroups}
    tile = f"{filters}x{pixels}"
    return Variant(name, "conv2d", tile, workgroup_bytes=nbytes, threads=threads, traits=traits)


def _tile(side: int, depth: int, nbytes: int) -> Variant:
    """A variant of gemm with tiles of side × side, ``depth`` steps of k at a time."""
    traits = {"side": side, "depth": depth}
    return Variant(
        f"tile{side}", "gemm", str(side), workgroup_bytes=nbytes, threads=128, traits=traits
    )


_ATTENTION = Variant("general", "attention", workgroup_bytes=12_672, threads=256)

VARIANTS: Mapping[str, tuple[Variant, ...]] = {
    # Traits: of the kernel of vectors, how many it takes, its lanes, and whether it wants strides
    # of whole vec4; of those of tiles, a tile's extents, in C and along k.
    "gemm": (
        *(
            Variant(
                name + few,
                "gemm_thin",
                name + few,
                workgroup_bytes=16 * threads,
                threads=threads,
                traits={"vectors": vectors, "lanes": lanes, "quads": quads},
            )
            for few, vectors in (("", 1), ("_few", 4))
            for name, threads, lanes, quads in (
                ("quads_wide", 1024, 8, 1),
                ("quads", 256, 8, 1),
                ("across", 256, 8, 0),
                ("along", 256, 1, 0),
            )
        ),
        _tile(128, 16, 16_896),
        _tile(64, 16, 8_704),
        # Able to do everything, but slow on all but what it is picked for: after the tiles.
        Variant("tiny", "gemm_tiny", threads=128),
        _tile(32, 32, 9_216),
    ),
    # Traits: a tile's rows and columns, and which rows must be of whole vec4u: those of A and of
    # B. Matrices of other rows are copied, unless they are to be read in place. most_rows: of C,
    # where it is slow on more.
    "gemm_f16": (
        *(
            Variant(
                f"matrix{rows}",
                f"gemm_f16_matrix{rows}",
                features=_MATRICES,
                workgroup_bytes=nbytes,
                threads=threads,
                traits={
                    "rows": rows,
                    "columns": columns,
                    "whole_a": 1,
                    "whole_b": 1,
                    "in_place": 0,
                },
            )
            for rows, columns, threads, nbytes in (
                (128, 128, 128, 24_576),
                (64, 64, 64, 20_992),
                (32, 64, 128, 19_968),
            )
        ),
        Variant(
            "tile128",
            "gemm_f16_tile",
            workgroup_bytes=16_640,
            threads=128,
            traits={"rows": 128, "columns": 128, "whole_a": 1, "whole_b": 1, "in_place": 0},
        ),
        *(
            Variant(
                f"rows{rows}",
                "gemm_f16_rows",
                str(rows),
                workgroup_bytes=8_192,
                threads=256,
                traits={
                    "rows": rows,
                    "columns": 32,
                    "whole_a": 0,
                    "whole_b": 1,
                    "in_place": 1,
                    "most_rows": 4 * rows,
                },
            )
            for rows in (1, 4)
        ),
        Variant(
            "tile32",
            "gemm_f16",
            workgroup_bytes=4_224,
            threads=256,
            traits={"rows": 32, "columns": 32, "whole_a": 0, "whole_b": 0, "in_place": 1},
        ),
    ),
    # Traits: a tile's extents, how many terms of the sums are added at a time, and from how many
    # workgroups on sums are not split.
    "conv2d": (
        _window("window", 16),
        _window("window8", 8),
        _convolution("tile64x32", 64, 32, 32, 0, 32_768, 256),
        _convolution("tile64x32_split", 64, 32, 32, 128, 32_768, 256),
        _convolution("tile32", 32, 32, 64, 0, 32_768, 256),
        _convolution("tile32_split", 32, 32, 64, 128, 32_768, 256),
        Variant(
            "stream",
            "conv2d_stream",
            workgroup_bytes=16_384,
            threads=256,
            traits={"filters": 16, "pixels": 16},
        ),
        Variant("depthwise", "conv2d_depthwise", threads=64),
        _convolution("tile64", 64, 64, 16, 0, 8_448, 128),
    ),
    # Traits: a tile's head_dim and queries. The last one is for every head_dim, and for masks.
    "attention": (*_attention_tiles(), _ATTENTION),
    # The last one stands for doing it in float32.
    "attention_f16": (*_attention_matrices(), *_attention_tiles(" f16"), _ATTENTION),
}

#: A CPU gains nothing from tiles in registers, and takes seconds to compile them.
_ATTENTION_ON_A_CPU = {
    f"{head_dim} {rows}{causal}": "general"
    for head_dim in (32, 64, 128)
    for rows in ("few", "many")
    for causal in ("", " causal")
}

#: As for attention: the quickest to compile.
_CONV2D_ON_A_CPU = {
    f"{kind} {amount}": "tile64"
    for kind in ("window", "point", "other")
    for amount in ("256k", "128k", "64k", "32k", "0")
}

#: Device class → operation → size class → variant. The class "" holds for every device that
#: nothing else says more about.
PICKS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "": {
        "gemm": {
            "tiny": "tiny",
            "along": "along",
            "across": "quads_wide",
            "along few": "along_few",
            "across few": "quads_wide_few",
            "small": "tile32",
            "medium": "tile64",
            "large": "tile128",
        },
        "gemm_f16": {
            "row": "rows1",
            "thin": "rows4",
            "small": "tile32",
            "medium": "tile128",
            "large": "tile128",
        },
        "attention": {},
        "attention_f16": {},
        "conv2d": {
            **{f"window {amount}": "window" for amount in ("256k", "128k", "64k")},
            **{f"window {amount}": "window8" for amount in ("32k", "0")},
            **{f"{kind} 256k": "tile64" for kind in ("point", "other")},
            **{f"{kind} 128k": "tile64x32" for kind in ("point", "other")},
            **{f"{kind} 64k": "tile32" for kind in ("point", "other")},
            "point 32k": "stream",
            "other 32k": "tile64x32_split",
            "point 0": "tile32_split",
            "other 0": "tile64x32_split",
            "depthwise": "depthwise",
        },
    },
    "google swiftshader": {
        "attention": _ATTENTION_ON_A_CPU,
        "attention_f16": _ATTENTION_ON_A_CPU,
        "conv2d": _CONV2D_ON_A_CPU,
    },
    # Measured on an H200.
    "nvidia": {
        "gemm_f16": {"small": "matrix32", "medium": "matrix64", "large": "matrix128"},
        "attention": {
            "64 few": "64x96",
            "64 few causal": "64x48",
            "64 many": "64x64",
            "64 many causal": "64x64",
        },
        "attention_f16": {},
    },
}


def device_class(info: Mapping[str, str]) -> str:
    """The class of devices that a GPU belongs to, by its vendor's and architecture's names: the
    most exact key of PICKS, "vendor architecture", "vendor" or ""."""
    for name in (f"{info['vendor']} {info['architecture']}", info["vendor"]):
        if name in PICKS:
            return name
    return ""
