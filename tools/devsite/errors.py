"""Errors of preparing and serving the site.

A SiteError is shown to the user without a traceback. NotDelivered is not a SiteError. It makes
fetch_files try the next source.
"""

from collections.abc import Mapping


class SiteError(Exception):
    """A failure. The message says what happened and what to do."""


class CacheUnusable(SiteError):
    """The cache folder cannot be read or written."""


class DiskFull(SiteError):
    """The disk of the cache is full."""


class DamagedFile(SiteError):
    """Received bytes differ from the manifest's size or sha256."""


class MissingFiles(SiteError):
    """Files are missing, and only the cache may be used."""


class SourcesFailed(SiteError):
    """No source delivered every file. ``reasons`` has the missing files by path."""

    def __init__(self, message: str, reasons: Mapping[str, str]) -> None:
        super().__init__(message)
        self.reasons = reasons


class WheelBuildFailed(SiteError):
    """The project's wheel cannot be built."""


class AddressUnavailable(SiteError):
    """The server cannot listen on the requested address."""


class Interrupted(SiteError):
    """The work was cancelled, for example by Ctrl-C."""


class NotDelivered(Exception):
    """A source could not deliver. The message says why. An OSError always means the disk."""
