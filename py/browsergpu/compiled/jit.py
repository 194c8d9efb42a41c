"""``browsergpu.jit``: functions whose calls replay captured graphs."""

from __future__ import annotations

import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from functools import partial, update_wrapper
from threading import Lock
from typing import Any

import numpy as np

from browsergpu.arrays.autograd.batched import FRAMES
from browsergpu.arrays.autograd.grad_mode import is_grad_enabled
from browsergpu.arrays.autograd.precision import is_autocast_enabled
from browsergpu.arrays.context import current
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.value import Value
from browsergpu.arrays.x64 import x64_mode
from browsergpu.autograd.trees import map_tree
from browsergpu.compiled.donation import donate as donate_array
from browsergpu.compiled.explanation import Explanation
from browsergpu.compiled.guards import Guards, share_memory, versions_of
from browsergpu.compiled.parameters import Parameters
from browsergpu.compiled.signature import Signature, rebuilt
from browsergpu.compiled.tracing import Trace
from browsergpu.compiled.variant import Variant
from browsergpu.engine.core import blocks, checks
from browsergpu.engine.core.element_types import DEFAULTS
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.places import frames_of_the_package
from browsergpu.engine.core.showing import Shown, shown
from browsergpu.engine.core.turns import TURN
from browsergpu.functions import creation
from browsergpu.networks.module import Module

_OP = "jit"
#: Most signatures whose graphs a function keeps. The least recently used one is dropped first.
_MOST_VARIANTS = 32
#: Most variants of one signature. They differ in other values that the function reads.
_MOST_OF_STATE = 16
#: Number of values of an argument in the signature that raises a warning with its name.
_MANY_VALUES = 8


class JitWarning(UserWarning):
    """A compiled function runs slower than it could. The message says why."""


class _State(Shown):
    """The state of one signature."""

    def __init__(self, tracer: Tracer, objects: Sequence[Any]) -> None:
        self.tracer = tracer
        self.objects = objects  # their ids are in the key
        self.variants: list[Compiled] = []
        self.is_warm = False
        self.changes_arguments = False


class Compiled(Shown):
    """A variant with the values that it depends on."""

    def __init__(self, variant: Variant, guards: Guards, numbers: list[Any]) -> None:
        self.variant = variant
        self.guards = guards
        self.numbers = numbers


