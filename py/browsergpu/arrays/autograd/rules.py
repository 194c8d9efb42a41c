"""Gradient rules of functions, and the recording of calls.

    @differentiable(x1=lambda g, x2: g * x2, x2=lambda g, x1: g * x1)
    def multiply(x1, x2, /): ...

Each parameter that may require a gradient has a rule. The rule maps ``g``, the gradient of the
result, to the gradient of the parameter. The names of a rule's parameters say what it needs, and
only that is saved:

- ``g``, the gradient of the result.
- ``y``, the result.
- The function's parameters, by name.
- ``x_like``, the shape, dtype and device of parameter ``x``.
- ``y_like``, the shape, dtype and device of the result.

Rules call public functions and operators, so they have gradients themselves. A rule may return
another dtype, a smaller shape that broadcasts to the parameter's, or a larger shape, which is
summed. For a sequence of arrays it returns a list. If a function has several results, ``g`` and
``y`` are tuples, with zeros for missing gradients.

``joint=(names, rule)`` gives one rule for several parameters. It returns a tuple. Its parameter
``needs`` says which gradients are needed.

``keeping`` is a form of the function with the same parameters. It returns the result and a dict of
further values. Recorded calls use it. Rules name its values like the function's parameters.

The gradient of complex numbers is dL/dre + i dL/dim, as in PyTorch, so a rule conjugates its
factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import BATCHED
from browsergpu.arrays.autograd.families import (
    ARRAYS,
    INTERCEPTED,
    TRACKED,
    TRACKED_OF,
    UNTRACKED,
)
from browsergpu.arrays.autograd.grad_mode import GRAD, is_grad_enabled
from browsergpu.arrays.autograd.layouts import NUMBERS, SEQUENCES, Layout, Saving, layout
from browsergpu.arrays.autograd.nodes import AutogradNode, Like, Operand, Saved, Source
from browsergpu.arrays.autograd.reads import check_number
from browsergpu.arrays.autograd.variable import (
    like_of,
    plain,
    plain_in_turn,
    source_of,
    variable,
)
from browsergpu.arrays.value import NODE
from browsergpu.arrays.views.aliases import Base, place_of, take_node
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import NotDifferentiable
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.core.turns import exclusive

F = TypeVar("F", bound=Callable[..., Any])

#: By function, the parameters that have rules. It is empty for functions without gradients. A test
#: checks the whole namespace against it.
RULES: dict[str, tuple[str, ...]] = {}

Rule = Callable[..., Any]
#: A form of a function that also returns values for its rules, by name.
Keeping = Callable[..., tuple[Any, dict[str, Any]]]
#: Layouts of one function. Then they are made anew.
_MOST_LAYOUTS = 64
#: Makes a NamedTuple without a call in Python.
_new: Any = tuple.__new__


class Rules(Shown):
    """The gradient rules of one function."""

    def __init__(
        self, function: Callable[..., Any], name: str,
        rules: dict[str, Rule], joint: tuple[Sequence[str], Rule] | None,
        keeping: Keeping | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self.keeping = keeping
        self.key = _key(function)
        #: The decorated function.
        self.public: Callable[..., Any] = function
        self.signature = signature(function)
        self.parameters = tuple(self.signature.parameters)
        assert keeping is None or _defaults(signature(keeping)) == _defaults(self.signature), name
        self.is_positional = all(
            one.kind is Parameter.POSITIONAL_ONLY and one.default is Parameter.empty
            for one in self.signature.parameters.values()
        )
        kinds = {one.kind for one in self.signature.parameters.values()}
        #: Whether a parameter collects arguments, as ``*args`` does.
        self.collects = bool(kinds & {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD})
        self.defaults = {
            name: default for name, default in _defaults(self.signature)
            if default is not Parameter.empty
        }  # fmt: skip
        self.separate = {key: (rule, wanted(rule)) for key, rule in rules.items()}
        self.joint = joint and (tuple(joint[0]), joint[1], wanted(joint[1]))
        self.of = (*rules, *(self.joint[0] if self.joint else ()))
        unknown = {*self.of} - {*self.parameters}
        assert not unknown, f"{name} has no parameters {unknown}"
        self.without = tuple([one for one in self.parameters if one not in self.of])
        self._savings: dict[frozenset[str], tuple[Saving, ...]] = {}
        #: The layouts of calls, by the classes of the arguments that are passed by position, and
        #: the names of the others. None if there is none.
        self.layouts: dict[tuple[type | str, ...], Layout | None] = {}
        #: Positions of the parameters whose arguments can be passed by position.
        self.places = {
            name: at for at, (name, one) in enumerate(self.signature.parameters.items())
            if one.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        }  # fmt: skip
        self._tail = [self.defaults.get(one, Parameter.empty) for one in self.places]

    def by_position(self, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...] | None:
        """Return the arguments of a call by position, with defaults before the last of them.

        Return None if the function does not take them so.
        """
        count, last = len(args), -1
        found = [*args, *self._tail[count:]]
        for name, x in options.items():
            at = self.places.get(name, -1)
            if at < count or self.signature.parameters[name].kind is Parameter.POSITIONAL_ONLY:
                return None
            found[at] = x
            last = max(last, at)
        del found[last + 1 :]
        return None if any(x is Parameter.empty for x in found) else tuple(found)

    def layout(self, args: tuple[Any, ...], options: dict[str, Any]) -> Layout | None:
        """Return the layout of a call, or None if there is none for its arguments."""
        key: tuple[Any, ...] = (*map(type, args), *options)
        try:
            found = self.layouts[key]
        except KeyError:
            found = self._new_layout(tuple(map(type, args)), tuple(options))
            if len(self.layouts) >= _MOST_LAYOUTS:
                self.layouts.clear()
            self.layouts[key] = found
        if found is not None:
            for at in found.sequences:
                x = args[at]
                if not NUMBERS.issuperset(map(type, x)) and _holds(x):
                    return None
            for x in options.values():
                kind = type(x)
                if kind not in NUMBERS and _holds((x,)):
                    return None
        return found

    def _new_layout(self, kinds: tuple[type, ...], names: tuple[str, ...]) -> Layout | None:
        if self.collects:
            return None
        tracked = {one for one, kind in zip(self.places, kinds, strict=False) if kind in TRACKED}
        operands = [(one, self.places[one]) for one in self.of if one in tracked]
        savings = self.savings([one for one, _ in operands])
        most = len(self.places)
        return layout(kinds, names, self.parameters, most, self.defaults, operands, savings)

    def bound(self, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call that has succeeded, by parameter name, with defaults."""
        if self.collects:
            found = self.signature.bind(*args, **options)
            found.apply_defaults()
            return dict(found.arguments)
        # Signature.bind would take a tenth of the time of a small convolution.
        return {**self.defaults, **dict(zip(self.parameters, args, strict=False)), **options}

    def gradients(
        self, node: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """Return the gradients of operands. ``given`` are the gradients of the results."""
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

    def savings(self, operands: Iterable[str]) -> tuple[Saving, ...]:
        """Return the values that the rules of these parameters need, in the order of names."""
        names = frozenset(operands)
        found = self._savings.get(names)
        if found is None:
            found = self._savings[names] = tuple(map(self._saving, sorted(self._needs(names))))
        return found

    def _needs(self, names: frozenset[str]) -> set[str]:
        """Return the names that the rules of these parameters need, without those of gradients."""
        found: set[str] = set()
        for name in names & self.separate.keys():
            found.update(self.separate[name][1])
        if self.joint and not names.isdisjoint(self.joint[0]):
            found.update(self.joint[2])
        return found - {"g", "needs"}

    def _saving(self, name: str) -> Saving:
        is_like = name.endswith("_like") and name not in self.parameters
        return name, name.removesuffix("_like") if is_like else name, is_like


def _defaults(of: Signature) -> list[tuple[str, Any]]:
    """Return the names and defaults of parameters."""
    return [(name, one.default) for name, one in of.parameters.items()]


def wanted(rule: Rule) -> tuple[str, ...]:
    """Return the names of a rule's parameters."""
    return tuple(signature(rule).parameters)


def differentiable(
    *,
    joint: tuple[Sequence[str], Rule] | None = None,
    keeping: Keeping | None = None,
    **rules: Rule,
) -> Callable[[F], F]:
    """Decorate a function with its gradient rules. The module docstring describes them."""

    def decorate(function: F) -> F:
        own = Rules(function, function.__name__, rules, joint, keeping)
        RULES[_key(function)] = own.of
        own.public = wraps(function)(exclusive(_wrapper(function, own)))
        return own.public  # type: ignore[return-value]

    return decorate


def _wrapper(function: Callable[..., Any], rules: Rules) -> Callable[..., Any]:
    """Return the public function. Without tracked arguments it only adds a type check."""
    if rules.is_positional and len(rules.parameters) == 1:

        def of_one(x: Any, /) -> Any:
            return recorded(function, rules, (x,), {}) if type(x) in INTERCEPTED else function(x)

        return of_one
    if rules.is_positional and len(rules.parameters) == 2:

        def of_two(a: Any, b: Any, /) -> Any:
            if type(a) in INTERCEPTED or type(b) in INTERCEPTED:
                return recorded(function, rules, (a, b), {})
            return function(a, b)

        return of_two

    def call(*args: Any, **options: Any) -> Any:
        for x in args:
            kind = type(x)
            if kind in INTERCEPTED or (
                kind in SEQUENCES and not NUMBERS.issuperset(map(type, x)) and _holds(x)
            ):
                return recorded(function, rules, args, options)
        for x in options.values():
            if type(x) in INTERCEPTED:
                return recorded(function, rules, args, options)
        return function(*args, **options)

    return call


def constant(function: F) -> F:
    """Mark a function whose results have no gradient, such as integers, bools or signs."""
    RULES[_key(function)] = ()
    own = _key(function), signature(function)

    @wraps(function)
    @exclusive
    def call(*args: Any, **options: Any) -> Any:
        for x in args:
            kind = type(x)
            if kind in INTERCEPTED or (kind in SEQUENCES and _holds(x)):
                if _have_batched(args, options):
                    return ABOVE.batching.call(call, *own, args, options)
                args = tuple([values(x) for x in args])
                break
        for key, x in options.items():
            if type(x) in INTERCEPTED:
                if _have_batched(args, options):
                    return ABOVE.batching.call(call, *own, args, options)
                options = options | {key: plain(x)}
        return function(*args, **options)

    return call  # type: ignore[return-value]


def composed(*of: str) -> Callable[[F], F]:
    """Mark a function that calls differentiable functions, and name its differentiable parameters.

    Its own call is not recorded.
    """

    def decorate(function: F) -> F:
        RULES[_key(function)] = of
        return exclusive(function)

    return decorate


def _key(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


# Loops, since a generator costs more than the few arguments of a call.
def _holds(items: Sequence[Any]) -> bool:
    for x in items:
        kind = type(x)
        if kind in INTERCEPTED or (kind in SEQUENCES and _holds(x)):
            return True
    return False


def _have_batched(args: Sequence[Any], options: dict[str, Any]) -> bool:
    """Return whether arguments contain batched arrays of ``vmap``."""
    if _any_batched(args):
        return True
    return bool(options) and any(type(x) in BATCHED for x in options.values())


def _any_batched(items: Sequence[Any]) -> bool:
    for x in items:
        kind = type(x)
        if kind in BATCHED or (kind in SEQUENCES and _any_batched(x)):
            return True
    return False


def values(x: Any) -> Any:
    """Return an argument with tracked arrays replaced by untracked ones."""
    kind = type(x)
    if kind in TRACKED:
        return plain(x)
    if kind in BATCHED:
        return ABOVE.batching.untracked(x)
    if kind in SEQUENCES and _holds(x):
        return kind([values(one) for one in x])
    return x


def recorded(
    function: Callable[..., Any], rules: Rules, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Call a function on untracked values of its arguments, and record the call."""
    own = rules.layouts.get(tuple(map(type, args)))
    if options or own is None or own.sequences:
        own = rules.layout(args, options)
    if own is None and options:
        by_position = rules.by_position(args, options)
        if by_position is not None:
            own = rules.layout(by_position, {})
            if own is not None:
                args, options = by_position, {}
    if own is None:
        return _recorded(function, rules, args, options)
    given = [*args]
    for at, kind in own.tracked:
        x = args[at]
        given[at] = kind(NODE.__get__(x), x.tracer)
    more: dict[str, Any] = {}
    if rules.keeping is None:
        found = function(*given, **options)
    else:
        found, more = rules.keeping(*given, **options)
    is_one = type(found) in UNTRACKED
    value: Any = NODE.__get__(found) if is_one else None
    if value.view_group is not None if is_one else is_view(found):
        shared(args, given)
    if not GRAD.read()[0]:
        return found
    for name, at in own.unruled:
        check_number(rules.name, name, args[at])
    if not own.operands:
        return found
    operands = []
    for name, at in own.operands:
        x = args[at]
        node = NODE.__get__(x)
        like = _new(Like, (node.shape, node.kind.numpy, x.tracer.device))
        operands.append(_new(Operand, (name, None, x.source, like)))
    if not is_one:
        has_several = isinstance(found, tuple)
        likes = likes_of(found if has_several else (found,))
    elif value.kind.kind in "fc":
        has_several = False
        likes = (_new(Like, (value.shape, value.kind.numpy, found.tracer.device)),)
    else:
        return found
    made = AutogradNode(rules.name, rules, tuple(operands), likes, has_several=has_several)
    if not is_one:
        bound = rules.bound(args, options) | more
        made.saved = _saved(rules, made.operands, bound, found, made)
        return results_of(made, found)
    saved = made.saved = _saved_as(own, args, options, given, found, made)
    assert not more or more.keys().isdisjoint(rules.parameters)
    for name, argument, is_like in own.further:
        saved[name] = _likes_in(more[argument]) if is_like else kept_of(more[argument])
    result = type(found)(value, found.tracer)
    result.source = _new(Source, (made, 0))
    result.__class__ = TRACKED_OF[type(found)]
    if value.view_group is not None and value.follows:
        value.view_group.add(result)
    return result


def _saved_as(
    own: Layout,
    args: tuple[Any, ...],
    options: dict[str, Any],
    given: list[Any],
    found: Array,
    node: AutogradNode,
) -> dict[str, Any]:
    """Return what :func:`_saved` does, by a layout, for one result. ``given`` may be saved."""
    saved = {**own.defaults}
    for name, at in own.kept:
        x, value = args[at], given[at]
        if NODE.__get__(value) is not NODE.__get__(x):  # views were made of the value
            value = plain_in_turn(x)
        is_alone = NODE.__get__(value).view_group is None
        saved[name] = Saved(value if is_alone else value.same(), x.source)
    for name, at in own.others:
        saved[name] = kept_of(args[at])
    for name, at in own.numbers:
        saved[name] = args[at]
    for name, at in own.likes:
        x = args[at]
        if type(x) in ARRAYS:
            known = NODE.__get__(x)
            saved[name] = _new(Like, (known.shape, known.kind.numpy, x.tracer.device))
        else:
            saved[name] = _likes_in(x)
    for name, argument, is_like in own.by_name:
        x = options[argument]
        saved[name] = _likes_in(x) if is_like else kept_of(x)
    for name, is_like in own.of_result:
        saved[name] = node.results[0] if is_like else keep(found, _new(Source, (node, 0)))
    return saved


def _recorded(
    function: Callable[..., Any], rules: Rules, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Do the same as :func:`recorded` for all arguments, such as batched arrays and lists."""
    if _have_batched(args, options):
        return ABOVE.batching.call(rules.public, rules.key, rules.signature, args, options)
    # Most arguments are numbers and tuples of numbers: a call for each costs more than the checks.
    given = [
        plain_in_turn(x)
        if (kind := type(x)) in TRACKED
        else values(x)
        if kind in BATCHED or kind in SEQUENCES
        else x
        for x in args
    ]
    own = {key: values(x) for key, x in options.items()} if options else options
    more: dict[str, Any] = {}
    if rules.keeping is None:
        found = function(*given, **own)
    else:
        found, more = rules.keeping(*given, **own)
    if is_view(found):
        shared(args, given)
    if not is_grad_enabled():
        return found
    bound = rules.bound(args, options)
    for name in rules.without:
        if type(bound[name]) in TRACKED:
            check_number(rules.name, name, bound[name])
    operands = _operands(rules, bound)
    if not operands:
        return found
    has_several = isinstance(found, tuple)
    likes = likes_of(found if has_several else (found,))
    node = AutogradNode(rules.name, rules, operands, likes, has_several=has_several)
    node.saved = _saved(rules, operands, bound | more if more else bound, found, node)
    return results_of(node, found)


def is_view(found: Any) -> bool:
    """Return whether a result, or the first of several, is a view."""
    first = found[0] if isinstance(found, tuple) and found else found
    return isinstance(first, Array) and NODE.__get__(first).view_group is not None


def shared(args: Sequence[Any], given: Sequence[Any]) -> None:
    """Make arrays share memory with the views that were made of their untracked values."""
    for x, own in zip(args, given, strict=True):
        if type(x) not in TRACKED:
            continue
        node = NODE.__get__(own)
        take_node(x, node)
        view_group = node.view_group
        if view_group is not None:
            view_group.add(x)
            if view_group.history is None:
                view_group.history = Base(place_of(x), x.source)


def likes_of(results: Sequence[Any]) -> tuple[Like | None, ...]:
    """Return the metadata of results, None for those without a gradient."""
    return tuple(
        [like_of(x) if isinstance(x, Array) and x.dtype.kind in "fc" else None for x in results]
    )


def results_of(node: AutogradNode, found: Any) -> Any:
    """Return a function's results as the results of an autograd node."""
    if not node.has_several:
        return _result(found, node, 0)
    made = [_result(x, node, at) for at, x in enumerate(found)]
    return found._make(made) if hasattr(found, "_make") else tuple(made)


def _result(x: Any, node: AutogradNode, at: int) -> Any:
    if node.results[at] is None:
        return x
    made = variable(x, Source(node, at))
    own = NODE.__get__(made)
    if own.view_group is not None and own.follows:
        own.view_group.add(made)
    return made


def _operands(rules: Rules, bound: dict[str, Any]) -> tuple[Operand, ...]:
    found = []
    for name in rules.of:
        given = bound[name]
        if type(given) in TRACKED:
            found.append(Operand(name, None, given.source, like_of(given)))
        elif type(given) in SEQUENCES:
            if any(type(x) in SEQUENCES and _holds(x) for x in given):
                raise NotDifferentiable(
                    rules.name, "arrays that require gradients must not be in nested lists. "
                    "Join them with stack()."
                )  # fmt: skip
            found += [
                Operand(name, at, x.source, like_of(x))
                for at, x in enumerate(given)
                if type(x) in TRACKED
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
    for name, argument, is_like in rules.savings([one.name for one in operands]):
        given = found if argument == "y" else bound[argument]
        if is_like:
            kept[name] = _likes_in(given)
        elif argument != "y":
            kept[name] = kept_of(given)
        elif node.has_several:
            kept[name] = tuple([keep(x, _source_in(node, at)) for at, x in enumerate(found)])
        else:
            kept[name] = keep(found, _source_in(node, 0))
    return kept


def _likes_in(x: Any) -> Any:
    """Return the metadata of an array, or of each array of a sequence."""
    if type(x) in SEQUENCES:
        return [like_of(one) for one in x]
    return like_of(x) if isinstance(x, Array) else x


def _source_in(node: AutogradNode, at: int) -> Source | None:
    """Return a result of a node as a source, or None if it has no gradient."""
    return None if node.results[at] is None else Source(node, at)


@exclusive
def keep(x: Any, source: Source | None) -> Any:
    """Return an argument or result to save. The user's own array is not saved."""
    if not isinstance(x, Array):
        return x
    own = plain_in_turn(x)
    return Saved(own if NODE.__get__(own).view_group is None else own.same(), source)


def kept_of(x: Any) -> Any:
    """Return an argument to save, with the sources of its arrays. It may be a sequence."""
    if isinstance(x, Array):
        return keep(x, source_of(x))
    if type(x) in SEQUENCES:
        if type(x) is tuple and NUMBERS.issuperset(map(type, x)):
            return x
        return type(x)([kept_of(one) for one in x])
    return x


def unpacked(x: Any) -> Any:
    """Return a saved argument for a rule. It is tracked if the rule is recorded."""
    if type(x) is Saved:
        source = x.source
        return variable(x.value, source) if source and is_grad_enabled() else x.value
    return type(x)([unpacked(one) for one in x]) if type(x) in SEQUENCES else x
