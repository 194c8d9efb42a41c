"""Runs MkDocs."""

from pathlib import Path

from devsite.processes import run_program

_TIMEOUT = 600.0


class CannotBuild(Exception):
    """MkDocs cannot build the site. The message has its warnings."""


def build(python: Path, repository: Path, out: Path) -> None:
    """Write the site into a folder. A broken link raises CannotBuild."""
    command = [str(python), "-m", "mkdocs", "build", "--quiet"]
    command += ["--config-file", str(repository / "mkdocs.yml"), "--site-dir", str(out.resolve())]
    # The theme announces a version of MkDocs that is not pinned here.
    environment = {"NO_MKDOCS_2_WARNING": "1"}
    finished = run_program(command, folder=repository, timeout=_TIMEOUT, environment=environment)
    if not finished.succeeded:
        reason = f"timed out after {_TIMEOUT:.0f} s" if finished.timed_out else ""
        raise CannotBuild(f"mkdocs build failed:\n{reason or finished.last_lines(20)}")
