"""The page's modules are in folders by subject, which import only folders listed before them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.fast

APP = Path(__file__).resolve().parents[2] / "web" / "app"
#: Each folder imports only itself and folders before it; "" is ``web/app`` itself, the pages.
FOLDERS = (
    "base", "content", "controls", "editor", "cells", "storage", "kernel", "sharing", "embedding",
    "notebook", "",
)  # fmt: skip
_IMPORT = re.compile(r"""["'](\.{1,2}/[\w./-]+\.js)["']""")


def test_every_folder_is_known_and_small() -> None:
    assert {path.name for path in APP.iterdir() if path.is_dir()} == {*FOLDERS} - {""}
    for folder in FOLDERS:
        assert 0 < len([*(APP / folder).glob("*.js")]) <= 20


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_imports_only_folders_before_it(folder: str) -> None:
    allowed = FOLDERS[: FOLDERS.index(folder) + 1]
    for module in (APP / folder).glob("*.js"):
        for target in _IMPORT.findall(module.read_text(encoding="utf-8")):
            path = (module.parent / target).resolve()
            assert path.is_file(), f"{module.name} imports {target}"
            if path.is_relative_to(APP):
                of = "" if path.parent == APP else path.parent.name
                assert of in allowed, f"{module.name} imports {target}"
