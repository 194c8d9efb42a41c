"""Fetches files from the first source that delivers them: the CDN, then npm and pip."""

import threading
from collections.abc import Sequence
from typing import Protocol

from devsite.errors import MissingFiles, SourcesFailed
from devsite.manifest import ManifestFile
from devsite.progress import Progress
from devsite.sizes import human_size
from devsite.store import Store


class Source(Protocol):
    """Somewhere that files come from."""

    def fetch(
        self,
        files: Sequence[ManifestFile],
        store: Store,
        progress: Progress,
        cancelled: threading.Event,
    ) -> dict[ManifestFile, str]:
        """Put what it can into the store; returns the others with the reason."""


def fetch_files(
    files: Sequence[ManifestFile], sources: Sequence[Source], store: Store, progress: Progress
) -> None:
    """Bring every file into the store, or say which did not come and why."""
    progress.begin(len(files), sum(file.size for file in files))
    cancelled = threading.Event()
    reasons: dict[ManifestFile, list[str]] = {file: [] for file in files}
    pending = list(files)
    for source in sources:
        if not pending:
            break
        failures = source.fetch(pending, store, progress, cancelled)
        for file, reason in failures.items():
            reasons[file].append(reason)
        pending = list(failures)
    if pending:
        raise SourcesFailed(_report(pending, reasons))


def missing_offline(files: Sequence[ManifestFile]) -> MissingFiles:
    """The error for files that are needed when only the cache may be used."""
    names = "\n".join(f"  {file.path} ({human_size(file.size)})" for file in files)
    return MissingFiles(
        f"The cache lacks {len(files)} files that --offline may not fetch:\n{names}\n"
        "Start once without --offline on a machine with a network."
    )


def _report(pending: list[ManifestFile], reasons: dict[ManifestFile, list[str]]) -> str:
    """Files that failed for the same reasons are listed together."""
    groups: dict[str, list[str]] = {}
    for file in pending:
        groups.setdefault("\n".join(reasons[file]), []).append(file.path)
    lines = [f"{len(pending)} files could not be fetched from any source."]
    for reason, paths in groups.items():
        lines += [f"  {path}" for path in paths]
        lines += [f"    {line}" for line in reason.splitlines()]
    lines.append(
        "Connect this machine to a network that reaches the CDN or the npm and pip registries, "
        "and start again; what is complete in the cache is kept."
    )
    return "\n".join(lines)
