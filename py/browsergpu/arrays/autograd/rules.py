"""How functions say what their gradients are, and what is noted when they are called.

    @differentiable(x1=lambda g, x2: g * x2, x2=lambda g, x1: g * x1)
    def multiply(x1, x2, /): ...

For each parameter that may be an array with a gradient there is a rule: from ``g``, the gradient of
the result, to that of the parameter. A rule's own parameters say what it needs, and that alone is
kept: ``g``, ``y`` for the result, the function's parameters by their names, ``x_like`` for what
parameter ``x`` is without its values (shape, dtype, device), ``y_like``. Rules call public
functions and operators, so they have gradients themselves. A rule may give another dtype, what
broadcasts to the parameter's shape, and what has axes and extents more, which are added up. For a
sequence of arrays it gives a list; of several results ``g`` and ``y`` are tuples (zeros where
nothing came).

One rule for several parameters is given as ``joint=(names, rule)``; it gives a tuple and is told
by ``needs``, where it asks for it, which of them are needed.

Complex numbers: the gradient is dL/dre + i dL/dim, as PyTorch's; so a rule conjugates what it
multiplies with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import is_grad_enabled
from browsergpu.arrays.autograd.nodes import AutogradNode, Like, Operand, Saved, Source
from browsergpu.arrays.autograd.reads import check_number
from browsergpu.arrays.autograd.variable import (
    Variable,
    like_of,
    plain,
    source_of,
    variable,
)
from browsergpu.arrays.value import NODE
from browsergpu.arrays.views.aliases import Base, place_of, take_node
from browsergpu.core.errors import NotDifferentiable
from browsergpu.core.showing import Shown
from browsergpu.core.turns import exclusive

F = TypeVar("F", bound=Callable[..., Any])

#: What functions are of gradients, by their names: their parameters that have rules; nothing where
#: their results have no gradient. A test walks the namespace by it.
RULES: dict[str, tuple[str, ...]] = {}

Rule = Callable[..., Any]


class Rules(Shown):
    """The rules of a function, and what they need."""

    def __init__(
        self, function: Callable[..., Any], name: str,
        rules: dict[str, Rule], joint: tuple[Sequence[str], Rule] | None,
    ) -> None:  # fmt: skip
        self.name = name
        self.signature = signature(function)
        self.parameters = tuple(self.signature.parameters)
        self.is_positional = all(
            one.kind is Parameter.POSITIONAL_ONLY and one.default is Parameter.empty
            for one in self.signature.parameters.values()
        )
        self.separate = {key: (rule, wanted(rule)) for key, rule in rules.items()}
        self.joint = joint and (tuple(joint[0]), joint[1], wanted(joint[1]))
        self.of = (*rules, *(self.joint[0] if self.joint else ()))
        unknown = {*self.of} - {*self.parameters}
        assert not unknown, f"{name} has no parameters {unknown}"
        self.without = tuple([one for one in self.parameters if one not in self.of])

    def bound(self, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
        """The arguments by their parameters, defaults among them."""
        if self.is_positional and len(args) == len(self.parameters):
            return dict(zip(self.parameters, args, strict=True))
        found = self.signature.bind(*args, **options)
        found.apply_defaults()
        return dict(found.arguments)

    def gradients(
        self, node: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """What the rules give for operands; ``given`` are the gradients of the results."""
        assert node.saved is not None
        known: dict[str, Any] = {name: unpacked(x) for name, x in node.saved.items()}
        known["g"] = tuple(given) if node.has_several else given[0]
        names = {operand.name for operand in operands}
        found: dict[str, Any] = {}
        for name in names & self.separate.keys():
            rule, needs = self.separate[name]
            found[name] = rule(**{key: known[key] for key in needs})
        if self.joint and names & set(self.joint[0]):
            of, rule, needs = self.joint
            known["needs"] = tuple([name in names for name in of])
            found |= zip(of, rule(**{key: known[key] for key in needs}), strict=True)
        return [
            found[one.name] if one.at is None or found[one.name] is None
            else found[one.name][one.at]
            for one in operands
        ]  # fmt: skip

    def needs(self, names: set[str]) -> set[str]:
        """What the rules of these parameters need."""
        found: set[str] = set()
        for name in names & self.separate.keys():
            found.update(self.separate[name][1])
        if self.joint and names & set(self.joint[0]):
            found.update(self.joint[2])
        return found


def wanted(rule: Rule) -> tuple[str, ...]:
    """What a rule's parameters say that it needs."""
    return tuple(signature(rule).parameters)


