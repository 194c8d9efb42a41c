"""Kernels to compile before they are needed. Compiling one takes 10 to 200 ms on a GPU."""

from __future__ import annotations

from collections.abc import Iterable

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.kernels.choices import Choices
from browsergpu.engine.kernels.table import FAMILIES, KERNELS

_PLACES = {name: place for family in FAMILIES for name, place in family.warm_up.items()}

#: Kernels that a new device compiles in the background, in order.
MOST_USED = tuple(sorted(_PLACES, key=_PLACES.__getitem__))


def kernels(op: str, names: Iterable[str], variants: Choices) -> list[tuple[str, str]]:
    """Return the (kernel, configuration) pairs that names stand for, without repeats.

    A name is an operation with variants (the device's preferred ones), a kernel (all its
    configurations), or "kernel.configuration". Raises InvalidArgument, in the name of ``op``, for
    another name.
    """
    found: dict[tuple[str, str], None] = {}
    for name in names:
        kernel, _, configuration = name.partition(".") if isinstance(name, str) else ("", "", "")
        if not configuration and kernel in variants.operations:
            for variant in variants.preferred(kernel):
                found[variant.kernel, variant.configuration] = None
        elif kernel not in KERNELS:
            raise InvalidArgument(op, "ops", name, "names of operations or kernels, such as 'gemm'")
        elif not configuration:
            found.update(dict.fromkeys((kernel, each) for each in KERNELS[kernel].configurations))
        elif configuration not in KERNELS[kernel].configurations:
            known = ", ".join(KERNELS[kernel].configurations)
            raise InvalidArgument(op, "ops", name, f"{kernel!r} with one of: {known}")
        else:
            found[kernel, configuration] = None
    return list(found)
