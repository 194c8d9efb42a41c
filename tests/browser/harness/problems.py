"""Problems that a page reports: console errors, page errors, WebGPU warnings, a crash."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import ConsoleMessage, Error, Page

from . import firefox

# Chromium reports an uncaptured validation error as a console *warning*, without a common prefix.
_WEBGPU_WARNING = re.compile(
    r"webgpu|\bGPU[A-Z]\w+|\bdawn\b|\btint\b|wgsl|validation|\[Invalid |is invalid|"
    r"While (calling|encoding|validating|initializing|finishing)",
    re.IGNORECASE,
)

# Chromium prints this for a headless page that draws with SwiftShader; the page is fine.
_NOISE = re.compile(r"GPU stall due to ReadPixels|Automatic fallback to software WebGL")

# Firefox prints these lines in addition to the shader's error, which comes in another line.
_NOISE_OF_FIREFOX = re.compile(
    r"^Encountered one or more errors while creating shader module|^Parent device is lost$"
)

# Firefox prints this when a worker is ended while its Python runs.
_END_OF_A_WORKER = "uncaught exception: undefined"


def watch(page: Page, tell: Callable[[str], None]) -> None:
    """Call `tell` with a line for each problem of `page` and its workers."""

    def on_console(message: ConsoleMessage) -> None:
        text = message.text
        if _NOISE.search(text) or (firefox.CHOSEN and _NOISE_OF_FIREFOX.search(text)):
            return
        if message.type == "error" or (message.type == "warning" and _WEBGPU_WARNING.search(text)):
            place = message.location
            tell(f"console {message.type}: {text} ({place['url']}:{place['lineNumber']})")

    def on_page_error(error: Error) -> None:
        text = error.stack or error.message
        if not (firefox.CHOSEN and text.startswith(_END_OF_A_WORKER)):
            tell(f"page error: {text}")

    page.on("console", on_console)
    page.on("pageerror", on_page_error)
    page.on("crash", lambda _page: tell("the page crashed"))


def assert_none(problems: list[str]) -> None:
    """Fail with all problems in the message, if there are any."""
    if problems:
        listing = "\n".join(f"  - {problem}" for problem in problems)
        raise AssertionError(
            f"the page reported {len(problems)} problem(s) that the test did not provoke:\n"
            f"{listing}\n(a test that provokes errors says so: @pytest.mark.provokes_errors)"
        )
