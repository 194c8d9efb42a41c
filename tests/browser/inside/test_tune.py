"""tune(): variants are measured, selected, saved and forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from inside.shared import close_without_immediates

pytestmark = pytest.mark.kernels("worker", "main")


@pytest.fixture
def device(backend: Any) -> Iterator[Any]:
    """The only open device. Its tuning results are deleted afterwards."""
    from browsergpu import forget_tuning

    close_without_immediates()
    yield backend.device
    forget_tuning(backend)


@pytest.fixture
def small_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use problems that a software GPU solves quickly.

    One class has variants to select from, another is too large for every device.
    """
    from browsergpu.engine.kernels.base.family import Problem
    from browsergpu.engine.kernels.matmul import gemm
    from browsergpu.engine.tuning import problems

    def product(build: Any, a: int, b: int, c: int) -> None:
        plan = gemm.plan_gemm(
            "tune", "no_trans", "no_trans", 64, 64, 64, 1.0, 64, 0, 64, 0, 0.0, 64, 0, 1, "C"
        )
        gemm.gemm(build, a, b, c, plan)

    small = Problem("gemm", "test", (4096, 4096, 4096), product)
    huge = Problem("gemm", "huge", (2**50,), product)
    monkeypatch.setattr(problems, "PROBLEMS", (small, huge))


@pytest.mark.all
@pytest.mark.usefixtures("small_problems")
def test_it_measures_every_variant_that_can(device: Any) -> None:
    from browsergpu import Tuning, tune

    before = device.memory.buffers
    told: list[tuple[int, int, str]] = []
    result = tune(device, ["gemm"], progress=lambda *step: told.append(step))
    assert isinstance(result, Tuning)
    assert told == [(0, 1, "gemm test"), (1, 1, "done")]
    assert device.memory.buffers == before
    times = result.seconds["gemm"]["test"]
    assert set(times) <= {variant.name for variant in device.variants.available("gemm")}
    assert len(times) > 1
    assert all(0 < seconds < 60 for seconds in times.values())
    quickest = min(times, key=times.__getitem__)
    assert result.picks == {"gemm": {"test": quickest}}
    assert device.variants.picked("gemm", "test").name == quickest
    assert result.stored
    assert f"gemm test: {quickest} (" in str(result)
    assert "huge" not in result.seconds["gemm"]


@pytest.mark.all
@pytest.mark.usefixtures("small_problems")
def test_picks_are_remembered_until_they_are_forgotten(
    device: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from browsergpu import WasmBackend, forget_tuning, tune

    def of_a_new_device() -> Any:
        with WasmBackend() as backend:
            backend.init()
            return backend.device.variants.tuned

    assert of_a_new_device() == {}
    picks = tune(device, ["gemm"]).picks
    assert "tune: 1 of 1  done" in capsys.readouterr().err
    assert of_a_new_device() == picks == device.variants.tuned
    forget_tuning(device)
    assert of_a_new_device() == device.variants.tuned == {}


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", "[]", "null", '{"gemm": 5}', '{"gemm": {"test": "no such"}}', '{"x": {}}'],
)
def test_stored_values_are_validated(device: Any, text: str) -> None:
    from pyodide.ffi import run_sync

    from browsergpu import WasmBackend
    from browsergpu.engine.device import tuned
    from browsergpu.engine.gpu import platform

    assert run_sync(platform.write_setting(tuned._key(tuned._PICKS, device.info), text))
    with WasmBackend() as backend:
        backend.init()
        assert backend.device.variants.tuned.get("gemm", {}) == {}


def test_the_only_open_device_is_the_default(backend: Any, device: Any) -> None:
    from browsergpu import WasmBackend, tune
    from browsergpu.errors import InvalidArgument

    assert tune(operations=[]).picks == {}
    with WasmBackend() as other:
        other.init()
        with pytest.raises(InvalidArgument, match=r"tune: device must .*2 open devices, got None"):
            tune(operations=[])
        assert tune(other, []).picks == {}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((5,), "device must .*, got 5"),
        ((None, "gemm"), "operations must be names among .*, got 'gemm'"),
        ((None, ["no such"]), "operations must be names among"),
        ((None, 7), "operations must .*, got 7"),
    ],
)
def test_invalid_arguments_are_refused(device: Any, arguments: Any, words: str) -> None:
    from browsergpu import tune
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match=f"tune: {words}"):
        tune(*arguments)
