"""Write a notebook's page as `marimo export html-wasm --mode run` does.

Usage: export.py NOTEBOOK FOLDER

The marimo command makes uv download ruff to look for modules beside the notebook. The tests'
notebook has none.
"""

import asyncio
import sys
from pathlib import Path

from marimo._export.exporter import Exporter
from marimo._export.file import export_wasm
from marimo._export.requests import WASMFileExportRequest
from marimo._schemas.export_options import WASMExportOptions
from marimo._utils.marimo_path import MarimoPath

notebook, folder = MarimoPath(sys.argv[1]), Path(sys.argv[2])
options = WASMExportOptions(mode="run", show_code=False)
result = asyncio.run(export_wasm(WASMFileExportRequest(path=notebook, options=options)))
if result.did_error:
    sys.exit(f"marimo could not export {notebook.absolute_name}")
folder.mkdir(parents=True)
(folder / "index.html").write_text(result.contents, encoding="utf-8")
Exporter().export_public_folder(folder, notebook)
