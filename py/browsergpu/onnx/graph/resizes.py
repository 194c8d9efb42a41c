"""Sums and products before Resize of nearest elements, which are computed after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Shown
from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.rewriting import (
    computed,
    is_one,
    joined,
    makers_of,
    readers_of,
    reads_of,
    with_replacements,
)
from browsergpu.onnx.graph.values import on_host
from browsergpu.onnx.registry import Operator

#: Most sums and products before a Resize.
_MOST = 4


class _Parts(NamedTuple):
    """The nodes: sums and products in order, and Resize of the last one."""

    elements: list[Node]
    resize: Node


def with_resizes(nodes: Sequence[Node], used: Iterable[str]) -> list[Node]:
    """Return the nodes of a graph, with one node for sums and products and their Resize.

    The new node resizes the image that they read, if other nodes read it too. One kernel then
    computes all, and the smaller result is not written.

    Parameters
    ----------
    nodes
        The nodes in order.
    used
        Names of values that the graph returns, or that its subgraphs use.
    """
    found = _Search(nodes, used)
    replaced: dict[int, Node] = {}
    gone: set[int] = set()
    for node in nodes:
        elements = found.before(node)
        if elements:
            gone.update(id(one) for one in elements)
            parts = _Parts(elements, node)
            replaced[id(node)] = joined(_OPERATOR, parts, [*elements, node])
    return with_replacements(nodes, replaced, gone)


class _Search(Shown):
    """Finds sums and products."""

    def __init__(self, nodes: Sequence[Node], used: Iterable[str]) -> None:
        self._makers, self._reads = makers_of(nodes), reads_of(nodes, used)
        self._readers = readers_of(nodes)

    def before(self, resize: Node) -> list[Node]:
        """Return the sums and products that only a Resize of nearest elements reads, or []."""
        own = resize.attributes
        coordinates = own.get("coordinate_transformation_mode", "half_pixel")
        is_nearest = is_one(resize, "Resize") and own.get("mode", "nearest") == "nearest"
        if not is_nearest or resize.opset < 11 or coordinates == "tf_crop_and_resize":
            return []
        found: list[Node] = []
        names = [resize.inputs[0]]
        while names:
            maker = self._makers.get(names.pop())
            if maker in found or not is_one(maker, "Add", "Mul"):
                continue
            if not all(one in (*found, resize) for one in self._readers[maker.outputs[0]]):
                continue
            if self._reads[maker.outputs[0]] != len(self._readers[maker.outputs[0]]):
                continue
            found.append(maker)
            names += maker.inputs
        found.reverse()
        return found if len(found) <= _MOST and self._is_read_by_others(found) else []

    def _is_read_by_others(self, elements: Sequence[Node]) -> bool:
        """Whether nodes read a value that others read too, which is in memory then."""
        made = {one.outputs[0] for one in elements}
        return any(
            self._reads[name] > sum(one.inputs.count(name) for one in elements)
            for one in elements
            for name in one.inputs
            if name not in made
        )


def _resized(*values: Any, parts: _Parts, names: Sequence[str]) -> Any:
    """Resize the only image that sums and products read, or else their result."""
    known = dict(zip(names, values, strict=True))
    elements, resize = parts
    image = _image(elements, known)
    if image is None or not _keeps_channels(resize, known[image].shape, known):
        return computed([*elements, resize], known)
    options = {name: known[name] for name in resize.inputs[1:] if name}
    known[image] = computed([resize], {resize.inputs[0]: known[image], **options})
    return computed(elements, known)


def _image(elements: Sequence[Node], known: Mapping[str, Any]) -> str | None:
    """Return the name of the only value with more than one element for each channel, or None."""
    shapes = {name: known[name].shape for one in elements for name in one.inputs if name in known}
    whole = np.broadcast_shapes(*shapes.values())
    images = [name for name, own in shapes.items() if own == whole]
    others = [own[2 - len(whole) :] for name, own in shapes.items() if name not in images]
    if len(whole) < 3 or len(images) != 1 or any(n != 1 for own in others for n in own):
        return None
    return images[0]


def _keeps_channels(resize: Node, shape: Shape, known: Mapping[str, Any]) -> bool:
    """Whether a Resize leaves the first two axes of an image as they are."""
    own = resize.attributes
    if own.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        return False
    axes = [n % len(shape) for n in own.get("axes") or range(len(shape))]
    scales, sizes = [known.get(name) for name in [*resize.inputs, "", ""][2:4]]
    if not all(one is None or on_host(one) for one in (scales, sizes)):
        return False
    if scales is not None and scales.size:
        return all(n == 1 for axis, n in zip(axes, scales, strict=True) if axis < 2)
    if sizes is None:
        return False
    return all(n == shape[axis] for axis, n in zip(axes, sizes, strict=True) if axis < 2)


_OPERATOR = Operator("ElementsResized", "browsergpu", 1, 1 << 30, _resized, (), False, True)
