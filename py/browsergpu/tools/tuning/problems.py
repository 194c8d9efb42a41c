"""A typical problem of each size class of the operations that have several variants, gathered from
the families of kernels that declare them."""

from __future__ import annotations

from browsergpu.kernels.family import Problem
from browsergpu.kernels.table import FAMILIES

PROBLEMS: tuple[Problem, ...] = tuple(problem for family in FAMILIES for problem in family.problems)
