"""A node that runs: an operator, its attributes, and the names of its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from browsergpu.engine.core.showing import Shown
from browsergpu.onnx.graph.narrow import Narrow, narrowed, widened
from browsergpu.onnx.graph.types import BFLOAT16, DTYPES, NARROW, NarrowType
from browsergpu.onnx.graph.values import on_host, to_gpu, to_host
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import Operator


class Context(Shown):
    """What all nodes of a model share.

    Attributes
    ----------
    floats : np.dtype
        The dtype of float32 values: float32, or float16 after ``to(dtype="float16")``.
    uploads : dict
        Arrays on the GPU for constants on the host, by id.
    nodes_on_host, nodes_on_gpu, reads : int
        Of the last call: nodes by the place of their work, and values read from the GPU.
    """

    def __init__(self) -> None:
        self.floats = np.dtype(np.float32)
        self.uploads: dict[int, tuple[np.ndarray, Any]] = {}
        self.nodes_on_host = self.nodes_on_gpu = self.reads = 0
        self.generator: Any = None

    def dtype(self, kind: np.dtype[Any]) -> np.dtype[Any]:
        """Return the dtype of arrays for a dtype of the model."""
        return self.floats if kind == np.float32 else kind

    def to_gpu(self, x: Any) -> Any:
        """Return a host array on the GPU. Constants are uploaded once."""
        if not isinstance(x, np.ndarray | np.generic):
            return x
        known = self.uploads.get(id(x))
        if known is None or known[0] is not x:  # a copied model has other constants
            return self._uploaded(np.asarray(x))
        if known[1] is None:
            known = self.uploads[id(x)] = known[0], self._uploaded(known[0])
        return known[1]

    def _uploaded(self, x: np.ndarray) -> Any:
        found = to_gpu(x)
        return found.astype(self.floats, copy=False) if found.dtype.name == "float32" else found

    def keep(self, x: np.ndarray) -> None:
        """Let a constant be uploaded once."""
        self.uploads[id(x)] = x, None

    def forget_uploads(self) -> None:
        """Upload constants again, after a change of the dtype or device."""
        self.uploads = {at: (x, None) for at, (x, _) in self.uploads.items()}


class Node(Shown):
    """A node of a graph, as functions of operators get it.

    Attributes
    ----------
    operator : Operator
        The operator.
    name : str
        The node's name, or one made from its position.
    inputs, outputs : tuple of str
        Names of values. "" is a missing one.
    opset : int
        The version of the operator's domain.
    last : tuple or None
        The shape and the dtype of the first output in the last call.
    """

    __slots__ = (
        "attributes", "body", "context", "dead", "inputs", "last", "name", "operator", "opset",
        "outputs", "plans",
    )  # fmt: skip

    def __init__(
        self, operator: Operator, name: str, inputs: Sequence[str], outputs: Sequence[str],
        attributes: dict[str, Any], context: Context, opset: int,
    ) -> None:  # fmt: skip
        self.operator, self.name, self.opset = operator, name, opset
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.attributes, self.context = attributes, context
        self.dead: tuple[str, ...] = ()
        self.plans: dict[str, Any] = {}
        self.last: tuple[tuple[int, ...], Any] | None = None
        self.body: Any = None  # the plan of a function of the model

    def _facts(self) -> str:
        return f"{self.operator.name} {self.name!r}"

    def dtype(self, number: int) -> Any:
        """Return the dtype or narrow type with ONNX's number, for the model's current dtype."""
        if number in NARROW:
            return NARROW[number]
        return self.context.dtype(DTYPES[number])

    def wants(self, output: int) -> bool:
        """Whether the graph uses an output."""
        return output < len(self.outputs) and bool(self.outputs[output])

    def generator(self, seed: float | None) -> Any:
        """Return the source of random numbers: of a seed, or of the model."""
        if seed is not None:
            return bg.random.default_rng(int(np.float32(seed).view(np.uint32)))
        if self.context.generator is None:
            self.context.generator = bg.random.default_rng()
        return self.context.generator

    def read(self, x: Any) -> Any:
        """Return a value on the host. It waits for one of the GPU."""
        if x is None or on_host(x):
            return x
        self.context.reads += 1
        return to_host(x)

    def compute(self, values: Sequence[Any], outer: dict[str, Any]) -> tuple[Any, ...]:
        """Return the outputs for the inputs. ``outer`` has the values that subgraphs see."""
        operator = self.operator
        is_folded = (operator.folds or operator.raw) and all(
            x is None or on_host(x) for x in values
        )
        narrow: NarrowType | None = None
        if is_folded:
            own = list(values)
        else:
            own = []
            for at, x in enumerate(values):
                if at in operator.host:
                    x = self.read(x)
                elif operator.raw:
                    pass
                elif isinstance(x, Narrow):
                    narrow = x.type
                    x = widened(x)
                elif not operator.folds or (isinstance(x, np.ndarray) and x.size > 1):
                    x = self.context.to_gpu(x)
                own.append(x)
        options = self.attributes
        if self.plans:
            options = {
                **options,
                **{name: _bound(plan, outer) for name, plan in self.plans.items()},
            }
        if operator.wants_node:
            options = {**options, "node": self}
        found = operator.function(*own, **options)
        results = found if isinstance(found, tuple) else (found,)
        if on_host(*results):
            self.context.nodes_on_host += 1
        else:
            self.context.nodes_on_gpu += 1
        if narrow is BFLOAT16:
            results = tuple(map(_bfloat, results))
        first = results[0]
        if isinstance(first, Narrow):
            self.last = first.shape, first.type.name
        elif hasattr(first, "shape"):  # no sequence, and not missing
            self.last = first.shape, first.dtype
        return results


def _bfloat(x: Any) -> Any:
    is_float = getattr(x, "dtype", None) == np.float32
    return narrowed(x, BFLOAT16) if is_float else x


def _bound(plan: Any, outer: dict[str, Any]) -> Any:
    if isinstance(plan, list):
        return [_bound(one, outer) for one in plan]
    return lambda *inputs: plan.run(inputs, outer)
