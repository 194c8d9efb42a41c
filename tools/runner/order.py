"""The order in which test files start, so that workers that run files side by side end together."""

# From the longest on, as measured on two cores with Chromium's software GPU; but what needs few
# kernels comes early, so that the worker that compiles all of them in test_shaders.py is free when
# those begin that need many. A file that is not here takes less than the last one, and its place
# matters little.
_BROWSER = "tests/browser/"
_INSIDE = "tests/browser/inside/"
SLOW = [
    f"{_INSIDE}test_shaders.py",
    "tests/unit/test_naga.py",
    "tests/dask/test_cluster.py",
    *(
        f"{_BROWSER}{name}.py"
        for name in (
            "test_storage", "test_marimo", "test_jupyterlite", "test_bench", "test_leaks",
            "test_gpu_crash", "test_notebook_queue", "test_accessibility",
            "test_tuning", "test_notebook_documents", "test_notebook_kernel",
            "test_notebook_shell", "test_gallery_networks", "test_notebook_files",
            "test_gallery_pictures",
        )
    ),
    *(
        f"{_INSIDE}{name}.py"
        for name in (
            "test_executor_arithmetic", "test_fuzz", "test_workgroup_sizes", "test_group",
            "test_gemm", "test_executor_networks", "test_executor_transformers", "test_tune",
            "test_tune_by_use",
            "test_executor_reductions", "test_temporaries", "test_errors", "test_attention",
            "test_conv2d", "test_fuzz_lifetimes", "test_profile", "test_executor_arrays",
            "test_gemm_f16", "test_elementwise", "test_executor_device", "test_parameters",
            "test_backends", "tensors/test_refusals", "tensors/test_store", "test_ordering",
            "gradients/test_drawn_networks", "gradients/test_drawn_matrices",
            "gradients/test_drawn_elementwise", "gradients/test_drawn_arrays",
            "gradients/test_rules", "gradients/test_elementwise", "networks/test_training",
            "networks/test_captured_training", "networks/test_mixed_precision",
            "arrays/test_captured_programs",
            "networks/test_layers", "gradients/test_networks_convolution",
            "gradients/test_networks_attention", "gradients/test_networks_losses",
            "networks/test_attention_layers", "networks/test_recurrent",
            "arrays/test_consumers", "arrays/test_programs", "arrays/test_functions",
            "arrays/test_linalg", "arrays/test_nn", "arrays/test_sorting", "test_scans",
            "arrays/test_elementwise", "arrays/test_random_and_fft", "arrays/test_indexing",
            "test_fourier",
        )
    ),
    *(
        f"{_BROWSER}{name}.py"
        for name in (
            "test_notebook_tour", "test_readme", "test_harness", "test_notebook_habits",
            "test_wheel", "test_draw", "test_notebook_cells", "test_examples",
        )
    ),
]  # fmt: skip
_PLACES = {path: place for place, path in enumerate(SLOW)}


def rank(path: str) -> int:
    """The place of a test file, by its path in the repository; quick ones share the last."""
    return _PLACES.get(path, len(SLOW))
