"""Gradients of compiled functions: the backward pass is captured as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import TRACKED
from browsergpu.arrays.autograd.grad_mode import is_grad_enabled
from browsergpu.arrays.autograd.nodes import AutogradNode, Operand, Source
from browsergpu.arrays.autograd.rules import likes_of
from browsergpu.arrays.autograd.variable import like_of, track
from browsergpu.arrays.graphs.graph import Graph
from browsergpu.autograd.backward import run_backward
from browsergpu.autograd.custom import captured_operand, captured_sources
from browsergpu.engine.core.errors import InvalidArgument, Unsupported
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.engine.tensors.device_array import Storage

_OP = "jit"


class Token(Shown):
    """Lives as long as a call whose backward pass may still run."""

    __slots__ = ("__weakref__", "versions")

    def __init__(self, versions: list[int]) -> None:
        self.versions = versions


class Gradient(Shown):
    """The backward pass of one variant.

    Parameters
    ----------
    roots : list
        The sources of the results within the traced call, None for results without a gradient.
    arguments : list
        The sources of the arguments within it, None for arguments without a gradient.
    since : int
        The number of the first autograd node of the call.
    capture : callable
        ``capture(function, arrays)`` calls a function once and returns its result, and a function
        that replays it for other arrays.
    """

    def __init__(
        self,
        roots: Sequence[Source | None],
        arguments: Sequence[Source | None],
        since: int,
        capture: Callable[..., Any],
    ) -> None:
        self._roots = roots
        self._capture = capture
        at = {source: at for at, source in enumerate(arguments) if source is not None}
        self._inner = list(at)
        self._at = list(at.values())
        own = {source.node for source in self._inner}
        found = captured_sources([source for source in roots if source is not None], since)
        self._outer = sorted(
            (source for source in found if source.node not in own),
            key=lambda source: (source.node.number, source.at),
        )
        self._operands = [captured_operand(source) for source in self._outer]
        self._read: list[Storage] = []
        self._replays: dict[tuple[bool, ...], Callable[..., Any]] = {}
        self._token: ref[Token] | None = None

    def watch(self, graph: Graph) -> None:
        """Note the memory that must not change between a call and its backward pass."""
        self._read = graph.inputs()

    @property
    def is_busy(self) -> bool:
        """Whether the backward pass of the last call may still run."""
        return self._token is not None and self._token() is not None

    def attach(self, name: str, arrays: Sequence[Any], results: Sequence[Any]) -> None:
        """Make the results of a call require gradients."""
        inputs = [arrays[at] for at in self._at]
        operands = (
            *[
                Operand("args", at, x.source, like_of(x))
                for at, x in enumerate(inputs)
                if type(x) in TRACKED
            ],
            *self._operands,
        )
        token = Token([one.version for one in self._read])
        self._token = ref(token)
        tracked = [
            x if source is not None else None
            for x, source in zip(results, self._roots, strict=True)
        ]
        node = AutogradNode(
            name, self, operands, likes_of(tracked), {"token": token}, has_several=True
        )
        for at, x in enumerate(tracked):
            if x is not None:
                track(x, Source(node, at))

    def gradients(
        self, node: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """Return the gradients of the arguments and of the arrays that the function reads."""
        if is_grad_enabled():
            raise Unsupported(
                _OP,
                "gradients of gradients cannot pass through a compiled function. Call grad in the "
                "compiled function, or leave out jit.",
            )
        assert node.saved
        token = node.saved["token"]
        if token.versions != [one.version for one in self._read]:
            raise InvalidArgument(
                _OP,
                "arrays",
                Description("an array that was changed in place"),
                "unchanged between a call of the compiled function and its backward pass",
            )
        which = tuple([g is not None for g in given])
        arrays = [g for g in given if g is not None]
        replay = self._replays.get(which)
        if replay is None:
            result, self._replays[which] = self._capture(self._backward(which), arrays)
        else:
            result = replay(arrays)
        by_source = dict(zip([*self._inner, *self._outer], result, strict=True))
        return [
            by_source[self._inner[one.at]] if one.at is not None else by_source[one.source]
            for one in operands
        ]

    def _backward(self, which: tuple[bool, ...]) -> Callable[..., Any]:
        sources = [source for source, is_given in zip(self._roots, which, strict=True) if is_given]
        targets = [*self._inner, *self._outer]
        ends = {source.node for source in targets}

        def backward(*given: Array) -> list[Any]:
            roots: list[Any] = list(zip(sources, given, strict=True))
            return run_backward(roots, targets, accumulate=False, retain_graph=True, stop_at=ends)

        return backward
