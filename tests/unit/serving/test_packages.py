"""npm and pip as sources: the real clients, with a registry on this machine."""

import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
from pathlib import Path

import pytest
from cdn_server import CdnServer, Reply
from sample import Notes, fetch, files_below, manifest_file, tiny_disk

from devsite.errors import DiskFull
from devsite.layout import REPOSITORY
from devsite.manifest import Package
from devsite.packages import _size, npm, pip
from devsite.store import Store

MODULE = b"export const answer = 42;\n" * 500
WHEEL_INSIDE = b"a wheel that another wheel carries" * 100


def publish_npm(registry: CdnServer, name: str, version: str, files: dict[str, bytes]) -> None:
    """Make the server offer a package as npm's registry does."""
    files = {"package.json": json.dumps({"name": name, "version": version}).encode(), **files}
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for path, content in files.items():
            info = tarfile.TarInfo(f"package/{path}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    tarball = f"tarballs/{name.replace('/', '-')}-{version}.tgz"
    registry.replies[tarball] = Reply(archive.getvalue())
    digest = base64.b64encode(hashlib.sha512(archive.getvalue()).digest()).decode()
    document = {
        "name": name,
        "dist-tags": {"latest": version},
        "versions": {
            version: {
                "name": name,
                "version": version,
                "dist": {"tarball": f"{registry.url}/{tarball}", "integrity": f"sha512-{digest}"},
            }
        },
    }
    registry.replies[name] = Reply(json.dumps(document).encode(), content_type="application/json")


def make_wheel(folder: Path, name: str, files: dict[str, bytes]) -> Path:
    """A pure-Python wheel, version 1.0, that pip accepts."""
    info = f"{name}-1.0.dist-info"
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(f"{info}/RECORD", "")
    return wheel


@pytest.fixture
def pip_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the only packages that pip can install."""
    folder = tmp_path / "links"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def registry(tmp_path: Path, cdn: CdnServer, monkeypatch: pytest.MonkeyPatch) -> CdnServer:
    """The only registry that npm is configured with."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    monkeypatch.setenv("npm_config_registry", cdn.url)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm-cache"))
    monkeypatch.setenv("npm_config_update_notifier", "false")
    return cdn


@pytest.fixture
def ready_store(store: Store) -> Store:
    store.clear_temporary()
    return store


def test_npm_delivers_single_files(registry: CdnServer, ready_store: Store, notes: Notes) -> None:
    entries = []
    for name in ("@scope/editor", "plain"):
        publish_npm(registry, name, "1.2.3", {"dist/index.js": MODULE + name.encode()})
        entries.append(
            manifest_file(
                f"vendor/{name}/dist/index.js",
                MODULE + name.encode(),
                package=Package("npm", name, "1.2.3", "dist/index.js"),
            )
        )
    assert fetch(entries, ready_store, notes, npm(notes), pip(notes)) == {}
    assert ready_store.missing(entries) == []
    assert [source for _, source in notes.files] == ["npm", "npm"]
    assert files_below(ready_store.temporary) == []


def test_npm_file_with_another_hash_is_refused(
    registry: CdnServer, ready_store: Store, notes: Notes
) -> None:
    publish_npm(registry, "plain", "1.2.3", {"index.js": b"tampered"})
    entry = manifest_file(
        "vendor/plain/index.js", MODULE, package=Package("npm", "plain", "1.2.3", "index.js")
    )
    failures = fetch([entry], ready_store, notes, npm(notes), pip(notes))
    assert "index.js" in failures[entry.path]
    assert files_below(ready_store.root.parent) == []


def test_npm_package_without_the_file(
    registry: CdnServer, ready_store: Store, notes: Notes
) -> None:
    publish_npm(registry, "plain", "1.2.3", {"other.js": MODULE})
    entry = manifest_file(
        "vendor/plain/index.js", MODULE, package=Package("npm", "plain", "1.2.3", "index.js")
    )
    failures = fetch([entry], ready_store, notes, npm(notes), pip(notes))
    assert "has no index.js" in failures[entry.path]


@pytest.mark.usefixtures("registry")
def test_npm_failure_shows_npms_message(ready_store: Store, notes: Notes) -> None:
    entry = manifest_file(
        "vendor/none/index.js", MODULE, package=Package("npm", "none", "9.9.9", "index.js")
    )
    failures = fetch([entry], ready_store, notes, npm(notes), pip(notes))
    assert "npm pack none@9.9.9 failed" in failures[entry.path]
    assert "404" in failures[entry.path]


