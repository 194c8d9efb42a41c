"""Cache of compiled modules, which the browser stores for the next boot.

Compiling takes longer than running them. Pyodide unpacks the wheels at each boot, so file times are
meaningless, and cached files are marked as unchecked. The browser's cache key has the lock file,
which identifies the wheels, and the text of these modules.
"""

import io
import sys
import zipfile
from collections.abc import Callable
from importlib.util import cache_from_source
from pathlib import Path
from types import ModuleType
from typing import Any

from notebook_kernel.archives import extract

# A pyc file begins with a magic number, flags, and 8 bytes of the source's time or hash.
HEADER = 16
UNCHECKED_HASH = (1).to_bytes(4, "little") + bytes(8)


def restore(archive: Any) -> bool:
    """Unpack the cached files from a JavaScript buffer. Return False if it is damaged.

    Modules of the memory snapshot are imported already, so their files are left out.
    """
    sources = (getattr(module, "__file__", None) for module in sys.modules.values())
    imported = {_name(cache_from_source(one)) for one in sources if one}
    try:
        extract(io.BytesIO(archive.to_py()), "", without=imported)
    except zipfile.BadZipFile:
        return False
    return True


def record() -> Callable[[], bytes]:
    """Make Python write compiled files from now on.

    Return a function that ends this and returns the files of all modules imported meanwhile, in the
    format of `restore`.
    """
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
                    kept.writestr(_name(str(path)), data[:4] + UNCHECKED_HASH + data[HEADER:])
        return content.getvalue()

    return finish


def _name(path: str) -> str:
    """Return the name of a file in the archive."""
    return path.lstrip("/")


def _compiled(module: ModuleType) -> Path | None:
    """Return a module's compiled file, if it is from a wheel or the notebook's own."""
    source = getattr(module, "__file__", None) or ""
    ours = "/site-packages/" in source or "/notebook_kernel/" in source
    if not ours or not source.endswith(".py"):
        return None
    path = Path(cache_from_source(source))
    return path if path.exists() else None
