"""Arrays after errors, on closed or lost devices, and with extreme values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from inside.losing import destroy
from inside.test_late_errors import outcomes, run_a_broken_shader

#: Uses of the GPU, given an array of 4 × 4 floats.
USES: dict[str, Callable[[Any, Any], Any]] = {
    "reading": lambda bg, a: a.numpy(),
    "a number of it": lambda bg, a: float(a[0, 0]),
    "a sum": lambda bg, a: float(bg.sum(a)),
    "a chain": lambda bg, a: (a * 2 + 1).numpy(),
    "a product": lambda bg, a: (a @ a).numpy(),
    "a mask": lambda bg, a: a[a > 0].numpy(),
    "a sort": lambda bg, a: bg.sort(a).numpy(),
    "an assignment": lambda bg, a: (a.__setitem__((0, 0), 5.0), a.numpy()),
    "a new array": lambda bg, a: bg.ones(3, device=a.device).numpy(),
    "an uploaded one": lambda bg, a: bg.asarray(np.ones(3, np.float32), device=a.device).numpy(),
    "random numbers": lambda bg, a: bg.random.default_rng(0, device=a.device).random(3).numpy(),
    "eval": lambda bg, a: (bg.eval(a + 1), a.numpy()),
}


@pytest.fixture
def own(backend: Any) -> Iterator[Any]:
    """A backend for this test, which new arrays do not use."""
    import browsergpu

    with browsergpu.WasmBackend(warm_up=False) as made:
        made.init()
        browsergpu.use(backend)
        yield made


@pytest.mark.provokes_errors
def test_reads_side_by_side_raise_each(bg: Any, backend: Any) -> None:
    arrays = [bg.full(5, float(i)) + 1 for i in range(3)]
    bg.eval(*arrays)
    backend.synchronize()
    run_a_broken_shader(backend, "arrays of the standard side by side")
    ends = outcomes(*(a.numpy_async() for a in arrays), arrays[0].ready(), (arrays[1] * 2).ready())
    assert len(set(ends)) == 1
    assert ends[0].startswith("ShaderCompilation")
    assert [a.numpy().tolist() for a in arrays] == [[i + 1.0] * 5 for i in range(3)]


@pytest.mark.parametrize("name", USES)
def test_a_closed_device_says_so(own: Any, name: str) -> None:
    import browsergpu as bg
    from browsergpu.errors import NotInitialized

    a = bg.ones((4, 4), device=own.device)
    bg.eval(a)
    pending = a + 1
    own.close()
    with pytest.raises(NotInitialized, match="closed"):
        USES[name](bg, a)
    with pytest.raises(NotInitialized, match="closed"):
        pending.numpy()


@pytest.mark.provokes_errors
@pytest.mark.parametrize("name", USES)
def test_a_lost_device_says_so(own: Any, name: str) -> None:
    import browsergpu as bg
    from browsergpu.errors import DeviceLost

    a = bg.ones((4, 4), device=own.device)
    bg.eval(a)
    own.synchronize()
    destroy(own.device)

    def use() -> None:
        for _ in range(3):  # an engine may notice the loss only at the first call that waits
            USES[name](bg, a)
            own.synchronize()

    with pytest.raises(DeviceLost):
        use()


@pytest.mark.parametrize("n", [5, 100, 5000])
def test_deviations_of_numbers_far_from_zero(bg: Any, n: int) -> None:
    x = (10_000 + np.random.default_rng(n).standard_normal((3, n))).astype(np.float32)
    exact = x.astype(np.float64)
    variance = exact.var(axis=1)
    for found, wanted in (
        (bg.var(bg.asarray(x), axis=1), variance),
        (bg.std(bg.asarray(x), axis=1), np.sqrt(variance)),
        (bg.var(bg.asarray(x.T.copy()), axis=0), variance),
    ):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=2e-5)
    normal = (exact - exact.mean(axis=1, keepdims=True)) / np.sqrt(variance + 1e-5)[:, None]
    layer = bg.nn.layer_norm(bg.asarray(x), (n,))
    # The numbers themselves are multiples of 1e-3.
    np.testing.assert_allclose(np.asarray(layer), normal, atol=2e-3)
    batch = bg.nn.batch_norm(bg.asarray(x.T.copy()), None, None, training=True)
    np.testing.assert_allclose(np.asarray(batch), normal.T, atol=2e-3)
