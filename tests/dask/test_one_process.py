"""Dask's schedulers within one process that also holds the user's own arrays, on a software GPU."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import dask, dask.array as da, numpy as np
import browsergpu as bg, browsergpu.dask

dask.config.set(scheduler="synchronous")
bg.set_x64("quiet")
X = np.arange(12, dtype=np.float32).reshape(3, 4)
ours = bg.asarray(X)

# Arrays of our own become chunks, and stand beside Dask's arrays on either side.
x = da.from_array(ours, chunks=(2, 2))
y = da.from_array(X, chunks=2).to_backend("browsergpu")
for found, expected in (
    (x + 1, X + 1), (ours + y, X + X), (y - ours, X - X), (np.multiply(ours, y), X * X),
    (x @ y.T, X @ X.T), (da.concatenate([x, y]), np.concatenate([X, X])),
    (da.ones_like(y) + x, X + 1), (y.to_backend("browsergpu"), X),
):
    assert isinstance(found, da.Array) and isinstance(found._meta, bg.Array), found
    values = found.compute()
    assert isinstance(values, bg.Array)
    np.testing.assert_allclose(np.asarray(values), expected)

# A token is of the values.
assert dask.base.tokenize(ours) == dask.base.tokenize(bg.asarray(X))
assert dask.base.tokenize(ours) != dask.base.tokenize(bg.asarray(X + 1))

# Bytes, and a round through what processes send each other.
from dask.sizeof import sizeof
from distributed.protocol import deserialize, serialize
bg.eval(ours)
assert sizeof(ours) >= ours.nbytes
for array in (ours, ours.T, ours > 3, bg.asarray([1 + 2j]), bg.zeros((0, 3)), bg.asarray(2.5)):
    header, frames = serialize(array)
    assert header["serializer"] == "dask"
    again = deserialize(header, frames)
    assert again.dtype == array.dtype and again.shape == array.shape
    assert np.array_equal(np.asarray(again), np.asarray(array))
    assert np.array_equal(np.asarray(again * 1), np.asarray(array * 1))

with dask.config.set({"array.backend": "browsergpu"}):
    assert np.asarray(da.ones((3, 4), chunks=2).sum().compute()) == 12

# Which GPU a worker takes.
from browsergpu.dask.adapters import adapter_of, gpus
assert gpus() == [0]
taken = [adapter_of(name, [4, 5, 6]) for name in (0, 1, "2", 3, "gpu-4", "tcp://10.0.0.1:8787")]
assert taken == [4, 5, 6, 4, 5, 4]
print("done")
"""


def test_dask_in_one_process(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | environment, capture_output=True, text=True, timeout=450,
    )  # fmt: skip
    assert done.stdout.strip() == "done", done.stderr


def test_import_browsergpu_brings_no_dask(environment: dict[str, str]) -> None:
    code = "import sys, browsergpu; print({'dask', 'distributed'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment, capture_output=True, text=True, timeout=450, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "set()"


def test_without_dask(environment: dict[str, str]) -> None:
    code = "import sys; sys.modules['distributed'] = None; import browsergpu.dask"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment, capture_output=True, text=True, timeout=450,
    )  # fmt: skip
    assert "pip install browsergpu[dask]" in done.stderr.splitlines()[-1]
