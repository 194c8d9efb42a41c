"""The end of a text: held back until it cannot be the start of a stop text."""

from __future__ import annotations

from collections.abc import Sequence

from browsergpu.engine.core.showing import Shown


class Stops(Shown):
    """Watches a text for stop texts.

    Parameters
    ----------
    stops : sequence of str
        The texts at which the text ends. They are left out.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = stops
        self._held = ""
        #: Whether a stop text was found.
        self.found = False

    def add(self, text: str) -> str:
        """Return the text that is certain after more text."""
        own = self._held + text
        ends = [at for at in (own.find(one) for one in self._stops) if at >= 0]
        if ends:
            self.found = True
            self._held = ""
            return own[: min(ends)]
        most = max(
            (
                size
                for one in self._stops
                for size in range(1, min(len(one), len(own)) + 1)
                if own.endswith(one[:size])
            ),
            default=0,
        )
        self._held = own[len(own) - most :]
        return own[: len(own) - most]

    def end(self) -> str:
        """Return the rest."""
        rest, self._held = self._held, ""
        return rest
