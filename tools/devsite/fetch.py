"""Fetches each file from the first source that delivers it: the CDN, then npm and pip."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from devsite.errors import DamagedFile, MissingFiles, NotDelivered, SourcesFailed
from devsite.manifest import ManifestFile
from devsite.parallel import run_parallel
from devsite.progress import Progress, human_size
from devsite.store import Store, workspace

Bundle = Sequence[ManifestFile]


class Source(Protocol):
    """A source of files."""

    @property
    def name(self) -> str:
        """The name shown to the user."""

    def bundles(self, files: Sequence[ManifestFile]) -> list[Bundle]:
        """Return the available files in bundles, each for one request."""

    def deliver(
        self, bundle: Bundle, folder: Path, cancelled: threading.Event
    ) -> Iterator[tuple[ManifestFile, Iterator[bytes]]]:
        """Yield each file with its bytes. ``folder`` is empty and temporary.

        Raises NotDelivered for the whole bundle, or for one file while its bytes are read.
        """


def fetch_files(
    files: Sequence[ManifestFile], sources: Sequence[Source], store: Store, progress: Progress
) -> None:
    """Store every file, or report which ones are missing and why.

    If a source occurs twice, it is asked again for the files that it did not deliver.
    """
    progress.begin(len(files), sum(file.size for file in files))
    cancelled = threading.Event()
    reasons: dict[ManifestFile, list[str]] = {file: [] for file in files}
    reported: set[str] = set()
    for source in sources:
        bundles = source.bundles(list(reasons))
        if not bundles:
            continue
        progress.working(f"Asking {source.name}")

        def take(bundle: Bundle, source: Source = source) -> dict[ManifestFile, str]:
            return _take(bundle, source, store, progress, cancelled)

        for outcome in run_parallel(take, bundles, cancelled):
            for file, reason in outcome.items():
                if not reason:
                    del reasons[file]
                elif reason not in reasons[file]:
                    reasons[file].append(reason)
                if reason and reason not in reported:
                    reported.add(reason)
                    progress.note(reason)
    if reasons:
        failures = {file: "\n".join(found) or "no source has it" for file, found in reasons.items()}
        raise SourcesFailed(_report(failures), {file.path: why for file, why in failures.items()})


def _take(
    bundle: Bundle, source: Source, store: Store, progress: Progress, cancelled: threading.Event
) -> dict[ManifestFile, str]:
    """Store a bundle and return the reason of failure for each file, or ""."""
    outcome = {}
    try:
        with workspace(store.temporary) as folder:
            for file, chunks in source.deliver(bundle, folder, cancelled):
                try:
                    store.put(file, chunks)
                except (NotDelivered, DamagedFile) as error:
                    outcome[file] = f"{source.name}: {error}"
                else:
                    outcome[file] = ""
                    progress.received(file.path, file.size, source.name)
    except NotDelivered as error:
        return dict.fromkeys(bundle, f"{source.name}: {error}") | outcome
    return outcome


def missing_offline(files: Sequence[ManifestFile]) -> MissingFiles:
    """Return the error for missing files when only the cache may be used."""
    names = "\n".join(f"  {file.path} ({human_size(file.size)})" for file in files)
    return MissingFiles(
        f"The cache lacks {len(files)} files that --offline may not fetch:\n{names}\n"
        "Start once without --offline on a machine with a network."
    )


def _report(failures: dict[ManifestFile, str]) -> str:
    """Format failures, grouped by their reasons."""
    groups: dict[str, list[str]] = {}
    for file, reason in failures.items():
        groups.setdefault(reason, []).append(file.path)
    lines = [f"{len(failures)} files could not be fetched from any source."]
    for reason, paths in groups.items():
        lines += [f"  {path}" for path in paths]
        lines += [f"    {line}" for line in reason.splitlines()]
    lines.append(
        "Connect this machine to a network that reaches the CDN or the npm and pip registries, "
        "and start again; what is complete in the cache is kept."
    )
    return "\n".join(lines)
