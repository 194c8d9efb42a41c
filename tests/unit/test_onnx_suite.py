"""bg.onnx beside onnx's own cases, and beside onnxruntime on models with weights."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from runner.vulkan import software_gpu

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "tools" / "onnx_suite" / "requirements.txt"
PACKAGES = ROOT / ".cache" / "onnx"

pytestmark = [
    pytest.mark.all,  # downloads 80 MB, and takes minutes
    pytest.mark.skipif(sys.platform != "linux", reason="software GPUs are Linux's here"),
]

#: Cases of floats, integers and bool that fail, by the reason.
KNOWN = {
    "ImageDecoder reads files of images": ("test_image_decoder_",),
    "text is not on the GPU": ("test_tfidfvectorizer_",),
    "the GPU has no float64": ("test_bitcast_float64_", "test_bitcast_int64_to_float64"),
    "rounding of float32, by 2e-7": ("test_dft_inverse",),
    "rounding of float16, by one unit": ("test_attention_4d_causal_fp16_expanded",),
    "domain ai.onnx.ml": ("test_ai_onnx_ml_",),
}


@pytest.fixture(scope="module")
def packages() -> Path:
    """A folder with the packages of the requirements, without those that they need."""
    wanted = REQUIREMENTS.read_text(encoding="utf-8")
    stamp = PACKAGES / "requirements.txt"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target",
                   str(PACKAGES)]  # fmt: skip
        subprocess.run([*install, "--no-deps", "-r", str(REQUIREMENTS)], check=True, timeout=600)
        needed = ["ml_dtypes", "protobuf", "flatbuffers", "packaging", "typing_extensions"]
        subprocess.run([*install, "--no-deps", *needed], check=True, timeout=600)
        stamp.write_text(wanted, encoding="utf-8")
    return PACKAGES


def run(packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT / "py"), str(ROOT / "tools"), str(packages)])
    environment = os.environ | software_gpu("dawn") | {"PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, "-m", *arguments], env=environment, capture_output=True, text=True,
        timeout=1800,
    )  # fmt: skip


def test_onnxs_own_cases(packages: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = run(packages, "onnx_suite", "--report", str(report))
    cases = json.loads(report.read_text(encoding="utf-8"))
    assert len(cases) == 1884, done.stderr
    plain = {name: one for name, one in cases.items() if one["group"].startswith("floats")}
    passed = [name for name, one in plain.items() if not one["reason"]]
    assert len(passed) >= 0.9 * len(plain)
    prefixes = tuple(prefix for group in KNOWN.values() for prefix in group)
    failed = {name: one["reason"] for name, one in plain.items() if one["reason"]}
    assert {name for name in failed if not name.startswith(prefixes)} == set()


def test_light_models(packages: Path) -> None:
    done = run(packages, "onnx_suite", "--light")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "9 of 9 pass" in done.stdout


@pytest.mark.parametrize("part", ["silero_vad", "magika", "rapidocr", "basic_pitch"])
def test_models_with_weights(packages: Path, part: str) -> None:
    done = run(packages, "onnx_suite.models", str(packages), part)
    assert done.returncode == 0, done.stdout + done.stderr
    assert part in done.stdout


def test_operators_of_microsoft(packages: Path) -> None:
    done = run(packages, "onnx_suite.microsoft")
    assert done.returncode == 0, done.stdout + done.stderr


def test_exported_networks(packages: Path) -> None:
    done = run(packages, "onnx_suite.exports")
    assert done.returncode == 0, done.stdout + done.stderr
