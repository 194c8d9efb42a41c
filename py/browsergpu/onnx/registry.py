"""The table of operators. A function with the decorator :func:`operator` is one.

Its positional parameters are the operator's inputs, in order. A default of None makes an input
optional, and ``*inputs`` takes any number. Its keyword-only parameters are the attributes; those
without a default are required. The parameter ``node`` gets the :class:`Node` instead, for the
number of outputs, dtypes and random numbers.

Inputs are arrays on the GPU. Two kinds of values are NumPy arrays on the host: inputs that
``host`` names, such as the shape of Reshape, and the inputs of operators that ``folds`` marks, if
they derive from shapes and constants. Such functions are written for both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Shown

#: The value of attributes that a node must have.
REQUIRED = inspect.Parameter.empty
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
#: The newest opset of ONNX's own domain that is known, and the oldest.
NEWEST, OLDEST = 28, 1
_STANDARD = ("", "ai.onnx")
_NO_ATTRIBUTES: Mapping[str, Any] = {}
#: Attributes of an Operator that derive from its function's signature.
_OF_SIGNATURES = ("attributes", "host", "inputs", "least", "most", "wants_node")


class Operator(Shown):
    """An operator in some opsets.

    Attributes
    ----------
    name, domain : str
        Its name, and the domain, "" for ONNX's own.
    since, until : int
        The first opset, and the last one.
    function : callable
        Computes outputs: a value, or a tuple of them.
    inputs : tuple of str
        Names of the inputs.
    least, most : int
        Numbers of inputs.
    attributes : dict
        Defaults by name, REQUIRED if there is none.
    host : frozenset of int
        Positions of inputs that are read on the host.
    folds : bool
        Whether the function also works on host arrays alone.
    raw : bool
        Whether the function gets values as they are: on the host or the GPU, narrow, or sequences.
    """

    def __init__(
        self, name: str, domain: str, since: int, until: int, function: Callable[..., Any],
        host: Iterable[str], folds: bool, raw: bool, attributes: Mapping[str, Any] = _NO_ATTRIBUTES,
    ) -> None:  # fmt: skip
        self.name, self.domain, self.since, self.until = name, domain, since, until
        self.function = function
        self.folds, self.raw = folds, raw
        self._host, self._shared = tuple(host), attributes
        if self._host:  # a name that is no input is an error here
            self._inspect()

    def __getattr__(self, name: str) -> Any:
        # Most operators are never used, and signatures take time.
        if name not in _OF_SIGNATURES:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._inspect()
        return self.__dict__[name]

    def _inspect(self) -> None:
        """Set the attributes that the function's signature has."""
        names: list[str] = []
        self.attributes: dict[str, Any] = {}
        self.least = self.most = 0
        for name, kind, default in _parameters(self.function):
            if kind is _KEYWORD:
                self.attributes[name] = default
            elif kind is inspect.Parameter.VAR_KEYWORD:
                self.attributes.update(self._shared)
            elif kind is inspect.Parameter.VAR_POSITIONAL:
                self.most = 1 << 30
            else:
                names.append(name)
                self.most += 1
                self.least += default is REQUIRED
        self.wants_node = "node" in self.attributes
        self.attributes.pop("node", None)
        self.inputs = tuple(names)
        self.host = frozenset(self.inputs.index(one) for one in self._host)

    def _facts(self) -> str:
        return f"{self.domain or 'ai.onnx'}.{self.name}-{self.since}"


