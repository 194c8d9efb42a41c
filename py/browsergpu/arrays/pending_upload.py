"""Values that came from another process, and are uploaded when they are needed."""

from __future__ import annotations

from contextlib import nullcontext
from typing import ClassVar
from weakref import WeakKeyDictionary, ref

import numpy as np

from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.upload import uploaded
from browsergpu.core.element_types import of_numpy
from browsergpu.core.errors import InvalidType
from browsergpu.core.showing import Shown

#: Where there is no GPU to upload to, the host's copy stays all that there is of a value.
_kept: WeakKeyDictionary[Node, np.ndarray] = WeakKeyDictionary()


class PendingUpload(Shown):
    """What a value that is still on the host has for a Trace. Dask takes arrays apart and puts
    them together in other threads than those that compute, even in processes without a GPU: there
    nothing is uploaded."""

    __slots__ = ("__weakref__", "_node", "data", "tracer")

    # No operation finds room here.
    code: ClassVar[tuple[int, ...]] = ()
    free_below: ClassVar[int] = -1

    def __init__(self, tracer: Tracer, node: Node, data: np.ndarray) -> None:
        self.tracer = tracer
        self.data = data
        self._node = ref(node)

    def reduces(self, place: int) -> bool:
        """Whether a reduction may compute it: never."""
        return False

    def evaluate(self) -> None:
        """Uploads it. Raises OutOfMemory where there is no room; it is then still here."""
        node = self._node()
        if node is None or node.trace is not self:
            return
        graphs = self.tracer.device.graphs
        block = None if graphs is None else graphs.open
        with nullcontext() if block is None else block.aside():  # it was there before the block
            node.put(uploaded(self.tracer, self.data).storage)
        node.trace = None
        if not self.tracer.device.has_values:
            _kept[node] = self.data


def pending_upload(tracer: Tracer, data: np.ndarray) -> Node:
    """A value on the host, of a dtype that the GPU has. ``data`` must not change any more."""
    kind = of_numpy(data.dtype)
    if kind is None or kind.numpy != data.dtype:
        raise InvalidType("arriving", "data", data.dtype, "a dtype of the GPU's")
    node = Node(kind, data.shape)
    node.trace = PendingUpload(tracer, node, data)
    return node


def on_host(node: Node) -> np.ndarray | None:
    """What of a value is on the host; None where it is on the GPU, or nowhere."""
    return node.trace.data if isinstance(node.trace, PendingUpload) else _kept.get(node)
