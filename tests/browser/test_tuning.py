"""Results of benchmark_workgroup_sizes remain after the page is closed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from harness.bare import BarePage
from harness.lab import Lab

pytestmark = pytest.mark.all

_OPEN = """
from browsergpu import Device, benchmark_workgroup_sizes, forget_workgroup_sizes

device = await Device.request()
[device.workgroup_sizes.elementwise, device.workgroup_sizes.reduction]
"""
_TUNE = """
result = benchmark_workgroup_sizes(device, [32], elements=1000)
[result.stored, device.optimal_workgroup_size(10**6)]
"""


def opened(bare: BarePage, lab: Lab) -> list[int]:
    bare.boot(["micropip"])
    bare.install([lab.wheel_url])
    sizes: list[int] = bare.run(_OPEN)
    return sizes


def test_sizes_are_read_again_in_the_next_page_of_the_site(
    new_bare_page: Callable[[str], BarePage], lab: Lab
) -> None:
    bare = new_bare_page("worker")
    assert opened(bare, lab) == [256, 256]
    assert bare.run(_TUNE) == [True, 32]

    page = bare.page.context.new_page()  # the same site in the same browser profile
    bare.page.close()
    again = BarePage(page, lab.site_url, "main")
    assert opened(again, lab) == [32, 32]
    assert again.run("device.optimal_workgroup_size(10**6)") == 32
    assert again.run("forget_workgroup_sizes(device); device.workgroup_sizes.reduction") == 256
