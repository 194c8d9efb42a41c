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
    """Somewhere that files come from."""

    @property
    def name(self) -> str:
        """What a person knows it by."""

    def bundles(self, files: Sequence[ManifestFile]) -> list[Bundle]:
        """Those of the files that it may have, in groups that one request brings."""

    def deliver(
        self, bundle: Bundle, folder: Path, cancelled: threading.Event
    ) -> Iterator[tuple[ManifestFile, Iterator[bytes]]]:
        """Each file's bytes; ``folder`` is empty and goes afterwards.

        Raises NotDelivered for the whole bundle, and while the bytes are read for one file.
        """


def fetch_files(
    files: Sequence[ManifestFile], sources: Sequence[Source], store: Store, progress: Progress
) -> None:
    """Bring every file into the store, or say which did not come and why.

    A source that is named twice is asked once more for what it did not deliver.
    """
    progress.begin(len(files), sum(file.size for file in files))
    cancelled = threading.Event()
    reasons: dict[ManifestFile, list[str]] = {file: [] for file in files}
    told: set[str] = set()
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
                if reason and reason not in told:
                    told.add(reason)
                    progress.note(reason)
    if reasons:
        failures = {file: "\n".join(found) or "no source has it" for file, found in reasons.items()}
        raise SourcesFailed(_report(failures), {file.path: why for file, why in failures.items()})


def _take(
    bundle: Bundle, source: Source, store: Store, progress: Progress, cancelled: threading.Event
) -> dict[ManifestFile, str]:
    """Put what comes into the store; gives the reason for each file, empty where it came."""
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
    """The error for files that are needed when only the cache may be used."""
    names = "\n".join(f"  {file.path} ({human_size(file.size)})" for file in files)
    return MissingFiles(
        f"The cache lacks {len(files)} files that --offline may not fetch:\n{names}\n"
        "Start once without --offline on a machine with a network."
    )


def _report(failures: dict[ManifestFile, str]) -> str:
    """Files that failed for the same reasons are listed together."""
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
