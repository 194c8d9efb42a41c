"""Files from addresses and from Hugging Face, downloaded once and kept."""

from browsergpu.networks.hub.download import delete, download, download_async, files
from browsergpu.networks.hub.store import KeptFile

__all__ = ["KeptFile", "delete", "download", "download_async", "files"]
