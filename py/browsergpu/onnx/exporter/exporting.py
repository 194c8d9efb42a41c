"""The public function ``export``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, Unsupported
from browsergpu.engine.core.files import opened
from browsergpu.functions import creation
from browsergpu.networks.module import Module
from browsergpu.onnx.exporter import emitters, networks  # noqa: F401 - they fill EMITTERS
from browsergpu.onnx.exporter.recorder import Name, Recorder
from browsergpu.onnx.graph.types import NUMBERS
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.wire import messages
from browsergpu.onnx.wire.writer import message_bytes

_OP = "onnx.export"
#: The opset of exported files, which onnxruntime reads from version 1.19 on.
OPSET = 20
#: Version of ONNX's file format that has this opset.
_FILE_VERSION = 9
_BATCH = "batch"


def export(
    module: Module, example: Any, file: Any = None, /, *, input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None, dynamic_batch: bool = True,
) -> bytes:  # fmt: skip
    """Export a network built with ``bg.nn`` as an ONNX model.

    Parameters
    ----------
    module : Module
        The network. It is called once or twice, in its current mode: call ``eval()`` before.
    example : Array, NumPy array, or tuple of them
        Inputs. The model gets their shapes and dtypes.
    file : path or file object, optional
        Where to write the model.
    input_names, output_names : sequence of str, optional
        Names of the inputs and outputs. "input", "input_1", … and "output", … by default.
    dynamic_batch : bool, optional
        Whether the first axis of all inputs is a batch of any size.

    Returns
    -------
    bytes
        The model, of opset 20.

    Raises
    ------
    Unsupported
        If the network calls a function that cannot be exported, or ``dynamic_batch`` and a shape
        depends on the batch in another way than by one extent.

    Notes
    -----
    Python code of the network runs once: loops are unrolled, and conditions keep the branch of the
    example. Parameters keep their
    names, unless the network uses parts of them.

    Examples
    --------
    >>> model = bg.onnx.export(bg.nn.Linear(3, 2), bg.ones((1, 3)))
    >>> bg.onnx.load(model).input_names
    ('input',)
    """
    if not isinstance(module, Module):
        raise InvalidType(_OP, "module", module, "a Module")
    arrays = _arrays(example)
    is_dynamic = checks.flag(_OP, "dynamic_batch", dynamic_batch)
    if is_dynamic and any(not x.ndim or not x.shape[0] for x in arrays):
        expected = "arrays with a first axis, as dynamic_batch is True"
        raise InvalidArgument(_OP, "example", example, expected)
    names = _names("input_names", input_names, "input", len(arrays))
    recorder, outputs = _recorded(module, names, arrays)
    if is_dynamic:
        longer = [bg.concatenate([x, x[:1]], 0) for x in arrays]
        other, _ = _recorded(module, names, longer)
        _release_batch(recorder, other)
    wanted = _names("output_names", output_names, "output", len(outputs))
    for name, own in zip(wanted, outputs, strict=True):
        recorder.nodes.append(messages.Node([own], [name], f"to_{name}", "Identity"))
    graph = messages.Graph(
        node=recorder.nodes, name=type(module).__name__,
        initializer=[_tensor(name, x) for name, x in _used(recorder).items()],
        input=[_described(*pair, is_dynamic) for pair in zip(names, arrays, strict=True)],
        output=[messages.ValueInfo(name, _any_type(one)) for name, one in
                zip(wanted, recorder.results, strict=True)],
    )  # fmt: skip
    whole = messages.Model(
        ir_version=_FILE_VERSION, producer_name="browsergpu", graph=graph,
        opset_import=[messages.OperatorSet("", OPSET)],
    )  # fmt: skip
    data = message_bytes(whole)
    if file is not None:
        with opened(_OP, file) as target:
            target.write(data)
    return data


def _arrays(example: Any) -> list[Array]:
    given = example if isinstance(example, tuple | list) else [example]
    if not given or not all(isinstance(x, Array | np.ndarray) for x in given):
        raise InvalidType(_OP, "example", example, "an array, or a tuple of arrays")
    return [x.detach() if isinstance(x, Array) else creation.asarray(x) for x in given]


def _names(argument: str, given: Any, usual: str, count: int) -> list[str]:
    if given is None:
        return [usual if not at else f"{usual}_{at}" for at in range(count)]
    found = [given] if isinstance(given, str) else list(given)
    if len(found) != count or not all(isinstance(x, str) and x for x in found):
        raise InvalidArgument(_OP, argument, given, f"a list of {count} names")
    return found


def _recorded(
    module: Module, names: Sequence[str], arrays: Sequence[Array]
) -> tuple[Recorder, list[Name]]:
    own = {id(x): name for name, x in (*module.named_parameters(), *module.named_buffers())}
    recorder = Recorder(own)
    return recorder, recorder.run(module, list(zip(names, arrays, strict=True)))


def _release_batch(recorder: Recorder, other: Recorder) -> None:
    """Let the batch have any size: shapes that differ between two batches become -1."""
    kinds = [[node.op_type for node in one.nodes] for one in (recorder, other)]
    if kinds[0] != kinds[1]:
        raise Unsupported(_OP, "the module does other work for other batches. Pass "
                          "dynamic_batch=False.")  # fmt: skip
    for node, same in zip(recorder.nodes, other.nodes, strict=True):
        for name, its in zip(node.input, same.input, strict=True):
            a, b = recorder.initial.get(name), other.initial.get(its)
            if a is None or b is None or (a.shape == b.shape and (a == b).all()):
                continue
            if _have_equal_rows(a, b) and node.op_type in _BROADCASTING:
                recorder.initial[name] = a[:1]
                continue
            differs: list[int] = []
            if a.shape == b.shape:
                differs = [int(at) for at in np.flatnonzero(a != b)]
            fits = node.op_type in ("Reshape", "Expand") and len(differs) == 1
            if not fits or (node.op_type == "Reshape" and -1 in a):
                raise Unsupported(
                    _OP, f"the node {node.name!r} ({node.op_type}) depends on the batch. Pass "
                    "dynamic_batch=False.",
                )  # fmt: skip
            a[differs[0]] = -1 if node.op_type == "Reshape" else 1


#: Operators for which one row is as good as equal rows for all of a batch.
_BROADCASTING = frozenset(("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Where"))


def _have_equal_rows(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether arrays consist of copies of one row, such as zeros for each example."""
    if a.ndim != b.ndim or not a.ndim or not a.size or not b.size:
        return False
    first = np.take(a, [0], axis=0)
    if first.shape[1:] != b.shape[1:]:
        return False
    return bool((a == first).all() and (b == first).all())


def _used(recorder: Recorder) -> dict[str, np.ndarray]:
    used = {name for node in recorder.nodes for name in node.input}
    return {name: x for name, x in recorder.initial.items() if name in used}


def _tensor(name: str, x: np.ndarray) -> messages.Tensor:
    return messages.Tensor(
        dims=list(x.shape), data_type=NUMBERS[x.dtype], name=name,
        raw_data=memoryview(np.asarray(x, order="C").tobytes()),
    )  # fmt: skip


def _any_type(x: Array) -> messages.Type:
    return messages.Type(tensor_type=messages.TensorType(NUMBERS[x.dtype]))


def _described(name: str, x: Array, is_dynamic: bool) -> messages.ValueInfo:
    sizes = [messages.Dimension(n) for n in x.shape]
    if is_dynamic:
        sizes[0] = messages.Dimension(None, _BATCH)
    kind = messages.TensorType(NUMBERS[x.dtype], messages.TensorShape(sizes))
    return messages.ValueInfo(name, messages.Type(tensor_type=kind))
