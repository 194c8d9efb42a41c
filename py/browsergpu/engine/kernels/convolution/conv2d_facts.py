"""Declarations of conv2d and its kernels."""

from __future__ import annotations

from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    Configurations,
    Fields,
    Kernel,
    KernelFamily,
    Operation,
    Problem,
    Variant,
    Work,
    bindings,
)
from browsergpu.engine.kernels.convolution import depthwise
from browsergpu.engine.kernels.convolution.conv2d import (
    AMOUNTS,
    LARGE_FILTERS,
    conv2d,
    plan_conv2d,
    with_after,
)


def _work(f: Fields) -> Work:
    # Channels and filters are per group. A layer of z computes a part of the sum for one group of
    # one image.
    window = f["kernel_h"] * f["kernel_w"]
    steps = min(f["chunk"], f["channels"] * window)
    return _part(f, f["out_h"] * f["out_w"], steps, steps / window)


def _window_work(f: Fields) -> Work:
    channels = min(f["chunk"], f["channels"])
    return _part(f, f["out_h"] * f["out_w"], 9 * channels, channels)


def _stream_work(f: Fields) -> Work:
    return _part(f, f["out_h"] * f["out_w"], f["channels"], f["channels"])


def _part(f: Fields, pixels: float, steps: float, channels: float) -> Work:
    outputs = f["filters"] * pixels
    inputs = channels * f["height"] * f["width"]
    return 2 * outputs * steps, 4 * (inputs + f["filters"] * steps + outputs)


