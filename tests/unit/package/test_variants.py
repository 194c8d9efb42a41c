"""The table of variants is consistent, and devices select the intended variants."""

from __future__ import annotations

import pytest

from browsergpu.engine.kernels import choices, variants
from browsergpu.engine.kernels.base.family import Variant
from browsergpu.engine.kernels.choices import Choices
from browsergpu.engine.kernels.table import FAMILIES, KERNELS
from browsergpu.engine.kernels.variants import PICKS, VARIANTS, device_class
from browsergpu.errors import InvalidArgument

pytestmark = pytest.mark.fast

# The default limits of every WebGPU device: https://www.w3.org/TR/webgpu/#limits
LEAST = {"maxComputeWorkgroupStorageSize": 16_384, "maxComputeInvocationsPerWorkgroup": 256}
MORE = {"maxComputeWorkgroupStorageSize": 49_152, "maxComputeInvocationsPerWorkgroup": 1024}
INFO = {"vendor": "acme", "architecture": "roadrunner", "description": ""}


@pytest.mark.parametrize("op", VARIANTS)
def test_variants_of_an_operation(op: str) -> None:
    names = [variant.name for variant in VARIANTS[op]]
    assert len(set(names)) == len(names)
    for variant in VARIANTS[op]:
        kernel = KERNELS[variant.kernel]
        assert variant.configuration in kernel.configurations, variant.name
    assert VARIANTS[op][-1].runs_on(frozenset(), LEAST), "the last one must run everywhere"


def test_picks_name_variants() -> None:
    for of_class in PICKS.values():
        for op, picks in of_class.items():
            assert set(picks.values()) <= {variant.name for variant in VARIANTS[op]}


def test_families_declare_their_own_kernels_and_problems() -> None:
    names = [kernel.name for family in FAMILIES for kernel in family.kernels]
    assert len(names) == len(KERNELS), "a kernel of two families"
    for family in FAMILIES:
        operations = [operation.name for operation in family.operations]
        assert list(dict.fromkeys(problem.op for problem in family.problems)) == operations
        for op in operations:
            classes = [problem.size_class for problem in family.problems if problem.op == op]
            assert len(set(classes)) == len(classes)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return an operation of three variants, and tuned defaults for one vendor."""
    mul = (
        Variant("matrix", "gemm", features=frozenset({"subgroups"})),
        Variant("large", "gemm", workgroup_bytes=32_768, threads=512),
        Variant("general", "gemm", threads=256),
    )
    table = {"": {"mul": {"big": "large"}}, "acme": {"mul": {"tiny": "general", "new": "matrix"}}}
    for module in (variants, choices):
        monkeypatch.setattr(module, "VARIANTS", {"mul": mul})
        monkeypatch.setattr(module, "PICKS", table)


def anything(_variant: Variant) -> bool:
    return True


def chosen(choices: Choices, size_class: str) -> str:
    return choices.choose("mul", size_class, anything).name


def test_a_device_class_is_the_most_exact_one(table: None) -> None:
    assert device_class(INFO) == "acme"
    assert device_class({**INFO, "vendor": "other"}) == ""


@pytest.mark.usefixtures("table")
def test_choosing() -> None:
    device = Choices(INFO, {"subgroups"}, MORE)
    assert chosen(device, "big") == "large", "from the class of all devices"
    assert chosen(device, "tiny") == "general"
    assert chosen(device, "unheard of") == "matrix", "the table's first"
    assert device.choose("mul", "big", lambda v: v.name != "large").name == "matrix"
    assert device.choose("mul", "big", lambda v: False).name == "general"


@pytest.mark.usefixtures("table")
def test_a_small_device_has_fewer() -> None:
    device = Choices(INFO, frozenset(), LEAST)
    assert [variant.name for variant in device.available("mul")] == ["general"]
    assert {chosen(device, name) for name in ("big", "tiny", "new")} == {"general"}


@pytest.mark.usefixtures("table")
def test_tuned_picks_come_first() -> None:
    device = Choices(INFO, {"subgroups"}, MORE, {"mul": {"big": "general"}, "gone": {"x": "y"}})
    assert chosen(device, "big") == "general"
    assert device.tuned == {"mul": {"big": "general"}}
    device.tuned = {"mul": {"big": "no such", "tiny": "large"}}
    assert device.tuned == {"mul": {"tiny": "large"}}
    assert [chosen(device, name) for name in ("big", "tiny")] == ["large", "large"]


@pytest.mark.usefixtures("table")
def test_only() -> None:
    device = Choices(INFO, {"subgroups"}, MORE)
    with device.only("mul", "general") as forced:
        assert not forced.was_used
        assert forced.variant.name == chosen(device, "big") == "general"
        assert forced.was_used
        with device.only("mul", "matrix"):
            assert chosen(device, "big") == "matrix"
            assert device.choose("mul", "big", lambda v: v.name != "matrix").name == "large"
        assert chosen(device, "big") == "general"
    assert chosen(device, "big") == "large"
    with pytest.raises(InvalidArgument, match="matrix, large, general"), device.only("mul", "none"):
        pass
