"""Measurement of the fastest kernel variants and workgroup sizes on the user's device."""

from browsergpu.engine.tuning.tune import (
    Tuning,
    forget_tuning,
    forget_tuning_async,
    tune,
    tune_async,
)
from browsergpu.engine.tuning.workgroups import (
    WorkgroupTuning,
    benchmark_workgroup_sizes,
    benchmark_workgroup_sizes_async,
    forget_workgroup_sizes,
    forget_workgroup_sizes_async,
)

__all__ = [
    "Tuning",
    "WorkgroupTuning",
    "benchmark_workgroup_sizes",
    "benchmark_workgroup_sizes_async",
    "forget_tuning",
    "forget_tuning_async",
    "forget_workgroup_sizes",
    "forget_workgroup_sizes_async",
    "tune",
    "tune_async",
]
