"""Messages to the page, each a JSON object."""

import json
from collections.abc import Callable
from typing import Any

_post: Callable[[str], object] | None = None


def connect(post: Callable[[str], object]) -> None:
    """Send messages through `post`, a JavaScript function that takes JSON text."""
    global _post
    _post = post


def send(**message: Any) -> None:
    """Send a message to the page."""
    if _post is None:
        raise RuntimeError("the kernel is not connected to a page; call channel.connect first")
    _post(json.dumps(message))
