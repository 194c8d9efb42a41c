"""Outside a page, code that reads recorded state holds the lock (harness/native.py asserts it)."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform == "emscripten", reason="a page has one thread, and no turns"
)


def as_of_the_package(code: str, **names: Any) -> Any:
    """Evaluate an expression as if a module of the package contained it."""
    return eval(code, {"__name__": "browsergpu.forgetful", **names})


@pytest.mark.parametrize(
    "code",
    [
        "x.node.in_memory()",
        "x.node.twin()",
        "x.tracer.trace((3,), 1)",
        "type(x)(x.node, x.tracer)",
        "reduce.memory_view(x.node)",
    ],
)
def test_a_function_that_forgets_to_take_the_turn_is_found(bg: Any, code: str) -> None:
    from browsergpu.arrays import reduce
    from browsergpu.engine.core.turns import exclusive

    x = bg.ones(3)
    bg.eval(x)
    with pytest.raises(AssertionError, match=r"browsergpu\.forgetful calls .* without the turn"):
        as_of_the_package(code, x=x, reduce=reduce)

    @exclusive
    def careful() -> Any:
        return as_of_the_package(code, x=x, reduce=reduce)

    careful()


def test_waits_in_an_event_loop_acquire_the_lock(bg: Any) -> None:
    """A read within a running loop uses a thread of its own."""

    async def main() -> Any:
        x = bg.arange(4) * 2
        return x.numpy().tolist(), (await (x + 1).numpy_async()).tolist(), repr(x), float(x[1])

    numpy, awaited, text, number = asyncio.run(main())
    assert (numpy, awaited, number) == ([0, 2, 4, 6], [1, 3, 5, 7], 2)
    assert text.startswith("Array([0, 2, 4, 6]")


def test_an_exclusive_function_is_the_function_to_who_looks_at_it(bg: Any) -> None:
    import inspect
    import pickle

    assert [*inspect.signature(bg.matmul).parameters] == [
        "x1", "x2", "out", "where", "casting", "order", "dtype", "subok", "precision"
    ]  # fmt: skip
    assert pickle.loads(pickle.dumps(bg.sin)) is bg.sin
    assert bg.Array.__add__.__name__ == "__add__"
    with pytest.raises(TypeError, match="inputs must be 2"):
        bg.add(1)
