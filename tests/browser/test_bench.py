"""The benchmark's runner with small sizes: every row's result is right. Times are ignored."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.llm.conftest import smollm2 as smollm2  # the fixture

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench"))

from suite.folder import CACHE, PAGES  # noqa: E402
from suite.peers import VERSIONS, is_cached  # noqa: E402

pytestmark = pytest.mark.all

SKIPPED = "the device has no shader-f16"
PEERS = [page for page in VERSIONS if page in PAGES]
PROGRAMS = "arrays: Mandelbrot|arrays: heat|arrays: take"
FIRST = "first result: softmax"


def run(out: Path, *options: str) -> dict[str, Any]:
    """Return the runner's report."""
    command = [sys.executable, str(ROOT / "bench" / "run.py"), "--sizes", "small", "--software"]
    finished = subprocess.run(
        [*command, "--out", str(out), *options], capture_output=True, text=True, timeout=420
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    names = {path.suffix: path for path in out.iterdir()}
    assert set(names) == {".json", ".md", ".svg"}
    told: dict[str, Any] = json.loads(names[".json"].read_text("utf-8"))
    return told


def test_every_row_is_right(tmp_path: Path) -> None:
    # First results need a boot each; the next test covers one.
    told = run(tmp_path, "--pages", "ours", "device", "--no-arrays", "--no-first")
    for row in told["rows"]:
        if row["row"].startswith(("arrays: ", "first result: ")):
            continue
        problem = row["problems"].get("ours")
        if problem != SKIPPED:
            assert problem is None, row["row"]
            assert row["reached"]["ours"] > 0, row["row"]
    assert told["limits"]["memory copy in WebAssembly, GB/s"] > 0
    assert any(name.startswith("multiply-adds") for name in told["limits"])


def test_programs_run_on_browsergpus_arrays_and_on_numpys(tmp_path: Path) -> None:
    told = run(tmp_path, "--pages", "ours", "numpy", "--only", f"{PROGRAMS}|{FIRST}")
    rows = {row["row"]: row for row in told["rows"] if row["reached"]}
    assert len(rows) == 4
    (first,) = [rows.pop(name) for name in list(rows) if name.startswith(FIRST)]
    assert first["reached"].keys() == {"ours"}
    assert first["problems"].get("ours") is None
    for row in rows.values():
        assert set(row["reached"]) == {"ours", "numpy"}, row["problems"]
        assert row["dispatches"] > 0, row["row"]


@pytest.mark.skipif(
    not all(is_cached(CACHE, page) for page in PEERS),
    reason="the peers were not fetched: python3 bench/run.py prepare does",
)
def test_peers_get_the_same_numbers(tmp_path: Path) -> None:
    only = f"matmul f32 33×35×31|relu|{PROGRAMS}"
    told = run(tmp_path, "--pages", *PEERS, "--only", only)
    rows = [row for row in told["rows"] if row["reached"]]
    assert len(rows) == 6
    for row in rows:
        peers = set(PEERS) - ({"ort"} if row["row"].startswith("arrays: ") else set())
        assert set(row["reached"]) == peers, row["problems"]


@pytest.mark.skipif(
    not all(is_cached(CACHE, page) for page in ("ort", "jaxjs")),
    reason="the peers were not fetched: python3 bench/run.py prepare does",
)
def test_complete_models_are_right_in_other_libraries(tmp_path: Path) -> None:
    site, out = tmp_path / "site", tmp_path / "lines.jsonl"
    runner = [sys.executable, str(ROOT / "bench" / "run.py"), "prepare", str(site)]
    runner += ["--sizes", "small", "--models", "--pages", "ort", "jaxjs"]
    subprocess.run(runner, check=True, timeout=600)
    query = "only=f32&warm=0&ms=1&repeats=3"
    pages = [f"models.html?library={name}&{query}" for name in ("ort", "jaxjs")]
    driver = [sys.executable, str(site / "drive.py"), "--out", str(out), "--software"]
    subprocess.run([*driver, "--addresses", *pages], check=True, timeout=900)
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    rows = [line for line in lines if "row" in line]
    assert [line for line in rows if not line.get("check", {}).get("ok")] == []
    assert len([line for line in rows if line["peer"] == "ort"]) == 4 * 4
    assert len([line for line in rows if line["peer"] == "jaxjs"]) == 4


@pytest.mark.skipif(
    not is_cached(CACHE, "ort"), reason="onnxruntime-web was not fetched: bench/onnx_web.py does"
)
def test_onnx_models_are_right_in_both_libraries(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "bench" / "onnx_web.py"), "run", str(tmp_path)]
    command += ["--sizes", "small", "--software", "--only", "orientation|BERT-base, 16 tokens, f32"]
    subprocess.run(command, check=True, timeout=900)
    told = (tmp_path / "lines.jsonl").read_text("utf-8")
    lines = [line for line in map(json.loads, told.splitlines()) if "row" in line]
    assert [line for line in lines if "check" in line and not line["check"]["ok"]] == []
    for library, variants in (("ort", 2), ("ours", 1)):
        own = [line for line in lines if line["peer"] == library]
        assert len([line for line in own if "first_ms" in line]) == 2
        assert len([line for line in own if "wait_ms" in line]) >= 2 * variants


@pytest.mark.skipif(
    not is_cached(CACHE, "wllama"), reason="wllama was not fetched: bench/run.py prepare does"
)
def test_wllama_continues_a_prompt_and_names_its_backend(tmp_path: Path, smollm2: Path) -> None:
    site, out = tmp_path / "site", tmp_path / "lines.jsonl"
    runner = [sys.executable, str(ROOT / "bench" / "run.py"), "prepare", str(site)]
    subprocess.run([*runner, "--sizes", "small", "--pages", "wllama"], check=True, timeout=300)
    shutil.copy(smollm2, site / "smollm2.gguf")
    write = [sys.executable, str(site / "random_gguf.py"), "tiny", "Q4_0", str(site / "tiny.gguf")]
    subprocess.run(write, check=True)
    counts = "prompt=32&tokens=8&repeats=2"
    pages = [f"language-wllama.html?file={name}.gguf&{counts}" for name in ("smollm2", "tiny")]
    pages = [*(f"{page}&backend=cpu&threads=2" for page in pages), pages[0]]
    driver = [sys.executable, str(site / "drive.py"), "--out", str(out), "--software"]
    subprocess.run([*driver, "--addresses", *pages], check=True, timeout=420)
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    rows = {line["row"]: line for line in lines if line.get("row")}
    names = ["smollm2 (CPU)", "tiny (CPU)"]
    assert [*rows] == [f"{kind}: {name}" for name in names for kind in ("prompt", "decode")]
    for row in rows.values():
        assert (row["backend"], row["threads"]) == ("CPU", 2)
        assert row["tokens"] == (32 if row["row"].startswith("prompt") else 8)
    assert rows["decode: smollm2 (CPU)"]["text"] == "23456789"
    # SwiftShader has no shader-f16, so llama.cpp does not open WebGPU, and the page says so.
    (error,) = [line["error"] for line in lines if "error" in line]
    assert error.startswith("not all layers are on WebGPU: ")