def _constants(filters: int, pixels: int, shares: int, depth: int) -> dict[str, int]:
    """Return the constants of a tile of conv2d, with the vec4s of its workgroup memory."""
    tiles = shares * depth * (filters // 4 + 1 + pixels // 4)
    sums = shares * filters * pixels // 4 if shares > 1 else 0
    return {
        "FILTERS": filters, "PIXELS": pixels, "SHARES": shares, "DEPTH": depth,
        "SPACE": max(tiles, sums),
    }  # fmt: skip


#: conv2d's tiles of filters × pixels, for all windows and for 1 × 1 windows.
_TILES = {
    f"{tile}_pointwise" if pointwise else tile: {**constants, "POINTWISE": pointwise}
    for tile, constants in (
        ("64x64", _constants(64, 64, 1, 16)),
        ("64x32", _constants(64, 32, 4, 8)),
        ("32x32", _constants(32, 32, 8, 8)),
    )
    for pointwise in (0, 1)
}


def _with_after(configurations: Configurations) -> Configurations:
    """Add a configuration with AFTER to each one."""
    return {
        own: {**constants, "AFTER": after, "WHOLE": 1}
        for name, constants in configurations.items()
        for own, after in ((name, 0), (with_after(name), 1))
    }


def _window(name: str, filters: int) -> Variant:
    """Return a variant of conv2d_window with 8 or 16 filters per tile and undivided sums."""
    traits = {"rows": 4, "columns": 8, "filters": filters, "depth": 16, "workgroups": 0}
    nbytes = 15_616 if filters == 16 else 12_288
    return Variant(
        name, "conv2d_window", str(filters), workgroup_bytes=nbytes, threads=128, traits=traits
    )


def _window_kernel(name: str, configurations: Configurations) -> Kernel:
    return Kernel(
        name,
        f"{name}.wgsl",
        bindings("x", "w", "bias", "scale", "residual", "y"),
        params(
            "channels: u32", "height: u32", "width: u32", "filters: u32", "out_h: u32",
            "out_w: u32", "pad_h: u32", "pad_w: u32", "groups: u32", "added: u32",
            "chunk: u32", "first_z: u32",
        ),
        configurations=_with_after(configurations),
        cost=_window_work,
    )  # fmt: skip


def _tile(
    name: str, filters: int, pixels: int, depth: int, workgroups: int, nbytes: int, threads: int
) -> Variant:
    """Return a variant of conv2d with a tile of filters × pixels and ``depth`` steps at a time.

    It divides sums until it has ``workgroups`` workgroups.
    """
    traits = {"filters": filters, "pixels": pixels, "depth": depth, "workgroups": workgroups}
    tile = f"{filters}x{pixels}"
    return Variant(name, "conv2d", tile, workgroup_bytes=nbytes, threads=threads, traits=traits)


# Traits: the extents of a tile, the number of terms added at a time, and the number of workgroups
# from which sums are not divided.
_VARIANTS = (
    _window("window", 16),
    _window("window8", 8),
    Variant(
        "window64",
        "conv2d_window_large",
        "64",
        workgroup_bytes=11_712,
        threads=128,
        # Tiles of 7 columns waste less of the widths 7, 14 and 28.
        traits={
            "rows": 8,
            "columns": 8,
            "narrow": 7,
            "filters": LARGE_FILTERS,
            "depth": 4,
            "workgroups": 0,
        },
    ),
    _tile("tile64x32", 64, 32, 32, 0, 32_768, 256),
    _tile("tile64x32_split", 64, 32, 32, 128, 32_768, 256),
    _tile("tile32", 32, 32, 64, 0, 32_768, 256),
    _tile("tile32_split", 32, 32, 64, 128, 32_768, 256),
    Variant(
        "stream",
        "conv2d_stream",
        workgroup_bytes=16_384,
        threads=256,
        traits={"filters": 16, "pixels": 16},
    ),
    Variant("depthwise", depthwise.KERNEL, threads=64),
    _tile("tile64", 64, 64, 16, 0, 8_448, 128),
)
#: Register tiles do not help a CPU and take seconds to compile. This one compiles fastest.
_ON_A_CPU = {
    f"{kind} {amount}": "tile64" for kind in ("window", "point", "other") for amount in AMOUNTS
}
_PICKS = {
    "": {
        "window 384k": "window64",
        **{f"window {amount}": "window" for amount in ("256k", "128k", "64k")},
        **{f"window {amount}": "window8" for amount in ("32k", "0")},
        **{
            f"{kind} {amount}": "tile64"
            for kind in ("point", "other")
            for amount in ("384k", "256k")
        },
        **{f"{kind} 128k": "tile64x32" for kind in ("point", "other")},
        **{f"{kind} 64k": "tile32" for kind in ("point", "other")},
        "point 32k": "stream",
        "other 32k": "tile64x32_split",
        "point 0": "tile32_split",
        "other 0": "tile64x32_split",
        "depthwise": "depthwise",
    },
    "google swiftshader": _ON_A_CPU,
    "software": _ON_A_CPU,
}


def _problem(
    size_class: str,
    channels: int,
    size: int,
    filters: int,
    kernel: int,
    stride: int = 1,
    groups: int = 1,
) -> Problem:
    image, padding = (1, channels, size, size), kernel // 2
    shape = (filters, channels // groups, kernel, kernel)
    plan = plan_conv2d("tune", image, shape, None, stride, padding, 1, groups)

    def convolution(build: Build, x: Slot, w: Slot, y: Slot) -> None:
        conv2d(build, x, w, y, plan)

    elements = (plan.input_elements, plan.filter_elements, plan.output_elements)
    return Problem("conv2d", size_class, elements, convolution)


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "conv2d",
            "conv2d.wgsl",
            bindings("x", "w", "bias", "scale", "residual", "y"),
            params(
                "channels: u32", "height: u32", "width: u32", "filters: u32", "kernel_h: u32",
                "kernel_w: u32", "out_h: u32", "out_w: u32", "stride: u32", "pad_h: u32",
                "pad_w: u32", "dilation: u32", "groups: u32", "added: u32", "chunk: u32",
                "first_z: u32",
            ),
            configurations=_with_after(_TILES),
            cost=_work,
        ),
        _window_kernel(
            "conv2d_window",
            {"16": {"FILTERS": 16, "SHARES": 4}, "8": {"FILTERS": 8, "SHARES": 8}},
        ),
        _window_kernel(
            "conv2d_window_large", {"64": {"COLUMNS": 8}, "64_narrow": {"COLUMNS": 7}}
        ),
        Kernel(
            "conv2d_stream",
            "conv2d_stream.wgsl",
            bindings("x", "x_vectors", "w", "bias", "scale", "residual", "y"),
            params(
                "channels: u32", "height: u32", "width: u32", "filters: u32", "out_h: u32",
                "out_w: u32", "stride_h: u32", "stride_w: u32", "groups: u32", "added: u32",
                "first_z: u32",
            ),
            configurations=_with_after({"": {"VECTOR": 0}, "vector": {"VECTOR": 1}}),
            cost=_stream_work,
        ),
        Kernel(
            "conv2d_sum",
            "conv2d_sum.wgsl",
            bindings("parts", "bias", "scale", "residual", "y"),
            params(
                "n: u32", "inner: u32", "parts: u32", "pixels: u32", "filters: u32", "added: u32"
            ),
            configurations=_with_after({"": {}}),
            cost=lambda f: (f["parts"] * f["n"], 4 * (f["parts"] + 1) * f["n"]),
        ),
    ),
    operations=(Operation("conv2d", _VARIANTS, _PICKS),),
    problems=(
        _problem("window 384k", 64, 224, 64, 3),
        _problem("window 256k", 64, 80, 64, 3),
        _problem("window 128k", 64, 56, 64, 3),
        _problem("window 64k", 128, 28, 128, 3),
        _problem("window 32k", 256, 14, 256, 3),
        _problem("window 0", 512, 7, 512, 3),
        _problem("point 384k", 64, 56, 256, 1),
        _problem("point 256k", 64, 56, 128, 1),
        _problem("point 128k", 256, 56, 64, 1),
        _problem("point 64k", 512, 28, 128, 1),
        _problem("point 32k", 1024, 14, 256, 1),
        _problem("point 0", 2048, 7, 512, 1),
        _problem("other 384k", 3, 224, 64, 7, 2),
        _problem("other 256k", 64, 112, 96, 3, 2),
        _problem("other 128k", 64, 112, 64, 3, 2),
        _problem("other 64k", 128, 56, 128, 3, 2),
        _problem("other 32k", 256, 28, 256, 3, 2),
        _problem("other 0", 512, 14, 512, 3, 2),
        _problem("depthwise", 384, 56, 384, 3, groups=384),
    ),
    warm_up={"conv2d": 60},
)  # fmt: skip
