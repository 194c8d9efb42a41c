"""Events of a profile name the lines of the user's code that their kernels compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native

FILE = "network.py"

CODE = """\
def step(bg, a, b):
    c = a * 2
    d = c + b
    e = d @ b
    f = e - 1
    return f.sum()
"""


@pytest.fixture
def bg(backend: Any) -> Iterator[Any]:
    """browsergpu with new arrays on the session's backend, and without pending work."""
    import browsergpu
    from browsergpu.arrays.lazy.trace import tracer_of

    browsergpu.use(backend)
    yield browsergpu
    tracer_of(backend.device).evaluate()


def _function(code: str = CODE, name: str = "step") -> Any:
    """Return a function of a file whose lines the test knows."""
    names: dict[str, Any] = {}
    exec(compile(code, FILE, "exec"), names)
    return names[name]


def _operands(bg: Any) -> tuple[Any, Any]:
    a, b = (bg.asarray(np.full((4, 4), n, np.float32)) for n in (1, 2))
    bg.eval(a, b)
    return a, b


def _eager(bg: Any, step: Callable[..., Any]) -> Any:
    a, b = _operands(bg)
    with bg.profile() as p:
        float(step(bg, a, b))
    return p


def _replayed(bg: Any, step: Callable[..., Any]) -> Any:
    a, b = _operands(bg)
    with bg.capture() as graph:
        found = step(bg, a, b)
    with bg.profile() as p:
        graph.replay()
    assert float(found) == 496
    return p


def _compiled(bg: Any, step: Callable[..., Any]) -> Any:
    a, b = _operands(bg)
    compiled = bg.jit(lambda a, b: step(bg, a, b))
    compiled(a, b)
    with bg.profile() as p:
        found = compiled(a, b)
    assert float(found) == 496
    return p


RUNS = {"eager": _eager, "replayed": _replayed, "compiled": _compiled}


@pytest.mark.parametrize("run", RUNS)
def test_products_and_fused_kernels_name_their_operations(bg: Any, run: str) -> None:
    p = RUNS[run](bg, _function())
    found = {event.name: event for event in p.events}
    fused = found["fused: multiply add"]
    assert fused.lines == (f"{FILE}:2", f"{FILE}:3")
    assert fused.line == f"{FILE}:3"
    (product,) = [event for event in p.events if "gemm" in event.name]
    assert product.lines == (f"{FILE}:4",)
    last = p.events[-1]
    assert last.line == f"{FILE}:6"
    assert all(event.lines for event in p.events)


@pytest.mark.parametrize("run", RUNS)
def test_the_line_that_forces_a_computation_is_not_its_line(bg: Any, run: str) -> None:
    code = """\
def step(bg, a, b):
    c = a * 3
    d = bg.sqrt(b)

    bg.eval(c)
    return (c.sum() + d.sum() * 0) + 448
"""
    p = RUNS[run](bg, _function(code))
    (both,) = [event for event in p.events if "multiply sqrt" in event.name]
    assert both.lines == (f"{FILE}:2", f"{FILE}:3")


def test_lines_of_long_traces(bg: Any) -> None:
    lines = "".join(f"    x = x + {n}\n" for n in range(300))
    step = _function(f"def step(bg, x):\n{lines}    return x\n")
    x = bg.zeros(8)
    bg.eval(x)
    with bg.profile() as p:
        bg.eval(step(bg, x))
    found = [line for event in p.events for line in event.lines]
    assert found == [f"{FILE}:{n + 2}" for n in range(300)]


def test_operations_from_before_the_profile_have_no_line(bg: Any) -> None:
    x = bg.zeros(8) + 1
    y = x * 2
    with bg.profile() as p:
        bg.eval(y)
    (event,) = p.events
    assert event.lines == ()
    assert event.line == ""


def test_a_step_of_training_names_all_its_lines(bg: Any) -> None:
    code = """\
def step(bg, model, optimizer, x):
    optimizer.zero_grad()
    loss = (model(x) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss
"""
    train = _function(code)
    model = bg.nn.Sequential(bg.nn.Linear(4, 4), bg.nn.ReLU(), bg.nn.Linear(4, 2))
    optimizer = bg.optim.SGD(model.parameters(), lr=0.1)
    x = bg.ones((3, 4))
    bg.eval(x)
    step = bg.jit(lambda: train(bg, model, optimizer, x))
    step()
    with bg.profile() as p:
        step()
    names = {line for event in p.events for line in event.lines}
    assert {f"{FILE}:3", f"{FILE}:4", f"{FILE}:5"} <= names
    assert all(line.startswith(f"{FILE}:") for line in names)


def test_table_and_trace_have_the_lines(bg: Any) -> None:
    p = _eager(bg, _function())
    (row,) = [row for row in p.summaries() if row.name == "fused: multiply add"]
    assert row.lines == (f"{FILE}:3",)
    header, *rows = p.table().splitlines()
    assert header.split()[-1] == "line"
    assert any(text.split()[-1] == f"{FILE}:3" for text in rows)
    assert f"{FILE}:3" in p._repr_html_()
    spans = [span for span in p.trace()["traceEvents"] if span["ph"] == "X"]
    assert [span["args"]["lines"] for span in spans] == [list(event.lines) for event in p.events]


def test_no_line_is_noted_without_a_profile(bg: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from browsergpu.arrays.lazy import trace
    from browsergpu.engine.core import places

    def refuse() -> Any:
        raise AssertionError("a line was looked up")

    monkeypatch.setattr(trace, "running", refuse)
    monkeypatch.setattr(places, "running", refuse)
    a, b = _operands(bg)
    assert float(_function()(bg, a, b)) == 496
