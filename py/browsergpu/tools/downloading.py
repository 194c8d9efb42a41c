"""Handing files from Python's file system, which lies in the page's memory, to the browser."""

from __future__ import annotations

import os
from pathlib import Path

from browsergpu.core.errors import InvalidArgument, Unsupported
from browsergpu.gpu import platform

_NOWHERE = (
    "cannot reach the browser's downloads: {why}. In JupyterLite, files of the working folder are "
    "in its list of files"
)


def download(path: str | os.PathLike[str], name: str | None = None) -> None:
    """Hands a file to the browser's downloads, under its own name unless told another.

    Works on a page's main thread, and in a worker whose page has set
    ``globalThis.browsergpuDownload = (name, bytes) => …`` there, as the notebook has.

    Raises what opening the file raises (FileNotFoundError, IsADirectoryError …), InvalidArgument
    for a name that is no file name, and Unsupported where there is no browser to take it.
    """
    op = "download"
    file = Path(path)
    content = file.read_bytes()
    shown = file.name if name is None else name
    if not isinstance(shown, str) or not shown or "/" in shown or "\\" in shown:
        raise InvalidArgument(op, "name", shown, "the name of a file, without folders")
    if not platform.IN_PYODIDE:
        raise Unsupported(op, _NOWHERE.format(why="Python does not run in one"))
    if not platform.hand_over(shown, content):
        why = "this worker's page has set no globalThis.browsergpuDownload"
        raise Unsupported(op, _NOWHERE.format(why=why))
