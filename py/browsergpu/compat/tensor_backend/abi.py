"""Fingerprint of a tensor backend's methods. Programs compare it to check for matching versions."""

from __future__ import annotations

import inspect
from hashlib import sha256

#: Members that the fingerprint does not cover, besides methods whose names end in ``_async``.
_ADDITIONS = frozenset({"array", "device", "read_numpy"})


def methods(cls: type) -> dict[str, str]:
    """Return the arguments of every method that the fingerprint of a class covers, by method name.

    Arguments are given by name, kind, and whether they are optional. Properties have none.
    """
    table: dict[str, str] = {}
    for name in dir(cls):
        if name.startswith("_") or name.endswith("_async") or name in _ADDITIONS:
            continue
        member = inspect.getattr_static(cls, name)
        if isinstance(member, property):
            table[name] = "property"
        elif callable(member):
            parameters = inspect.signature(member).parameters.values()
            table[name] = "(" + ", ".join(map(_argument, parameters)) + ")"
    return table


def _argument(parameter: inspect.Parameter) -> str:
    default = "" if parameter.default is parameter.empty else "?"
    return f"{parameter.name}{default} {parameter.kind.name.lower()}"


def fingerprint(cls: type) -> str:
    """Return a hash of :func:`methods`, equal in every process."""
    lines = "\n".join(f"{name}{arguments}" for name, arguments in sorted(methods(cls).items()))
    return sha256(lines.encode()).hexdigest()[:16]
