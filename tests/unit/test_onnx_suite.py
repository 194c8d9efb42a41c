"""bg.onnx beside onnx's own cases, and beside onnxruntime on models with weights."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

from onnx_suite.packages import unpacked
from runner.vulkan import software_gpu

ROOT = Path(__file__).resolve().parents[2]
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
    return unpacked(PACKAGES)


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


def example(packages: Path, name: str, *arguments: str) -> list[str]:
    """The lines that an example prints."""
    path = os.pathsep.join([str(ROOT / "py"), str(packages)])
    environment = os.environ | software_gpu("dawn") | {"PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "onnx" / name), *arguments],
        env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def save(path: Path, rate: int, samples: np.ndarray) -> str:
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(np.clip(samples, -32768, 32767).astype("<i2").tobytes())
    return str(path)


def test_the_type_of_files(packages: Path) -> None:
    folder = packages / "magika" / "models" / "standard_v3_3"
    paths = [str(ROOT / name) for name in ("README.md", "serve.py", "pyproject.toml")]
    found = [line.split()[1] for line in example(packages, "file_type.py", str(folder), *paths)]
    assert found == ["markdown", "python", "toml"]


def test_the_text_of_a_picture(packages: Path, tmp_path: Path) -> None:
    draw = """
import sys
from PIL import Image, ImageDraw, ImageFont
picture = Image.new("RGB", (320, 128), "white")
for at, text in enumerate(("Hello, GPU 123", "read in a browser")):
    font = ImageFont.load_default(28)
    ImageDraw.Draw(picture).text((20, 16 + 56 * at), text, fill="black", font=font)
picture.save(sys.argv[1])
"""
    before, after = tmp_path / "text.png", tmp_path / "boxes.png"
    environment = os.environ | {"PYTHONPATH": str(packages)}
    subprocess.run([sys.executable, "-c", draw, str(before)], env=environment, check=True)
    models = packages / "rapidocr" / "models"
    found = example(packages, "read_text.py", str(models), str(before), str(after))
    assert found == ["Hello, GPU 123", "read in a browser"]
    assert after.stat().st_size


def test_the_notes_of_a_melody(packages: Path, tmp_path: Path) -> None:
    rate = 22050
    time = np.arange(int(rate * 0.6)) / rate
    ends = np.minimum(1, np.minimum(time / 0.02, (0.6 - time) / 0.05))
    tones = [
        sum(np.sin(2 * np.pi * hertz * n * time) / n**1.5 for n in range(1, 6)) * ends
        for hertz in (261.63, 329.63, 392.0)
    ]
    path = save(tmp_path / "melody.wav", rate, np.concatenate(tones) * 6000)
    model = packages / "basic_pitch" / "saved_models" / "icassp_2022" / "nmp.onnx"
    found = [line.split()[0] for line in example(packages, "notes.py", str(model), path)]
    assert found == ["C4", "E4", "G4"]


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng speaks")
def test_the_speech_of_a_recording(packages: Path, tmp_path: Path) -> None:
    spoken = tmp_path / "spoken.wav"
    subprocess.run(["espeak-ng", "-w", str(spoken), "Hello, this is a test of speech."], check=True)
    with wave.open(str(spoken)) as file:
        rate = file.getframerate()
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(float)
    seconds = len(samples) / rate
    at = np.arange(int(seconds * 16000)) / 16000 * rate
    whole = np.pad(np.interp(at, np.arange(len(samples)), samples), 16000)
    path = save(tmp_path / "speech.wav", 16000, whole)
    model = packages / "silero_vad" / "data" / "silero_vad.onnx"
    lines = example(packages, "speech.py", str(model), path)
    spans = [(float(line.split()[2]), float(line.split()[4])) for line in lines]
    assert spans
    assert all(0.9 < begin < end < seconds + 1.2 for begin, end in spans)
    assert sum(end - begin for begin, end in spans) > seconds / 2
