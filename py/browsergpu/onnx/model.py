"""Models from ONNX files: modules whose nodes run on the GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from math import prod
from typing import Any, Self

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.context import current
from browsergpu.arrays.traced_number import is_traced
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description, Shown, byte_count
from browsergpu.functions import creation
from browsergpu.functions.language.quantized import of_blocks
from browsergpu.networks.hub.reports import Report
from browsergpu.networks.module import Module
from browsergpu.networks.parameter import registered
from browsergpu.onnx.graph.builder import Builder, Kind
from browsergpu.onnx.graph.external import ExternalData
from browsergpu.onnx.graph.narrow import Narrow, narrowed, widened
from browsergpu.onnx.graph.node import Context, Node
from browsergpu.onnx.graph.plan import Plan, all_nodes
from browsergpu.onnx.graph.quantized import Quantized
from browsergpu.onnx.graph.tensors import stored_bytes
from browsergpu.onnx.graph.types import DTYPES, NARROW, NarrowType, name_of, type_of
from browsergpu.onnx.graph.values import to_gpu
from browsergpu.onnx.wire import messages

#: Nodes that a repr shows.
_MOST_ROWS = 40


class Value(Shown):
    """An input or output of a model.

    Attributes
    ----------
    name : str
        The name.
    shape : tuple or None
        Extents, each a number, the name of an extent, or None. None if the file does not tell.
    dtype : str
        The dtype, as "float32", or the kind of a value that is no array, as "sequence".
    """

    __slots__ = ("dtype", "name", "number", "shape")

    def __init__(self, info: messages.ValueInfo) -> None:
        self.name = info.name
        self.shape: tuple[int | str | None, ...] | None = None
        kind = info.type
        tensor = info.array
        self.number = tensor.elem_type if tensor else 0
        self.dtype = name_of(self.number) if tensor else "unknown"
        if kind and kind.sequence_type is not None:
            self.dtype = "sequence"
        elif kind and kind.optional_type is not None:
            self.dtype = "optional"
        if tensor and tensor.shape is not None:
            self.shape = tuple(
                one.dim_param or (one.dim_value if (one.dim_value or 0) > 0 else None)
                for one in tensor.shape.dim
            )

    def _facts(self) -> str:
        return f"{self.name!r} {self.described()}"

    def described(self) -> str:
        """Return the shape and the dtype as text."""
        if self.shape is None:
            return self.dtype
        extents = ", ".join("?" if n is None else str(n) for n in self.shape)
        return f"[{extents}] {self.dtype}"


class Explanation(Shown):
    """What a model consists of, and where the nodes of its last call ran.

    Attributes
    ----------
    operators : dict
        The number of nodes by operator.
    opsets : dict
        Versions by domain.
    nodes_on_gpu, nodes_on_host : int
        Nodes of the last call whose work was on the GPU, and nodes of shape arithmetic.
    reads : int
        Values that the last call read from the GPU, each of which waits. ``bg.jit`` cannot capture
        a call that reads one.
    weight_bytes : int
        Bytes of parameters and buffers on the GPU.
    shapes : dict
        The shape and the dtype of each node's first output, as text by name: those in the file, or
        else those of the last call.
    """

    def __init__(self, model: Model) -> None:
        context = model.context
        nodes = list(all_nodes(model.plan))
        self.operators = dict(Counter(node.operator.name for node in nodes).most_common())
        self.opsets = dict(model.opsets)
        self.nodes_on_gpu, self.nodes_on_host = context.nodes_on_gpu, context.nodes_on_host
        self.reads = context.reads
        self.shapes = {
            name: shape for node in model.plan.nodes
            for name, shape in (model._first_output(node),) if name and shape
        }  # fmt: skip
        own = (*model.parameters(), *model.buffers())
        self.weight_bytes = sum(x.node.kind.device_bytes(x.size) for x in own)

    def __repr__(self) -> str:
        counted = ", ".join(f"{name} {count}" for name, count in self.operators.items())
        opsets = ", ".join(f"{name or 'ai.onnx'} {n}" for name, n in self.opsets.items())
        return "\n".join((
            f"{sum(self.operators.values())} nodes, opsets: {opsets}",
            f"operators: {counted}",
            f"weights on the GPU: {byte_count(self.weight_bytes)}",
            f"last call: {self.nodes_on_gpu} nodes on the GPU, {self.nodes_on_host} of shape "
            f"arithmetic on the host, {self.reads} reads",
        ))  # fmt: skip


class _Weights(Mapping[str, Any]):
    """The parameters and buffers of a model, as its nodes see them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.narrow: dict[str, NarrowType] = {}
        self.quantized: dict[str, Quantized] = {}

    def __getitem__(self, name: str) -> Any:
        own = self._model.__dict__
        found = own["_parameters"].get(name)
        if found is None:
            found = own["_buffers"][name]
            if name in self.narrow:
                return Narrow(found, self.narrow[name])
            if name in self.quantized:
                kind = self.quantized[name]
                return of_blocks(found, kind.shape, kind.format)
        return found

    def __iter__(self) -> Iterator[str]:
        own = self._model.__dict__
        return iter((*own["_parameters"], *own["_buffers"]))

    def __len__(self) -> int:
        own = self._model.__dict__
        return len(own["_parameters"]) + len(own["_buffers"])


