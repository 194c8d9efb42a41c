"""``data.progress``: the progress of a loop, and noted values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


def test_it_iterates_over_a_number_of_steps(bg: Any, capsys: Any) -> None:
    bar = bg.data.progress(5)
    assert list(bar) == [0, 1, 2, 3, 4]
    assert (bar.done, bar.total, len(bar)) == (5, 5, 5)
    shown = capsys.readouterr().err
    assert shown.startswith("\r0/5")
    assert "\r5/5, " in shown
    assert shown.endswith("steps/s\n")


def test_it_iterates_over_loaders_and_iterables_without_length(bg: Any) -> None:
    data = bg.data.TensorDataset(bg.arange(10), bg.arange(10))
    bar = bg.data.progress(bg.data.DataLoader(data, 4))
    assert [x.tolist() for x, _ in bar] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert bar.total == 3
    endless = bg.data.progress(iter("ab"))
    assert list(endless) == ["a", "b"]
    assert repr(endless).startswith("2, ")
    with pytest.raises(TypeError, match="unknown"):
        len(endless)
    assert "<progress" not in endless._repr_html_()


def test_noted_values_are_copied_at_the_call(bg: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from browsergpu.networks.data import progress as module

    monkeypatch.setattr(module, "_TAKEN_EVERY", 0.0)
    monkeypatch.setattr(module, "_SHOWN_EVERY", 1e9)
    x = bg.zeros(())
    with bg.capture() as graph:
        x += 1
        loss = x * 2
    bar = bg.data.progress(4)
    for step in bar:
        graph.replay()
        bar.note(loss=loss, step=step, half=np.float16(0.5))
    assert bar.values == {"loss": [4, 6, 8, 10], "step": [0, 1, 2, 3], "half": [0.5] * 4}
    assert repr(bar).endswith("loss 10, step 3, half 0.5")
    html = bar._repr_html_()
    assert 'value="1.0000"' in html
    assert "loss: 4 to 10" in html


def test_the_last_value_is_shown_however_short_the_loop(bg: Any) -> None:
    x = bg.zeros(())
    with bg.capture() as graph:
        x += 1
    bar = bg.data.progress(7)
    for _ in bar:
        graph.replay()
        bar.note(x=x)
    assert bar.values["x"][-1] == 8


def test_long_runs_keep_few_values(bg: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from browsergpu.networks.data import progress as module

    monkeypatch.setattr(module, "_TAKEN_EVERY", 0.0)
    monkeypatch.setattr(module, "_SHOWN_EVERY", 0.0)
    monkeypatch.setattr(module, "_MOST", 20)
    bar = bg.data.progress(500)
    for step in bar:
        bar.note(step=float(step))
    own = bar.values["step"]
    assert 10 <= len(own) <= 21
    assert own == sorted(own)
    assert own[-1] > 400


def test_a_loop_that_ends_early_leaves_the_bar_unchanged(bg: Any) -> None:
    bar = bg.data.progress(10)

    def loop() -> None:
        for step in bar:
            bar.note(loss=bg.asarray(1.0) / (1 + step))
            if step == 3:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop()
    assert bar.done == 3
    assert bar.values["loss"]
    assert list(bar)[-1] == 9  # it can be iterated again


@pytest.mark.parametrize("steps", ["a", 1.5, None, True, -1])
def test_an_invalid_number_of_steps_is_refused(bg: Any, steps: Any) -> None:
    if steps == "a":
        assert list(bg.data.progress(steps)) == ["a"]
        return
    with pytest.raises((TypeError, ValueError), match="steps"):
        bg.data.progress(steps)


def test_only_numbers_can_be_noted(bg: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from browsergpu.networks.data import progress as module

    monkeypatch.setattr(module, "_TAKEN_EVERY", 0.0)
    bar = bg.data.progress(3)
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        bar.note(loss=bg.zeros(2))
    with pytest.raises(TypeError, match="loss"):
        bar.note(loss="low")
    for _ in bar:
        bar.note(loss=float("nan"))
    assert "loss nan" in repr(bar)
    assert "<svg" not in bar._repr_html_()
