"""Arrays without values, on a host without a GPU: shapes and dtypes follow the usual rules."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import browsergpu as bg
from browsergpu.engine.device.device import open_devices
from browsergpu.errors import InvalidArgument, NoAdapter, OutOfMemory
from browsergpu.functions import meta
from browsergpu.functions.meta import stand_in

pytestmark = pytest.mark.fast

A = stand_in((3, 4))

RESULTS: dict[str, tuple[Callable[[], Any], tuple[int, ...], str]] = {
    "an operator": (lambda: A * 2 + 1, (3, 4), "float32"),
    "a dtype": (lambda: A.astype("i2") + stand_in((4,), np.int8), (3, 4), "int16"),
    "a function": (lambda: bg.exp(A), (3, 4), "float32"),
    "NumPy's function": (lambda: np.concatenate([A, A], axis=1), (3, 8), "float32"),
    "beside NumPy's": (lambda: np.add(A, np.ones(4, "f4")), (3, 4), "float32"),
    "a comparison": (lambda: A > 0, (3, 4), "bool"),
    "a reduction": (lambda: A.sum(axis=1), (3,), "float32"),
    "a place": (lambda: bg.argmax(A, axis=0), (4,), "int64"),
    "a product": (lambda: A @ A.T, (3, 3), "float32"),
    "a sort": (lambda: bg.sort(A), (3, 4), "float32"),
    "a view": (lambda: A[1:, ::2], (2, 2), "float32"),
    "a transform": (lambda: bg.fft.fft(A), (3, 4), "complex64"),
    "a factorisation": (lambda: bg.linalg.qr(A.T)[1], (3, 3), "float32"),
    "a mask of nothing": (lambda: stand_in((0, 2))[stand_in((0, 2)) > 0], (0,), "float32"),
    "copied by pickle": (lambda: pickle.loads(pickle.dumps(A)), (3, 4), "float32"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_shapes_and_dtypes_of_results(name: str) -> None:
    made, shape, dtype = RESULTS[name]
    before = open_devices()  # other tests of this process may hold some
    found = made()
    assert isinstance(found, bg.Array)
    assert (found.shape, found.dtype) == (shape, np.dtype(dtype))
    bg.eval(found)  # allocates nothing
    assert set(open_devices()) == set(before)


def test_mistakes_raise_the_usual_errors() -> None:
    with pytest.raises(InvalidArgument):
        A + stand_in((5,))
    with pytest.raises(TypeError):
        bg.bitwise_and(A, A)
    with pytest.raises(TypeError, match="integers"):
        A + [2**70] * 4


def test_there_are_no_values() -> None:
    with pytest.raises(NoAdapter, match="no values"):
        np.asarray(A)
    with pytest.raises(NoAdapter):
        A[A > 0]


def test_values_stay_on_the_host_until_a_gpu_is_there() -> None:
    data = np.arange(6, dtype=np.int16).reshape(2, 3)
    here = meta.unpickled(data)
    again = pickle.loads(pickle.dumps(here))
    assert np.asarray(again).tolist() == data.tolist()
    assert (again.T.shape, again.dtype) == ((3, 2), np.int16)
    assert np.asarray(again).tolist() == data.tolist(), "also after something was made of it"
    assert np.asarray(np.concatenate([again, data])).tolist() == [*data.tolist(), *data.tolist()]
    with pytest.raises(NoAdapter):
        np.asarray(again + 1)


def test_errors_go_to_other_processes_as_they_are() -> None:
    for error in (OutOfMemory("op", "no room", 5, None), InvalidArgument("op", "x", 3, "4")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
