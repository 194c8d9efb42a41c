"""Each public function of ``dask.array`` on browsergpu chunks, against NumPy chunks.

``calls.txt`` lists the calls. ``chunk_calls.py`` runs them in a process with a software GPU.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import dask.array as da
import pytest
from chunk_calls import calls

pytestmark = pytest.mark.all

Outcomes = dict[tuple[str, str], dict[str, list[str]]]

#: Names that are not called over chunks, with the reason.
LEFT_OUT = {
    "functions": {
        "no function of arrays": {
            "Array", "PerformanceWarning", "array_expr_enabled", "assert_eq", "compute", "optimize",
            "register_chunk_type",
        },
        "dtypes": {
            "bool", "complex64", "complex128", "float32", "float64", "int8", "int16", "int32",
            "int64", "uint8", "uint16", "uint32", "uint64",
        },
        "made without arrays, see the section of creation": {
            "empty", "eye", "full", "fromfunction", "linspace", "ones", "zeros",
        },
        "of packages that are not installed here": {
            "push",
            "from_tiledb", "from_zarr", "to_hdf5", "to_tiledb", "to_zarr",
        },
    },
    "methods": {
        "say what it is, and look at no chunk": {
            "chunks", "chunksize", "dask", "dtype", "itemsize", "name", "nbytes", "ndim",
            "npartitions", "numblocks", "shape", "size", "to_svg", "visualize",
        },
        "made by all other calls": {"compute"},
        "other collections, and files of packages that are not installed here": {
            "to_dask_dataframe", "to_hdf5", "to_tiledb", "to_zarr",
        },
        "NumPy's and Dask's protocols": {
            "__await__", "__deepcopy__", "__hash__", "__nonzero__", "__reduce__", "__repr__",
            "__str__", "__array_priority__",
        },
    },
    "fft": {},
    "linalg": {
        "imported there": {
            "apply", "array_safe", "blockwise", "concatenate", "default_rng", "delayed",
            "derived_from", "eye", "from_delayed", "meta_from_array",
            "partial", "solve_triangular_safe", "tokenize", "wait",
        },
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def outcomes(environment: dict[str, str]) -> Outcomes:
    """The outcome of each call, by section and name."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("chunk_calls.py"))],
        env=os.environ | environment, capture_output=True, text=True, timeout=450,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: Outcomes = defaultdict(lambda: defaultdict(list))
    for line in done.stdout.splitlines():
        section, name, text, _, outcome = json.loads(line)
        found[section, name][text].append(outcome)
    return found


NAMES = sorted({(call.section, call.name) for call in calls()})


@pytest.mark.parametrize(("section", "name"), NAMES, ids=[" ".join(name) for name in NAMES])
def test_a_name_is_right_or_refused(outcomes: Outcomes, section: str, name: str) -> None:
    own = [call for call in calls() if (call.section, call.name) == (section, name)]
    for call in own:
        found = outcomes[section, name][call.text]
        assert len(found) == 2, "in one chunk and in several"
        for outcome in found:
            assert outcome.partition(" ")[0] == call.expected, (call.text, outcome)
            if call.expected == "refused":
                assert outcome.endswith("."), f"{outcome!r} ends without saying what to do"


def public(owner: Any, *, operators: bool = False) -> set[str]:
    """Return the public callables of a module or class, and a class's attributes."""
    names = {name for name in dir(owner) if not name.startswith("_")}
    if operators:
        own = set(vars(owner)) - set(vars(object)) | {"__eq__", "__ne__", "__lt__", "__le__"}
        names |= {name for name in own if name.startswith("__") and callable(getattr(owner, name))}
        return {name for name in names if not name.startswith(("__dask", "__array_pri"))}
    return {
        name
        for name in names
        if callable(getattr(owner, name)) and not inspect.ismodule(getattr(owner, name))
    }


@pytest.mark.parametrize(
    ("section", "owner", "operators"),
    [
        ("functions", da, False),
        ("methods", da.Array, True),
        ("fft", da.fft, False),
        ("linalg", da.linalg, False),
    ],
)
def test_a_name_that_dask_gains_is_found(section: str, owner: Any, operators: bool) -> None:
    known = {name for own, name in NAMES if own == section}
    out: set[str] = set().union(*LEFT_OUT[section].values())
    assert not known & out
    own = {
        name
        for name in public(owner, operators=operators)
        if not inspect.isclass(getattr(owner, name)) or section == "functions"
    }
    if section == "fft":
        own = {name for name in own if "fft" in name}
    assert own - known - out == set(), "which have no call"
    assert known - set(dir(owner)) == set(), "which are gone"
    assert out - set(dir(owner)) == set(), "which are gone"
