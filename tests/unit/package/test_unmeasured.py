"""Variants that devices without measurements select, from the properties of several GPUs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fake_gpu import ABILITIES, MATRICES

from browsergpu.engine.device.by_use import outputs
from browsergpu.engine.kernels.base.family import Variant
from browsergpu.engine.kernels.choices import Choices
from browsergpu.engine.kernels.table import FAMILIES
from browsergpu.engine.kernels.unmeasured import is_measured, kind_of, sums_of
from browsergpu.engine.kernels.variants import PICKS, VARIANTS

pytestmark = pytest.mark.fast


def names(vendor: str, architecture: str = "", description: str = "") -> dict[str, str]:
    return {
        "vendor": vendor,
        "architecture": architecture,
        "device": description,
        "description": description,
    }


def limits(nbytes: int, threads: int) -> dict[str, int]:
    return {
        "maxComputeWorkgroupStorageSize": nbytes,
        "maxComputeInvocationsPerWorkgroup": threads,
    }


H200 = names("nvidia"), limits(49_152, 1024)
SWIFTSHADER = names("google", "swiftshader", "SwiftShader Device (Subzero)"), limits(32_768, 256)
INTEL = names("intel", "gen-12lp"), limits(32_768, 1024)
ARC = names("intel", "xe-2hpg"), limits(32_768, 1024)
APPLE = names("apple", "metal-3"), limits(32_768, 1024)
QUALCOMM = names("qualcomm", "adreno-7xx"), limits(16_384, 256)
AMD = names("amd", "rdna-3"), limits(32_768, 1024)
GEFORCE = names("nvidia", "ampere"), limits(49_152, 1024)
UNHEARD_OF = names("acme"), limits(16_384, 256)
LLVMPIPE = names("llvmpipe"), limits(32_768, 1024)
INTEGRATED = {"intel": INTEL, "apple": APPLE, "qualcomm": QUALCOMM, "unheard of": UNHEARD_OF}

#: Every size class of every operation that has a tuned default or a measurement.
CLASSES = sorted(
    {(op, name) for table in PICKS.values() for op, picks in table.items() for name in picks}
    | {(problem.op, problem.size_class) for family in FAMILIES for problem in family.problems}
)


def anything(_variant: Variant) -> bool:
    return True


def not_thin(variant: Variant) -> bool:
    """Large products require this of a variant."""
    return "lanes" not in variant.traits


def large_f16(variant: Variant) -> bool:
    return "most_rows" not in variant.traits


@pytest.mark.parametrize(
    ("info", "measured"),
    [
        (H200[0], True),
        (names("nvidia", "", "NVIDIA H200"), True),
        (names("nvidia", "", "NVIDIA GeForce RTX 3060"), False),
        (GEFORCE[0], False),
        (SWIFTSHADER[0], True),
        (INTEL[0], False),
        (LLVMPIPE[0], False),
    ],
)
def test_measured_devices(info: dict[str, str], measured: bool) -> None:
    assert is_measured(info) is measured


@pytest.mark.parametrize(
    ("facts", "software", "kind"),
    [
        (INTEL, False, "integrated"),
        (ARC, False, "discrete"),
        (APPLE, False, "integrated"),
        (QUALCOMM, False, "integrated"),
        (AMD, False, "discrete"),
        (GEFORCE, False, "discrete"),
        (UNHEARD_OF, False, "integrated"),
        ((names("acme"), limits(65_536, 1024)), False, "discrete"),
        (LLVMPIPE, True, "software"),
    ],
)
def test_kinds(facts: tuple[dict[str, str], dict[str, int]], software: bool, kind: str) -> None:
    info, its_limits = facts
    assert kind_of(info, its_limits, software=software) == kind


@pytest.mark.parametrize("facts", [H200, SWIFTSHADER], ids=["h200", "swiftshader"])
@pytest.mark.parametrize(("op", "size_class"), CLASSES)
def test_measured_devices_select_the_tuned_defaults(
    facts: tuple[dict[str, str], dict[str, int]], op: str, size_class: str
) -> None:
    info, its_limits = facts
    is_large = info["vendor"] == "nvidia"
    features = (MATRICES | ABILITIES) if is_large else frozenset()
    device = Choices(info, features, its_limits, software=not is_large)
    own = PICKS["nvidia" if is_large else "google swiftshader"]
    name = own.get(op, {}).get(size_class) or PICKS[""].get(op, {}).get(size_class)
    available = {variant.name: variant for variant in device.available(op)}
    assert device.picked(op, size_class) is available.get(name or "")


@pytest.mark.parametrize("vendor", INTEGRATED)
@pytest.mark.parametrize(("op", "size_class"), CLASSES)
def test_integrated_gpus_select_safe_variants(vendor: str, op: str, size_class: str) -> None:
    info, its_limits = INTEGRATED[vendor]
    device = Choices(info, frozenset({"shader-f16"}), its_limits)
    for able in (anything, not_thin, large_f16) if op != "conv2d" else (anything,):
        if op == "gemm_f16" and able is not large_f16:
            continue
        picked = device.choose(op, size_class, able)
        assert picked in device.available(op)
        assert sums_of(picked) <= 32
        assert picked is VARIANTS[op][-1] or picked.workgroup_bytes <= 16_384


@pytest.mark.parametrize(
    ("vendor", "op", "size_class", "able", "name"),
    [
        ("apple", "gemm", "across", anything, "quads_wide"),
        # Qualcomm lacks 1024 threads, so the table's next variant is selected.
        ("qualcomm", "gemm", "across", anything, "quads"),
        ("intel", "gemm", "medium", not_thin, "tile64"),
        ("intel", "gemm", "large", not_thin, "tile64"),
        ("apple", "gemm", "whole 128", not_thin, "tile64"),
        ("apple", "gemm", "tiny", not_thin, "tiny"),
        ("apple", "gemm_f16", "large", large_f16, "tile32"),
        ("apple", "attention", "64 many", anything, "general"),
        ("intel", "conv2d", "window 256k", anything, "window"),
    ],
)
def test_some_picks(
    vendor: str, op: str, size_class: str, able: Callable[[Variant], bool], name: str
) -> None:
    device = Choices(INTEGRATED[vendor][0], frozenset(), INTEGRATED[vendor][1])
    assert device.choose(op, size_class, able).name == name


def test_a_workgroup_fills_a_subgroup() -> None:
    wide = frozenset({"subgroups of 128"})
    device = Choices(AMD[0], wide, AMD[1])
    assert device.choose("gemm", "whole 64", not_thin).name == "tile128", "quads64 has 64 threads"
    assert Choices(AMD[0], frozenset(), AMD[1]).picked("gemm", "whole 64").name == "quads64"


def test_software_selects_variants_that_compile_quickly() -> None:
    device = Choices(LLVMPIPE[0], frozenset(), LLVMPIPE[1], software=True)
    assert device.choose("attention", "64 few", anything).name == "general"
    assert device.choose("conv2d", "window 256k", anything).name == "tile64"
    assert not device.is_open("conv2d", "window 256k")
    assert device.is_open("gemm", "large")


def test_candidates_for_autotuning() -> None:
    """The candidates include more than the default, but no variant that would spill registers."""
    device = Choices(APPLE[0], frozenset(), APPLE[1])
    tried = [variant.name for variant in device.plausible("gemm", "large", not_thin)]
    assert tried == ["tile64", "quads128x64", "quads64", "tile32"], "the general one is the last"
    tried = [variant.name for variant in device.plausible("gemm", "tiny", not_thin)]
    assert tried == ["tile64", "quads128x64", "quads64", "tiny", "tile32"]
    large = Choices(AMD[0], frozenset(), AMD[1])
    assert {"tile128", "quads128"} < {v.name for v in large.plausible("gemm", "large", not_thin)}


def test_the_outputs_of_a_variants_workgroups() -> None:
    found = {variant.name: variant for variant in VARIANTS["gemm"]}
    alone = [("gemm", (4, 2, 8))]
    assert outputs(found["tile32"], alone) == 64 * 32 * 32
    assert outputs(found["tile128"], alone) == 64 * 128 * 128
    assert outputs(found["tile32"], [*alone, ("gemm_sum", (1, 1, 1))]) == 0, "pieces of k"
    assert outputs(found["along"], [("gemm_thin", (9, 1, 1))]) == 0, "no tile"


def test_settling() -> None:
    device = Choices(APPLE[0], frozenset(), APPLE[1])
    assert device.is_open("gemm", "large")
    device.settle("gemm", "large", "quads64")
    assert not device.is_open("gemm", "large")
    assert device.choose("gemm", "large", not_thin).name == "quads64"
    assert device.tuned == {"gemm": {"large": "quads64"}}


def test_a_turn_forces_a_variant_and_records_choices() -> None:
    device = Choices(APPLE[0], frozenset(), APPLE[1])
    quads = next(v for v in device.available("gemm") if v.name == "quads64")
    with device.noting(("gemm", "large", quads)) as asked:
        assert device.choose("gemm", "large", not_thin) is quads
        assert device.choose("gemm", "medium", not_thin).name == "tile64"
        assert device.choose("gemm", "large", lambda v: v is not quads).name != "quads64"
    assert [choice[:2] for choice in asked] == [
        ("gemm", "large"), ("gemm", "medium"), ("gemm", "large"),
    ]  # fmt: skip
    assert device.choose("gemm", "large", not_thin).name == "tile64"
