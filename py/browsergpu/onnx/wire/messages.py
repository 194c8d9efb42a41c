"""ONNX's messages, as far as models need them.

Source: onnx.proto of https://github.com/onnx/onnx (Apache-2.0), whose numbers these are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from browsergpu.engine.core.showing import Shown

#: A row of FIELDS: attribute, kind ("int", "float", "str", "bytes", "ints", "floats", "doubles",
#: "strs", or a class of messages), and whether it repeats.
Row = tuple[str, Any, bool]


@dataclass(repr=False, slots=True)
class Message(Shown):
    """Base of messages. ``FIELDS`` maps field numbers to attributes."""

    FIELDS: ClassVar[dict[int, Row]] = {}


@dataclass(repr=False, slots=True)
class Entry(Message):
    """A key and its value."""

    key: str = ""
    value: str = ""

    FIELDS: ClassVar = {1: ("key", "str", False), 2: ("value", "str", False)}


@dataclass(repr=False, slots=True)
class Tensor(Message):
    """An array: its values stand in one of the fields, or in another file."""

    dims: list[int] = field(default_factory=list)
    data_type: int = 0
    float_data: Any = None
    int32_data: list[int] = field(default_factory=list)
    string_data: list[memoryview] = field(default_factory=list)
    int64_data: list[int] = field(default_factory=list)
    name: str = ""
    raw_data: memoryview | None = None
    double_data: Any = None
    uint64_data: list[int] = field(default_factory=list)
    external_data: list[Entry] = field(default_factory=list)
    data_location: int = 0

    FIELDS: ClassVar = {
        1: ("dims", "ints", True), 2: ("data_type", "int", False),
        4: ("float_data", "floats", True), 5: ("int32_data", "ints", True),
        6: ("string_data", "bytes", True), 7: ("int64_data", "ints", True),
        8: ("name", "str", False), 9: ("raw_data", "bytes", False),
        10: ("double_data", "doubles", True), 11: ("uint64_data", "ints", True),
        13: ("external_data", Entry, True), 14: ("data_location", "int", False),
    }  # fmt: skip


@dataclass(repr=False, slots=True)
class SparseTensor(Message):
    """An array whose other values are zeros."""

    values: Tensor | None = None
    indices: Tensor | None = None
    dims: list[int] = field(default_factory=list)

    FIELDS: ClassVar = {
        1: ("values", Tensor, False), 2: ("indices", Tensor, False), 3: ("dims", "ints", True),
    }  # fmt: skip


@dataclass(repr=False, slots=True)
class Dimension(Message):
    """An extent, or the name of one."""

    dim_value: int | None = None
    dim_param: str = ""

    FIELDS: ClassVar = {1: ("dim_value", "int", False), 2: ("dim_param", "str", False)}


@dataclass(repr=False, slots=True)
class TensorShape(Message):
    """Extents."""

    dim: list[Dimension] = field(default_factory=list)

    FIELDS: ClassVar = {1: ("dim", Dimension, True)}


@dataclass(repr=False, slots=True)
class TensorType(Message):
    """The dtype and the shape of an array."""

    elem_type: int = 0
    shape: TensorShape | None = None

    FIELDS: ClassVar = {1: ("elem_type", "int", False), 2: ("shape", TensorShape, False)}


@dataclass(repr=False, slots=True)
class ElementType(Message):
    """The type of a sequence's elements, or of an optional value."""

    elem_type: Type | None = None

    FIELDS: ClassVar = {}  # filled below, as Type refers to it


@dataclass(repr=False, slots=True)
class Type(Message):
    """The type of a value."""

    tensor_type: TensorType | None = None
    sequence_type: ElementType | None = None
    map_type: memoryview | None = None
    sparse_tensor_type: TensorType | None = None
    optional_type: ElementType | None = None

    FIELDS: ClassVar = {
        1: ("tensor_type", TensorType, False), 4: ("sequence_type", ElementType, False),
        5: ("map_type", "bytes", False), 8: ("sparse_tensor_type", TensorType, False),
        9: ("optional_type", ElementType, False),
    }  # fmt: skip


ElementType.FIELDS[1] = ("elem_type", Type, False)


@dataclass(repr=False, slots=True)
class ValueInfo(Message):
    """The name and the type of an input, output or value."""

    name: str = ""
    type: Type | None = None

    FIELDS: ClassVar = {1: ("name", "str", False), 2: ("type", Type, False)}

    @property
    def array(self) -> TensorType | None:
        """The dtype and the shape of an array, None for other values."""
        return self.type.tensor_type if self.type else None


