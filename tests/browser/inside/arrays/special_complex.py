"""Special values of complex functions: infinities, NaN, signed zeros, branch cuts.

Real and imaginary parts follow C17 Annex G, computed by glibc. The tests ignore signs that the
standard leaves open.
"""

from __future__ import annotations

POINTS = (
    "0 0, -0 0, 1 0, -1 -0, 2 -0, -2 0, 0 2, -0 -2, inf 1, -inf 1, 1 inf, inf inf, nan 0, nan 1, "
    "1 nan, inf nan, 0 nan"
)
VALUES = {
    "exp": (
        "1 0, 1 0, 2.718282 0, 0.3678794 -0, 7.389056 -0, 0.1353353 0, -0.4161468 0.9092974, "
        "-0.4161468 -0.9092974, inf inf, 0 0, nan nan, inf nan, nan 0, nan nan, nan nan, "
        "inf nan, nan nan"
    ),
    "log": (
        "-inf 0, -inf 3.141593, 0 0, 0 -3.141593, 0.6931472 -0, 0.6931472 3.141593, "
        "0.6931472 1.570796, 0.6931472 -1.570796, inf 0, inf 3.141593, inf 1.570796, "
        "inf 0.7853982, nan nan, nan nan, nan nan, inf nan, nan nan"
    ),
    "sqrt": (
        "0 0, 0 0, 1 0, 0 -1, 1.414214 -0, 0 1.414214, 1 1, 1 -1, inf 0, 0 inf, inf inf, "
        "inf inf, nan nan, nan nan, nan nan, inf nan, nan nan"
    ),
    "sin": (
        "0 0, -0 0, 0.841471 0, -0.841471 -0, 0.9092974 0, -0.9092974 -0, 0 3.62686, "
        "-0 -3.62686, nan nan, nan nan, inf inf, nan inf, nan 0, nan nan, nan nan, nan nan, "
        "0 nan"
    ),
    "cos": (
        "1 -0, 1 0, 0.5403023 -0, 0.5403023 -0, -0.4161468 0, -0.4161468 0, 3.762196 -0, "
        "3.762196 -0, nan nan, nan nan, inf -inf, inf nan, nan 0, nan nan, nan nan, nan nan, "
        "nan 0"
    ),
    "tan": (
        "0 0, -0 0, 1.557408 0, -1.557408 -0, -2.18504 -0, 2.18504 0, 0 0.9640276, "
        "-0 -0.9640276, nan nan, nan nan, 0 1, 0 1, nan 0, nan nan, nan nan, nan nan, 0 nan"
    ),
    "sinh": (
        "0 0, -0 0, 1.175201 0, -1.175201 -0, 3.62686 -0, -3.62686 0, -0 0.9092974, "
        "0 -0.9092974, inf inf, -inf inf, nan nan, inf nan, nan 0, nan nan, nan nan, inf nan, "
        "0 nan"
    ),
    "cosh": (
        "1 0, 1 -0, 1.543081 0, 1.543081 0, 3.762196 -0, 3.762196 -0, -0.4161468 0, "
        "-0.4161468 0, inf inf, inf -inf, nan nan, inf nan, nan 0, nan nan, nan nan, inf nan, "
        "nan 0"
    ),
    "tanh": (
        "0 0, -0 0, 0.7615942 0, -0.7615942 -0, 0.9640276 -0, -0.9640276 0, 0 -2.18504, "
        "-0 2.18504, 1 0, -1 0, nan nan, 1 0, nan 0, nan nan, nan nan, 1 0, 0 nan"
    ),
    "asin": (
        "0 0, -0 0, 1.570796 0, -1.570796 -0, 1.570796 -1.316958, -1.570796 1.316958, "
        "0 1.443635, -0 -1.443635, 1.570796 inf, -1.570796 inf, 0 inf, 0.7853982 inf, nan nan, "
        "nan nan, nan nan, nan inf, 0 nan"
    ),
    "acos": (
        "1.570796 -0, 1.570796 -0, 0 -0, 3.141593 0, 0 1.316958, 3.141593 -1.316958, "
        "1.570796 -1.443635, 1.570796 1.443635, 0 -inf, 3.141593 -inf, 1.570796 -inf, "
        "0.7853982 -inf, nan nan, nan nan, nan nan, nan -inf, 1.570796 nan"
    ),
    "atan": (
        "0 0, -0 0, 0.7853982 0, -0.7853982 -0, 1.107149 -0, -1.107149 0, 1.570796 0.5493061, "
        "-1.570796 -0.5493061, 1.570796 0, -1.570796 0, 1.570796 0, 1.570796 0, nan 0, nan nan, "
        "nan nan, 1.570796 0, nan nan"
    ),
    "asinh": (
        "0 0, -0 0, 0.8813736 0, -0.8813736 -0, 1.443635 -0, -1.443635 0, 1.316958 1.570796, "
        "-1.316958 -1.570796, inf 0, -inf 0, inf 1.570796, inf 0.7853982, nan 0, nan nan, "
        "nan nan, inf nan, nan nan"
    ),
    "acosh": (
        "0 1.570796, 0 1.570796, 0 0, 0 -3.141593, 1.316958 -0, 1.316958 3.141593, "
        "1.443635 1.570796, 1.443635 -1.570796, inf 0, inf 3.141593, inf 1.570796, "
        "inf 0.7853982, nan nan, nan nan, nan nan, inf nan, nan 1.570796"
    ),
    "atanh": (
        "0 0, -0 0, inf 0, -inf -0, 0.5493061 -1.570796, -0.5493061 1.570796, 0 1.107149, "
        "-0 -1.107149, 0 1.570796, -0 1.570796, 0 1.570796, 0 1.570796, nan nan, nan nan, "
        "nan nan, 0 nan, 0 nan"
    ),
}
