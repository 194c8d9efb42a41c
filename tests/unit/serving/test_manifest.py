"""manifest.json agrees with the pins, with Pyodide's own lock and with pyproject.toml."""

import json
import re
import tomllib
import zipfile

import pytest

from devsite.layout import REPOSITORY, Layout
from devsite.manifest import Manifest, load_manifest
from devsite.relock import PINS_PATH

pytestmark = pytest.mark.fast


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return load_manifest()


@pytest.fixture(scope="module")
def pins() -> dict:
    return tomllib.loads(PINS_PATH.read_text())


@pytest.fixture(scope="module")
def lock() -> dict:
    return json.loads((Layout().files / "pyodide" / "pyodide-lock.json").read_text())["packages"]


def test_paths_are_plain_and_unique(manifest: Manifest) -> None:
    paths = [file.path for file in manifest.files]
    assert len(set(paths)) == len(paths)
    for path in paths:
        assert re.fullmatch(r"(build|pyodide|vendor)(/[@\w][\w.@+-]*)+", path), path


def test_every_file_has_its_facts(manifest: Manifest) -> None:
    for file in manifest.files:
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert file.size > 0
        assert file.version


def test_every_file_has_a_source_without_the_cdn(manifest: Manifest) -> None:
    for file in manifest.files:
        assert file.package is not None, file.path
        assert file.package.client in ("npm", "pip")


def test_the_page_needs_only_the_cdn_and_the_pure_wheels(manifest: Manifest) -> None:
    pure = {f"pyodide/{entry['file_name']}" for entry in manifest.lock.values()}
    for file in (*manifest.under("pyodide"), *manifest.under("vendor")):
        assert (file.cdn is None) == (file.path in pure), file.path


def test_pyodides_core_and_wheels(manifest: Manifest, pins: dict, lock: dict) -> None:
    names = {file.name for file in manifest.under("pyodide")}
    core = set(pins["pyodide"]["core"])
    wanted: set[str] = set()
    waiting = list(pins["pyodide"]["packages"])
    while waiting:
        name = waiting.pop()
        wanted.add(lock[name]["file_name"])
        waiting += lock[name]["depends"]
    assert names == core | wanted | {entry["file_name"] for entry in manifest.lock.values()}


def test_pure_wheels_are_pinned_and_have_all_that_they_need(
    manifest: Manifest, pins: dict, lock: dict
) -> None:
    pinned = pins["wheels"] | pins["replaced"] | pins["uncompiled"]
    assert {name: entry["version"] for name, entry in manifest.lock.items()} == pinned
    names = {file.name for file in manifest.under("pyodide")}
    for name, entry in manifest.lock.items():
        assert entry["file_name"].endswith("-none-any.whl")
        is_replaced = name in pins["replaced"]
        assert (entry["version"] == lock.get(name, entry)["version"]) != is_replaced
        for need in entry["depends"]:
            found = {**lock, **manifest.lock}[need.replace("_", "-")]
            assert found["file_name"] in names, (name, need)


def test_wheels_equal_the_sites_lock(manifest: Manifest, lock: dict) -> None:
    site = {**lock, **manifest.lock}
    hashes = {package["file_name"]: package["sha256"] for package in site.values()}
    wheels = [file for file in manifest.under("pyodide") if file.name.endswith(".whl")]
    assert wheels
    for wheel in wheels:
        assert wheel.sha256 == hashes[wheel.name]


def test_wheels_lie_beside_the_lock(manifest: Manifest, lock: dict) -> None:
    """Pyodide looks for a wheel beside the lock, so the lock must not point elsewhere."""
    for file in manifest.under("pyodide"):
        assert file.path == f"pyodide/{file.name}"
    assert all("/" not in package["file_name"] for package in lock.values())


def test_vendored_modules_are_the_pinned_ones(manifest: Manifest, pins: dict) -> None:
    found = {file.path: file.version for file in manifest.under("vendor")}
    editor = {
        f"vendor/{name}/{pin['module']}": pin["version"] for name, pin in pins["editor"].items()
    }
    several = {
        f"vendor/{name}/{module}": pin["version"]
        for name, pin in (
            pins["formulas"] | pins["translator"] | pins["widgets"] | pins["drawing"]
        ).items()
        for module in pin["modules"]
    }
    assert found == editor | several


def test_the_page_replaces_scripts_of_the_pinned_versions(pins: dict) -> None:
    """Outputs name scripts by version; the page shows them with the site's files."""
    table = (REPOSITORY / "web/app/content/site-scripts.js").read_text(encoding="utf-8")
    drawing = pins["drawing"]
    for name, sign in (("plotly.js-dist-min", "plotly-"), ("@bokeh/bokehjs", "${part}-")):
        assert f"{sign}{drawing[name]['version']}.min.js" in table
    assert f"vega-lite@{drawing['vega-lite']['version']}?" in table
    for name in ("vega", "vega-embed"):
        assert f'"/{name}@{drawing[name]["version"].partition(".")[0]}?noext"' in table
    # Plotly's HTML has the digest of the script that its wheel contains.
    wheel = Layout().files / "pyodide" / f"plotly-{pins['wheels']['plotly']}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        script = archive.read("plotly/package_data/plotly.min.js")
    assert script == (Layout().files / "vendor/plotly.js-dist-min/plotly.min.js").read_bytes()


def test_editor_modules_import_only_existing_files(pins: dict) -> None:
    statement = re.compile(r"""^(?:import|export)\b.*\bfrom\s*['"]([^'"]+)['"]""", re.MULTILINE)
    for name, pin in pins["editor"].items():
        path = Layout().files / "vendor" / name / pin["module"]
        assert set(statement.findall(path.read_text(encoding="utf-8"))) <= set(pins["editor"]), name


def test_build_wheels_are_pure_and_pinned(manifest: Manifest, pins: dict) -> None:
    found = {}
    for file in manifest.under("build"):
        assert file.name.endswith("-none-any.whl")
        assert file.package is not None
        found[file.package.name] = file.package.version
    assert found == pins["build"]


def test_pyproject_names_the_same_hatchling(pins: dict) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    assert project["build-system"]["requires"] == [f"hatchling=={pins['build']['hatchling']}"]


def test_only_the_cdn_is_named_as_a_host() -> None:
    """Registries are reached through npm and pip, where users configure the host."""
    sources = [path for path in (REPOSITORY / "tools").rglob("*") if path.suffix != ".pyc"]
    for path in [*sources, REPOSITORY / "serve.py", REPOSITORY / "tests" / "run.py"]:
        if path.is_file():
            hosts = re.findall(r"https?://([\w.-]+)", path.read_text(encoding="utf-8"))
            assert set(hosts) <= {"cdn.jsdelivr.net", "{f"}, path
