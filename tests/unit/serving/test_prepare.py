"""prepare() fills an empty cache to a complete site, and reports errors."""

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from cdn_server import CdnServer, Reply
from sample import (
    NO_CDN,
    Notes,
    files_below,
    fill_cache,
    manifest_file,
    tiny_disk,
    with_build_files,
)

from devsite.cdn import Cdn
from devsite.errors import CacheUnusable, MissingFiles, SiteError, SourcesFailed
from devsite.fetch import fetch_files
from devsite.layout import Layout
from devsite.lock import cache_lock
from devsite.manifest import Manifest, Package
from devsite.progress import Progress
from devsite.site import prepare
from devsite.store import Store

CONTENT = {
    "pyodide/core.wasm": b"\0asm" * 5000,
    "pyodide/numpy.whl": b"PK" * 9000,
    "vendor/@scope/editor/dist/index.js": b"export {};\n" * 70,
}
ENTRIES = [manifest_file(path, content, cdn=f"cdn/{path}") for path, content in CONTENT.items()]
MANIFEST = with_build_files(*ENTRIES)


@pytest.fixture
def full_cdn(cdn: CdnServer) -> CdnServer:
    cdn.replies = {f"cdn/{path}": Reply(content) for path, content in CONTENT.items()}
    return cdn


@pytest.fixture
def site(checkout: Layout) -> Layout:
    """A checkout whose cache has only the files that build the wheel."""
    fill_cache(checkout, "build/")
    return checkout


