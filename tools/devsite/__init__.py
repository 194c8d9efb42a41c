"""Implementation of serve.py: prepare() fills the cache, make_server() or serving() serves it."""

from devsite.errors import SiteError
from devsite.layout import Layout
from devsite.server import make_server, server_url, serving
from devsite.site import Site, prepare

__all__ = ["Layout", "Site", "SiteError", "make_server", "prepare", "server_url", "serving"]
