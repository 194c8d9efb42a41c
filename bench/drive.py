"""Opens benchmark pages in headless Chrome, one after the other, and stores their results.

    python3 drive.py [SITE] --out lines.jsonl [--pages ours tfjs …] [--seconds 500] -- CHROME FLAGS

Needs Python 3.11 or later and Chrome or Chromium ($CHROME, or in the PATH). SITE is a folder
written by `bench/run.py prepare`. It defaults to the folder of this file. Each page runs in a new
browser with an empty profile. Each result is written to the file when it arrives, so an interrupted
run keeps its results. A page that hangs is closed, and the next one is opened.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

GPU_FLAGS = (
    "--use-angle=vulkan",
    "--enable-features=Vulkan",
    "--disable-vulkan-surface",
    "--enable-dawn-features=allow_unsafe_apis,vulkan_enable_f16_on_nvidia",
)
SOFTWARE_FLAGS = (
    "--use-webgpu-adapter=swiftshader",
    "--use-vulkan=swiftshader",
    "--use-angle=swiftshader",
    "--enable-features=Vulkan",
    "--enable-dawn-features=allow_unsafe_apis",
)
_USUAL_FLAGS = (
    "--headless",
    "--enable-unsafe-webgpu",
    "--ignore-gpu-blocklist",
    "--no-first-run",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)
_NAMES = ("chromium-headless-shell", "chromium", "google-chrome-stable", "google-chrome")
_TYPES = {".mjs": "text/javascript", ".js": "text/javascript", ".wasm": "application/wasm"}


class _Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map: ClassVar = {**http.server.SimpleHTTPRequestHandler.extensions_map, **_TYPES}
    protocol_version = "HTTP/1.1"

    def __init__(
        self, *arguments: Any, told: Callable[[str], None], done: threading.Event, **options: Any
    ) -> None:
        self._told, self._done = told, done
        super().__init__(*arguments, **options)

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.send_response(204)
        self.end_headers()
        if self.path == "/done":
            self._done.set()
        else:
            self._told(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing, so that only results are printed."""


def drive(
    site: Path,
    pages: Sequence[str],
    out: Path,
    *,
    chrome: str,
    flags: Sequence[str],
    seconds: float,
    page_seconds: float,
    show: Callable[[str], None] = print,
) -> None:
    """Open pages (paths within the site, with their queries) and append their lines to a file."""
    end = time.monotonic() + seconds
    with out.open("a", encoding="utf-8") as lines:
        gate = threading.Lock()

        def tell(line: str) -> None:
            with gate:
                lines.write(line + "\n")
                lines.flush()
                show(line[:300])

        about = {"browser": _version(chrome), "flags": list(flags), "gpu": _gpu()}
        tell(json.dumps({"date": time.strftime("%Y-%m-%d"), **about}))
        for page in pages:
            left = end - time.monotonic()
            if left < 5:
                tell(json.dumps({"page": page, "error": "no time was left for this page"}))
                continue
            started = time.monotonic()
            tell(json.dumps({"page": page}))
            ended = _open(site, page, chrome, flags, min(left, page_seconds), tell)
            took = round(time.monotonic() - started, 1)
            problem = {} if ended else {"error": f"the page did not end within {took} s"}
            tell(json.dumps({"page": page, "seconds": took, **problem}))


