"""Mixed precision: products of float16, and everything that adds up many numbers in float32.

What takes part says so above its rules: ``@narrowed("input", "weight")`` for products,
``@widened("x")`` for sums, norms and losses. Both do nothing outside ``autocast``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from inspect import signature
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import is_grad_enabled
from browsergpu.arrays.autograd.nodes import AutogradNode, Leaf, Operand, Source
from browsergpu.arrays.autograd.variable import Variable, like_of, node_of, plain, variable
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.upload import element_type
from browsergpu.core import checks
from browsergpu.core.errors import InvalidType
from browsergpu.core.modes import Mode, within
from browsergpu.core.showing import Shown

F = TypeVar("F", bound=Callable[..., Any])

_WIDE, _NARROW = np.dtype(np.float32), np.dtype(np.float16)


#: Leaves as float16, by their ids: the leaf, the value that it had, and that as float16.
_Cast = dict[int, tuple[Array, Node, Array]]

#: Whether products take float16, and what the outermost block has cast, which there is in blocks
#: alone.
_MODE: Mode[tuple[bool, _Cast | None]] = Mode("autocast", (False, None))


class autocast(Shown):
    """``with browsergpu.autocast():``, or above a function as ``@browsergpu.autocast()``: float32
    operands of products are float16 in it, as ``torch.autocast`` has it.

    ``matmul`` (and ``@``), ``einsum``, ``nn.linear``, convolutions and the queries, keys and
    values of attention take float16 and give it. ``softmax``, normalisation, losses, ``sum``,
    ``prod``, ``mean``, ``var``, ``std`` and ``linalg.vector_norm`` take float16 as float32 and give
    that. All else has the dtype of its operands. Parameters stay float32, and so do their
    gradients: a leaf is cast once in the outermost block, and nothing of that stays behind it.
    ``backward()`` has the dtypes of the forward pass wherever it is called. Other tasks and threads
    are not in the block, but for tasks that are created in it.

    ``dtype`` is float16; ``enabled=False`` computes in the operands' dtypes within another block.
    Raises InvalidType, a TypeError, for another dtype. Gradients of float16 underflow:
    :class:`browsergpu.amp.GradScaler` keeps them. On devices without float16 arithmetic the
    results are rounded to float16 all the same.

    Source: Micikevicius et al., "Mixed precision training", arXiv 1710.03740.
    """

    def __init__(self, dtype: Any = "float16", enabled: bool = True) -> None:
        found = element_type("autocast", dtype)
        if found.numpy != _NARROW:
            raise InvalidType("autocast", "dtype", dtype, "float16")
        self._enabled = checks.flag("autocast", "enabled", enabled)

    def __enter__(self) -> None:
        _, cast = _MODE.value
        _MODE.enter(self, (self._enabled, {} if cast is None else cast))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _MODE.leave(self)

    def __call__(self, function: F) -> F:
        return within(partial(autocast, enabled=self._enabled), function)


def is_autocast_enabled() -> bool:
    """Whether products take float16, in this task or thread."""
    return _MODE.value[0]


def narrowed(*names: str) -> Callable[[F], F]:
    """Has a function get these float32 arguments as float16 within ``autocast``."""
    return _wrapper(names, _narrow)


def widened(*names: str) -> Callable[[F], F]:
    """Has a function get these float16 arguments as float32 within ``autocast``."""
    return _wrapper(names, _widen)


def _wrapper(names: tuple[str, ...], cast: Callable[[Any], Any]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        parameters = tuple(signature(function).parameters)
        places = frozenset(parameters.index(name) for name in names)

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            if is_autocast_enabled():
                args = tuple([cast(x) if n in places else x for n, x in enumerate(args)])
                options = {key: cast(x) if key in names else x for key, x in options.items()}
            return function(*args, **options)

        return call  # type: ignore[return-value]

    return decorate


def _widen(x: Any) -> Any:
    return x.astype(_WIDE) if isinstance(x, Array) and x.dtype == _NARROW else x


def _narrow(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return type(x)([_narrow(one) for one in x])
    if not isinstance(x, Array) or x.dtype != _WIDE:
        return x
    _, cast = _MODE.value
    if type(x) is not Variable or not isinstance(x.source.node, Leaf) or cast is None:
        return x.astype(_NARROW)
    leaf, node, value = cast.get(id(x), (None, None, None))
    if leaf is not x or node is not node_of(x) or value is None:  # or it has another value now
        value = plain(x).astype(_NARROW)
        cast[id(x)] = (x, node_of(x), value)
    if not is_grad_enabled():
        return value
    # A node for each use: what one backward() lets go is not another's.
    operand = Operand("x", None, x.source, like_of(x))
    return variable(
        value, Source(AutogradNode("autocast", _CAST, (operand,), (like_of(value),)), 0)
    )


class _CastRule:
    """The rule of a cast: a sweep gives gradients the dtype of what they are of."""

    def gradients(
        self, node: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """The gradient that came, for the one operand."""
        return list(given)


_CAST = _CastRule()
