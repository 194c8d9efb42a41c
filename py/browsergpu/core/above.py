"""What a package calls in the packages above it, registered there under a name.

Imports go down (``tests/unit/test_import_direction.py`` checks it), and few calls must go up: the
method ``x.sum()`` is the public function ``browsergpu.sum``. The package above registers what is
called, when it is imported; the package below asks for it when it calls. The test lists every name
and who registers it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from browsergpu.core.showing import Shown


class Above(Shown):
    """What was registered. Reading a name before it is registered raises AttributeError."""

    __slots__ = (
        "array_gradients",
        "device_array_operations",
        "namespace",
        "numpy_protocols",
        "variable_operators",
    )

    #: The package ``browsergpu`` itself.
    namespace: Any
    #: ``compat.numpy.protocols``: what arrays do when NumPy asks them.
    numpy_protocols: Any
    #: ``autograd.array_methods``: ``backward()``, ``grad`` and the like.
    array_gradients: Any
    #: ``autograd.operators``: in-place operators between arrays and variables.
    variable_operators: Any
    #: The class whose methods are the operators of a ``DeviceArray``.
    device_array_operations: Any


ABOVE = Above()


def register(name: str, what: Any) -> None:
    """Provide what the packages below call under a name of :class:`Above`."""
    setattr(ABOVE, name, what)


def register_methods(owner: type, methods: Mapping[str, Any]) -> None:
    """Give a class of a package below methods and properties that are defined here."""
    for name, method in methods.items():
        setattr(owner, name, method)