def _parameters(function: Callable[..., Any]) -> Iterator[tuple[str, Any, Any]]:
    """Iterate over the names, kinds and defaults of a function's parameters."""
    code = getattr(function, "__code__", None)
    if code is None or hasattr(function, "__wrapped__") or inspect.ismethod(function):
        for one in inspect.signature(function).parameters.values():
            yield one.name, one.kind, one.default
        return
    # What inspect.signature finds, in a hundredth of its time.
    names = code.co_varnames
    count, more = code.co_argcount, code.co_kwonlyargcount
    defaults = function.__defaults__ or ()
    of_keywords = function.__kwdefaults__ or {}
    given = dict(zip(names[count - len(defaults) : count], defaults, strict=True))
    for name in names[:count]:
        yield name, inspect.Parameter.POSITIONAL_OR_KEYWORD, given.get(name, REQUIRED)
    end = count + more
    if code.co_flags & inspect.CO_VARARGS:
        yield names[end], inspect.Parameter.VAR_POSITIONAL, REQUIRED
        end += 1
    for name in names[count : count + more]:
        yield name, _KEYWORD, of_keywords.get(name, REQUIRED)
    if code.co_flags & inspect.CO_VARKEYWORDS:
        yield names[end], inspect.Parameter.VAR_KEYWORD, REQUIRED


_TABLE: dict[tuple[str, str], list[Operator]] = {}


def operator(
    name: str, *, since: int = 1, until: int | None = None, domain: str = "",
    host: Iterable[str] = (), folds: bool = False, raw: bool = False,
    attributes: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """Make a function compute an operator of ONNX models.

    Parameters
    ----------
    name : str
        The operator's name.
    since, until : int
        The first and the last opset of the domain for which the function holds.
    domain : str
        The domain. "" is ONNX's own.
    host : iterable of str
        Inputs that are NumPy arrays for the function, such as shapes. A value on the GPU is read
        for it, which waits.
    folds : bool
        Whether the function also works on NumPy arrays alone, for values that derive from shapes.
    raw : bool
        Whether the function gets values as they are: on the host or the GPU, sequences, and types
        such as bfloat16 and float8, which are widened otherwise.
    attributes : mapping, optional
        Attributes that several operators share, with their defaults. The function gets those of the
        node as ``**options``.

    Returns
    -------
    callable
        A decorator. It returns the function.

    Raises
    ------
    InvalidType
        If the decorated object is not a function, or takes no ``**options`` for ``attributes``.

    Notes
    -----
    The function's positional parameters are the inputs. Those with the default None are optional.
    Keyword-only parameters are the attributes. An attribute without a default is required. The
    parameter ``node`` gets the :class:`Node`. A later function for the same opsets replaces an
    earlier one.

    Examples
    --------
    >>> @bg.onnx.operator("Cube", domain="org.example")
    ... def cube(x, *, factor=1.0):
    ...     return x * x * x * factor
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(function):
            raise InvalidType("operator", "function", function, "a function")
        if attributes is not None:
            kinds = {kind for _, kind, _ in _parameters(function)}
            if inspect.Parameter.VAR_KEYWORD not in kinds:
                expected = "a function with **options, for its attributes"
                raise InvalidType("operator", "function", function, expected)
        own = _domain(domain)
        last = 1 << 30 if until is None else until
        known = _TABLE.setdefault((own, name), [])
        shared = attributes or _NO_ATTRIBUTES
        known.insert(0, Operator(name, own, since, last, function, host, folds, raw, shared))
        return function

    return register


def list_operators() -> list[Operator]:
    """Return all operators, sorted by domain, name and opset.

    Returns
    -------
    list of Operator
        Each has a ``name``, a ``domain`` and the opsets ``since`` and ``until``.

    Examples
    --------
    >>> "Conv" in {one.name for one in bg.onnx.list_operators()}
    True
    """
    found = [one for known in _TABLE.values() for one in known]
    return sorted(found, key=lambda one: (one.domain, one.name, one.since))


def find(domain: str, name: str, opset: int) -> Operator | None:
    """Return the operator of a domain's opset, or None."""
    for one in _TABLE.get((_domain(domain), name), ()):
        if one.since <= opset <= one.until:
            return one
    return None


def _domain(domain: str) -> str:
    return "" if domain in _STANDARD else domain


def check_opset(domain: str, version: int) -> None:
    """Raise InvalidArgument for an opset of ONNX's own domain that is unknown."""
    if _domain(domain) == "" and not OLDEST <= version <= NEWEST:
        raise InvalidArgument(
            "onnx.load", "opset", version, f"from {OLDEST} to {NEWEST}",
            "onnx.version_converter.convert_version converts models.",
        )  # fmt: skip
