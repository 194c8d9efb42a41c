"""Every function with a gradient has generated calls, and no list names other functions.

docs/gradients-rules.md lists the functions. tests/unit/test_gradient_rules.py compares the two
lists.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages
from types import FunctionType
from typing import Any

import pytest

from inside.gradients.drawn.arrays import ARRAYS
from inside.gradients.drawn.elementwise import ELEMENTWISE
from inside.gradients.drawn.images import IMAGES
from inside.gradients.drawn.matrices import MATRICES
from inside.gradients.drawn.networks import NETWORKS
from inside.gradients.test_rules import public_functions

pytestmark = pytest.mark.all

TABLES = (ELEMENTWISE, ARRAYS, MATRICES, NETWORKS, IMAGES)
#: Functions that consist of other functions and also have generated calls of their own.
MADE_OF_OTHERS = {
    "einsum", "tensordot", "linalg.outer", "linalg.trace", "linalg.matrix_norm",
    "linalg.matrix_power",
    *(f"fft.{name}" for name in ("fftn", "ifftn", "rfftn", "irfftn", "hfft", "ihfft", "fftshift",
                                 "ifftshift")),
}  # fmt: skip
#: Rules of functions that are not public, and the calls that use them.
HIDDEN = {
    "parts.part": "the views of operands", "parts.assigned": "test_parts: assignments are no calls",
    "parts.added_at": "the gradients of take and embedding, forward",
    "contraction.contraction": "einsum", "transforms.identity": "what jvp begins with",
    "combinations.extreme_at": "torch.scatter_reduce", "elementwise.complex": "torch.complex",
    "ufuncs._fmod": "np.fmod",
    "pooling_gradients.at_maxima": "second gradients of pooling",
    "sets.unique_with_equal_nan": "np.unique",
    "weighted_sums.weighted_sums": "image.resize", "activations._ndtr": "nn.gelu",
    "equations.inverse": "the gradients of det and slogdet",
    "tables._rows": "nn.embedding", "tables._linear": "nn.linear",
    "quantized.linear": "llm/test_quantized", "ctc._losses": "nn.ctc_loss",
    "likelihoods._entropy": "nn.binary_cross_entropy",
    "windows.windows": "test_networks_convolution: second gradients",
    **dict.fromkeys(("regions.region", "regions.put", "regions.without"), "writes through views"),
}  # fmt: skip


def named(bg: Any) -> dict[str, str]:
    """Return public functions by their first name, with the key of their rule."""
    from browsergpu.compat.numpy.namespace import LEFT_TO_PYTHON

    of_ours = public_functions(bg)
    found: dict[str, str] = {}
    for before in ("", "linalg", "fft", "nn", "image", "special"):
        module = getattr(bg, before) if before else bg
        for name in [*module.__all__, *(sorted(LEFT_TO_PYTHON) if not before else [])]:
            one, full = getattr(module, name), f"{before}.{name}" if before else name
            is_own = isinstance(one, FunctionType) and one.__module__.startswith("browsergpu")
            key = of_ours.get(full, f"{one.__module__}.{one.__qualname__}" if is_own else "")
            if key and key not in found.values():
                found[full] = key
    return found


def test_each_function_with_a_gradient_is_in_one_table(bg: Any) -> None:
    from browsergpu.arrays.autograd.rules import RULES

    public = named(bg)
    expected = {name for name, key in public.items() if RULES.get(key)}
    listed = [name for table in TABLES for name in table]
    assert len(listed) == len(set(listed))
    assert sorted(expected - {*listed}) == [], "functions with rules, of which no calls are drawn"
    assert sorted({*listed} - expected - MADE_OF_OTHERS) == [], "calls of what has no rule"
    assert sorted(MADE_OF_OTHERS - {*listed}) == []


def test_rules_that_are_not_public_have_a_reason(bg: Any) -> None:
    import browsergpu.functions
    from browsergpu.arrays.autograd.rules import RULES

    public = {*named(bg).values()}
    for module in walk_packages(browsergpu.functions.__path__, "browsergpu.functions."):
        import_module(module.name)
    # The rules of compatible modules, which other tests may have loaded, are tested there.
    others = ("browsergpu.torch.", "browsergpu.jax.")
    hidden = {".".join(key.split(".")[-2:]) for key, of in RULES.items() if of and key not in public
              and key.startswith("browsergpu.") and not key.startswith(others)}  # fmt: skip
    assert sorted(hidden - {*HIDDEN}) == [], "without a reason"
    assert sorted({*HIDDEN} - hidden) == [], "of no rule"