def differentiable(
    *, joint: tuple[Sequence[str], Rule] | None = None, **rules: Rule
) -> Callable[[F], F]:
    """Gives a function its rules; see the module's docstring."""

    def decorate(function: F) -> F:
        own = Rules(function, function.__name__, rules, joint)
        RULES[_key(function)] = own.of

        return wraps(function)(exclusive(_wrapper(function, own)))  # type: ignore[return-value]

    return decorate


def _wrapper(function: Callable[..., Any], rules: Rules) -> Callable[..., Any]:
    """What users call: where no argument requires a gradient, hardly more than the function."""
    if rules.is_positional and len(rules.parameters) == 1:

        def of_one(x: Any, /) -> Any:
            return recorded(function, rules, (x,), {}) if type(x) is Variable else function(x)

        return of_one
    if rules.is_positional and len(rules.parameters) == 2:

        def of_two(a: Any, b: Any, /) -> Any:
            if type(a) is Variable or type(b) is Variable:
                return recorded(function, rules, (a, b), {})
            return function(a, b)

        return of_two

    def call(*args: Any, **options: Any) -> Any:
        for x in args:
            kind = type(x)
            if kind is Variable or (kind in _SEQUENCES and _holds(x)):
                return recorded(function, rules, args, options)
        for x in options.values():
            if type(x) is Variable:
                return recorded(function, rules, args, options)
        return function(*args, **options)

    return call


def constant(function: F) -> F:
    """Says of a function that its results have no gradient: whole numbers, bools, signs."""
    RULES[_key(function)] = ()

    @wraps(function)
    @exclusive
    def call(*args: Any, **options: Any) -> Any:
        for x in args:
            kind = type(x)
            if kind is Variable or (kind in _SEQUENCES and _holds(x)):
                args = tuple([values(x) for x in args])
                break
        for key, x in options.items():
            if type(x) is Variable:
                options = options | {key: plain(x)}
        return function(*args, **options)

    return call  # type: ignore[return-value]


def composed(*of: str) -> Callable[[F], F]:
    """Says of a function that it consists of others that have rules, and so has gradients by these
    parameters: it notes nothing itself."""

    def decorate(function: F) -> F:
        RULES[_key(function)] = of
        return exclusive(function)

    return decorate


