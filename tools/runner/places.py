"""Where tests run when nothing is chosen: each once, in the place that shows most in its time.

A page runs Python two to three times as slowly as the host does, and a kernel is the same for both.
So the bulk of the in-page tests that ask nothing of a page runs outside, on the engine that Chrome
has, too (Dawn); a core of them stays in the page. ``--everywhere`` runs all of them in all places.
"""

from collections.abc import Iterable

from runner.quick import CORE

_INSIDE = "tests/browser/inside/"

#: What runs outside: folders and files whose tests ask nothing of a page.
OUTSIDE = [
    f"{_INSIDE}{name}"
    for name in (
        "gradients/", "networks/",
        *(
            f"arrays/test_{part}.py"
            for part in (
                "captured_programs", "complex", "elementwise", "forgotten_kernels", "functions",
                "image", "indexing", "linalg", "matmul_precision", "nn", "numpys_statistics",
                "overwriting", "programs", "random_and_fft", "sorting",
            )
        ),
        *(
            f"tensors/test_{part}.py"
            for part in ("adam", "arithmetic", "attention", "images", "rows")
        ),
        *(
            f"test_{part}.py"
            for part in (
                "attention", "conv2d", "elementwise", "executor_arithmetic", "executor_arrays",
                "executor_networks", "executor_reductions", "executor_transformers", "fourier",
                "fuzz", "gemm", "gemm_f16", "ordering", "reduce", "scans",
                "temporaries", "tune_by_use", "views",
            )
        ),
    )
]  # fmt: skip

#: What stays in the page of them.
IN_THE_PAGE = [
    *CORE,
    f"{_INSIDE}networks/test_captured_training.py",
]

#: What runs with --everywhere alone: the package on others' pages and beside large packages, the
#: gallery, the benchmark's own pages, the tests' own tools, each way to build the wheel, boots of a
#: browser whose cache is torn, ten thousand rounds, threads, every shader through wgpu-native's
#: compiler, and gradients of what is drawn at random, or of one elementwise function after the
#: other.
EVERYWHERE = [
    "tests/browser/test_bench.py",
    "tests/browser/test_gallery_networks.py",
    "tests/browser/test_gallery_pictures.py",
    "tests/browser/test_harness.py",
    "tests/browser/test_jupyterlite.py",
    "tests/browser/test_leaks.py::test_ten_thousand_rounds_leave_nothing",
    "tests/browser/test_marimo.py",
    "tests/browser/test_notebook_kernel.py::test_a_browser_that_keeps_nothing_boots",
    "tests/browser/test_notebook_kernel.py::test_what_was_kept_and_is_spoilt_is_made_anew",
    "tests/browser/test_notebook_shell.py::test_the_packages_of_a_lesson_load",
    "tests/browser/test_pyscript.py",
    "tests/browser/test_spirv_page.py",
    "tests/browser/test_storage.py::"
    "test_a_page_without_the_notebook_keeps_tuning_beside_either_earlier_shape",
    "tests/browser/test_tuning.py",
    f"{_INSIDE}arrays/test_consumers.py",
    f"{_INSIDE}gradients/test_compositions.py",
    f"{_INSIDE}gradients/test_drawn_",
    f"{_INSIDE}gradients/test_elementwise.py",
    f"{_INSIDE}networks/test_mixed_precision.py::test_training_comes_near_that_of_float32",
    "tests/dask/test_docs.py",
    *(
        f"tests/unit/preparing/test_checks.py::test_{what}"
        for what in (
            "an_environment_left_half_made_is_made_anew",
            "environment_is_made_once_and_anew_when_the_pins_change",
        )
    ),
    "tests/unit/preparing/test_publishing.py",
    "tests/unit/serving/test_wheel_building.py",
    "tests/unit/test_naga.py",
    "tests/unit/test_native.py::test_arrays_in_several_threads",
]

MARKERS = {
    "outside": "runs outside the page where nothing is chosen, and in it with --everywhere",
    "everywhere": "runs with --everywhere, or where it is chosen",
}

IN_PAGE_TESTS = "not outside and not everywhere"
OUTSIDE_TESTS = "outside and not everywhere"


def marker_of(node: str) -> str | None:
    """The marker of a test, by pytest's name for it ("tests/…/test_x.py::test_y[…]")."""
    if _is_among(node, EVERYWHERE):
        return "everywhere"
    if _is_among(node, OUTSIDE) and not _is_among(node, IN_THE_PAGE):
        return "outside"
    return None


def _is_among(node: str, names: Iterable[str]) -> bool:
    """Whether a test is one of some folders, files and tests, or beginnings of files."""
    file, _, test = node.partition("::")
    whole = f"{file}::{test.partition('[')[0]}"
    return any(
        whole.startswith(name) if name.endswith(("/", "_")) else name in (file, whole)
        for name in names
    )
