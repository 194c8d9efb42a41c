"""Prepares everything that the page needs in the cache."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from devsite.cdn import DEFAULT_CDN, Cdn
from devsite.fetch import Source, fetch_files, missing_offline
from devsite.late import LateWheels
from devsite.layout import Layout
from devsite.lock import cache_lock
from devsite.manifest import Manifest, load_manifest
from devsite.packages import npm, pip
from devsite.progress import Progress
from devsite.server import Late, nothing_late
from devsite.site_lock import NAME as LOCK
from devsite.site_lock import write_site_lock
from devsite.store import Store, write_atomically
from devsite.wheel import ensure_wheel


@dataclass(frozen=True)
class Site:
    """The inputs of the server: folders by URL prefix, the wheel, and the source of late files."""

    roots: Mapping[str, Path]
    wheel: Path
    late: Late

    @property
    def wheel_url(self) -> str:
        """The wheel's path on the server."""
        return f"/wheel/{self.wheel.name}"


def prepare(
    *,
    layout: Layout | None = None,
    manifest: Manifest | None = None,
    offline: bool = False,
    refresh: bool = False,
    progress: Progress | None = None,
    cdn: str | None = None,
) -> Site:
    """Fetch missing files, build the wheel if it is stale, and return their locations.

    ``offline`` allows only the cache. ``refresh`` fetches and builds everything again. ``cdn`` is
    the address of another CDN, by default the one in BROWSERGPU_CDN or jsDelivr.
    """
    layout = layout or Layout()
    manifest = manifest or load_manifest()
    progress = progress or Progress()
    store = Store(layout.files, layout.temporary)
    network = Cdn(cdn or os.environ.get("BROWSERGPU_CDN") or DEFAULT_CDN)
    with cache_lock(layout.cache / "lock", progress):
        store.clear_temporary()
        try:
            files = manifest.files if refresh else store.missing(manifest.files)
            if files and offline:
                raise missing_offline(files)
            if files:
                # Twice, since an interrupted file may succeed the second time.
                sources: list[Source] = [network, network, npm(progress), pip(progress)]
                fetch_files(files, sources, store, progress)
            builders = [store.path(file) for file in manifest.under("build")]
            late: Late = nothing_late
            for file in manifest.files:
                if file.path == f"pyodide/{LOCK}":
                    lock = store.path(file)
                    write_site_lock(lock, manifest.lock, layout.lock, layout.temporary)
                    if not offline:
                        late = LateWheels(lock, file.version, store, network).bring
            wheel = ensure_wheel(layout, builders, progress, rebuild=refresh)
            if not layout.start_index.exists():  # tools/snapshot replaces it
                write_atomically(layout.start_index, [b"[]"], layout.temporary)
        finally:
            # A thread that was cancelled while it waited for a server leaves its file.
            store.clear_temporary()
    roots = {
        "/": layout.web,
        "/gallery/": layout.gallery,
        "/lock/": layout.lock,
        "/pyodide/": layout.files / "pyodide",
        "/start/": layout.start,
        "/vendor/": layout.files / "vendor",
        "/wheel/": layout.wheel,
    }
    if (layout.docs / "index.html").is_file():  # else web/docs/ says how to build it
        roots["/docs/"] = layout.docs
    return Site(roots, wheel, late)
