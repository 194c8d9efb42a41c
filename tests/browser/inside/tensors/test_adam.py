"""adam_update against a float64 loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside.comparison import assert_same_bits
from inside.tensors.lab import DTYPES, FLOATS, LENGTHS, assert_close, floats, on_bench
from inside.tolerances import ULP, Tolerance, U

pytestmark = pytest.mark.native


class Loop:
    """Adam in float64, with the accumulated float32 error bound of each number."""

    def __init__(self, param: np.ndarray, m: np.ndarray, v: np.ndarray) -> None:
        self.param, self.m, self.v = (x.astype(np.float64) for x in (param, m, v))
        self.param_error, self.m_error, self.v_error = (np.zeros(param.shape) for _ in range(3))

    def step(
        self, g: np.ndarray, lr: float, beta1: float, beta2: float, eps: float, step: int
    ) -> None:
        g = g.astype(np.float64)
        size = beta1 * np.abs(self.m) + (1 - beta1) * np.abs(g)
        self.m = beta1 * self.m + (1 - beta1) * g
        self.m_error = beta1 * self.m_error + 4 * U * size
        self.v = beta2 * self.v + (1 - beta2) * g * g
        self.v_error = beta2 * self.v_error + 6 * U * self.v
        correction1, correction2 = 1 - beta1**step, 1 - beta2**step
        root = np.sqrt(self.v / correction2)
        update = lr * (self.m / correction1) / (root + eps)
        relative = self.v_error / np.maximum(2 * self.v, 1e-30) + 16 * ULP
        update_error = np.abs(update) * relative
        update_error += lr * self.m_error / correction1 / np.maximum(root + eps, 1e-30)
        self.param = self.param - update
        self.param_error += update_error + U * np.abs(self.param)

    def check(self, param: np.ndarray, m: np.ndarray, v: np.ndarray) -> None:
        why = "Adam's steps in float32"
        tiny = 1e-37
        assert_close(m, self.m, Tolerance(0.0, self.m_error + tiny, why))
        assert_close(v, self.v, Tolerance(0.0, self.v_error + tiny, why))
        assert_close(param, self.param, Tolerance(0.0, self.param_error + tiny, why))


def run(tensors: Any, n: int, steps: int, *, seed: int = 1, lr: float = 1e-2, beta1: float = 0.9,
        beta2: float = 0.999, eps: float = 1e-8) -> None:  # fmt: skip
    param, zeros = floats(seed, n), np.zeros(n, np.float32)
    loop = Loop(param, zeros, zeros)
    with on_bench(tensors) as bench:
        p, m, v, g = bench.up(param), bench.up(zeros), bench.up(zeros), bench.new((n,))
        for step in range(1, steps + 1):
            gradient = floats(seed + step, n)
            tensors.write_tensor(g, gradient)
            tensors.adam_update(p, g, m, v, lr, beta1, beta2, eps, step)
            loop.step(gradient, lr, beta1, beta2, eps, step)
            assert_same_bits(bench.get(g), gradient, "the gradient")
        loop.check(bench.get(p), bench.get(m), bench.get(v))


@pytest.mark.parametrize("n", LENGTHS)
def test_steps(tensors: Any, n: int) -> None:
    run(tensors, n, 7)


def test_many_steps(tensors: Any) -> None:
    run(tensors, 5, 300)


def test_many_parameters(tensors: Any) -> None:
    run(tensors, 70_001, 2)


@pytest.mark.parametrize("betas", [(0.0, 0.0), (0.0, 0.999), (0.9, 0.0), (0.5, 0.5),
                                   (0.999999, 0.999999)])  # fmt: skip
def test_betas(tensors: Any, betas: tuple[float, float]) -> None:
    run(tensors, 33, 4, beta1=betas[0], beta2=betas[1])


@pytest.mark.parametrize("eps", [0.0, 1e-8, 1.0])
@pytest.mark.parametrize("lr", [0.0, 1e-3, -1.0, 100.0])
def test_rates(tensors: Any, lr: float, eps: float) -> None:
    run(tensors, 33, 3, lr=lr, eps=eps)


def test_a_late_step(tensors: Any) -> None:
    param, gradient, m = floats(1, 9), floats(2, 9), floats(3, 9)
    v = np.abs(floats(4, 9))
    for step in (10_000, 2**32 - 1):
        loop = Loop(param, m, v)
        with on_bench(tensors) as bench:
            handles = [bench.up(x) for x in (param, gradient, m, v)]
            tensors.adam_update(*handles, 0.01, 0.9, 0.999, 1e-8, step)
            loop.step(gradient, 0.01, 0.9, 0.999, 1e-8, step)
            p, _, first, second = (bench.get(handle) for handle in handles)
        loop.check(p, first, second)


@pytest.mark.parametrize("which", ["param", "grad", "m", "v", "all"])
def test_float16_storage(tensors: Any, which: str) -> None:
    names = ("param", "grad", "m", "v")
    arrays = {
        name: floats(seed, 37, dtype="f16" if which in (name, "all") else "f32")
        for seed, name in enumerate(names)
    }
    arrays["v"] = np.abs(arrays["v"])
    loop = Loop(arrays["param"], arrays["m"], arrays["v"])
    loop.step(arrays["grad"], 0.01, 0.9, 0.999, 1e-8, 3)
    with on_bench(tensors) as bench:
        handles = {name: bench.up(array) for name, array in arrays.items()}
        tensors.adam_update(*handles.values(), 0.01, 0.9, 0.999, 1e-8, 3)
        results = {name: bench.get(handle) for name, handle in handles.items()}
    assert_same_bits(results["grad"], arrays["grad"], "the gradient")
    for name, result in results.items():
        assert result.dtype == np.dtype(DTYPES["f16" if which in (name, "all") else "f32"])
    loop.check(results["param"], results["m"], results["v"])


def test_nan_stays_where_it_is(tensors: Any) -> None:
    gradient = floats(1, 5)
    gradient[2] = np.nan
    zeros = np.zeros(5, np.float32)
    with on_bench(tensors) as bench:
        p, m, v = (bench.up(zeros) for _ in range(3))
        tensors.adam_update(p, bench.up(gradient), m, v, 0.1, 0.9, 0.999, 1e-8, 1)
        for handle in (p, m, v):
            assert np.isnan(bench.get(handle)).tolist() == [False, False, True, False, False]


@pytest.mark.parametrize("dtype", FLOATS)
def test_nothing(tensors: Any, dtype: str) -> None:
    with on_bench(tensors) as bench:
        handles = [bench.new((3, 0), dtype) for _ in range(4)]
        tensors.adam_update(*handles, 0.1, 0.9, 0.999, 1e-8, 1)


@given(data=st.data())
def test_any_step(tensors: Any, data: st.DataObject) -> None:
    run(
        tensors,
        data.draw(st.integers(1, 40)),
        data.draw(st.integers(1, 4)),
        seed=data.draw(st.integers(0, 99)),
        lr=data.draw(st.floats(1e-4, 1.0)),
        beta1=data.draw(st.floats(0.0, 0.99)),
        beta2=data.draw(st.floats(0.0, 0.999)),
        eps=data.draw(st.floats(1e-10, 1e-2)),
    )
