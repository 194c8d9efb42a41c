"""Bind group layouts, pipeline layouts and bind groups of a device.

Layouts are created once. A bind group is cached until one of its buffers is destroyed.
"""

from __future__ import annotations

import re
from typing import Any

from browsergpu.engine.core.showing import Shown

#: With more groups, the cache is cleared. Creating a group takes microseconds.
_MOST_GROUPS = 4096
_TYPES = {"r": "read-only-storage", "w": "storage", "u": "uniform"}

#: Buffer ids, followed by their sizes in words for groups that bind parts of buffers.
Key = tuple[int, ...]


class Layout(Shown):
    """The layouts and bind groups of all kernels with one signature."""

    def __init__(self, device: Any, signature: str, stage: int) -> None:
        found = re.findall(r"(\d+)([rwu])", signature)
        self.numbers = [int(number) for number, _ in found]
        self.groups: dict[Key, Any] = {}
        self.pipelines: dict[int | str, Any] = {}
        self.bindings = device.create_bind_group_layout(
            label=signature,
            entries=[
                {
                    "binding": int(number),
                    "visibility": stage,
                    "buffer": {"type": _TYPES[access]},
                }
                for number, access in found
            ],
        )


class Bindings(Shown):
    """The layouts and bind groups of one device."""

    def __init__(self, device: Any, stage: int, buffers: dict[int, Any]) -> None:
        self._device = device
        self._stage = stage
        self._buffers = buffers
        self._layouts: dict[str, Layout] = {}
        self._users: dict[int, set[tuple[Layout, Key]]] = {}
        self.live = 0
        self.made = 0
        self.parameters = device.create_bind_group_layout(
            label="parameters",
            entries=[
                {
                    "binding": 0,
                    "visibility": stage,
                    "buffer": {"type": "uniform", "has_dynamic_offset": True},
                }
            ],
        )

    def layout(self, signature: str) -> Layout:
        """Return the layout of a signature such as "0r1w"."""
        if signature not in self._layouts:
            self._layouts[signature] = Layout(self._device, signature, self._stage)
        return self._layouts[signature]

    def pipeline_layout(self, layout: Layout, immediate_bytes: int, uniform: bool) -> Any:
        """Return the pipeline layout for that many bytes of immediates, or for a uniform buffer."""
        key = "uniform" if uniform else immediate_bytes
        if key not in layout.pipelines:
            groups = [layout.bindings, self.parameters] if uniform else [layout.bindings]
            layout.pipelines[key] = self._device.create_pipeline_layout(
                bind_group_layouts=groups, immediate_size=immediate_bytes
            )
        return layout.pipelines[key]

    def make(self, layout: Layout, key: Key) -> Any:
        """Create a bind group for a key, which holds buffer ids and optionally sizes."""
        if self.live >= _MOST_GROUPS:
            self.forget()
        count = len(layout.numbers)
        sizes = key[count:] or (0,) * count
        entries = []
        for number, identity, words in zip(layout.numbers, key, sizes, strict=False):
            buffer = self._buffers[identity]
            resource = {"buffer": buffer, "offset": 0, "size": 4 * words or buffer.size}
            entries.append({"binding": number, "resource": resource})
            self._users.setdefault(identity, set()).add((layout, key))
        group = self._device.create_bind_group(layout=layout.bindings, entries=entries)
        layout.groups[key] = group
        self.live += 1
        self.made += 1
        return group

    def forget(self) -> None:
        """Clear the cache of bind groups."""
        for layout in self._layouts.values():
            layout.groups.clear()
        self._users.clear()
        self.live = 0

    def forget_buffer(self, identity: int) -> None:
        """Remove the bind groups of a buffer that is being destroyed."""
        for layout, key in self._users.pop(identity, ()):
            if layout.groups.pop(key, None) is not None:
                self.live -= 1
            for other in set(key[: len(layout.numbers)]) - {identity}:
                users = self._users.get(other)
                if users is not None:
                    users.discard((layout, key))
