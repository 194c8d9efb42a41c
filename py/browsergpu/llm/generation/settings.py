"""The arguments of text generation, checked."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType


@dataclass(frozen=True)
class Settings:
    """How the next token is selected. Equal settings share a captured graph.

    Attributes
    ----------
    temperature, top_k, top_p, min_p, repetition_penalty
        As ``LanguageModel.generate`` takes them.
    logprobs : bool
        Whether log probabilities are kept.
    is_constrained : bool
        Whether a mask of allowed tokens is added to the logits.
    """

    temperature: float
    top_k: int
    top_p: float
    min_p: float
    repetition_penalty: float
    logprobs: bool
    is_constrained: bool = False

    @property
    def is_greedy(self) -> bool:
        """Whether the most probable token is selected."""
        return self.temperature == 0 or self.top_k == 1

    @property
    def needs_order(self) -> bool:
        """Whether tokens are sorted by probability."""
        return not self.is_greedy and (self.top_k > 0 or self.top_p < 1)


def settings_of(
    op: str, temperature: Any, top_k: Any, top_p: Any, min_p: Any, repetition_penalty: Any,
    logprobs: Any, *, is_constrained: bool = False,
) -> Settings:  # fmt: skip
    """Return checked settings. Raises InvalidArgument for values out of range."""
    return Settings(
        _real(op, "temperature", temperature, 0, 100),
        checks.integer(op, "top_k", top_k),
        _real(op, "top_p", top_p, 0, 1),
        _real(op, "min_p", min_p, 0, 1),
        _real(op, "repetition_penalty", repetition_penalty, 1e-3, 1e3),
        checks.flag(op, "logprobs", logprobs),
        is_constrained,
    )


def _real(op: str, name: str, value: Any, low: float, high: float) -> float:
    found = checks.real(op, name, value)
    if not isfinite(found) or not low <= found <= high:
        raise InvalidArgument(op, name, value, f"a number from {low} to {high}")
    return found


def stops_of(op: str, stop: Any) -> tuple[str, ...]:
    """Return the texts at which generation stops: none, one or several."""
    given = () if stop is None else (stop,) if isinstance(stop, str) else stop
    if not isinstance(given, list | tuple) or any(
        not isinstance(one, str) or not one for one in given
    ):
        raise InvalidType(op, "stop", stop, "a string that is not empty, or a list of them")
    return tuple(given)
