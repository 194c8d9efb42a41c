"""Makes a folder that a browser can be driven on, without network and without this repository."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from devsite.layout import Layout
from devsite.site import prepare as prepare_site

from suite.rows import rows

BENCH = Path(__file__).resolve().parents[1]
PAGES = ("ours", "device", "tfjs", "jaxjs", "ort")
_PYODIDE = ("pyodide*", "python_stdlib.zip", "numpy-*", "micropip-*", "packaging-*")


def make_folder(folder: Path, sizes: str, pages: Sequence[str] = PAGES) -> None:
    """Fills a folder with pages, the rows with their reference values, Pyodide and the wheel (20
    MB), and for the peers' pages the peers (19 MB, by npm)."""
    site = prepare_site()
    folder.mkdir(parents=True, exist_ok=True)
    for path in (BENCH / "page").iterdir():
        shutil.copy(path, folder)
    shutil.copy(BENCH / "drive.py", folder)
    shutil.copy(BENCH / "suite" / "data.py", folder)
    pyodide = folder / "pyodide"
    pyodide.mkdir(exist_ok=True)
    for pattern in _PYODIDE:
        for path in (Layout().files / "pyodide").glob(pattern):
            shutil.copy(path, pyodide)
    for old in folder.glob("*.whl"):
        old.unlink()
    shutil.copy(site.wheel, folder)
    described = {"sizes": sizes, "pages": list(pages), "wheel": site.wheel.name}
    (folder / "site.json").write_text(json.dumps(described), "utf-8")
    work = [row.as_json() for row in rows(sizes)]
    (folder / "rows.json").write_text(json.dumps(work, ensure_ascii=False), "utf-8")
