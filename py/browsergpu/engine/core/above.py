"""Calls into packages above the caller, which register their functions here.

Imports only go down (``tests/unit/test_import_direction.py`` checks it), but a few calls must go
up: the method ``x.sum()`` is the public function ``browsergpu.sum``. The package above registers
the function when it is imported. The package below looks it up when it calls it. The test lists
every name and the package that registers it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from browsergpu.engine.core.showing import Shown


class Above(Shown):
    """The registered objects. Reading a name before it is registered raises AttributeError."""

    __slots__ = (
        "array_gradients",
        "batching",
        "device_array_operations",
        "display",
        "namespace",
        "numpy_protocols",
        "variable_operators",
    )

    #: The package ``browsergpu`` itself.
    namespace: Any
    #: ``compat.numpy.protocols``: NumPy's protocols for arrays.
    numpy_protocols: Any
    #: ``autograd.array_methods``: ``backward()``, ``grad`` and the like.
    array_gradients: Any
    #: ``autograd.batching.calls``: functions of batched arrays.
    batching: Any
    #: ``autograd.operators``: in-place operators between arrays and variables.
    variable_operators: Any
    #: ``functions.interchange.display``: HTML of arrays.
    display: Any
    #: The class whose methods are the operators of a ``DeviceArray``.
    device_array_operations: Any


ABOVE = Above()


def register(name: str, what: Any) -> None:
    """Register an object under a name of :class:`Above`."""
    setattr(ABOVE, name, what)


def register_methods(owner: type, methods: Mapping[str, Any]) -> None:
    """Add methods and properties to a class of a package below."""
    for name, method in methods.items():
        setattr(owner, name, method)
