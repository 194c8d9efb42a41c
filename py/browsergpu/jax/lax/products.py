"""Products and convolutions with the names of ``jax.lax``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.functions import manipulation
from browsergpu.functions.linalg import contraction
from browsergpu.functions.nn import convolution
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import as_jax, cast
from browsergpu.jax.arrays.operands import array
from browsergpu.jax.lax.slices import pad
from browsergpu.jax.lax.windows import padding_of
from browsergpu.jax.numpy.elementwise import check_precision, in_dtype, in_wider

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def dot_general(
    lhs: Any, rhs: Any, dimension_numbers: Any, precision: Any = None,
    preferred_element_type: Any = None, *, out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return sums of products over contracting axes, for each index of batch axes.

    Parameters
    ----------
    lhs, rhs : Array
        The arrays, of one dtype.
    dimension_numbers : tuple
        ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``.
    precision : optional
        All precisions are those of float32.
    preferred_element_type : dtype, optional
        The dtype of the result.

    Returns
    -------
    Array
        The batch axes, then the other axes of ``lhs``, then those of ``rhs``.
    """
    a, b = array("dot_general", lhs), array("dot_general", rhs)
    if out_sharding is not None:
        raise InvalidArgument("dot_general", "out_sharding", out_sharding, "None")
    if a.dtype != b.dtype:
        told = Description(f"{a.dtype}, {b.dtype}")
        raise InvalidType("lax.dot_general", "lhs, rhs", told, "of the same dtypes")
    a, b = in_wider("dot_general", preferred_element_type, a, b)
    (own_sums, other_sums), (own_batch, other_batch) = dimension_numbers
    letters = iter(_LETTERS)
    one, other = [""] * a.ndim, [""] * b.ndim
    for left, right in (*zip(own_batch, other_batch, strict=True),
                        *zip(own_sums, other_sums, strict=True)):  # fmt: skip
        one[left] = other[right] = next(letters)
    for axes in (one, other):
        for n, letter in enumerate(axes):
            axes[n] = letter or next(letters)
    summed = {one[n] for n in own_sums}
    batch = [one[n] for n in own_batch]
    rest = [x for x in one if x not in summed and x not in batch]
    rest += [x for x in other if x not in summed and x not in batch]
    text = f"{''.join(one)},{''.join(other)}->{''.join(batch + rest)}"
    found = as_jax(contraction.einsum(text, a, b))
    return in_dtype("dot_general", found, precision, preferred_element_type)


