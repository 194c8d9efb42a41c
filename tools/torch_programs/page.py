"""Run programs in the page: in Chromium and Pyodide, on SwiftShader."""

from __future__ import annotations

import base64
import contextlib
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_OWN = ("__init__.py", "inside.py", "launch.py", "same_draws.py", "stand_ins.py")
#: Pictures and notebooks of the checkouts, which no program reads.
_LEFT_OUT = {".ipynb", ".jpg", ".svg", ".gif", ".md"}


class ProgramPage:
    """Pages with the package, one for each group of programs."""

    def __init__(self, *, draws_same: bool) -> None:
        self._draws_same = draws_same
        sys.path.insert(0, str(_ROOT / "tests" / "browser"))
        from harness.lab import Lab  # type: ignore[import-not-found,unused-ignore]

        self._lab: Any = Lab()
        self._page: Any = None
        self._group = ""

    def run(self, group: str, folder: Path, script: Path, args: str, seconds: float
            ) -> tuple[str, str]:  # fmt: skip
        """Run a program, and return its output and its error.

        Parameters
        ----------
        group
            Programs of one group share a page, and its files.
        folder
            The folder to run in.
        script
            The file, below ``folder``.
        args
            Its arguments.
        seconds
            The time after which the program ends, at its next line of output.
        """
        if group != self._group:
            self._open(group)
            self._send(folder, "/program")
        place = f"/program/{script.relative_to(folder)}"
        code = (
            "from torch_programs import inside\n"
            f"inside.run({place!r}, {args.split()!r}, '/program', {seconds!r}, "
            f"draws_same={self._draws_same})"
        )
        try:
            out, error = self._page.run(code, timeout=seconds + 240)
        except TimeoutError:
            self.close()
            return "", f"it printed nothing in the last 240 of {seconds + 240:g} seconds"
        except AssertionError as failed:
            self.close()
            return "", str(failed)
        return out, error

    def _open(self, group: str) -> None:
        self.close()
        self._page = self._lab.new_bare_page(lambda _: None, "worker")
        self._page.boot(["numpy", "micropip", "pillow"])
        self._page.install([self._lab.wheel_url])
        here = Path(__file__).parent
        self._page.write_files(
            {f"/tools/torch_programs/{name}": (here / name).read_text("utf-8") for name in _OWN}
        )
        self._page.run("import sys\nsys.path.insert(0, '/tools')")
        self._group = group

    def _send(self, folder: Path, target: str) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(folder.rglob("*")):
                if file.is_file() and file.suffix not in _LEFT_OUT:
                    archive.write(file, file.relative_to(folder))
        text = base64.b64encode(packed.getvalue()).decode()
        self._page.write_files({"/tools/archive": text})
        self._page.run(
            f"from torch_programs import inside\ninside.unpack('/tools/archive', {target!r})"
        )

    def close(self) -> None:
        """Close the page."""
        self._group = ""
        if self._page is not None:
            with contextlib.suppress(Exception):  # a page that has crashed
                self._page.page.context.close()
            self._page = None

    def stop(self) -> None:
        """Close the page and the browser."""
        self.close()
        self._lab.close()
