"""Linear algebra: the extension ``linalg`` of the Array API standard."""

from browsergpu.arrays.functions.decompositions import (
    EighResult,
    EigResult,
    QRResult,
    SVDResult,
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
    svd,
    svdvals,
)
from browsergpu.arrays.functions.equations import (
    SlogdetResult,
    det,
    inv,
    matrix_power,
    slogdet,
    solve,
)
from browsergpu.arrays.functions.linear import (
    cross,
    diagonal,
    matmul,
    outer,
    tensordot,
    trace,
    vecdot,
)
from browsergpu.arrays.functions.manipulation import matrix_transpose
from browsergpu.arrays.functions.norms import matrix_norm, matrix_rank, pinv, vector_norm

__all__ = [
    "EigResult",
    "EighResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
