"""Values from another process, which are uploaded when needed."""

from __future__ import annotations

from contextlib import nullcontext
from typing import ClassVar
from weakref import WeakKeyDictionary, ref

import numpy as np

from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.upload import uploaded
from browsergpu.engine.core.element_types import of_numpy
from browsergpu.engine.core.errors import InvalidType
from browsergpu.engine.core.showing import Shown

#: Host copies of values for devices that have no GPU.
_kept: WeakKeyDictionary[Node, np.ndarray] = WeakKeyDictionary()


class PendingUpload(Shown):
    """The trace of a value that is still on the host.

    Dask pickles arrays in other threads than those that compute, and in processes without a GPU.
    There nothing is uploaded.
    """

    __slots__ = ("__weakref__", "_node", "data", "tracer")

    # No operation fits in this trace.
    code: ClassVar[tuple[int, ...]] = ()
    free_below: ClassVar[int] = -1

    def __init__(self, tracer: Tracer, node: Node, data: np.ndarray) -> None:
        self.tracer = tracer
        self.data = data
        self._node = ref(node)

    def reduces(self, place: int) -> bool:
        """Return False: no reduction can compute the value."""
        return False

    def evaluate(self) -> None:
        """Upload the value.

        It stays on the host if this raises OutOfMemory.
        """
        node = self._node()
        if node is None or node.trace is not self:
            return
        graphs = self.tracer.device.graphs
        block = None if graphs is None else graphs.open
        # The value existed before the block.
        with nullcontext() if block is None else block.aside():
            node.put(uploaded(self.tracer, self.data).storage)
        node.trace = None
        if not self.tracer.device.has_values:
            _kept[node] = self.data


def pending_upload(tracer: Tracer, data: np.ndarray) -> Node:
    """Return a node for a value on the host. ``data`` must not change any more."""
    kind = of_numpy(data.dtype)
    if kind is None or kind.numpy != data.dtype:
        raise InvalidType("arriving", "data", data.dtype, "a dtype of GPU arrays")
    node = Node(kind, data.shape)
    node.trace = PendingUpload(tracer, node, data)
    return node


def on_host(node: Node) -> np.ndarray | None:
    """Return the host data of a value, or None if there is none."""
    return node.trace.data if isinstance(node.trace, PendingUpload) else _kept.get(node)
