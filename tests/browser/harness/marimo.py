"""A notebook exported by marimo, with local packages in place of marimo's servers and the CDN."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from playwright.sync_api import BrowserContext, Route

from devsite.layout import Layout
from devsite.lock import cache_lock
from devsite.manifest import load_manifest
from devsite.processes import run_program
from devsite.progress import Progress
from jupyterlite.lock import lock_of
from runner.environment import ensure_environment
from runner.javascript import ensure_javascript
from runner.wheels import ensure_wheels

from .marimo_wheels import pure_yaml, with_marimo

PINS = Path(__file__).resolve().parents[2] / "marimo"

_LOCK = "**/pyodide-lock.json?*"
_CDN = "**/pyodide/v*/full/*"
_TIMEOUT = 120.0


class Marimo:
    """The files that marimo needs, in the cache. Missing files are downloaded."""

    def __init__(self, layout: Layout) -> None:
        cache, python = layout.cache / "marimo", Path(sys.executable)
        with cache_lock(layout.cache / "marimo.lock", Progress()):
            self._python = ensure_environment(cache / "venv", PINS / "requirements.txt", print)
            # package-lock.json omits the page's dependencies, because the page is already built.
            ensure_javascript(cache / "packages", PINS, python, print)
            ensure_wheels(cache / "wheels", PINS / "pyodide-requirements.txt", python, print)
            yaml = pure_yaml(cache / "venv", cache)
        packages = cache / "packages" / "node_modules"
        self._page = packages / "@marimo-team" / "frontend" / "dist"
        self._pyodide = packages / "pyodide"
        site = [layout.files / file.path for file in load_manifest().under("pyodide")]
        more = [yaml, *sorted((cache / "wheels").glob("*.whl"))]
        self._wheels = {path.name: path for path in [*site, *more] if path.suffix == ".whl"}
        lock = json.loads((self._pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
        self._lock = lock_of(with_marimo(lock, more), self._wheels.values())

    def export(self, notebook: Path, folder: Path) -> None:
        """Make marimo write the page of a notebook into a new folder."""
        command = [str(self._python), str(PINS / "export.py"), str(notebook), str(folder)]
        # A user's marimo settings would be written into the page.
        home = str(notebook.parent)
        environment = {"HOME": home, "XDG_CONFIG_HOME": home}
        finished = run_program(
            command, folder=notebook.parent, timeout=_TIMEOUT, environment=environment
        )
        assert finished.succeeded, finished.last_lines(20)
        for path in self._page.iterdir():
            if path.name != "index.html":
                (folder / path.name).symlink_to(path)

    def stand_in(self, context: BrowserContext) -> None:
        """Answer the page's requests to marimo's server and to the CDN."""
        shared = {"Access-Control-Allow-Origin": "*"}

        def answer(route: Route) -> None:
            name = route.request.url.rsplit("/", 1)[-1]
            route.fulfill(path=self._wheels.get(name, self._pyodide / name), headers=shared)

        context.route(_CDN, answer)
        context.route(_LOCK, lambda route: route.fulfill(json=self._lock, headers=shared))
