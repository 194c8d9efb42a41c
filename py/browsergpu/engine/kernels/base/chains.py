"""Configurations of kernels whose epilogue computes a generated chain of elementwise operations.

A chain is an activation without a row in the table. Its name follows the name of a configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from browsergpu.engine.kernels.base.family import Kernel

#: The code of a chain in ``lib/chain.wgsl``.
CHAIN = 5
#: The beginning of a chain's name.
_MARK = "|"
#: Maximum of chains, because each compiles kernels of its own.
_MOST = 96
#: Maximum of chains that differ only in their numbers.
_MOST_ALIKE = 6


class Chain(NamedTuple):
    """A generated chain.

    Attributes
    ----------
    function
        The WGSL of ``fn chained(v: vec4f) -> vec4f`` in one line.
    includes
        The shader files that it needs.
    """

    function: str
    includes: tuple[str, ...]


_chains: dict[str, Chain] = {}
_names: dict[Chain, str] = {}
_alike: dict[object, int] = {}


def registered(chain: Chain, operations: str, structure: object) -> str | None:
    """Return a chain's name, or None if there are too many chains.

    ``operations`` describes the chain, and ``structure`` is the chain without its numbers.
    """
    name = _names.get(chain)
    if name is None:
        alike = _alike.get(structure, 0)
        if len(_names) >= _MOST or alike >= _MOST_ALIKE:
            return None
        _alike[structure] = alike + 1
        name = _names[chain] = f"{_MARK}{operations} #{len(_names) + 1}"
        _chains[name] = chain
    return name


def is_chain(activation: str | None) -> bool:
    """Return whether an activation is a chain's name."""
    return activation is not None and activation.startswith(_MARK)


def with_chain(configuration: str, activation: str | None) -> str:
    """Return a configuration with an activation, if that is a chain."""
    return f"{configuration}{activation}" if is_chain(activation) else configuration


def without_chain(configuration: str) -> str:
    """Return a configuration as the table has it."""
    return configuration.partition(_MARK)[0]


def chain_of(configuration: str) -> Chain | None:
    """Return the chain of a configuration, or None."""
    _, mark, name = configuration.partition(_MARK)
    return _chains[mark + name] if mark else None


def constants_of(kernel: Kernel, configuration: str) -> Mapping[str, int]:
    """Return the constants of a kernel's configuration, which may have a chain."""
    constants = kernel.configurations[without_chain(configuration)]
    if "FUNCTION" in constants and chain_of(configuration) is not None:
        return {**constants, "FUNCTION": CHAIN}
    return constants
