"""Parallel work returns results in order, and one failure ends all."""

import threading

import pytest

from devsite.parallel import run_parallel

pytestmark = pytest.mark.fast


def test_results_are_in_order() -> None:
    assert run_parallel(lambda n: n * n, range(100), threading.Event()) == [
        n * n for n in range(100)
    ]


def test_nothing_to_do() -> None:
    assert run_parallel(abs, [], threading.Event()) == []


def test_they_really_run_at_once() -> None:
    meeting = threading.Barrier(3)
    run_parallel(lambda _: meeting.wait(30), range(3), threading.Event())


def test_a_failure_calls_the_others_off() -> None:
    cancelled = threading.Event()
    begun = []

    def act(n: int) -> None:
        begun.append(n)
        if n == 3:
            raise ValueError("the third")
        assert cancelled.wait(30)

    with pytest.raises(ValueError, match="the third"):
        run_parallel(act, range(1000), cancelled)
    assert len(begun) < 20
