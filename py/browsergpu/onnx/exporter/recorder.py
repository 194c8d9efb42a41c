"""Recording of a module's call: its public functions as nodes of ONNX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import BoundArguments
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import BATCHED, Frame, batch_of, batched, opened
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.autograd import trees
from browsergpu.engine.core.errors import Unsupported
from browsergpu.engine.core.showing import Shown
from browsergpu.onnx.graph.types import NUMBERS
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.wire import messages


class Call(Shown):
    """A call of a public function.

    Attributes
    ----------
    key : str
        The function, as "browsergpu.functions.elementwise.add".
    given : dict
        The arguments by parameter. Recorded arrays are names.
    values : dict
        The same arguments, with the values of recorded arrays.
    result : Array or tuple of Array
        What the function returned.
    """

    def __init__(
        self, key: str, given: dict[str, Any], values: dict[str, Any], result: Any
    ) -> None:
        self.key, self.given, self.values, self.result = key, given, values, result

    def is_of(self, name: str) -> bool:
        """Whether the function has a name."""
        return self.key.rpartition(".")[2] == name


class Name(str):
    """The name of a recorded value."""

    __slots__ = ()


Emit = Callable[["Recorder", Call], Any]
#: Functions that make nodes of a call, by the key of a public function.
EMITTERS: dict[str, Emit] = {}


def emits(*keys: str) -> Callable[[Emit], Emit]:
    """Make a function emit the nodes for public functions. ``keys`` lack ``browsergpu.functions.``.

    The function takes the recorder and the call, and returns the name of the result.
    """

    def register(function: Emit) -> Emit:
        for key in keys:
            EMITTERS[f"browsergpu.functions.{key}"] = function
        return function

    return register


class Recorder(Shown):
    """Nodes and initializers of a module's call.

    Attributes
    ----------
    nodes : list of messages.Node
        The nodes so far.
    initial : dict
        Arrays by name.
    """

    def __init__(self, names: dict[int, str]) -> None:
        self.nodes: list[messages.Node] = []
        self.initial: dict[str, np.ndarray] = {}
        self.results: list[Array] = []
        self._known: dict[int, tuple[Any, Name]] = {}  # of recorded values and arrays, by id
        self._parameters = names
        self._frame = Frame(1, self._record)

    def run(self, function: Callable[..., Any], inputs: Sequence[tuple[str, Array]]) -> list[Name]:
        """Call a function with arrays as inputs. Return the names of its results."""
        own = [self._array(Name(name), value) for name, value in inputs]
        with opened((self._frame,)), no_grad():
            found = function(*own)
            results = trees.leaves(found)
            for x in results:
                if not isinstance(x, Array):
                    what = f"the module must return arrays, got {type(x).__name__}"
                    raise Unsupported("onnx.export", f"{what}.")
            self.results = [self._value(x) for x in results]
            return [self.name(self._named(x)) for x in results]

    def _array(self, name: Name, value: Array) -> Array:
        """Return an array that stands for a recorded value."""
        whole = bg.expand_dims(value.detach(), axis=0)
        self._known[id(whole)] = whole, name
        return batched(whole, self._frame)

    def _named(self, x: Any) -> Any:
        """Return an argument with names in place of recorded arrays."""
        if type(x) in BATCHED:
            return self._known[id(batch_of(x).value)][1]
        if type(x) in (list, tuple):
            return type(x)([self._named(one) for one in x])
        return x

    @staticmethod
    def _value(x: Any) -> Any:
        if type(x) in BATCHED:
            return batch_of(x).value[0]
        if type(x) in (list, tuple):
            return type(x)([Recorder._value(one) for one in x])
        return x

    def _record(self, public: Any, key: str, bound: BoundArguments) -> Any:
        if key == "of_elements" and isinstance(public, partial):
            key = f"browsergpu.functions.special.{public.args[0]}"
        emit = EMITTERS.get(key)
        if emit is None:
            name = key.removeprefix("browsergpu.functions.")
            raise Unsupported(
                "onnx.export", f"the module calls {name}, which cannot be exported. Operators "
                "that can are listed in docs/onnx.md.",
            )  # fmt: skip
        bound.apply_defaults()
        given = {name: self._named(x) for name, x in bound.arguments.items()}
        values = {name: self._value(x) for name, x in bound.arguments.items()}
        for name, x in values.items():
            bound.arguments[name] = x
        with no_grad():
            result = public(*bound.args, **bound.kwargs)
        names = emit(self, Call(key, given, values, result))
        if isinstance(result, tuple):
            return tuple(self._array(*pair) for pair in zip(names, result, strict=True))
        return self._array(names, result)

    # -- for emitters ------------------------------------------------------------------------------

    def __call__(self, kind: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        """Append a node. Inputs are names, arrays, or None for a missing one. Returns its name."""
        made = [Name(f"{kind.lower()}_{len(self.nodes)}{'' if not at else f'_{at}'}")
                for at in range(outputs)]  # fmt: skip
        used = ["" if x is None else self.name(x) for x in inputs]
        while used and not used[-1]:
            used.pop()
        self.nodes.append(messages.Node(
            input=list(used), output=list(made), name=made[0], op_type=kind,
            attribute=[_attribute(key, x) for key, x in attributes.items() if x is not None],
        ))  # fmt: skip
        return made[0] if outputs == 1 else tuple(made)

    def name(self, x: Any, dtype: Any = None) -> Name:
        """Return the name of a value: a recorded one, or an initializer for an array or numbers."""
        if isinstance(x, Name):
            return x
        if isinstance(x, Array):
            known = self._known.get(id(x))
            if known is not None:
                return known[1]
            name = Name(self._parameters.get(id(x), f"constant_{len(self.initial)}"))
            self._known[id(x)] = x, name
            self.initial[name] = np.asarray(x.detach().numpy())
            return name
        name = Name(f"constant_{len(self.initial)}")
        self.initial[name] = np.asarray(x, dtype)
        return name

    def integers(self, *numbers: int) -> Name:
        """Return the name of a list of int64."""
        return self.name(np.array(numbers, np.int64))

    def cast(self, x: Any, before: Any, dtype: Any) -> Any:
        """Return a value in another dtype."""
        if np.dtype(before) == np.dtype(dtype):
            return x
        return self("Cast", x, to=NUMBERS[np.dtype(dtype)])


def _attribute(name: str, value: Any) -> messages.Attribute:
    one = messages.Attribute(name=name)
    if isinstance(value, str):
        one.s, one.type = memoryview(value.encode()), 3
    elif isinstance(value, float):
        one.f, one.type = value, 1
    elif isinstance(value, int):
        one.i, one.type = int(value), 2
    else:
        one.ints, one.type = [int(n) for n in value], 7
    return one