class Model(Module):
    """A model from an ONNX file. :func:`load` makes it.

    Its float initializers are parameters, under their names in the file. They do not require
    gradients until ``requires_grad_()``. It is in evaluation mode. The matrix of a MatMulNBits and
    its scales are one buffer of blocks, if blocks of 32 keep all values exactly.

    Attributes
    ----------
    inputs, outputs : tuple of Value
        Names, shapes and dtypes.
    opsets : dict
        Versions by domain, "" for ONNX's own.
    metadata : dict
        The file's strings by name.
    producer : str
        The program that wrote the file.
    """

    def __init__(
        self, model: messages.Model, external: ExternalData, device: Any, report: Report
    ) -> None:
        super().__init__()
        graph = model.graph
        assert graph is not None
        uploads = _Uploads(sum(map(stored_bytes, graph.initializer)), report)

        def keep(name: str, values: np.ndarray, kind: Kind) -> None:
            self._keep(name, values, kind)
            uploads.add(values.nbytes)

        weights = _Weights(self)
        own = self.__dict__
        own["_weights"], own["context"], own["_device"] = weights, Context(), device
        own["_has_run"] = False
        for info in (*graph.input, *graph.output):
            _check_type(info)
        reserve = partial(current(device).device.memory.reserve, "onnx.load")
        own["plan"] = Builder(model, external, self.context, weights, keep, reserve).graph(graph)
        uploads.finish()
        own["inputs"] = tuple(Value(x) for x in graph.input if x.name in set(self.plan.inputs))
        own["outputs"] = tuple(Value(x) for x in graph.output)
        own["opsets"] = {one.domain: one.version for one in model.opset_import}
        own["metadata"] = {one.key: one.value for one in model.metadata_props}
        own["producer"] = f"{model.producer_name} {model.producer_version}".strip()
        known = (*graph.value_info, *graph.output)
        own["_shapes"] = _Shapes({x.name: Value(x).described() for x in known if x.type})
        self.eval()

    context: Context
    plan: Plan
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    opsets: dict[str, int]
    metadata: dict[str, str]
    producer: str

    def _keep(self, name: str, values: np.ndarray, kind: Kind) -> None:
        """Upload an array as a parameter, or as a buffer if it has no gradient."""
        wide = {"float64": np.float32, "complex128": np.complex64}.get(values.dtype.name)
        data = values.astype(wide) if wide else values
        array = creation.asarray(data, device=self.__dict__["_device"], copy=True)
        if kind is None and array.dtype.kind == "f":
            # Names such as "inputs" must not replace the model's own attributes.
            self.__dict__["_parameters"][name] = registered(array, False)
            return
        if isinstance(kind, Quantized):
            self.__dict__["_weights"].quantized[name] = kind
        elif kind is not None:
            self.__dict__["_weights"].narrow[name] = kind
        self.__dict__["_buffers"][name] = array

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return tuple(one.name for one in self.inputs)

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return tuple(one.name for one in self.outputs)

    def forward(self, *args: Any, **named: Any) -> Any:
        """Return the outputs.

        Parameters
        ----------
        *args : Array, NumPy array, number or list of them
            Inputs in the file's order. Python numbers stay on the host, so that a condition on one
            does not read the GPU.
        **named
            Inputs by name, ``**{"x:0": array}`` for names that are no identifiers.

        Returns
        -------
        Array or tuple of Array
            The output, or all of them in the file's order.

        Raises
        ------
        InvalidArgument
            If inputs are missing, unknown, or of another shape.
        InvalidType
            If an input has another dtype.
        """
        values = self._values(args, named)
        context = self.context
        context.nodes_on_host = context.nodes_on_gpu = context.reads = 0
        # The kernels of the first call compile at the same time if Python does not wait between.
        is_first = not self.__dict__["_has_run"]
        ahead = current(self.__dict__["_device"]).device.unthrottled()
        with ahead if is_first else nullcontext():
            found = tuple(map(_result, self.plan.run(values, {})))
        self.__dict__["_has_run"] = True
        return found[0] if len(found) == 1 else found

    def _values(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        names = self.input_names
        if len(args) > len(names):
            actual = Description(f"{len(args)} inputs")
            raise InvalidArgument("Model", "args", actual, f"at most {len(names)} inputs")
        given = dict(zip(names, args, strict=False))
        for name, x in named.items():
            if name not in names or name in given:
                expected = "given once" if name in given else f"one of {', '.join(names)}"
                raise InvalidArgument("Model", "input", name, expected)
            given[name] = x
        missing = [one.name for one in self.inputs
                   if one.name not in given and one.dtype != "optional"]  # fmt: skip
        if missing:
            actual = Description(f"none for {', '.join(missing)}")
            raise InvalidArgument("Model", "inputs", actual, f"given for {', '.join(names)}")
        return [self._value(one, given.get(one.name)) for one in self.inputs]

    def _value(self, info: Value, x: Any) -> Any:
        if x is None or info.dtype in ("sequence", "optional", "unknown"):
            if isinstance(x, list | tuple):
                return [to_gpu(np.asarray(one)) if not isinstance(one, Array) else one for one in x]
            return x if x is None or isinstance(x, Array) else to_gpu(np.asarray(x))
        wanted = DTYPES.get(info.number)
        if is_traced(x):  # in jit, its value becomes a part of the signature
            x = float(x) if wanted is None or wanted.kind in "fc" else int(x)
        stays = isinstance(x, int | float | np.generic)
        array = x if isinstance(x, Array) else np.asarray(x)
        if wanted is None:
            kind = NARROW[info.number]
            _check_shape(info, tuple(array.shape))
            return narrowed(
                array if isinstance(array, Array) else np.asarray(array, kind.wide), kind
            )
        if array.dtype != wanted:
            is_number = stays and array.dtype.kind in "biuf"
            same = {"i": "iu", "u": "iu", "f": "f", "b": "b", "c": "fc"}[wanted.kind]
            if not (array.dtype.kind in same or (is_number and wanted.kind == "f")):
                raise InvalidType("Model", info.name, array.dtype, f"{info.dtype}")
            array = array.astype(self.context.dtype(wanted))
        _check_shape(info, tuple(array.shape))
        if stays:
            return np.asarray(array)
        if not isinstance(array, Array):
            array = creation.asarray(to_native(array), device=self.__dict__["_device"])
        if array.dtype == np.float32 and self.context.floats != np.float32:
            array = array.astype(self.context.floats)
        return array

    def to(self, device: Any = None, dtype: Any = None) -> Self:
        """Move to a device, or compute in another float dtype.

        Parameters
        ----------
        device : optional
            The new device.
        dtype : optional
            float16 or float32: the dtype of all parameters, inputs and results that are float32 in
            the file.

        Returns
        -------
        Model
            This model.
        """
        super().to(device, dtype)
        if dtype is not None:
            self.context.floats = np.dtype(dtype)
        if device is not None:
            self.__dict__["_device"] = device
        self.context.forget_uploads()
        return self

    def explain(self) -> Explanation:
        """Return the operators, the memory, and where the last call's nodes ran."""
        return Explanation(self)

    def __repr__(self) -> str:
        def listed(values: Sequence[Value]) -> str:
            return ", ".join(f"{one.name} {one.described()}" for one in values)

        nodes = self.plan.nodes
        size = sum(prod(x.shape) for x in self.parameters())
        lines = [
            f"Model({len(nodes)} nodes, {size:,} parameters)",
            f"  inputs:  {listed(self.inputs)}",
            f"  outputs: {listed(self.outputs)}",
        ]
        rows = [self._row(at, node) for at, node in enumerate(nodes[:_MOST_ROWS])]
        if rows:
            head = ("", "operator", "node", "output", "shape")
            widths = [max(len(row[at]) for row in (head, *rows)) for at in range(5)]
            for row in (head, *rows):
                cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
                lines.append(("  " + "  ".join(cells)).rstrip())
        if len(nodes) > len(rows):
            lines.append(f"  … {len(nodes) - len(rows)} more nodes")
        return "\n".join(lines)

    def _row(self, at: int, node: Node) -> tuple[str, ...]:
        first, shape = self._first_output(node)
        return str(at), node.operator.name, _cut(node.name), _cut(first), shape

    def _first_output(self, node: Node) -> tuple[str, str]:
        """Return the name of a node's first output, and its shape and dtype if they are known."""
        name = next((one for one in node.outputs if one), "")
        known = self.__dict__["_shapes"].known.get(name, "")
        if not known and node.last and name == node.outputs[0]:
            shape, dtype = node.last
            known = f"[{', '.join(map(str, shape))}] {dtype}"
        return name, known


class _Uploads(Shown):
    """Reports the bytes of weights that are on the GPU."""

    def __init__(self, total: int, report: Report) -> None:
        self._done, self._total, self._report = 0, total, report

    def add(self, nbytes: int) -> None:
        # Values of few bits are wider in memory than in the file. The end is reported once.
        self._done += nbytes
        if self._done < self._total:
            self._report(self._done, self._total, "weights")

    def finish(self) -> None:
        self._report(self._total, self._total, "weights")


class _Shapes(Shown):
    """Descriptions of values by name."""

    def __init__(self, known: dict[str, str]) -> None:
        self.known = known


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"…{text[-39:]}"


def to_native(x: np.ndarray) -> np.ndarray:
    """Return an array in a dtype that the GPU has."""
    wide = {"float64": np.float32, "complex128": np.complex64}.get(x.dtype.name)
    return x.astype(wide) if wide else x


def _check_type(info: messages.ValueInfo) -> None:
    """Raise Unsupported for an input or output of strings or of an unknown type."""
    tensor = info.array
    if tensor is not None:
        type_of(tensor.elem_type, f"the value {info.name!r}")


def _check_shape(info: Value, shape: tuple[int, ...]) -> None:
    if info.shape is None:
        return
    pairs = zip(info.shape, shape, strict=False)
    fits = len(info.shape) == len(shape) and all(
        not isinstance(want, int) or want == got for want, got in pairs
    )
    if not fits:
        actual = Description(f"shape {shape}")
        raise InvalidArgument("Model", info.name, actual, f"have shape {info.described()}")


def _result(x: Any) -> Any:
    if isinstance(x, list):
        return [_result(one) for one in x]
    return to_gpu(widened(x))
