"""The representative problems of all kernel families, which tuning measures."""

from __future__ import annotations

from browsergpu.engine.kernels.base.family import Problem
from browsergpu.engine.kernels.table import FAMILIES

PROBLEMS: tuple[Problem, ...] = tuple(problem for family in FAMILIES for problem in family.problems)
