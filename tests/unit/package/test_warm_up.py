"""The kernels that each name given to warm_up selects."""

from __future__ import annotations

import pytest

from browsergpu.engine.device import warm_up
from browsergpu.engine.kernels.choices import Choices
from browsergpu.engine.kernels.table import FAMILIES, KERNELS
from browsergpu.engine.kernels.variants import VARIANTS
from browsergpu.errors import InvalidArgument

pytestmark = pytest.mark.fast

LIMITS = {"maxComputeWorkgroupStorageSize": 2**20, "maxComputeInvocationsPerWorkgroup": 2**20}


@pytest.mark.parametrize("vendor", ["nvidia", "google"])
def test_the_most_used_ones_exist(vendor: str) -> None:
    info = {"vendor": vendor, "architecture": "", "description": ""}
    variants = Choices(info, frozenset({"shader-f16"}), LIMITS)
    found = warm_up.kernels("test", warm_up.MOST_USED, variants)
    assert len(found) == len(set(found)) >= len(warm_up.MOST_USED)
    for kernel, configuration in found:
        assert configuration in KERNELS[kernel].configurations


def test_families_share_no_place() -> None:
    places = [place for family in FAMILIES for place in family.warm_up.values()]
    assert len(set(places)) == len(places) == len(warm_up.MOST_USED)


def test_an_operation_selects_its_variants_and_a_kernel_all_configurations() -> None:
    info = {"vendor": "", "architecture": "", "description": ""}
    names = [variant.name for variant in VARIANTS["gemm"]]
    variants = Choices(info, frozenset(), LIMITS, {"gemm": {"test": names[-1]}})
    found = warm_up.kernels("test", ["gemm"], variants)
    assert (VARIANTS["gemm"][-1].kernel, VARIANTS["gemm"][-1].configuration) in found
    assert {kernel for kernel, _ in warm_up.kernels("test", ["cast"], variants)} == {"cast"}
    every = warm_up.kernels("test", ["cast", "cast.f32_f16"], variants)
    assert len(every) == len(KERNELS["cast"].configurations)


@pytest.mark.parametrize("name", ["gem", "cast.mul", "", 3, None, "gemm.x.y"])
def test_other_names_are_refused(name: object) -> None:
    info = {"vendor": "", "architecture": "", "description": ""}
    with pytest.raises(InvalidArgument, match="ops"):
        warm_up.kernels("test", [name], Choices(info, frozenset(), LIMITS))  # type: ignore[list-item]
