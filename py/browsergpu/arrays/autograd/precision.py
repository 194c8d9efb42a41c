"""Mixed precision: float16 for matrix products, float32 for sums of many numbers.

Functions opt in by decorators: ``@narrowed("input", "weight")`` for products and ``@widened("x")``
for sums, norms and losses. Both do nothing outside ``autocast``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from inspect import signature
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import TRACKED
from browsergpu.arrays.autograd.grad_mode import is_grad_enabled
from browsergpu.arrays.autograd.nodes import AutogradNode, Leaf, Operand, Source
from browsergpu.arrays.autograd.variable import like_of, node_of, plain, variable
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.upload import element_type
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidType
from browsergpu.engine.core.modes import Mode, within
from browsergpu.engine.core.showing import Shown

F = TypeVar("F", bound=Callable[..., Any])

_WIDE, _NARROW = np.dtype(np.float32), np.dtype(np.float16)


#: float16 copies of leaves, by id: the leaf, its node at that time, and the copy.
_Cast = dict[int, tuple[Array, Node, Array]]

#: Whether autocast is enabled, and the casts of the outermost block (None outside of blocks).
_MODE: Mode[tuple[bool, _Cast | None]] = Mode("autocast", (False, None))


class autocast(Shown):
    """Compute matrix products in float16, as ``torch.autocast``.

    It is a context manager, ``with browsergpu.autocast():``, and a decorator,
    ``@browsergpu.autocast()``.

    Parameters
    ----------
    dtype : dtype
        float16.
    enabled : bool
        False disables it within another block.

    Raises
    ------
    InvalidType
        For another dtype.

    Notes
    -----
    ``matmul`` (and ``@``), ``einsum``, ``nn.linear``, convolutions and the queries, keys and values
    of attention convert float32 operands to float16 and return float16.

    ``softmax``, normalization, losses, ``sum``, ``prod``, ``mean``, ``var``, ``std`` and
    ``linalg.vector_norm`` convert float16 operands to float32 and return float32. All other
    functions use the dtype of their operands.

    Parameters and their gradients stay float32. The outermost block casts each leaf once and drops
    these copies at its end. ``backward()`` uses the dtypes of the forward pass wherever it is
    called.

    Gradients in float16 underflow; :class:`browsergpu.amp.GradScaler` prevents that. On devices
    without float16 arithmetic, results are still rounded to float16.

    The block applies to the current task or thread, and to tasks that it creates.

    References
    ----------
    Micikevicius et al., "Mixed precision training", arXiv 1710.03740.
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
    """Return whether autocast is enabled in this task or thread."""
    return _MODE.read()[0][0]


@contextmanager
def fresh_casts() -> Iterator[None]:
    """Hide earlier float16 copies from the body, and drop its own copies at the end."""
    is_enabled, cast = _MODE.value
    own = object()
    _MODE.enter(own, (is_enabled, None if cast is None else {}))
    try:
        yield
    finally:
        _MODE.leave(own)


def narrowed(*names: str) -> Callable[[F], F]:
    """Convert these float32 arguments to float16 within ``autocast``."""
    return _wrapper(names, _narrow)


def widened(*names: str, unless: Callable[..., bool] | None = None) -> Callable[[F], F]:
    """Convert these float16 arguments to float32 within ``autocast``.

    ``unless`` gets the arguments. If it returns True, the function converts them itself.
    """
    return _wrapper(names, _widen, unless)


def _wrapper(
    names: tuple[str, ...],
    cast: Callable[[Any], Any],
    unless: Callable[..., bool] | None = None,
) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        parameters = tuple(signature(function).parameters)
        places = frozenset(parameters.index(name) for name in names)

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            if _MODE.read()[0][0] and (unless is None or not unless(*args, **options)):
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
    if type(x) not in TRACKED or not isinstance(x.source.node, Leaf) or cast is None:
        return x.astype(_NARROW)
    leaf, node, value = cast.get(id(x), (None, None, None))
    if leaf is not x or node is not node_of(x) or value is None:  # or its value has changed
        value = plain(x).astype(_NARROW)
        cast[id(x)] = (x, node_of(x), value)
    if not is_grad_enabled():
        return value
    # Each use has its own node, as backward() frees nodes.
    operand = Operand("x", None, x.source, like_of(x))
    return variable(
        value, Source(AutogradNode("autocast", _CAST, (operand,), (like_of(value),)), 0)
    )


class _CastRule:
    """The gradient rule of a cast. The backward pass converts the gradient's dtype."""

    def gradients(
        self, node: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """Return the given gradient."""
        return list(given)


_CAST = _CastRule()