def test_npm_absent(
    tmp_path: Path, ready_store: Store, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    entry = manifest_file("vendor/a/index.js", b"a", package=Package("npm", "a", "1", "index.js"))
    failures = fetch([entry], ready_store, notes, npm(notes))
    assert "npm is not installed: install" in failures[entry.path]
    assert notes.notes[1:] == [failures[entry.path]]


def test_pip_delivers_wheels_and_files_inside_them(
    pip_folder: Path, ready_store: Store, notes: Notes
) -> None:
    whole = make_wheel(pip_folder, "tool_box", {"tool_box.py": b"x = 1\n"})
    make_wheel(pip_folder, "big_carrier", {"deep/folder/inner-1.0.whl": WHEEL_INSIDE})
    entries = [
        manifest_file(
            f"build/{whole.name}", whole.read_bytes(), package=Package("pip", "tool-box", "1.0")
        ),
        manifest_file(
            "pyodide/inner-1.0.whl",
            WHEEL_INSIDE,
            package=Package("pip", "big-carrier", "1.0", "deep/folder/inner-1.0.whl"),
        ),
    ]
    assert fetch(entries, ready_store, notes, npm(notes), pip(notes)) == {}
    assert ready_store.missing(entries) == []
    assert files_below(ready_store.temporary) == []


def test_pip_wheel_without_the_file(pip_folder: Path, ready_store: Store, notes: Notes) -> None:
    make_wheel(pip_folder, "carrier", {"else.whl": b""})
    entry = manifest_file(
        "pyodide/a.whl", b"a", package=Package("pip", "carrier", "1.0", "inside/a.whl")
    )
    failures = fetch([entry], ready_store, notes, npm(notes), pip(notes))
    assert "has no inside/a.whl" in failures[entry.path]


def test_folders_go_while_their_size_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_bytes(bytes(10))
    stop = threading.Event()

    def come_and_go() -> None:
        while not stop.is_set():
            (tmp_path / "a" / "b" / "c").mkdir(parents=True)
            shutil.rmtree(tmp_path / "a")

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        assert {_size(tmp_path) for _ in range(2000)} == {10}
    finally:
        stop.set()
        thread.join()


def test_pip_failure_shows_pips_message(pip_folder: Path, ready_store: Store, notes: Notes) -> None:
    entry = manifest_file("build/a.whl", b"a", package=Package("pip", "absent-package", "1.0"))
    failures = fetch([entry], ready_store, notes, npm(notes), pip(notes))
    assert "pip download absent-package==1.0 failed" in failures[entry.path]
    assert "No matching distribution" in failures[entry.path]


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs is Linux's")
def test_pip_on_a_full_disk(pip_folder: Path, tmp_path: Path, notes: Notes) -> None:
    make_wheel(pip_folder, "carrier", {"inside/a.whl": os.urandom(1_000_000)})
    entry = manifest_file(
        "pyodide/a.whl", b"a", package=Package("pip", "carrier", "1.0", "inside/a.whl")
    )
    with tiny_disk(tmp_path / "disk") as disk:
        store = Store(disk / "files", disk / "tmp")
        store.clear_temporary()
        with pytest.raises(DiskFull, match="No space left"):
            fetch([entry], store, notes, npm(notes), pip(notes))
        assert files_below(disk) == []


def test_one_client_that_fails_does_not_stop_the_other(
    pip_folder: Path, ready_store: Store, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = make_wheel(pip_folder, "tool", {"tool.py": b""})
    monkeypatch.setenv("PATH", str(pip_folder))
    entries = [
        manifest_file("vendor/a/index.js", b"a", package=Package("npm", "a", "1.0", "index.js")),
        manifest_file("build/tool.whl", b"never", package=Package("pip", "tool", "1.0")),
        manifest_file(
            f"build/{wheel.name}", wheel.read_bytes(), package=Package("pip", "tool", "1.0")
        ),
    ]
    failures = fetch(entries, ready_store, notes, npm(notes), pip(notes))
    assert set(failures) == {entries[0].path, entries[1].path}
    assert "npm is not installed" in failures[entries[0].path]
    assert ready_store.holds(entries[2])


def test_a_python_without_pip_uses_the_bundled_one() -> None:
    # -S leaves out site-packages, and with it pip.
    script = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); "
        "from devsite.packages import pip_command; print(json.dumps(pip_command()))"
    )
    shown = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, str(REPOSITORY / "tools")],
        env={key: value for key, value in os.environ.items() if key != "PATH"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert shown.returncode == 0, shown.stderr
    command = json.loads(shown.stdout)
    assert "pip-" in command[1]
    asked = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=600)
    assert asked.stdout.startswith("pip ")