@pytest.fixture
def no_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """npm is missing, and pip has no index."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)


def test_fills_an_empty_cache(full_cdn: CdnServer, site: Layout, notes: Notes) -> None:
    made = prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url, progress=notes)
    for path, content in CONTENT.items():
        assert (site.files / path).read_bytes() == content
    assert made.wheel.parent == site.wheel
    folders = {"gallery", "lock", "pyodide", "start", "vendor", "wheel"}
    assert set(made.roots) == {"/", *(f"/{name}/" for name in folders)}
    assert sorted(path for path, _ in notes.files) == sorted(CONTENT)
    assert files_below(site.temporary) == []


def test_the_documentation_is_served_where_it_was_built(full_cdn: CdnServer, site: Layout) -> None:
    assert "/docs/" not in prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url).roots
    site.docs.mkdir()
    (site.docs / "index.html").touch()
    made = prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url)
    assert made.roots["/docs/"] == site.docs


def test_the_sites_lock_has_the_wheels_that_are_not_of_the_release(
    cdn: CdnServer, site: Layout
) -> None:
    release = {"info": {"arch": "wasm32"}, "packages": {"numpy": {"sha256": "1"}, "ipython": {}}}
    lock = json.dumps(release).encode()
    file = manifest_file("pyodide/pyodide-lock.json", lock, cdn="cdn/lock")
    cdn.replies = {"cdn/lock": Reply(lock)}
    changes = {"ipython": {"sha256": "2"}, "seaborn": {"sha256": "3"}}
    manifest = Manifest((file, *MANIFEST.under("build")), changes)
    made = prepare(layout=site, manifest=manifest, cdn=cdn.url)
    served = made.roots["/lock/"] / "pyodide-lock.json"
    expected = {"numpy": {"sha256": "1"}, **changes}
    assert json.loads(served.read_text()) == {**release, "packages": expected}
    # Browsers cache unchanged files; changed files are never served stale.
    before = served.stat().st_mtime_ns
    prepare(layout=site, manifest=manifest, cdn=cdn.url)
    assert served.stat().st_mtime_ns == before
    prepare(layout=site, manifest=replace(manifest, lock={}), cdn=cdn.url)
    assert json.loads(served.read_text()) == release


@pytest.mark.usefixtures("no_clients")
@pytest.mark.parametrize("offline", [False, True])
def test_the_second_time_downloads_nothing(
    full_cdn: CdnServer, site: Layout, offline: bool
) -> None:
    first = prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url)
    full_cdn.requests.clear()
    assert (
        prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url, offline=offline).wheel
        == first.wheel
    )
    assert not full_cdn.requests


def test_offline_names_the_missing_files(full_cdn: CdnServer, site: Layout) -> None:
    prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url)
    full_cdn.requests.clear()
    (site.files / "pyodide/numpy.whl").unlink()
    (site.files / "pyodide/core.wasm").write_bytes(b"damaged")
    with pytest.raises(MissingFiles) as caught:
        prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url, offline=True)
    assert "pyodide/numpy.whl (18.0 kB)" in str(caught.value)
    assert "pyodide/core.wasm (20.0 kB)" in str(caught.value)
    assert "editor" not in str(caught.value)
    assert "without --offline" in str(caught.value)
    assert not full_cdn.requests


def test_only_missing_files_are_downloaded(full_cdn: CdnServer, site: Layout) -> None:
    prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url)
    full_cdn.requests.clear()
    (site.files / "pyodide/numpy.whl").write_bytes(b"PK" * 8999 + b"!!")
    prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url)
    assert set(full_cdn.requests) == {"cdn/pyodide/numpy.whl"}
    assert (site.files / "pyodide/numpy.whl").read_bytes() == CONTENT["pyodide/numpy.whl"]


def test_refresh_fetches_and_builds_everything_again(full_cdn: CdnServer, site: Layout) -> None:
    manifest = Manifest(tuple(ENTRIES))
    full = prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url)
    before = full.wheel.stat().st_mtime_ns
    full_cdn.requests.clear()
    # The wheel's build tools come from pip; here they are served like the other files.
    build = tuple(replace(file, cdn=f"cdn/{file.path}") for file in MANIFEST.under("build"))
    for file in build:
        full_cdn.replies[f"cdn/{file.path}"] = Reply((site.files / file.path).read_bytes())
    manifest = Manifest((*ENTRIES, *build))
    made = prepare(layout=site, manifest=manifest, cdn=full_cdn.url, refresh=True)
    assert set(full_cdn.requests) == {file.cdn for file in manifest.files}
    assert made.wheel.stat().st_mtime_ns > before


@pytest.mark.usefixtures("no_clients")
def test_a_refresh_that_fails_keeps_the_good_files(full_cdn: CdnServer, site: Layout) -> None:
    prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url)
    with pytest.raises(SourcesFailed):
        prepare(layout=site, manifest=MANIFEST, cdn=NO_CDN, refresh=True)
    made = prepare(layout=site, manifest=MANIFEST, cdn=NO_CDN, offline=True)
    assert made.wheel.is_file()


@pytest.mark.usefixtures("no_clients")
def test_no_source_names_files_reasons_and_the_next_step(site: Layout) -> None:
    entries = [
        *ENTRIES,
        manifest_file(
            "vendor/b/index.js",
            b"b",
            cdn="b",
            package=Package("npm", "browsergpu-absent", "1", "index.js"),
        ),
    ]
    with pytest.raises(SourcesFailed) as caught:
        prepare(layout=site, manifest=with_build_files(*entries), cdn=NO_CDN)
    message = str(caught.value)
    for path in [*CONTENT, "vendor/b/index.js"]:
        assert path in message
    assert "127.0.0.1" in message
    assert "npm is not installed" in message
    assert "start again" in message
    assert not any(path.startswith("pyodide") for path in files_below(site.files))


@pytest.mark.usefixtures("no_clients")
def test_a_wrong_hash_stops_and_stays_out(full_cdn: CdnServer, site: Layout) -> None:
    wrong = b"XX" * 9000
    full_cdn.replies["cdn/pyodide/numpy.whl"] = Reply(wrong)
    with pytest.raises(SourcesFailed, match=r"numpy\.whl has sha256 [0-9a-f]{64}"):
        prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url)
    assert not (site.files / "pyodide/numpy.whl").exists()
    assert (site.files / "pyodide/core.wasm").exists()
    assert files_below(site.temporary) == []


def test_files_missing_on_the_cdn_come_from_the_next_source(
    full_cdn: CdnServer, store: Store, notes: Notes
) -> None:
    del full_cdn.replies["cdn/pyodide/numpy.whl"]
    with_all = CdnServer()
    with_all.replies = {f"cdn/{path}": Reply(content) for path, content in CONTENT.items()}
    try:
        sources = [Cdn(full_cdn.url), Cdn(with_all.url)]
        fetch_files(ENTRIES, sources, store, notes)
    finally:
        with_all.close()
    assert store.missing(ENTRIES) == []
    assert set(with_all.requests) == {"cdn/pyodide/numpy.whl"}


@pytest.mark.usefixtures("no_clients")
def test_an_incomplete_download_is_retried_once(full_cdn: CdnServer, site: Layout) -> None:
    whole = CONTENT["pyodide/numpy.whl"]
    full_cdn.replies["cdn/pyodide/numpy.whl"] = Reply(whole[:100], length=len(whole))
    with pytest.raises(SourcesFailed) as caught:
        prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url)
    assert list(caught.value.reasons) == ["pyodide/numpy.whl"]
    assert full_cdn.requests["cdn/pyodide/numpy.whl"] == 2
    assert full_cdn.requests["cdn/pyodide/core.wasm"] == 1


def test_files_of_a_killed_run_are_removed(full_cdn: CdnServer, site: Layout) -> None:
    (site.temporary / "pip123").mkdir(parents=True)
    (site.temporary / "pip123" / "half.whl").write_bytes(b"half")
    prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url)
    assert files_below(site.temporary) == []


def test_two_at_once_fetch_once(full_cdn: CdnServer, site: Layout) -> None:
    made: list[Path] = []

    def run() -> None:
        made.append(prepare(layout=site, manifest=MANIFEST, cdn=full_cdn.url).wheel)

    threads = [threading.Thread(target=run, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(made) == 3
    assert sorted(full_cdn.requests.values()) == [1, 1, 1]


def test_a_lock_that_is_never_released_raises(tmp_path: Path, notes: Notes) -> None:
    with (
        cache_lock(tmp_path / "lock", Progress()),
        pytest.raises(CacheUnusable, match="Another process has held"),
        cache_lock(tmp_path / "lock", notes, wait=0.3),
    ):
        raise AssertionError("two hold the lock")
    assert notes.notes == ["Waiting for another process that is preparing the cache"]


def test_a_file_with_the_caches_name_raises(site: Layout) -> None:
    broken = Layout(site.repository / "elsewhere")
    broken.repository.mkdir()
    broken.cache.write_text("a file")
    with pytest.raises(CacheUnusable, match="delete it, and start again"):
        prepare(layout=broken, manifest=MANIFEST, cdn=NO_CDN)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_a_cache_without_permission_raises(site: Layout) -> None:
    site.cache.chmod(0o000)
    try:
        with pytest.raises(CacheUnusable):
            prepare(layout=site, manifest=MANIFEST, cdn=NO_CDN)
    finally:
        site.cache.chmod(0o755)


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs is Linux's")
def test_a_read_only_cache_raises(tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk") as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True, timeout=600)
        with pytest.raises(CacheUnusable, match="Read-only"):
            prepare(layout=Layout(disk), manifest=MANIFEST, cdn=NO_CDN)


def test_unreadable_sources_raise(site: Layout) -> None:
    (site.repository / "pyproject.toml").unlink()
    with pytest.raises(SiteError, match=r"pyproject\.toml"):
        prepare(layout=site, manifest=with_build_files(), offline=True)
