"""Chooses what `tests/run.py --quick` runs: what a change most likely breaks, in 3 minutes."""

import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

# On the host: all but what starts other programs (pip, npm, hatchling, serve.py) again and again.
HOST = "tests/unit/"
SLOW_ON_THE_HOST = {
    "tests/unit/preparing/test_checks.py",
    "tests/unit/preparing/test_javascript.py",
    "tests/unit/preparing/test_publishing.py",
    "tests/unit/serving/test_packages.py",
    "tests/unit/serving/test_prepare.py",
    "tests/unit/serving/test_serve_command.py",
    "tests/unit/serving/test_wheel_building.py",
}

# In the page: each family of kernels and each of the three interfaces, by what finds most in a
# second; files whole, or single tests of them.
_INSIDE = "tests/browser/inside/"
CORE = [
    f"{_INSIDE}{name}"
    for name in (
        "test_smoke.py",
        "test_buffers.py",
        "test_gemm.py::test_sizes",
        "test_gemm.py::test_transposes_orders_and_leading_dimensions",
        "test_gemm.py::test_alpha_and_beta",
        "test_gemm.py::test_beta_zero_does_not_read_c",
        "test_gemm.py::test_special_values_reach_their_row_or_column_only",
        "test_gemm_f16.py::test_f16_accumulates_in_float32",
        "test_elementwise.py::test_unary_over_its_range",
        "test_elementwise.py::test_unary_specials",
        "test_elementwise.py::test_binary_lengths",
        "test_elementwise.py::test_binary_special_pairs",
        "test_reduce.py::test_long_axes",
        "test_reduce.py::test_infinities_and_nan",
        "test_reduce.py::test_an_axis_of_length_zero",
        "test_conv2d.py::test_cases",
        "test_conv2d.py::test_whole_numbers_come_out_exact",
        "test_conv2d.py::test_it_is_correlation_and_not_flipped",
        "test_conv2d.py::test_special_values_reach_their_window_only",
        "test_attention.py::test_sequence_lengths",
        "test_attention.py::test_nan_reaches_its_rows_only",
        "test_memory.py::test_copies_and_ops_keep_their_order",
        "test_memory.py::test_a_freed_buffer_serves_the_work_recorded_with_it",
        "test_dispatches.py::test_an_op_dispatches_and_reads_nothing_back",
        "test_errors.py::test_freed_pointers",
        "test_errors.py::test_shapes",
        "test_executor_arithmetic.py::test_matmul",
        "test_executor_arithmetic.py::test_whole_numbers_wrap_around",
        "test_executor_arithmetic.py::test_out_may_be_an_input",
        "test_executor_arrays.py::test_cast",
        "test_executor_arrays.py::test_reshape_shares_memory",
        "test_executor_networks.py::test_softmax",
        "test_executor_networks.py::test_layer_norm",
        "test_executor_reductions.py::test_any_axes",
        "test_executor_reductions.py::test_nan_propagates",
        "test_executor_reductions.py::test_sums_of_whole_numbers",
        "tensors/test_arithmetic.py::test_products",
        "tensors/test_arithmetic.py::test_sums",
        "tensors/test_arithmetic.py::test_add_in_place",
        "tensors/test_attention.py::test_without_a_mask",
        "tensors/test_rows.py::test_softmax_over_every_axis",
        "tensors/test_rows.py::test_cross_entropy",
        "tensors/test_rows.py::test_embedding",
        "tensors/test_store.py::test_round_trips",
    )
]

# Words that say nothing of what a file is about.
_EMPTY_WORDS = {"", "test", "init", "main", "conftest", "base"}


def choose(tests: Sequence[str], changed: Iterable[str]) -> tuple[list[str], list[str]]:
    """pytest's arguments, and those among them that are there because of changed files.

    ``tests`` are all test files and ``changed`` the changed files, by their paths in the
    repository. A changed file brings the tests whose names share a word with its own.
    """
    changed = set(changed)
    words = set().union(*(_words(path) for path in changed if path not in tests))
    because = [test for test in tests if test in changed or _words(test) & words]
    host = [test for test in tests if test.startswith(HOST) and test not in SLOW_ON_THE_HOST]
    whole = [*because, *(test for test in host if test not in because)]
    return [*whole, *(test for test in CORE if test.partition("::")[0] not in whole)], because


def _words(path: str) -> set[str]:
    """The words of a file's name, in the singular: {"late", "error"} of test_late_errors.py."""
    words = re.split(r"[^a-z0-9]+", PurePosixPath(path).name.partition(".")[0].lower())
    return {word.removesuffix("s") for word in words} - _EMPTY_WORDS


def all_tests(repository: Path) -> list[str]:
    """Every test file, by its path in the repository."""
    found = (repository / "tests").rglob("test_*.py")
    return sorted(path.relative_to(repository).as_posix() for path in found)


def changed_files(repository: Path) -> list[str]:
    """What git knows to differ from where this branch left main, and what it does not know yet.

    Empty where git is absent or this is no checkout. On main itself: what origin has not.
    """
    head = _git(repository, "rev-parse", "HEAD")
    bases = [
        _git(repository, "merge-base", "HEAD", name) for name in ("main", "origin/main", "origin")
    ]
    base = next((base for base in bases if base and base != head), head)
    new = _git(repository, "ls-files", "--others", "--exclude-standard")
    return [*_git(repository, "diff", "--name-only", "--no-renames", *base), *new]


def _git(repository: Path, *arguments: str) -> list[str]:
    """The lines that git prints; none where it fails."""
    try:
        finished = subprocess.run(
            ["git", *arguments], cwd=repository, capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return finished.stdout.splitlines() if finished.returncode == 0 else []
