"""serve.py as a command, in its own process and checkout."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cdn_server import CdnServer, Reply
from sample import NO_CDN, files_below, fill_cache

from devsite.cdn import READ_TIMEOUT
from devsite.layout import Layout
from devsite.manifest import load_manifest


def environment(**changes: str) -> dict[str, str]:
    """No CDN, npm, pip index or display: only the cache is left."""
    variables = {"PATH": "", "PIP_NO_INDEX": "1", "BROWSERGPU_CDN": NO_CDN, **changes}
    dropped = ("DISPLAY", "WAYLAND_DISPLAY", "PIP_FIND_LINKS", "PYTHONPATH")
    return {k: v for k, v in os.environ.items() if k not in dropped} | variables


@contextmanager
def running(layout: Layout, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run serve.py and yield it once it has printed its address."""
    with subprocess.Popen(
        [sys.executable, "serve.py", "--port", "0", *arguments],
        cwd=layout.repository,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        try:
            assert program.stdout is not None
            line = program.stdout.readline()
            found = re.fullmatch(r"Serving browsergpu at (http://127\.0\.0\.1:\d+/)\n", line)
            if found is None:
                program.kill()
                pytest.fail(f"{line}{program.communicate(timeout=600)[1]}")
            yield program, found[1]
        finally:
            program.kill()


def fails(layout: Layout, *arguments: str) -> tuple[int, str]:
    """Return the exit status and the message of a start that fails."""
    finished = subprocess.run(
        [sys.executable, "serve.py", *arguments],
        cwd=layout.repository,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "Traceback" not in finished.stderr
    assert finished.stdout == ""
    return finished.returncode, finished.stderr


@pytest.fixture
def full(checkout: Layout) -> Layout:
    fill_cache(checkout)
    return checkout


@pytest.mark.parametrize("arguments", [["--no-browser"], ["--offline"]])
def test_serves_with_no_network_at_all(full: Layout, arguments: list[str]) -> None:
    with running(full, *arguments) as (_, url):
        for path in ("", "pyodide/pyodide.asm.wasm", "vendor/crelt/index.js", "wheel/index.json"):
            with urllib.request.urlopen(url + path, timeout=600) as answer:
                assert answer.status == 200
                assert answer.headers["Cross-Origin-Embedder-Policy"] == "require-corp"
                assert answer.read()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stops_cleanly(full: Layout, number: signal.Signals) -> None:
    with running(full, "--no-browser") as (program, _):
        program.send_signal(number)
        out, err = program.communicate(timeout=600)
        assert program.returncode == 0
        assert out == ""
        assert err.rstrip().endswith("Stopped.")
        assert "Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_while_a_file_comes(checkout: Layout, cdn: CdnServer) -> None:
    fill_cache(checkout)
    file = next(file for file in load_manifest().files if file.name == "pyodide.asm.wasm")
    (checkout.files / file.path).unlink()
    cdn.replies[str(file.cdn)] = Reply(b"\0asm" * 1000, length=file.size, stalls=True)
    with subprocess.Popen(
        [sys.executable, "serve.py", "--port", "0", "--no-browser"],
        cwd=checkout.repository,
        env=environment(BROWSERGPU_CDN=cdn.url),
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        try:
            unfinished = checkout.temporary.glob("pyodide.asm.wasm.*")
            assert cdn.stalled.wait(60)
            while not any(unfinished):
                unfinished = checkout.temporary.glob("pyodide.asm.wasm.*")
                assert program.poll() is None
            program.send_signal(signal.SIGINT)
            # Shorter than the program's timeout for a silent server.
            _, err = program.communicate(timeout=READ_TIMEOUT - 5)
        finally:
            program.kill()
    assert program.returncode == 130
    assert err.rstrip().endswith("Stopped.")
    assert "Traceback" not in err
    assert files_below(checkout.temporary) == []
    assert not (checkout.files / file.path).exists()


def test_offline_without_files(checkout: Layout) -> None:
    status, message = fails(checkout, "--offline")
    assert status == 1
    assert "pyodide/pyodide.asm.wasm (9.6 MB)" in message
    assert "Start once without --offline" in message


def test_no_source(checkout: Layout) -> None:
    fill_cache(checkout, "pyodide/")
    status, message = fails(checkout, "--no-browser")
    assert status == 1
    assert "npm is not installed" in message
    assert "vendor/crelt/index.js" in message
    assert "No matching distribution" in message


def test_port_in_use(full: Layout) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        status, message = fails(full, "--port", str(port), "--no-browser")
    assert status == 1
    assert f"Port {port} is in use" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--offline", "--refresh"], "not allowed with"),
        (["--port", "70000"], "expected 0 to 65535"),
        (["--port", "-1"], "expected 0 to 65535"),
        (["--port", "web"], "expected 0 to 65535"),
        (["surplus"], "unrecognized arguments"),
    ],
)
def test_wrong_arguments(checkout: Layout, arguments: list[str], message: str) -> None:
    status, said = fails(checkout, *arguments)
    assert status == 2
    assert message in said
    assert not checkout.cache.exists()


def test_foreign_host(full: Layout) -> None:
    status, message = fails(full, "--host", "192.0.2.1", "--port", "0", "--no-browser")
    assert status == 1
    assert "not an address of this machine" in message