def _key(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


_SEQUENCES = (list, tuple)


def _holds(items: Sequence[Any]) -> bool:
    return any(type(x) is Variable or (type(x) in _SEQUENCES and _holds(x)) for x in items)


def values(x: Any) -> Any:
    """An argument without what is noted of it."""
    kind = type(x)
    if kind is Variable:
        return plain(x)
    if kind in _SEQUENCES and _holds(x):
        return kind([values(one) for one in x])
    return x


def recorded(
    function: Callable[..., Any], rules: Rules, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Calls a function on the values of its arguments, and notes it."""
    given = [values(x) for x in args]
    found = function(*given, **{key: values(x) for key, x in options.items()})
    if is_view(found):
        shared(args, given)
    if not is_grad_enabled():
        return found
    bound = rules.bound(args, options)
    for name in rules.without:
        check_number(rules.name, name, bound[name])
    operands = _operands(rules, bound)
    if not operands:
        return found
    results = found if isinstance(found, tuple) else (found,)
    node = AutogradNode(
        rules.name, rules, operands, likes_of(results), has_several=isinstance(found, tuple)
    )
    node.saved = _saved(rules, operands, bound, found, node)
    return results_of(node, found)


def is_view(found: Any) -> bool:
    """Whether a result, or the first of several, is a view."""
    first = found[0] if isinstance(found, tuple) and found else found
    return isinstance(first, Array) and NODE.__get__(first).view_group is not None


def shared(args: Sequence[Any], given: Sequence[Any]) -> None:
    """Has arrays share memory with the views that were made of what stood for them."""
    for x, own in zip(args, given, strict=True):
        if type(x) is not Variable:
            continue
        node = NODE.__get__(own)
        take_node(x, node)
        view_group = node.view_group
        if view_group is not None:
            view_group.add(x)
            if view_group.history is None:
                view_group.history = Base(place_of(x), x.source)


def likes_of(results: Sequence[Any]) -> tuple[Like | None, ...]:
    """What the results of a node are; None for those that have no gradient."""
    return tuple(
        [like_of(x) if isinstance(x, Array) and x.dtype.kind in "fc" else None for x in results]
    )


def results_of(node: AutogradNode, found: Any) -> Any:
    """What a function gave, as the results of a node."""
    if not node.has_several:
        return _result(found, node, 0)
    made = [_result(x, node, at) for at, x in enumerate(found)]
    return found._make(made) if hasattr(found, "_make") else tuple(made)


def _result(x: Any, node: AutogradNode, at: int) -> Any:
    if node.results[at] is None:
        return x
    made = variable(x, Source(node, at))
    view_group = NODE.__get__(made).view_group
    if view_group is not None and NODE.__get__(made).follows:
        view_group.add(made)
    return made


def _operands(rules: Rules, bound: dict[str, Any]) -> tuple[Operand, ...]:
    found = []
    for name in rules.of:
        given = bound[name]
        if type(given) is Variable:
            found.append(Operand(name, None, given.source, like_of(given)))
        elif type(given) in _SEQUENCES:
            if any(type(x) in _SEQUENCES and _holds(x) for x in given):
                what = "arrays that require gradients are in lists of lists; stack() joins them"
                raise NotDifferentiable(rules.name, what)
            found += [
                Operand(name, at, x.source, like_of(x))
                for at, x in enumerate(given)
                if type(x) is Variable
            ]
    return tuple(found)


def _saved(
    rules: Rules,
    operands: tuple[Operand, ...],
    bound: dict[str, Any],
    found: Any,
    node: AutogradNode,
) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name in rules.needs({one.name for one in operands}):
        if name == "g" or name == "needs":
            continue
        if name == "y":
            kept[name] = (
                tuple([keep(x, _source_in(node, at)) for at, x in enumerate(found)])
                if isinstance(found, tuple) else keep(found, _source_in(node, 0))
            )  # fmt: skip
        elif name == "y_like":
            kept[name] = like_of(found)
        elif name.endswith("_like") and name not in bound:
            given = bound[name.removesuffix("_like")]
            kept[name] = (
                [like_of(x) for x in given] if type(given) in _SEQUENCES
                else like_of(given) if isinstance(given, Array) else given
            )  # fmt: skip
        else:
            kept[name] = kept_of(bound[name])
    return kept


def _source_in(node: AutogradNode, at: int) -> Source | None:
    """A result of a node as a source; None where it has no gradient."""
    return None if node.results[at] is None else Source(node, at)


@exclusive
def keep(x: Any, source: Source | None) -> Any:
    """What is kept of an argument or a result: no array that its user holds."""
    if not isinstance(x, Array):
        return x
    return Saved(plain(x) if NODE.__get__(x).view_group is None else plain(x).same(), source)


def kept_of(x: Any) -> Any:
    """What is kept of an argument, which may be a sequence, and where its arrays come from."""
    if isinstance(x, Array):
        return keep(x, source_of(x))
    return type(x)([kept_of(one) for one in x]) if type(x) in _SEQUENCES else x


def unpacked(x: Any) -> Any:
    """What was kept, for a rule: as it was noted where rules are noted, too."""
    if type(x) is Saved:
        source = x.source
        return variable(x.value, source) if source and is_grad_enabled() else x.value
    return type(x)([unpacked(one) for one in x]) if type(x) in _SEQUENCES else x
