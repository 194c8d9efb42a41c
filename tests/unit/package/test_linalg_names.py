"""linalg has the functions and arguments of the Python Array API standard.

https://data-apis.org/array-api/2025.12/extensions/linear_algebra_functions.html
"""

from __future__ import annotations

import ast
import inspect

import numpy as np
import pytest

from browsergpu import linalg

pytestmark = pytest.mark.fast

#: The arguments as the standard writes them, without types.
SIGNATURES = {
    "cholesky": "x, /, *, upper=False",
    "cross": "x1, x2, /, *, axis=-1",
    "det": "x, /",
    "diagonal": "x, /, *, offset=0",
    "eig": "x, /",
    "eigh": "x, /",
    "eigvals": "x, /",
    "eigvalsh": "x, /",
    "inv": "x, /",
    "matmul": "x1, x2, /, *, precision='highest'",
    "matrix_norm": "x, /, *, keepdims=False, ord='fro'",
    "matrix_power": "x, n, /",
    "matrix_rank": "x, /, *, rtol=None",
    "matrix_transpose": "x, /",
    "outer": "x1, x2, /",
    "pinv": "x, /, *, rtol=None",
    "qr": "x, /, *, mode='reduced'",
    "slogdet": "x, /",
    "solve": "x1, x2, /",
    "svd": "x, /, *, full_matrices=True",
    "svdvals": "x, /",
    "tensordot": "x1, x2, /, *, axes=2",
    "trace": "x, /, *, offset=0, dtype=None",
    "vecdot": "x1, x2, /, *, axis=-1",
    "vector_norm": "x, /, *, axis=None, keepdims=False, ord=2",
}
FIELDS = {
    "EigResult": ("eigenvalues", "eigenvectors"),
    "EighResult": ("eigenvalues", "eigenvectors"),
    "QRResult": ("Q", "R"),
    "SVDResult": ("U", "S", "Vh"),
    "SlogdetResult": ("sign", "logabsdet"),
}


def test_names() -> None:
    assert set(linalg.__all__) == {*SIGNATURES, *FIELDS, *np.linalg.__all__}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(name: str) -> None:
    """The standard's arguments work; test_numpys_signatures checks NumPy's."""
    given = inspect.signature(getattr(linalg, name))
    places, _, options = SIGNATURES[name].partition(", /")
    named = dict(one.split("=") for one in options.removeprefix(", *, ").split(", ") if one)
    values = {key: ast.literal_eval(value) for key, value in named.items()}
    bound = given.bind(*places.split(", "), **values)
    bound.apply_defaults()
    for key in values.keys() & given.parameters.keys():
        assert given.parameters[key].default in (values[key], np._NoValue)


@pytest.mark.parametrize("name", FIELDS)
def test_fields(name: str) -> None:
    assert getattr(linalg, name)._fields == FIELDS[name]
