"""Run a program under the name ``torch`` of browsergpu, in this process."""

from __future__ import annotations

import runpy
import signal
import sys
from pathlib import Path

from torch_programs import same_draws, stand_ins


def run_program(
    script: str, args: list[str], *, is_theirs: bool = False, draws_same: bool = False
) -> None:
    """Run a program, and its functions whose names begin with ``test_``.

    Parameters
    ----------
    script
        The file.
    args
        Its arguments.
    is_theirs
        Whether ``torch`` is PyTorch.
    draws_same
        Whether random numbers come from NumPy.
    """
    if not is_theirs:
        import browsergpu.torch

        browsergpu.torch.install()
    import torch  # type: ignore[import-not-found,unused-ignore]

    stand_ins.install(torch)
    if draws_same:
        same_draws.install(torch)
    sys.argv = [script, *args]
    sys.path[0:0] = [str(Path(script).resolve().parent), str(Path.cwd())]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    found = runpy.run_path(script, run_name="__main__")
    for name, test in found.items():
        if name.startswith("test_") and callable(test):
            test()
            print(f"{name} passed")