def _open(
    site: Path, page: str, chrome: str, flags: Sequence[str], seconds: float, tell: Any
) -> bool:
    """Open one page. Return whether it finished in time."""
    done = threading.Event()
    handler = functools.partial(_Handler, directory=str(site), told=tell, done=done)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            address = f"http://127.0.0.1:{server.server_address[1]}/{page}"
            sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
            command = [chrome, *_USUAL_FLAGS, *_shared_memory(), *sandbox, *flags]
            browser = subprocess.Popen(
                [*command, f"--user-data-dir={profile}", address],
                env=_environment(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            limit = time.monotonic() + seconds
            while not done.wait(0.2) and time.monotonic() < limit and browser.poll() is None:
                pass
            browser.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                browser.wait(5)
            if browser.poll() is None:
                browser.kill()
                browser.wait()
        server.shutdown()
    return done.is_set()


def _shared_memory() -> list[str]:
    """Return the flag that moves Chrome's shared memory into files if /dev/shm is small."""
    try:
        room = shutil.disk_usage("/dev/shm").free
    except OSError:
        room = 0
    return [] if room > 2**31 else ["--disable-dev-shm-usage"]


def _gpu() -> str:
    """Return the GPU's name and driver version from nvidia-smi, or an empty string."""
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        finished = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return finished.stdout.strip().splitlines()[0] if finished.stdout.strip() else ""


def _environment() -> dict[str, str]:
    """Return the browser's environment: $CHROME_LIBS, and no shader cache of earlier runs."""
    environment = {**os.environ, "__GL_SHADER_DISK_CACHE": "0"}
    if libraries := os.environ.get("CHROME_LIBS"):
        environment["LD_LIBRARY_PATH"] = f"{libraries}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    return environment


def _version(chrome: str) -> str:
    try:
        finished = subprocess.run(
            [chrome, "--version"], env=_environment(), capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"unknown: {error}"
    return finished.stdout.strip()


def find_chrome() -> str:
    """Return the path of Chrome or Chromium."""
    for name in (os.environ.get("CHROME"), os.environ.get("BROWSERGPU_CHROMIUM"), *_NAMES):
        if name and (found := shutil.which(name)):
            return found
    raise SystemExit("no Chrome or Chromium found: set CHROME to one")


def plan(
    site: Path,
    names: Sequence[str],
    only: str,
    options: str,
    *,
    first_results: bool = True,
    programs: bool = True,
) -> list[str]:
    """Return the pages to open.

    First comes each library's page with its rows, then a page for each first result, then each
    library's page of arrays.
    """
    told = json.loads((site / "site.json").read_text("utf-8"))
    rows = json.loads((site / "rows.json").read_text("utf-8"))
    parts = only.split("|")
    wanted = [row["id"] for row in rows if any(part in row["id"] for part in parts)]
    first = {row["id"] for row in rows if row["first"]}
    arrays = {row["id"] for row in rows if row["array"]}
    pages = [name for name in told["pages"] if not names or name in names]
    rest = f"only={urllib.parse.quote(only)}&{options}"
    plan = []
    for name in pages:
        if any(row not in first | arrays for row in wanted) or name == "device":
            plan.append(f"{name}.html?{rest}")
    for row in wanted:
        if row in first and first_results:
            at = urllib.parse.quote(row)
            plan += [f"{name}.html?first={at}&{options}" for name in pages if name != "device"]
    if programs and any(row in arrays for row in wanted):
        libraries = [name for name in told["arrays"] if not names or name in names]
        plan += [f"arrays.html?library={name}&{rest}" for name in libraries]
    return plan


def main(arguments: Sequence[str] | None = None) -> None:
    given = list(sys.argv[1:] if arguments is None else arguments)
    flags: list[str] = []
    if "--" in given:
        flags = given[given.index("--") + 1 :]
        given = given[: given.index("--")]
    parser = argparse.ArgumentParser(description="Opens benchmark pages in headless Chrome.")
    parser.add_argument("site", nargs="?", type=Path, default=Path(__file__).resolve().parent)
    parser.add_argument("--out", type=Path, required=True, help="file for the lines")
    parser.add_argument("--pages", nargs="*", default=[], help="pages of the site (all)")
    parser.add_argument("--only", default="", help="rows whose names contain one of these|parts")
    parser.add_argument("--no-first", action="store_true", help="skip the first results")
    parser.add_argument("--no-arrays", action="store_true", help="skip the programs of arrays")
    parser.add_argument("--options", default="", help="added to the pages' query: repeats=3&ms=5")
    parser.add_argument("--seconds", type=float, default=560, help="limit for all pages (560)")
    parser.add_argument("--page-seconds", type=float, default=200, help="limit for each page (200)")
    parser.add_argument("--addresses", nargs="*", default=[], help="open only these pages")
    parser.add_argument("--software", action="store_true", help="SwiftShader instead of a GPU")
    options = parser.parse_args(given)
    usual = SOFTWARE_FLAGS if options.software else GPU_FLAGS
    drive(
        options.site,
        options.addresses
        or plan(
            options.site,
            options.pages,
            options.only,
            options.options,
            first_results=not options.no_first,
            programs=not options.no_arrays,
        ),
        options.out,
        chrome=find_chrome(),
        flags=flags or usual,
        seconds=options.seconds,
        page_seconds=options.page_seconds,
    )


if __name__ == "__main__":
    main()
