"""The modules that define the public functions of arrays.

The host's test of docs/gradients-rules.md also reads this file.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: Modules of ``browsergpu.functions`` by public namespace. The last module with a name counts.
MODULES = {
    "": ("capture", "linalg.contraction", "creation", "data_types", "elementwise", "evaluation",
         "interchange.dlpack", "interchange.files", "information", "linalg.linear", "manipulation",
         "custom.elementwise_kernel", "ordering.sets", "interchange.display", "ordering.sorting",
         "statistics"),
    "linalg": ("linalg.decompositions", "linalg.equations", "linalg.linear", "manipulation",
        "linalg.norms"),
    "fft": ("fourier",),
}  # fmt: skip

#: Functions that follow NumPy's rules in the package, and the standard's rules in ``linalg``.
OF_MATRICES = ("cross", "diagonal", "outer", "trace")


def defined(namespace: str) -> dict[str, Any]:
    """Return what the modules of a public namespace define or import, by name."""
    return {
        name: one
        for part in MODULES.get(namespace, ())
        for name, one in vars(import_module(f"browsergpu.functions.{part}")).items()
        if namespace or name not in OF_MATRICES
    }
