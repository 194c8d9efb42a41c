"""The order in which test files start, so that workers that run files side by side end together."""

# From the longest on, as measured on two cores with Chromium's software GPU. A file that is not
# here takes less than the last one, and its place matters little.
_INSIDE = "tests/browser/inside/"
SLOW = [
    f"{_INSIDE}test_errors.py",
    f"{_INSIDE}test_executor_networks.py",
    f"{_INSIDE}test_shaders.py",
    f"{_INSIDE}test_executor_transformers.py",
    f"{_INSIDE}test_gemm.py",
    f"{_INSIDE}test_executor_reductions.py",
    f"{_INSIDE}test_fuzz.py",
    f"{_INSIDE}test_fuzz_lifetimes.py",
    "tests/browser/test_leaks.py",
    "tests/browser/test_bench.py",
    f"{_INSIDE}test_temporaries.py",
    f"{_INSIDE}test_group.py",
    "tests/unit/test_naga.py",
    f"{_INSIDE}test_conv2d.py",
    f"{_INSIDE}test_executor_arithmetic.py",
    f"{_INSIDE}tensors/test_refusals.py",
    f"{_INSIDE}test_gemm_f16.py",
    f"{_INSIDE}test_elementwise.py",
    f"{_INSIDE}test_attention.py",
    f"{_INSIDE}test_executor_arrays.py",
    f"{_INSIDE}test_workgroup_sizes.py",
    f"{_INSIDE}test_executor_device.py",
    f"{_INSIDE}test_tune.py",
    f"{_INSIDE}test_backends.py",
    f"{_INSIDE}tensors/test_store.py",
    f"{_INSIDE}test_dispatches.py",
    f"{_INSIDE}test_reduce.py",
]
_PLACES = {path: place for place, path in enumerate(SLOW)}


def rank(path: str) -> int:
    """The place of a test file, by its path in the repository; quick ones share the last."""
    return _PLACES.get(path, len(SLOW))
