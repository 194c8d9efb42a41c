"""The shell's modules as Python compiled them, which the browser keeps for the next boot.

Compiling takes longer than running them. Pyodide unpacks the wheels at each boot, so the files'
times tell nothing, and what is kept is marked as not to be checked: the browser keeps it by the
lock file, which says which wheels there are, and by the text of these modules.
"""

import importlib.util
import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

# A pyc file begins with a magic number, flags, and 8 bytes of the source's time or hash.
HEADER = 16
UNCHECKED_HASH = (1).to_bytes(4, "little") + bytes(8)


def restore(archive: Any) -> bool:
    """Put the kept files, a JavaScript buffer, to their places; False where it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive.to_py())) as kept:
            kept.extractall("/")
    except zipfile.BadZipFile:
        return False
    return True


def record() -> Callable[[], bytes]:
    """From now on Python writes what it compiles; the function that this gives ends that, and
    returns the files of what was imported meanwhile, as `restore` takes them."""
    before = set(sys.modules)
    sys.dont_write_bytecode = False

    def finish() -> bytes:
        sys.dont_write_bytecode = True
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as kept:
            for name in set(sys.modules) - before:
                path = _compiled(sys.modules[name])
                if path is not None:
                    data = path.read_bytes()
                    kept.writestr(str(path), data[:4] + UNCHECKED_HASH + data[HEADER:])
        return content.getvalue()

    return finish


def _compiled(module: ModuleType) -> Path | None:
    """A module's compiled file, where it came with a wheel or is the notebook's."""
    source = getattr(module, "__file__", None) or ""
    ours = "/site-packages/" in source or "/notebook_kernel/" in source
    if not ours or not source.endswith(".py"):
        return None
    path = Path(importlib.util.cache_from_source(source))
    return path if path.exists() else None