class Jitted(Shown):
    """A compiled function. :func:`jit` makes it."""

    def __init__(
        self,
        function: Callable[..., Any],
        static: Iterable[int | str],
        donate: Iterable[int | str],
        optimize: bool,
    ) -> None:
        if not isinstance(function, Module):
            update_wrapper(self, function)  # first: bg.vmap(a_module) has the module's attributes
        self._function = function
        self._parameters = Parameters(function)
        self._static = self._parameters.chosen(_OP, "static", static)
        self._donated = self._parameters.chosen(_OP, "donate", donate)
        self._optimize = optimize
        self._states: OrderedDict[Any, _State] = OrderedDict()
        self._fixed: dict[str, set[str]] = {}  # names of numbers, and their values so far
        self._reasons: list[str] = []
        self._is_plain = ""  # why no call is captured
        self._lock = Lock()

    def _facts(self) -> str:
        return f"of {shown(self._function)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._function, self._static, self._donated, self._optimize)

    def of_copy(self, function: Callable[..., Any]) -> Any:
        """Return another function or module, compiled with the same options."""
        return _again(function, self._static, self._donated, self._optimize)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else partial(self, instance)

    def explain(self) -> Explanation:
        """Return what has been captured, and why: see :class:`Explanation`."""
        return Explanation(self)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function, or replay its graph."""
        if self._donated:
            given = [x for at, x in enumerate(args) if at in self._donated]
            given += [x for name, x in options.items() if name in self._donated]
            result = self._called(args, options)
            map_tree(donate_array, given)
            return result
        return self._called(args, options)

    def _called(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if self._is_plain or blocks.here() is not None or FRAMES.get():
            return self._function(*args, **options)
        found = Signature(args, options, self._parameters, self._static, self._fixed)
        arrays = found.arrays
        tracer = _tracer_of(arrays)
        if tracer is None:
            return self._function(*args, **options)
        key = _key(found, tracer)
        state = self._states.get(key)
        if state is None:
            state = self._begin(key, tracer, found)
        elif len(self._states) > 1:
            self._states.move_to_end(key)
        for one in state.variants:
            gradient = one.variant.gradient
            if (gradient is None or not gradient.is_busy) and one.guards.changed() is None:
                return self._replayed(one, state, found, args, options)
        if not state.is_warm or len(state.variants) >= _MOST_OF_STATE:
            self._drop_changed(state)
            state.is_warm = True
            arrays = [_on_gpu(x) for x in arrays]
            before = versions_of(arrays)
            result = self._plainly(args, options, arrays, found)
            state.changes_arguments |= versions_of(arrays) != before
            return result
        return self._traced(state, found, args, options)

    def _arguments(
        self, args: Any, options: Any, arrays: Iterable[Any], numbers: Iterable[Any]
    ) -> Any:
        tree = args, options, self._parameters, self._static
        return rebuilt(tree, arrays, numbers, self._fixed)

    def _plainly(self, args: Any, options: Any, arrays: Sequence[Any], found: Signature) -> Any:
        """Call the function itself, with NumPy arrays on the GPU."""
        own, named = self._arguments(args, options, map(_on_gpu, arrays), found.numbers)
        return self._function(*own, **named)

    def _begin(self, key: Any, tracer: Tracer, found: Signature) -> _State:
        for name, value in found.constants:
            values = self._fixed[name]
            values.add(value)
            if len(values) == _MANY_VALUES:
                self._warn(
                    f"was captured for {_MANY_VALUES} values of {name}, as its code uses the "
                    "number itself. Pass an array, or leave out jit"
                )
        with self._lock:
            state = self._states[key] = _State(tracer, found.objects)
            while len(self._states) > _MOST_VARIANTS:
                _, oldest = self._states.popitem(last=False)
                for one in oldest.variants:
                    one.variant.close()
        return state

    def _replayed(
        self, one: Compiled, state: _State, found: Signature, args: Any, options: Any
    ) -> Any:
        variant, tracer, arrays = one.variant, state.tracer, found.arrays
        with TURN:
            try:
                variant.graph.check_replay()
            except InvalidArgument as error:
                state.variants.remove(one)
                variant.close()
                self._reasons.append(str(error))
            else:
                if not variant.conflicts(arrays):
                    one.numbers[:] = found.numbers
                    made = variant.run(arrays, tracer)
                    variant.write_back(arrays, tracer)
                    return variant.results(arrays, made, tracer)
        return self._plainly(args, options, arrays, found)

    def _traced(self, state: _State, found: Signature, args: Any, options: Any) -> Any:
        arrays = [_on_gpu(x) for x in found.arrays]
        guards = Guards(self._function, found.objects)
        if guards.share_memory(arrays) or (state.changes_arguments and share_memory(arrays)):
            return self._plainly(args, options, arrays, found)
        for change in {one.guards.changed() for one in state.variants} - {None}:
            self._reasons.append(f"{change} has changed")
        trace = Trace(state.tracer, found.numbers, found.paths, optimize=self._optimize)
        rebuild = partial(self._arguments, args, options)
        result = trace.call(self._function, guards, arrays, rebuild)
        if trace.variant is not None:
            state.variants.append(Compiled(trace.variant, guards, trace.numbers))
        elif trace.fixed:
            self._fix(trace.fixed)
            # The signature with these numbers has just run, so its next call can be captured.
            known = Signature(args, options, self._parameters, self._static, self._fixed)
            key = _key(known, state.tracer)
            warm = self._states.get(key) or self._begin(key, state.tracer, known)
            warm.is_warm, warm.changes_arguments = True, state.changes_arguments
        elif trace.reason:
            self._is_plain = trace.reason
            self._warn(f"runs without a graph from now on, because {trace.reason}")
        return result

    def _warn(self, what: str) -> None:
        name = getattr(self._function, "__name__", type(self._function).__name__)
        stacklevel = frames_of_the_package()
        warnings.warn(f"jit: {name} {what}.", JitWarning, stacklevel=stacklevel)

    def _drop_changed(self, state: _State) -> None:
        """Free the graphs whose guards do not hold."""
        for one in [one for one in state.variants if one.guards.changed() is not None]:
            state.variants.remove(one)
            one.variant.close()

    def _fix(self, names: Iterable[str]) -> None:
        for name in names:
            self._fixed.setdefault(name, set())
            self._reasons.append(f"the function uses the value of {name}")


def _key(found: Signature, tracer: Tracer) -> Any:
    """Return the key of a signature's state in the current modes."""
    modes = is_grad_enabled(), is_autocast_enabled(), DEFAULTS[int], x64_mode()
    return (found.key, *modes, tracer)


