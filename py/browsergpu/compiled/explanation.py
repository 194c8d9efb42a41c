"""Explanations of compiled functions."""

from __future__ import annotations

from collections import Counter
from typing import Any

from browsergpu.engine.core.showing import Shown, byte_count


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


class Explanation(Shown):
    """The graphs that a compiled function has captured.

    Attributes
    ----------
    variants : list of dict
        For each graph: ``calls``, the number of replays; ``kernels``, the number of dispatches;
        ``labels``, their names with how often each occurs; ``merged``, the operations that the
        kernels of products compute, such as "linear with gelu", with how often; ``kept``, the names
        of the dispatches that run again only if an array that they read has changed, with how often
        each occurs; ``kept_bytes``, the memory of their results; ``bytes``, the memory of one
        call's results.
    reasons : list of str
        Why the function was captured again, or numbers became part of its signature.
    plain : str
        Why no call is captured, or "".
    """

    def __init__(self, compiled: Any) -> None:
        self.plain: str = compiled._is_plain
        self.reasons: list[str] = list(compiled._reasons)
        self.variants: list[dict[str, Any]] = []
        for state in compiled._states.values():
            for one in state.variants:
                graph = one.variant.graph
                labels, kept = graph.kernels, graph.constants
                self.variants.append(
                    {
                        "calls": one.variant.calls,
                        "kernels": len(labels),
                        "labels": dict(Counter(labels)),
                        "merged": dict(Counter(graph.merged)),
                        "kept": {} if kept is None else kept.labels,
                        "kept_bytes": 0 if kept is None else kept.nbytes,
                        "bytes": one.variant.result_bytes,
                    }
                )

    def __str__(self) -> str:
        lines = []
        if self.plain:
            lines.append(f"Runs without a graph, because {self.plain}.")
        for number, one in enumerate(self.variants, 1):
            lines.append(
                f"Graph {number}: {_count(one['kernels'], 'kernel')}, "
                f"{_count(one['calls'], 'replay')}, "
                f"{byte_count(one['bytes'])} of results"
            )
            lines += [f"    {times} x {label}" for label, times in one["labels"].items()]
            lines += [f"    {times} x {name} in one" for name, times in one["merged"].items()]
            if one["kept"]:
                lines.append(f"  Only after changes, {byte_count(one['kept_bytes'])} kept:")
                lines += [f"    {times} x {label}" for label, times in one["kept"].items()]
        lines += [f"Captured again: {reason}" for reason in self.reasons]
        return "\n".join(lines) or "No graph yet. The second call of a signature is captured."

    __repr__ = __str__
