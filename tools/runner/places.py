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
                "captured_programs", "complex", "forgotten_kernels", "functions", "image",
                "linalg", "matmul_precision", "nn", "numpys_statistics", "overwriting",
                "programs", "random_and_fft", "sorting",
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
                "fuzz", "gemm", "gemm_f16", "ordering", "reduce", "scans", "temporaries",
                "tune_by_use", "views",
            )
        ),
    )
]  # fmt: skip

#: What stays in the page of them.
IN_THE_PAGE = [
    *CORE,
    f"{_INSIDE}gradients/test_engine.py",
    f"{_INSIDE}networks/test_captured_training.py",
]

#: What runs with --everywhere alone: the package on others' pages, the gallery's networks, the
#: benchmark's own pages, every shader through wgpu-native's compiler, and gradients of what is
#: drawn at random, or of one elementwise function after the other.
EVERYWHERE = [
    "tests/browser/test_bench.py",
    "tests/browser/test_gallery_networks.py",
    "tests/browser/test_jupyterlite.py",
    "tests/browser/test_marimo.py",
    "tests/browser/test_pyscript.py",
    f"{_INSIDE}gradients/test_compositions.py",
    f"{_INSIDE}gradients/test_drawn_",
    f"{_INSIDE}gradients/test_elementwise.py",
    "tests/unit/test_naga.py",
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