def _on_gpu(x: Any) -> Any:
    return creation.asarray(x) if isinstance(x, np.ndarray) else x


def _tracer_of(arrays: Sequence[Any]) -> Tracer | None:
    """Return the tracer of all arrays, or None if their work cannot be captured."""
    found: Tracer | None = None
    for x in arrays:
        if isinstance(x, Value):
            if found is None:
                found = x.tracer
            elif x.tracer is not found:
                return None
    if found is None:
        found = current(None)
    device = found.device
    return found if device.has_values and not device.is_lost and not device.is_closed else None


def jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    static: Iterable[int | str] = (),
    donate: Iterable[int | str] = (),
    optimize: bool = True,
) -> Any:
    """Compile a function: later calls replay its GPU work without its Python code.

    It can be a decorator, ``@browsergpu.jit``. The first call with a signature runs as usual, the
    second is captured, and all later ones replay the captured work.

    Parameters
    ----------
    fun : callable or Module
        The function. Its arguments and results are arrays, NumPy arrays, numbers, and dicts, lists
        and tuples of these. Other arguments are compared by identity.
    static : iterable of int or str, optional
        Positions or names of arguments whose value is part of the signature. They must be hashable.
    donate : iterable of int or str, optional
        Positions or names of arguments whose memory is freed by the call.
    optimize : bool, optional
        Whether to optimize the graph. Kernels of products then also compute the elementwise
        operations on their results, and equal values are computed once. Values that depend on no
        argument are kept until an array that they depend on changes. Results may differ by
        rounding.

    Returns
    -------
    callable or Module
        A function with the method ``explain()``, or a module with the same parameters.

    Raises
    ------
    InvalidType
        If ``fun`` is not callable, or is a coroutine or generator function.

    Notes
    -----
    The signature is the structure of the arguments, shapes and dtypes of arrays, static arguments,
    and the modes of gradients, autocast and default types. The function is captured again if a
    global variable, closure variable or attribute that it reads has changed.

    Arrays that the function changes, such as parameters, optimizer states and running statistics,
    continue from call to call, as do random numbers and schedules. A Python number as an argument
    may have another value in each call if the function combines it only with arrays. Otherwise, the
    number becomes part of the signature.

    A function that reads a value of an array (``float(x)``, ``if x > 0``), or that changes Python
    objects, cannot be replayed. It runs as usual from then on, with one :class:`JitWarning`.

    Examples
    --------
    >>> @bg.jit
    ... def blend(a, b, weight):
    ...     return a * weight + b * (1 - weight)
    >>> for weight in (0.0, 0.5, 0.25):
    ...     found = blend(bg.ones(2), bg.zeros(2), weight)
    >>> found.tolist()
    [0.25, 0.25]
    """
    if fun is None:
        return partial(jit, static=static, donate=donate, optimize=optimize)
    is_other = inspect.iscoroutinefunction(fun) or inspect.isgeneratorfunction(fun)
    if not callable(fun) or is_other or inspect.isasyncgenfunction(fun):
        raise InvalidType(_OP, "fun", fun, "a function, neither async nor a generator")
    found = Jitted(fun, static, donate, checks.flag(_OP, "optimize", optimize))
    return _module(fun, found) if isinstance(fun, Module) else found


def _again(
    function: Any, static: Iterable[int | str], donate: Iterable[int | str], optimize: bool
) -> Any:
    """Return a compiled function that was pickled or copied."""
    return jit(function, static=static, donate=donate, optimize=optimize)


def _module(module: Module, compiled: Jitted) -> Any:
    """Return a module with the same attributes whose calls are compiled."""

    def call(_: Any, *args: Any, **options: Any) -> Any:
        return compiled(*args, **options)

    kind = type(module)
    names = {
        "__call__": call,
        "__deepcopy__": lambda _, memo: compiled.of_copy(deepcopy(module, memo)),
        "__reduce_ex__": lambda _, __: (_again, compiled.__reduce__()[1]),
        "explain": lambda _: compiled.explain(),
    }
    own = type(kind.__name__, (kind,), names)
    found: Any = object.__new__(own)
    object.__setattr__(found, "__dict__", module.__dict__)
    return found