def dot(
    lhs: Any, rhs: Any, *, dimension_numbers: Any = None, precision: Any = None,
    preferred_element_type: Any = None, out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return the product of vectors and matrices, or :func:`dot_general`."""
    a, b = array("dot", lhs), array("dot", rhs)
    if dimension_numbers is None:
        if not 1 <= a.ndim <= 2 or not 1 <= b.ndim <= 2:
            told = Description(f"{a.ndim} and {b.ndim} axes")
            raise InvalidType("lax.dot", "lhs, rhs", told, "vectors or matrices")
        dimension_numbers = (((a.ndim - 1,), (0,)), ((), ()))
    return dot_general(a, b, dimension_numbers, precision, preferred_element_type,
                       out_sharding=out_sharding)  # fmt: skip


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """Return the products of matrices with the same leading axes."""
    rank = array("batch_matmul", lhs).ndim
    batch = tuple(range(rank - 2))
    return dot_general(lhs, rhs, (((rank - 1,), (rank - 2,)), (batch, batch)), precision)


class ConvDimensionNumbers(NamedTuple):
    """The places of the axes of a convolution: batch, features, and the others."""

    lhs_spec: tuple[int, ...]
    rhs_spec: tuple[int, ...]
    out_spec: tuple[int, ...]


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """Return the places of axes for texts such as ``("NHWC", "HWIO", "NHWC")``."""
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    rank = len(lhs_shape)
    if dimension_numbers is None:
        own = tuple(range(rank))
        return ConvDimensionNumbers(own, own, own)
    if len(dimension_numbers) != 3 or any(len(one) != rank for one in dimension_numbers):
        expected = f"3 texts of {rank} letters"
        raise InvalidArgument("conv", "dimension_numbers", dimension_numbers, expected)
    lhs, rhs, out = dimension_numbers
    space = [letter for letter in rhs if letter not in "OI"]
    return ConvDimensionNumbers(
        (lhs.index("N"), lhs.index("C"), *[lhs.index(x) for x in space]),
        (rhs.index("O"), rhs.index("I"), *[rhs.index(x) for x in space]),
        (out.index("N"), out.index("C"), *[out.index(x) for x in space]),
    )


def conv_general_dilated(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: Any,
    lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None, feature_group_count: int = 1, batch_group_count: int = 1,
    precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return the cross-correlation along 1 to 3 axes.

    Parameters
    ----------
    lhs, rhs : Array
        The images and the filters, of one dtype.
    window_strides : sequence of int
        The step along each axis.
    padding : str or sequence of (int, int)
        "VALID", "SAME", "SAME_LOWER", or the elements to add at both ends of each axis.
    lhs_dilation, rhs_dilation : sequence of int, optional
        The distances of the elements of the images and of the filters.
    dimension_numbers : tuple of str, optional
        The axes of images, filters and results, by default ``("NCHW", "OIHW", "NCHW")``.
    feature_group_count : int
        The number of groups of features.
    batch_group_count : int
        Must be 1.
    precision : optional
        All precisions are those of float32.
    preferred_element_type : dtype, optional
        The dtype of the result.

    Returns
    -------
    Array
        The results.
    """
    op = "conv_general_dilated"
    check_precision(op, precision)
    if batch_group_count != 1 or out_sharding is not None:
        raise InvalidArgument(op, "batch_group_count", batch_group_count, "1")
    x, w = array(op, lhs), array(op, rhs)
    if x.dtype != w.dtype:
        told = Description(f"{x.dtype}, {w.dtype}")
        raise InvalidType(f"lax.{op}", "lhs, rhs", told, "of the same dtypes")
    rank = x.ndim - 2
    if not 1 <= rank <= 3 or w.ndim != x.ndim:
        told = Description(f"{x.ndim} and {w.ndim} axes")
        raise InvalidArgument(op, "lhs, rhs", told, "3 to 5 axes, the same number for both")
    places = conv_dimension_numbers(x.shape, w.shape, dimension_numbers)
    own = manipulation.permute_dims(x, places.lhs_spec)
    filters = manipulation.permute_dims(w, places.rhs_spec)
    steps = tuple(window_strides)
    base = (1,) * rank if lhs_dilation is None else tuple(lhs_dilation)
    apart = (1,) * rank if rhs_dilation is None else tuple(rhs_dilation)
    extents = [(n - 1) * m + 1 for n, m in zip(own.shape[2:], base, strict=True)]
    reach = [(n - 1) * m + 1 for n, m in zip(filters.shape[2:], apart, strict=True)]
    pairs = padding_of(op, extents, reach, steps, padding)
    is_plain = all(min(pair) >= 0 for pair in pairs) and set(base) <= {1}
    is_even = all(low == high for low, high in pairs)
    around: Any = tuple([low for low, _ in pairs] if is_even else pairs)
    if not is_plain:
        rest = [(low, high, m - 1) for (low, high), m in zip(pairs, base, strict=True)]
        own, around = pad(as_jax(own), 0, [(0, 0, 0), (0, 0, 0), *rest]), 0
    kind = x.dtype
    if kind.kind in "biu":
        raise InvalidType(op, "lhs", kind, "floats", "Cast with x.astype(float).")
    function = (convolution.conv1d, convolution.conv2d, convolution.conv3d)[rank - 1]
    found = function(own, filters, None, steps, around, apart, feature_group_count)
    back = [0] * x.ndim
    for n, at in enumerate(places.out_spec):
        back[at] = n
    made = as_jax(manipulation.permute_dims(found, tuple(back)))
    if preferred_element_type is None:
        return made
    return cast(made, dtypes.dtype_of(op, preferred_element_type))


def conv(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: Any, precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:  # fmt: skip
    """Return :func:`conv_general_dilated` for the default axes."""
    return conv_general_dilated(lhs, rhs, window_strides, padding, precision=precision,
                                preferred_element_type=preferred_element_type)  # fmt: skip


def conv_with_general_padding(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: Any, lhs_dilation: Any,
    rhs_dilation: Any, precision: Any = None, preferred_element_type: Any = None,
) -> Any:  # fmt: skip
    """Return :func:`conv_general_dilated` for the default axes, with dilation."""
    return conv_general_dilated(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation,
                                precision=precision,
                                preferred_element_type=preferred_element_type)  # fmt: skip


def conv_transpose(
    lhs: Any, rhs: Any, strides: Sequence[int], padding: Any, rhs_dilation: Any = None,
    dimension_numbers: Any = None, transpose_kernel: bool = False, precision: Any = None,
    preferred_element_type: Any = None, use_consistent_padding: bool = False,
) -> Any:  # fmt: skip
    """Return the convolution of images whose elements are ``strides`` apart.

    The default axes are those of ``("NHWC", "HWIO", "NHWC")``.
    """
    x, w = array("conv_transpose", lhs), array("conv_transpose", rhs)
    rank = x.ndim - 2
    if transpose_kernel or use_consistent_padding:
        raise InvalidArgument("conv_transpose", "transpose_kernel", True, "False",
                              "Flip and transpose the filters.")  # fmt: skip
    if dimension_numbers is None:
        names = ("NHC", "HIO", "NHC") if rank == 1 else ("NHWC", "HWIO", "NHWC")
        dimension_numbers = names if rank < 3 else ("NHWDC", "HWDIO", "NHWDC")
    places = conv_dimension_numbers(x.shape, w.shape, dimension_numbers)
    apart = (1,) * rank if rhs_dilation is None else tuple(rhs_dilation)
    sizes = [(w.shape[n] - 1) * m + 1 for n, m in zip(places.rhs_spec[2:], apart, strict=True)]
    pairs = padding
    if isinstance(padding, str):
        pairs = [_transposed_padding(k, s, padding) for k, s in zip(sizes, strides, strict=True)]
    return conv_general_dilated(x, w, (1,) * rank, pairs, strides, rhs_dilation, places,
                                precision=precision,
                                preferred_element_type=preferred_element_type)  # fmt: skip


def _transposed_padding(size: int, step: int, padding: str) -> tuple[int, int]:
    """Return the padding that makes results ``step`` times as long ("SAME"), or complete."""
    if padding == "SAME":
        total = size + step - 2
        low = size - 1 if step > size - 1 else -(-total // 2)
    elif padding == "VALID":
        total = size + step - 2 + max(size - step, 0)
        low = size - 1
    else:
        raise InvalidArgument("conv_transpose", "padding", padding, "'SAME' or 'VALID'")
    return low, total - low
