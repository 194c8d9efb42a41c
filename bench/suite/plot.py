"""Draws each row's speed relative to the best peer, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import ceil, floor, log10
from typing import Any

from suite.report import PEERS, Report, Result
from suite.table import number, short

_LEFT, _RIGHT, _WIDTH = 290, 150, 860
_STEP, _SECTION, _TOP = 17, 30, 74
_OURS, _LIMIT, _INK, _FAINT = "#0b6bcb", "#c2410c", "#1f2933", "#8a94a0"
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:" + _INK + "}"
    ".s{font-weight:600}.f{fill:" + _FAINT + "}.v{fill:" + _OURS + ";font-weight:600}"
)


def plot(report: Report) -> str:
    """An SVG."""
    shown = [r for r in report.results if r.speed(r.reached.get("ours")) is not None]
    if not shown:
        return '<svg xmlns="http://www.w3.org/2000/svg"/>\n'
    low, high = _range(shown)
    span = _WIDTH - _LEFT - _RIGHT

    def x(speed: float) -> float:
        share = (log10(speed) - low) / (high - low)
        return round(_LEFT + span * min(1.0, max(0.0, share)), 1)

    body, y, section = [], _TOP, ""
    for result in shown:
        if result.row.section != section:
            section = result.row.section
            y += _SECTION
            body.append(f'<text class="s" x="12" y="{y - 8}">{escape(section)}</text>')
        body += _row(result, y, x)
        y += _STEP
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y + 16}" '
        f'viewBox="0 0 {_WIDTH} {y + 16}">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{y + 16}" fill="#fff"/>',
        f'<text class="s" x="12" y="22">Speed against the best peer: '
        f"{escape(report.about['device'])}, {report.about['date']}</text>",
        *_legend(),
    ]
    for mark in _ticks(low, high):
        at, strong = x(mark), mark == 1
        colour = _INK if strong else "#e2e6ea"
        head.append(f'<path d="M{at} {_TOP}V{y}" stroke="{colour}"/>')
        head.append(
            f'<text class="f" x="{at}" y="{_TOP - 6}" text-anchor="middle">{mark:g}×</text>'
        )
    return "\n".join([*head, *body, "</svg>"]) + "\n"


def _range(shown: list[Result]) -> tuple[float, float]:
    names = ("ours", *PEERS)
    speeds = [s for r in shown for name in names if (s := r.speed(r.reached.get(name)))]
    return floor(3 * log10(min(speeds))) / 3, max(0.4, ceil(3 * log10(max(speeds))) / 3)


def _ticks(low: float, high: float) -> Iterator[float]:
    for power in range(floor(low), ceil(high) + 1):
        for digit in (1, 2, 5):
            if low <= log10(digit * 10**power) <= high:
                yield digit * 10.0**power


def _row(result: Result, y: int, x: Any) -> Iterator[str]:
    middle = y + 4
    ours = result.reached["ours"]
    speed = result.speed(ours)
    assert speed is not None
    yield f'<text x="20" y="{y + 8}">{escape(short(result))}</text>'
    start, end = sorted((x(1), x(speed)))
    yield f'<path d="M{start} {middle}H{end}" stroke="{_OURS}" stroke-width="2" opacity=".35"/>'
    for peer in PEERS:
        if peer in result.reached:
            yield _mark(peer, x(result.speed(result.reached[peer])), middle)
    limit = result.speed(result.limit)
    if limit is not None:
        yield f'<path d="M{x(limit)} {y - 1}v10" stroke="{_LIMIT}" stroke-width="2.5"/>'
    yield f'<circle cx="{x(speed)}" cy="{middle}" r="5" fill="{_OURS}"/>'
    told = f"{number(ours)} {result.row.unit}"
    yield f'<text class="v" x="{_WIDTH - _RIGHT + 18}" y="{y + 8}">{told}</text>'


def _mark(peer: str, x: float, y: float) -> str:
    style = f'fill="#fff" stroke="{_FAINT}" stroke-width="1.5"'
    if peer == "ort":
        return f'<rect x="{x - 3}" y="{y - 3}" width="6" height="6" {style}/>'
    if peer == "tfjs":
        return f'<path d="M{x} {y - 4}l4 7h-8z" {style}/>'
    return f'<circle cx="{x}" cy="{y}" r="3" {style}/>'


def _legend() -> Iterator[str]:
    x, y = 18.0, 42
    yield f'<circle cx="{x}" cy="{y - 4}" r="5" fill="{_OURS}"/>'
    yield f'<text x="{x + 10}" y="{y}">browsergpu, from Python</text>'
    x += 175
    for peer, name in PEERS.items():
        yield _mark(peer, x, y - 4)
        yield f'<text x="{x + 9}" y="{y}">{name}</text>'
        x += 30 + 7 * len(name)
    yield f'<path d="M{x} {y - 9}v10" stroke="{_LIMIT}" stroke-width="2.5"/>'
    yield f'<text x="{x + 8}" y="{y}">the device itself</text>'
