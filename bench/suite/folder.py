"""Makes a folder with the benchmark pages that needs neither a network nor this repository."""

from __future__ import annotations

import json
import shutil
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from devsite.layout import Layout
from devsite.site import prepare as prepare_site
from suite.models import attention_of_parts, model, shapes
from suite.onnx_decoder import decoders
from suite.peers import VERSIONS, fetch_peers
from suite.row import Row
from suite.rows import rows
from suite.whole import whole_models

BENCH = Path(__file__).resolve().parents[1]
PAGES = ("ours", "device", "tfjs", "jaxjs", "ort")
ARRAYS = ("ours", "tfjs", "jaxjs", "wgpy", "numpy")  # the libraries of the section "arrays"
LANGUAGE = ("wllama",)  # libraries of language models alone, which have no rows
_WGPY = ("wgpy-main.js", "wgpy-worker.js", "wgpy_webgpu-*.whl")
CACHE = Layout().cache / "bench"  # packages from npm
_PYODIDE = ("pyodide*", "python_stdlib.zip", "numpy-*", "micropip-*", "packaging-*")


def all_pages() -> list[str]:
    """Return the names of the pages that need no further files. WgPy's page needs its build."""
    return [name for name in dict.fromkeys((*PAGES, *ARRAYS, *LANGUAGE)) if name != "wgpy"]


def make_folder(
    folder: Path, sizes: str, pages: Sequence[str], wgpy: Path | None = None, whole: bool = False
) -> None:
    """Fill a folder with pages, rows, reference values, Pyodide and the wheel (20 MB).

    The pages of peers need the peers too (30 MB, from npm). ``wgpy`` is the folder dist of a WgPy
    build. ``whole`` adds the whole models, whose logits take NumPy minutes.
    """
    site = prepare_site()
    folder.mkdir(parents=True, exist_ok=True)
    for path in (BENCH / "page").iterdir():
        shutil.copy(path, folder)
    for name in ("drive.py", "language.py", "random_gguf.py"):
        shutil.copy(BENCH / name, folder)
    shutil.copy(BENCH / "suite" / "data.py", folder)
    pyodide = folder / "pyodide"
    pyodide.mkdir(exist_ok=True)
    for pattern in _PYODIDE:
        for path in (Layout().files / "pyodide").glob(pattern):
            shutil.copy(path, pyodide)
    for old in folder.glob("*.whl"):
        old.unlink()
    shutil.copy(site.wheel, folder)
    fetch_peers(folder, CACHE, pages)
    work = rows(sizes)
    _write(folder / "rows.json", [row.as_json() for row in work])
    _write(folder / "models.json", _models(work))
    _write(folder / "decoders.json", decoders())
    if whole:
        _write(folder / "whole.json", whole_models(sizes))
    if wgpy is not None:
        pages = [*pages, "wgpy"]
    described = {
        "sizes": sizes,
        "pages": [name for name in pages if name in PAGES],
        "arrays": [name for name in ARRAYS if name in pages],
        "wheel": site.wheel.name,
        "wgpy": _copy_wgpy(wgpy, folder / "wgpy") if wgpy else "",
    }
    _write(folder / "site.json", described | {"versions": VERSIONS})


def _copy_wgpy(built: Path, folder: Path) -> str:
    """Copy WgPy's files and return the name of its wheel."""
    folder.mkdir(exist_ok=True)
    for pattern in _WGPY:
        found = sorted(built.glob(pattern))
        if not found:
            raise SystemExit(f"{built} has no {pattern}: name the folder dist of a WgPy build")
        shutil.copy(found[-1], folder)
    return found[-1].name


def _models(work: Sequence[Row]) -> dict[str, Any]:
    """Write each row's ONNX model, and one for a session that keeps the device open."""
    made = {row.id: row for row in work if not (row.ours_only or row.array)}
    made["anchor"] = next(row for row in work if row.op == "relu")
    pairs = {name: (model(row), shapes(row)) for name, row in made.items()}
    for row in work:
        if row.op == "attention":
            pairs[f"{row.id}, parts"] = attention_of_parts(row)
    return {
        name: {"model": b64encode(data).decode(), "shapes": placed}
        for name, (data, placed) in pairs.items()
    }


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
