"""What can go wrong while the site is made ready or served.

A SiteError is told to a person in plain words, without a traceback; NotDelivered is not one: it
makes fetch_files try the next source.
"""

from collections.abc import Mapping


class SiteError(Exception):
    """A failure whose message says what happened and what to do next."""


class CacheUnusable(SiteError):
    """The cache folder cannot be read or written."""


class DiskFull(SiteError):
    """No space is left where the cache is."""


class DamagedFile(SiteError):
    """The bytes that arrived differ from the manifest's size or sha256."""


class MissingFiles(SiteError):
    """Only the cache may be used, and it lacks files."""


class ExportRefused(SiteError):
    """The folder to export to has files already."""


class SourcesFailed(SiteError):
    """No source could deliver every file; ``reasons`` has those that did not come, by path."""

    def __init__(self, message: str, reasons: Mapping[str, str]) -> None:
        super().__init__(message)
        self.reasons = reasons


class WheelBuildFailed(SiteError):
    """The project's wheel could not be built."""


class AddressUnavailable(SiteError):
    """The server cannot listen where it was asked to."""


class Interrupted(SiteError):
    """The work was called off before it was done, by Ctrl-C for example."""


class NotDelivered(Exception):
    """A source could not deliver; the message says why. Never an OSError, which means the disk."""
