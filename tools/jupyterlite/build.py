"""Assembles a JupyterLite site in the cache: JupyterLite, its Pyodide kernel, our wheel."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from devsite.layout import Layout
from devsite.lock import cache_lock
from devsite.manifest import load_manifest
from devsite.processes import run_program
from devsite.progress import Progress
from devsite.site import Site
from devsite.store import link_or_copy
from jupyterlite.lock import closure, lacking, lock_of
from runner.environment import ensure_environment
from runner.wheels import ensure_wheels

HERE = Path(__file__).resolve().parent
CONTENTS = HERE / "contents"

# Packages that the kernel installs at startup: from Pyodide's lock, and others.
_OF_THE_LOCK = ("ipython", "jedi")
_OTHERS = ("comm==0.2.3", "ipywidgets==8.1.9", "jupyterlab-widgets==3.0.17")
_TIMEOUT = 600.0


class CannotBuild(Exception):
    """The site cannot be built. The message says why."""


def check_folders(contents: Path, out: Path | None) -> None:
    """Raise CannotBuild unless ``contents`` is a folder and ``out`` is empty or missing."""
    if not contents.is_dir():
        raise CannotBuild(f"{contents} is not a folder: --contents takes a folder of notebooks")
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CannotBuild(f"{out} is not empty: --out takes a new folder, or an empty one")


def ensure_site(layout: Layout, site: Site, contents: Path, progress: Progress) -> Path:
    """Return the folder of a JupyterLite site with our wheel and these contents.

    It is rebuilt if the cached one is from other inputs. ``site`` is the result of
    `devsite.site.prepare`.
    """
    cache = layout.cache / "jupyterlite"
    with cache_lock(layout.cache / "jupyterlite.lock", progress):
        built, stamp = cache / "site", cache / "site.json"
        requirements = HERE / "requirements.txt"
        python = ensure_environment(cache / "venv", requirements, progress.note)
        wheels = _wheels(cache, layout, site, python, progress)
        sources = [*sorted(HERE.glob("*.py")), requirements, *_files(contents), *wheels]
        fingerprint = json.dumps({"sources": _digest(sources)})
        if stamp.exists() and stamp.read_text(encoding="utf-8") == fingerprint:
            return built
        progress.note("Building the JupyterLite site")
        stamp.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as name:
            folder = Path(name)
            _stage(folder / "lite", site.roots["/pyodide/"], wheels)
            _build(python, folder, contents.resolve())
            shutil.rmtree(built, ignore_errors=True)
            (folder / "site").rename(built)
        # Written last, so that an interrupted build is repeated.
        stamp.write_text(fingerprint, encoding="utf-8")
        return built


def _wheels(
    cache: Path, layout: Layout, site: Site, python: Path, progress: Progress
) -> list[Path]:
    """Return all wheels: the page's, ours, and those that JupyterLite's kernel needs."""
    pinned = [layout.files / file.path for file in load_manifest().under("pyodide")]
    own = [*(path for path in pinned if path.suffix == ".whl"), site.wheel]
    needed = closure(_lock(site.roots["/pyodide/"])["packages"], _OF_THE_LOCK)
    wanted = [f"{name}=={version}" for name, version in lacking(needed, own).items()]
    cache.mkdir(parents=True, exist_ok=True)
    requirements = cache / "wheels.txt"
    requirements.write_text("\n".join([*sorted(wanted), *_OTHERS]), encoding="utf-8")
    ensure_wheels(cache / "wheels", requirements, python, progress.note)
    return sorted([*own, *(cache / "wheels").glob("*.whl")])


def _stage(lite: Path, pyodide: Path, wheels: Iterable[Path]) -> None:
    """Prepare the inputs of `jupyter lite build`: Pyodide, and wheels for piplite in ``pypi``."""
    lock = lock_of(_lock(pyodide), wheels)
    distribution, others = lite / "static" / "pyodide", lite / "pypi"
    for folder in (distribution, others):
        folder.mkdir(parents=True)
    for path in pyodide.iterdir():
        if path.suffix not in (".whl", ".json"):
            link_or_copy(path, distribution / path.name)
    (distribution / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    named = {package["file_name"] for package in lock["packages"].values()}
    for wheel in wheels:
        folder = distribution if wheel.name in named else others
        link_or_copy(wheel, folder / wheel.name)


def _build(python: Path, folder: Path, contents: Path) -> None:
    command = [str(python), "-m", "jupyterlite_core", "build", "--lite-dir", str(folder / "lite")]
    command += ["--output-dir", str(folder / "site"), "--contents", str(contents)]
    command += ["--no-sourcemaps", "--no-unused-shared-packages"]
    # Isolated settings, since those of a user's Jupyter could change the site.
    environment = {"JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_NO_CONFIG": "1"}
    finished = run_program(command, folder=folder, timeout=_TIMEOUT, environment=environment)
    if not finished.succeeded:
        reason = f"timed out after {_TIMEOUT:.0f} s" if finished.timed_out else ""
        raise CannotBuild(f"jupyter lite build failed:\n{reason or finished.last_lines(12)}")


def _lock(pyodide: Path) -> dict[str, dict[str, dict[str, object]]]:
    lock: dict[str, dict[str, dict[str, object]]] = json.loads(
        (pyodide / "pyodide-lock.json").read_text(encoding="utf-8")
    )
    return lock


def _files(folder: Path) -> Iterator[Path]:
    yield from sorted(path for path in folder.rglob("*") if path.is_file())


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        digest.update(f"{path}\0{content}\0".encode())
    return digest.hexdigest()
