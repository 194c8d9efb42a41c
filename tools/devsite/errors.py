"""What can go wrong while the site is made ready or served.

SiteError                 everything a person is told in plain words, without a traceback
├── CacheUnusable         the cache folder cannot be read or written
├── DiskFull              no space is left for the cache
├── DamagedFile           what arrived is not the file that the manifest describes
├── MissingFiles          --offline, and the cache lacks files
├── SourcesFailed         no source could deliver some files
├── WheelBuildFailed      hatchling could not build the project's wheel
├── AddressUnavailable    the port is in use, or the host is not this machine's
└── Interrupted           the work was called off, by Ctrl-C for example
"""


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


class SourcesFailed(SiteError):
    """No source could deliver every file."""


class WheelBuildFailed(SiteError):
    """The project's wheel could not be built."""


class AddressUnavailable(SiteError):
    """The server cannot listen where it was asked to."""


class Interrupted(SiteError):
    """The work was called off before it was done."""
