"""Test files start in order of their recorded durations, longest first."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from devsite.layout import REPOSITORY
from runner.order import FILE, Measurement, seconds

pytestmark = pytest.mark.fast

ORDER = "tests/unit/preparing/test_order.py"
VULKAN = "tests/unit/preparing/test_vulkan.py"


@pytest.fixture
def on_dawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSERGPU_NATIVE", "dawn")


def test_the_measured_files_are_there() -> None:
    for files in json.loads(FILE.read_text("utf-8")).values():
        assert [name for name in files if not (REPOSITORY / name).exists()] == []


def test_pytest_collects_the_longest_first() -> None:
    measured = sorted(seconds(), key=seconds().__getitem__)
    slow, slower = measured[-2:]
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", ORDER, slow, slower],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=600,
    )
    files = [line.partition(":")[0] for line in finished.stdout.splitlines() if ".py::" in line]
    assert list(dict.fromkeys(files)) == [slower, slow, ORDER], finished.stdout + finished.stderr


def test_a_measurement_keeps_durations_of_files_that_did_not_run(tmp_path: Path) -> None:
    file = tmp_path / "durations.json"
    file.write_text(
        json.dumps({"page": {ORDER: 5.0, VULKAN: 7.0, "tests/test_gone.py": 9.0}, "dawn": {}})
    )
    measurement = Measurement()
    measurement.add(f"{ORDER}::test_a[x::y]", 1.25)
    measurement.add(f"{ORDER}::test_b", 1.5)
    measurement.write(file)
    assert json.loads(file.read_text()) == {"page": {ORDER: 2.8, VULKAN: 7.0}, "dawn": {}}


def test_short_durations_are_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "durations.json"
    measurement = Measurement()
    measurement.add(f"{ORDER}::test_a", 0.1)
    measurement.add(f"{VULKAN}::test_a", 3.0)
    measurement.write(file)
    assert json.loads(file.read_text()) == {"page": {VULKAN: 3.0}}


@pytest.mark.usefixtures("on_dawn")
def test_each_platform_has_its_own_durations(tmp_path: Path) -> None:
    file = tmp_path / "durations.json"
    file.write_text(json.dumps({"page": {ORDER: 5.0}}))
    measurement = Measurement()
    measurement.add(f"{ORDER}::test_a", 3.0)
    measurement.write(file)
    assert json.loads(file.read_text()) == {"page": {ORDER: 5.0}, "dawn": {ORDER: 3.0}}
    assert seconds(file) == {ORDER: 3.0}
