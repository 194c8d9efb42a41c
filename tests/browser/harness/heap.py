"""Counts of live JavaScript objects, from a heap snapshot of DevTools.

`Runtime.queryObjects` would be simpler, but it crashes Chromium 156's renderer once Pyodide is
loaded.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from playwright.sync_api import CDPSession, Page

_COUNTED = ("object", "closure", "native")


class Heap:
    """The JavaScript heap of a page's main thread."""

    def __init__(self, page: Page) -> None:
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._chunks: list[str] = []
        self._session.on(
            "HeapProfiler.addHeapSnapshotChunk", lambda event: self._chunks.append(event["chunk"])
        )
        self._session.send("HeapProfiler.enable")

    def count(self) -> Counter[str]:
        """Return the number of live objects by constructor. Garbage is collected first."""
        # Twice, because finalizers create more garbage.
        for _ in range(2):
            self._session.send("HeapProfiler.collectGarbage")
        self._chunks.clear()
        self._session.send(
            "HeapProfiler.takeHeapSnapshot",
            {"reportProgress": False, "exposeInternals": False, "captureNumericValue": False},
        )
        snapshot: dict[str, Any] = json.loads("".join(self._chunks))
        self._chunks.clear()
        meta, nodes, strings = snapshot["snapshot"]["meta"], snapshot["nodes"], snapshot["strings"]
        width = len(meta["node_fields"])
        counted = {meta["node_types"][0].index(kind) for kind in _COUNTED}
        kind_at, name_at = (meta["node_fields"].index(field) for field in ("type", "name"))
        return Counter(
            strings[nodes[start + name_at]]
            for start in range(0, len(nodes), width)
            if nodes[start + kind_at] in counted
        )