@dataclass(repr=False, slots=True)
class Attribute(Message):
    """An attribute of a node."""

    name: str = ""
    f: float = 0.0
    i: int = 0
    s: memoryview | None = None
    t: Tensor | None = None
    g: Graph | None = None
    floats: Any = None
    ints: list[int] = field(default_factory=list)
    strings: list[memoryview] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    type: int = 0
    ref_attr_name: str = ""
    sparse_tensor: SparseTensor | None = None

    FIELDS: ClassVar = {}


@dataclass(repr=False, slots=True)
class Node(Message):
    """An operation."""

    input: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    name: str = ""
    op_type: str = ""
    attribute: list[Attribute] = field(default_factory=list)
    domain: str = ""
    overload: str = ""

    FIELDS: ClassVar = {
        1: ("input", "strs", True), 2: ("output", "strs", True), 3: ("name", "str", False),
        4: ("op_type", "str", False), 5: ("attribute", Attribute, True),
        7: ("domain", "str", False), 8: ("overload", "str", False),
    }  # fmt: skip


@dataclass(repr=False, slots=True)
class Graph(Message):
    """Nodes, in the order of their computation."""

    node: list[Node] = field(default_factory=list)
    name: str = ""
    initializer: list[Tensor] = field(default_factory=list)
    input: list[ValueInfo] = field(default_factory=list)
    output: list[ValueInfo] = field(default_factory=list)
    value_info: list[ValueInfo] = field(default_factory=list)
    sparse_initializer: list[SparseTensor] = field(default_factory=list)

    FIELDS: ClassVar = {
        1: ("node", Node, True), 2: ("name", "str", False), 5: ("initializer", Tensor, True),
        11: ("input", ValueInfo, True), 12: ("output", ValueInfo, True),
        13: ("value_info", ValueInfo, True), 15: ("sparse_initializer", SparseTensor, True),
    }  # fmt: skip


Attribute.FIELDS.update({
    1: ("name", "str", False), 2: ("f", "float", False), 3: ("i", "int", False),
    4: ("s", "bytes", False), 5: ("t", Tensor, False), 6: ("g", Graph, False),
    7: ("floats", "floats", True), 8: ("ints", "ints", True), 9: ("strings", "bytes", True),
    10: ("tensors", Tensor, True), 11: ("graphs", Graph, True), 20: ("type", "int", False),
    21: ("ref_attr_name", "str", False), 22: ("sparse_tensor", SparseTensor, False),
})  # fmt: skip


@dataclass(repr=False, slots=True)
class OperatorSet(Message):
    """The version of a domain's operators."""

    domain: str = ""
    version: int = 0

    FIELDS: ClassVar = {1: ("domain", "str", False), 2: ("version", "int", False)}


@dataclass(repr=False, slots=True)
class Function(Message):
    """An operator whose nodes the model brings."""

    name: str = ""
    input: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    attribute: list[str] = field(default_factory=list)
    node: list[Node] = field(default_factory=list)
    opset_import: list[OperatorSet] = field(default_factory=list)
    domain: str = ""
    attribute_proto: list[Attribute] = field(default_factory=list)
    overload: str = ""

    FIELDS: ClassVar = {
        1: ("name", "str", False), 4: ("input", "strs", True), 5: ("output", "strs", True),
        6: ("attribute", "strs", True), 7: ("node", Node, True),
        9: ("opset_import", OperatorSet, True), 10: ("domain", "str", False),
        11: ("attribute_proto", Attribute, True), 13: ("overload", "str", False),
    }  # fmt: skip


@dataclass(repr=False, slots=True)
class Model(Message):
    """A file."""

    ir_version: int = 0
    producer_name: str = ""
    producer_version: str = ""
    graph: Graph | None = None
    opset_import: list[OperatorSet] = field(default_factory=list)
    metadata_props: list[Entry] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)

    FIELDS: ClassVar = {
        1: ("ir_version", "int", False), 2: ("producer_name", "str", False),
        3: ("producer_version", "str", False), 7: ("graph", Graph, False),
        8: ("opset_import", OperatorSet, True), 14: ("metadata_props", Entry, True),
        25: ("functions", Function, True),
    }  # fmt: skip


#: The NumPy dtypes of packed floats.
FLOATS: dict[Any, np.dtype[Any]] = {"floats": np.dtype("<f4"), "doubles": np.dtype("<f8")}
