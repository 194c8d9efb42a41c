"""Where tests run when nothing is chosen."""

import pytest

from devsite.layout import REPOSITORY
from runner import places
from runner.quick import CORE, all_tests


@pytest.mark.parametrize("name", [*places.OUTSIDE, *places.EVERYWHERE, *places.IN_THE_PAGE])
def test_what_is_named_exists(name: str) -> None:
    file, _, test = name.partition("::")
    found = [path for path in all_tests(REPOSITORY) if path.startswith(file)]
    assert found
    if test:
        assert f"def {test}(" in (REPOSITORY / file).read_text("utf-8")


@pytest.mark.parametrize(
    ("node", "marker"),
    [
        ("tests/browser/inside/test_gemm.py::test_a_panel", "outside"),
        ("tests/browser/inside/test_gemm.py::test_sizes[1-2]", None),
        ("tests/browser/inside/test_gemm_f16.py::test_sizes", "outside"),
        ("tests/browser/inside/gradients/test_rules.py::test_x[a::b]", "outside"),
        ("tests/browser/inside/networks/test_captured_training.py::test_x", None),
        ("tests/browser/inside/gradients/test_drawn_arrays.py::test_x", "everywhere"),
        ("tests/browser/inside/test_smoke.py::test_x", None),
        ("tests/browser/test_marimo.py::test_x", "everywhere"),
        ("tests/browser/test_notebook_kernel.py::test_x", None),
        (
            "tests/browser/test_notebook_kernel.py::test_a_browser_that_keeps_nothing_boots",
            "everywhere",
        ),
    ],
)
def test_a_tests_place(node: str, marker: str | None) -> None:
    assert places.marker_of(node) == marker


@pytest.mark.parametrize("name", CORE)
def test_the_quick_core_stays_in_the_page(name: str) -> None:
    assert places.marker_of(name if "::" in name else f"{name}::test_x") is None
