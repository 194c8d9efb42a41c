"""Properties of a GPUAdapterInfo other than the names of features."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from browsergpu.engine.gpu.browser.adapters import _abilities

pytestmark = pytest.mark.fast


def matrices(component: str, result: str, *shape: int) -> SimpleNamespace:
    m, n, k = shape
    return SimpleNamespace(componentType=component, resultComponentType=result, M=m, N=n, K=k)


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ({}, set()),
        ({"subgroupMinSize": 32, "subgroupMaxSize": 32}, {"subgroups of 32"}),
        ({"subgroupMinSize": 8, "subgroupMaxSize": 32}, set()),
        ({"subgroupMatrixConfigs": None}, set()),
        (
            {"subgroupMatrixConfigs": [matrices("f16", "f32", 16, 8, 8)]},
            {"matrices f16 f32 16x8x8"},
        ),
    ],
)
def test_abilities(info: dict[str, object], expected: set[str]) -> None:
    assert _abilities(SimpleNamespace(**info)) == expected
