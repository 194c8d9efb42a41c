"""The project's wheel: its contents, and when it is rebuilt."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from sample import build_files, fill_cache

from devsite.errors import WheelBuildFailed
from devsite.layout import REPOSITORY, Layout
from devsite.progress import Progress
from devsite.store import Store
from devsite.wheel import ensure_wheel
from join_recorder import FOLDER, join

pytestmark = pytest.mark.all


@pytest.fixture
def ready(checkout: Layout) -> Layout:
    fill_cache(checkout, "build/")
    Store(checkout.files, checkout.temporary).clear_temporary()
    return checkout


def build(layout: Layout) -> Path:
    builders = [layout.files / file.path for file in build_files()]
    return ensure_wheel(layout, builders, Progress())


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        return set(archive.namelist())


def test_carries_the_package_the_shaders_and_the_recorder(ready: Layout) -> None:
    (ready.repository / "py/browsergpu/__pycache__").mkdir()
    (ready.repository / "py/browsergpu/__pycache__/x.cpython-311.pyc").write_bytes(b"x")
    found = names(build(ready))
    folder = ready.repository / "shaders"
    shaders = {path.relative_to(folder).as_posix() for path in folder.rglob("*.wgsl")}
    assert "lib/floats.wgsl" in shaders
    assert {f"browsergpu/shaders/{name}" for name in shaders} <= found
    assert {
        "browsergpu/__init__.py",
        "browsergpu/engine/gpu/browser/recorder.js",
        "browsergpu/py.typed",
    } <= found
    assert not any(name.startswith("browsergpu/engine/gpu/browser/recorder/") for name in found)
    sources = ready.repository / "py"
    modules = {path.relative_to(sources).as_posix() for path in sources.glob("browsergpu/**/*.py")}
    assert modules <= found
    strangers = {
        name for name in found if not re.match(r"browsergpu(-[^/]+\.dist-info)?/", name)
    } | {name for name in found if "__pycache__" in name}
    assert not strangers


def test_is_pure_python_with_a_valid_name(ready: Layout) -> None:
    wheel = build(ready)
    assert re.fullmatch(r"browsergpu-[0-9][0-9a-z.+]*-py3-none-any\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (name for name in archive.namelist() if name.endswith(".dist-info/WHEEL"))
        assert "Root-Is-Purelib: true" in archive.read(path).decode()
    index = json.loads((ready.wheel / "index.json").read_text())
    assert index == {"wheel": wheel.name}


def test_carries_its_licence(ready: Layout) -> None:
    with zipfile.ZipFile(build(ready)) as archive:
        (path,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(path).decode()
        text = archive.read(path.replace("METADATA", "licenses/LICENSE"))
    assert "License-Expression: Apache-2.0" in metadata.splitlines()
    assert text == (ready.repository / "LICENSE").read_bytes()
    assert b"Apache License" in text


def recorder(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read("browsergpu/engine/gpu/browser/recorder.js").decode()


def test_has_the_recorders_modules_as_one_script(ready: Layout) -> None:
    assert recorder(build(ready)) == join(ready.repository / FOLDER)


def test_a_module_that_cannot_be_joined_stops_the_build(ready: Layout) -> None:
    (ready.repository / FOLDER / "stray.js").write_text("export const stray = 1;\n")
    with pytest.raises(WheelBuildFailed, match=r"nothing imports stray\.js"):
        build(ready)


def pip_wheel(project: Path, folder: Path) -> Path:
    """Return the wheel that pip builds from a checkout or archive with the installed hatchling."""
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", str(folder)]
    subprocess.run([*command, str(project)], check=True, capture_output=True, timeout=600)
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_pip_builds_the_same_wheel_from_a_checkout_and_an_archive(
    ready: Layout, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    shutil.copy2(REPOSITORY / "CHANGELOG.md", ready.repository)
    subprocess.run(command, cwd=ready.repository, check=True, capture_output=True, timeout=600)
    (archive,) = tmp_path.glob("*.tar.gz")
    wheels = [
        build(ready),
        pip_wheel(ready.repository, tmp_path / "of-the-checkout"),
        pip_wheel(archive, tmp_path / "of-the-archive"),
    ]
    first, *others = [(names(wheel), recorder(wheel)) for wheel in wheels]
    assert others == [first, first]


def test_the_same_sources_are_not_built_again(ready: Layout) -> None:
    before = build(ready).stat()
    after = build(ready).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_the_same_sources_give_the_same_bytes(ready: Layout) -> None:
    first = build(ready).read_bytes()
    (ready.cache / "wheel.json").unlink()
    # Newer modification times alone do not cause a rebuild.
    (ready.repository / "py/browsergpu/py.typed").touch()
    assert build(ready).read_bytes() == first


@pytest.mark.parametrize(
    ("changed", "inside"),
    [
        ("py/browsergpu/newly_made.py", "browsergpu/newly_made.py"),
        ("py/browsergpu/deep/newly_made.py", "browsergpu/deep/newly_made.py"),
        ("shaders/newly_made.wgsl", "browsergpu/shaders/newly_made.wgsl"),
    ],
)
def test_a_new_file_is_in_the_next_wheel(ready: Layout, changed: str, inside: str) -> None:
    assert inside not in names(build(ready))
    path = ready.repository / changed
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    assert inside in names(build(ready))
    path.unlink()
    assert inside not in names(build(ready))


@pytest.mark.parametrize(
    "name",
    [
        f"{FOLDER}/main.js",
        "tools/join_recorder.py",
        "py/README.md",
        "LICENSE",
        "pyproject.toml",
    ],
)
def test_a_changed_file_is_built_in(ready: Layout, name: str) -> None:
    build(ready)
    stamp = ready.cache / "wheel.json"
    before = json.loads(stamp.read_text())
    path = ready.repository / name
    mark = "//" if name.endswith(".js") else "#"
    path.write_text(f"{path.read_text()}\n{mark} Changed\n")
    build(ready)
    after = json.loads(stamp.read_text())
    assert after["sources"] != before["sources"]


def test_a_new_version_replaces_the_old_wheel(ready: Layout) -> None:
    old = build(ready)
    package = ready.repository / "py/browsergpu/__init__.py"
    changed = re.sub(r'(?m)^__version__ = ".*"$', '__version__ = "9.8.7"', package.read_text())
    package.write_text(changed)
    new = build(ready)
    assert new.name == "browsergpu-9.8.7-py3-none-any.whl"
    assert not old.exists()
    index = json.loads((ready.wheel / "index.json").read_text())
    assert index == {"wheel": "browsergpu-9.8.7-py3-none-any.whl"}


@pytest.mark.parametrize("damage", ["wheel", "index.json", "wheel.json"])
def test_a_damaged_result_is_built_again(ready: Layout, damage: str) -> None:
    wheel = build(ready)
    good = wheel.read_bytes()
    places = {
        "wheel": wheel,
        "index.json": ready.wheel / "index.json",
        "wheel.json": ready.cache / "wheel.json",
    }
    places[damage].write_bytes(b"damaged")
    assert build(ready).read_bytes() == good
    assert json.loads((ready.wheel / "index.json").read_text()) == {"wheel": wheel.name}


def test_a_build_that_fails_says_why_and_keeps_the_old_wheel(ready: Layout) -> None:
    wheel = build(ready)
    good = wheel.read_bytes()
    project = ready.repository / "pyproject.toml"
    project.write_text(project.read_text().replace('"py/README.md"', '"NONE.md"', 1))
    with pytest.raises(WheelBuildFailed, match=r"hatchling said:[\s\S]*NONE\.md"):
        build(ready)
    assert wheel.read_bytes() == good
