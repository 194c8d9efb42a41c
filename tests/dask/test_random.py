"""Each method of ``dask.array.random`` draws on the GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import dask.array as da
import pytest

pytestmark = pytest.mark.all

METHODS = [
    (kind.__name__, name)
    for kind in (da.random.Generator, da.random.RandomState)
    for name in dir(kind)
    if not name.startswith("_")
]


@pytest.fixture(scope="module")
def outcomes(environment: dict[str, str]) -> dict[tuple[str, str], str]:
    """The outcome of each method."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("chunk_random.py"))],
        env=os.environ | environment, capture_output=True, text=True, timeout=450,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = map(json.loads, done.stdout.splitlines())
    return {(kind, name): outcome for kind, name, outcome in lines}


@pytest.mark.parametrize(("kind", "name"), METHODS)
def test_a_method_draws_on_the_gpu(
    outcomes: dict[tuple[str, str], str], kind: str, name: str
) -> None:
    assert outcomes[kind, name] == "right"


def test_the_modules_functions_are_the_generators_methods() -> None:
    own = {
        name
        for name, found in vars(da.random).items()
        if getattr(found, "__qualname__", "").startswith("_make_api.")
    }
    assert own
    assert own - {"random"} <= {name for kind, name in METHODS if kind == "RandomState"}
