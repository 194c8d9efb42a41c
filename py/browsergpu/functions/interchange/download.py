"""Downloads of files from Python's file system, which is in the page's memory."""

from __future__ import annotations

import os
from pathlib import Path

from browsergpu.engine.core.errors import InvalidArgument, Unsupported
from browsergpu.engine.gpu import platform

_NOWHERE = (
    "cannot reach the browser's downloads: {why}. In JupyterLite, files of the working folder are "
    "in its list of files"
)


def download(path: str | os.PathLike[str], name: str | None = None) -> None:
    """Pass a file to the browser as a download.

    It works on a page's main thread, and in a worker whose page sets
    ``globalThis.browsergpuDownload = (name, bytes) => …`` in it, as the notebook does.

    Parameters
    ----------
    path : str or path-like
        The file.
    name : str, optional
        Name of the download. Defaults to the name of the file.

    Raises
    ------
    OSError
        If the file cannot be opened (FileNotFoundError, IsADirectoryError and so on).
    InvalidArgument
        If ``name`` is not a file name.
    Unsupported
        If there is no browser to pass the file to.
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
