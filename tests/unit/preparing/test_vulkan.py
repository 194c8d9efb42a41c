"""tests/run.py installs a Vulkan driver if the naga test needs one."""

import sys
from pathlib import Path

import pytest

from runner import vulkan
from runner.vulkan import ensure_vulkan

pytestmark = [
    pytest.mark.fast,
    pytest.mark.skipif(sys.platform != "linux", reason="drivers are Debian's"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that lists drivers, on a machine without any."""
    monkeypatch.setattr(vulkan, "_DRIVERS", (tmp_path / "absent", tmp_path))
    return tmp_path


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The Debian packages that were requested."""
    packages: list[str] = []

    def install(package: str, say: object) -> bool:
        packages.append(package)
        return False

    monkeypatch.setattr(vulkan.debian, "can_install", lambda: True)
    monkeypatch.setattr(vulkan.debian, "install", install)
    return packages


def test_a_machine_without_one(folder: Path, installed: list[str]) -> None:
    (folder / "nvidia_icd.json").touch()
    ensure_vulkan(lambda text: None)
    assert installed == ["mesa-vulkan-drivers"]


def test_a_machine_with_a_driver(folder: Path, installed: list[str]) -> None:
    (folder / "lvp_icd.x86_64.json").touch()
    ensure_vulkan(lambda text: None)
    assert installed == []


def test_a_user_who_may_not_install(
    folder: Path, installed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vulkan.debian, "can_install", lambda: False)
    ensure_vulkan(lambda text: None)
    assert installed == []
