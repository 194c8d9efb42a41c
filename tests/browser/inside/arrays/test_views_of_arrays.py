"""Views share memory exactly where NumPy's do, and a write to one changes all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from inside.arrays.data import assert_same
from inside.arrays.test_captured_functions import DRAWN, OTHERS, READS
from inside.gradients.drawn.directions import Call, results

pytestmark = [pytest.mark.native, pytest.mark.firefox]

SMALL, LARGE = (6, 4, 5), (60, 100, 60)

#: Expressions that give a view, for NumPy and for browsergpu.
VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "index": lambda xp, a: a[1],
    "slice": lambda xp, a: a[1:, ::2],
    "turned": lambda xp, a: a[::-1, :, ::-2],
    "ellipsis": lambda xp, a: a[..., 0],
    "new axis": lambda xp, a: a[None, :, None],
    "element with an ellipsis": lambda xp, a: a[1, 2, 3, ...],
    "T": lambda xp, a: a.T if a.ndim == 2 else a.transpose(),
    "mT": lambda xp, a: a.mT,
    "reshape": lambda xp, a: a.reshape(-1),
    "reshape to the same": lambda xp, a: a.reshape(a.shape),
    "ravel": lambda xp, a: a.ravel(),
    "transpose": lambda xp, a: xp.permute_dims(a, (1, 2, 0)),
    "swapaxes": lambda xp, a: a.swapaxes(0, 2),
    "moveaxis": lambda xp, a: xp.moveaxis(a, 0, -1),
    "squeeze": lambda xp, a: xp.squeeze(a[:, :1], 1),
    "expand_dims": lambda xp, a: xp.expand_dims(a, axis=1),
    "flip": lambda xp, a: xp.flip(a, axis=1),
    "unstack": lambda xp, a: xp.unstack(a, axis=1)[2],
    "a view of a view": lambda xp, a: a[2:].T[1:, 0][::-1],
    "iteration": lambda xp, a: next(iter(a)),
    "view": lambda xp, a: a.view(),
    "view as the same dtype": lambda xp, a: a[:, 1].view(np.float32),
}
#: Expressions that give a copy.
COPIES: dict[str, Callable[[Any, Any], Any]] = {
    "copy": lambda xp, a: a.copy(),
    "index array": lambda xp, a: a[[1, 0]],
    "mask": lambda xp, a: a[a > 3],
    "reshape of what cannot be a view": lambda xp, a: a.mT.reshape(-1),
    "flatten": lambda xp, a: a.flatten(),
    "astype": lambda xp, a: a.astype(a.dtype),
    "roll": lambda xp, a: xp.roll(a, 0, axis=0),
    "tile": lambda xp, a: xp.tile(a, (1, 1, 1)),
    "repeat": lambda xp, a: xp.repeat(a, 1, axis=0),
    "concat": lambda xp, a: xp.concat([a], axis=0),
    "sum": lambda xp, a: xp.sum(a[:1], axis=0),
    "max": lambda xp, a: xp.max(a[:1], axis=0),
    "sort": lambda xp, a: xp.sort(a[:, :, :1], axis=-1),
    "add": lambda xp, a: a + 0,
    "positive": lambda xp, a: +a,
    "element": lambda xp, a: a[1, 2, 3],
}


def _arrays(bg: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, Any]:
    x = (np.arange(np.prod(shape)) % 97).reshape(shape).astype(np.float32)
    return x, bg.asarray(x.copy())


@pytest.mark.parametrize("shape", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("name", VIEWS)
def test_a_write_through_a_view_is_seen_by_all(bg: Any, name: str, shape: tuple[int, ...]) -> None:
    theirs, ours = _arrays(bg, shape)
    make = VIEWS[name]
    before = ours + 1  # recorded, not computed
    v, w = make(np, theirs), make(bg, ours)
    assert np.shares_memory(theirs, v)
    more, seen = theirs[::2], ours[::2]
    expected = theirs + 1
    v[...] = -1
    w[...] = -1
    assert_same(ours, theirs)
    v += 5
    w += 5
    if v.ndim:
        v[-1:] *= 3
        w[-1:] *= 3
    assert_same(w, v)
    assert_same(seen, more)
    theirs[1:] -= 2
    ours[1:] -= 2
    theirs *= 2
    ours *= 2
    assert_same(w, v)
    assert_same(seen, more)
    assert_same(before, expected)
    del ours, seen  # the view keeps the memory
    w += 1
    v += 1
    assert_same(w, v)


def test_a_view_as_another_dtype_has_the_same_bits(bg: Any) -> None:
    x = np.array([[1.0, -2.5], [0.0, np.inf], [3e38, -0.0]], np.float32)
    theirs, ours = x.copy(), bg.asarray(x)
    for part in (np.s_[:], np.s_[1:, ::-1], np.s_[:, 1]):
        for dtype in (np.int32, np.uint32):
            assert_same(ours[part].view(dtype), theirs[part].view(dtype))
            assert_same((ours + 0)[part].view(dtype), (theirs + 0)[part].view(dtype))
    bits, words = theirs[1:].view(np.uint32), ours[1:].view(np.uint32)
    bits[...] |= 0x40000000
    words[...] |= 0x40000000
    assert_same(ours, theirs)
    theirs[2] = 7
    ours[2] = 7
    assert_same(words, bits)
    assert_same(words.view(np.float32), theirs[1:])
    for dtype in (np.float64, bool):
        with pytest.raises(TypeError, match=r"view: dtype must be .*astype\(\) converts"):
            ours.view(dtype)
    with pytest.raises(TypeError, match="must be bool, the array's own"):
        bg.asarray([True]).view(np.int8)
    with pytest.raises(TypeError):
        ours.view("no dtype")
    noted = bg.asarray(x, copy=True).requires_grad_()
    with pytest.raises(RuntimeError):
        noted.view(np.int32)


KINDS = (
    "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32", "complex64",
    "int64", "uint64",
)  # fmt: skip


@pytest.mark.parametrize("own", KINDS)
def test_a_view_as_a_dtype_of_another_size_shares_the_memory(bg: Any, own: str) -> None:
    x = np.random.default_rng(1).integers(60, 67, (3, 48), np.uint8).view(own)
    for kind in KINDS:
        theirs, ours = x.copy(), bg.asarray(x)
        bits, words = theirs[1:].view(kind), ours[1:].view(kind)
        assert_same(words, bits)
        bits[0, 1:3] = words[0, 1:3] = 5
        assert_same(ours, theirs)
        theirs[2, -1] = ours[2, -1] = 7
        assert_same(words, bits)
        assert_same(words.view(own)[1], theirs[2])
        with bg.capture() as graph:
            words[1, :2] = 3
        ours[...] = bg.asarray(x)
        graph.replay()
        theirs[...] = x
        bits[1, :2] = 3
        assert_same(ours, theirs)
        graph.close()


def test_views_of_another_size_that_are_refused(bg: Any) -> None:
    x = bg.arange(12, dtype="int32").reshape(3, 4)
    for wrong, what in (
        (lambda: x[:, :3].view("int64"), "divides the 12 bytes of the last axis"),
        (lambda: x[:, 1:3].view("int64"), "divides the strides and the offset"),
        (lambda: x[:, ::2].view("int8"), "the last axis is not contiguous"),
        (lambda: x[0, 0].view("int8"), "an array without axes"),
    ):
        with pytest.raises(TypeError, match=f"view: dtype must be .*{what}"):
            wrong()
    assert x[:, :0].view("int8").shape == (3, 0)


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_apart(bg: Any, name: str) -> None:
    theirs, ours = _arrays(bg, SMALL)
    expected, found = COPIES[name](np, theirs), COPIES[name](bg, ours)
    assert not np.shares_memory(theirs, expected)
    expected = np.array(expected)
    ours += 100
    assert_same(found, expected)
    now = ours.numpy()
    found += 1
    if found.ndim:
        found[:1] = 7.0
    assert_same(ours, now)


def test_common_ways_to_write_through_views(bg: Any) -> None:
    for shape in (SMALL, LARGE):
        x, a = _arrays(bg, shape)
        for xp, z in ((np, x), (bg, a)):
            z[0][1] = 99
            b = z[1:]
            b += 10
            for row in z[2]:
                row /= row.sum()
            first, second, *_ = z
            second *= 10
            z[1:-1, 1:-1][z[1:-1, 1:-1] > 40] = 1
            z.ravel()[::4] = 1
            z.T[0] = 2
            z.reshape(-1)[3] = 5
            v = z[:2]
            v[:] = xp.flip(v, axis=-1)
            z[2, [0, 1]][:] = 77  # assigns to a copy
            first[...] = second
        assert_same(a, x, rtol=1e-6)


def test_overlapping_assignments(bg: Any) -> None:
    for shape in (SMALL, LARGE):
        x, a = _arrays(bg, shape)
        for z in (x, a):
            z[1:] = z[:-1]
            z[:, ::-1] = z
            z[:, 1:] += z[:, :-1]
            z[..., :2] = z[..., 2:4] * 2
            z.T[1:3] = z.T[0:2]
        assert_same(a, x)


def test_parts_of_complex_numbers(bg: Any) -> None:
    x = (np.arange(12) + 1j * np.arange(12, 0, -1)).astype(np.complex64).reshape(3, 4)
    a = bg.asarray(x)
    for z in (x, a):
        z.real[1] = 50
        z.imag += 1
        z.T.real[...] *= 2
        z[2].imag[1:] = 0
    assert_same(a, x)
    real, imag = a.real, a.imag
    a *= 1j
    x *= 1j
    assert_same(real, x.real)
    assert_same(imag, x.imag)


@pytest.mark.parametrize("kind", ["bool", "uint8", "int16", "float16", "float32", "complex64"])
def test_elements_of_every_size(bg: Any, kind: str) -> None:
    x = (np.arange(7 * 5) % 2).reshape(7, 5).astype(kind)
    a = bg.asarray(x)
    for z in (x, a):
        v, w = z.T[1:4], z[::-2, 1::3]
        v[1] = 1
        w[...] = 0
        z[3:, :2] = z[:4, 3:]
        v[::2, 1] = 1
    assert_same(a, x)


def test_read_only_views(bg: Any) -> None:
    x = bg.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    views = [
        bg.broadcast_to(x, (4, 2, 3)), bg.broadcast_to(x, (2, 3)), bg.linalg.diagonal(x),
        *bg.broadcast_arrays(x, bg.zeros((4, 1, 1))),
    ]  # fmt: skip
    for view in (*views, views[0][0], views[0][1:]):
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            view += 1
        nothing: list[int] = []
        with pytest.raises(ValueError, match="read-only"):
            view[nothing] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            view[view > 1000] += 1
    x[0] = 9.0
    np.testing.assert_array_equal(views[0].numpy()[:, 0], np.full((4, 3), 9))
    copied = views[0].copy()
    copied += 1
    np.testing.assert_array_equal(x.numpy()[0], [9, 9, 9])


def test_numpys_functions_write_into_views(bg: Any) -> None:
    x, a = _arrays(bg, SMALL)
    for z in (x, a):
        np.add(z[:2], 1, out=z[:2])
        np.multiply(z.T, 2, out=z.T)
    assert_same(a, x)


def test_state_of_a_module_is_its_memory(bg: Any) -> None:
    model = bg.nn.Linear(3, 2)
    model.state_dict()["weight"][...] = 4.0
    assert model.weight.tolist() == [[4, 4, 4], [4, 4, 4]]
    with bg.no_grad():
        model.weight[0][1] = 7.0
        for row in model.weight:
            row += 1
    assert model.weight.tolist() == [[5, 8, 5], [5, 5, 5]]
    assert model.weight.requires_grad
    assert model.weight.is_leaf


#: Functions whose results may be views of an operand.
GIVE_VIEWS = {
    "broadcast_arrays", "broadcast_to", "expand_dims", "flip", "matrix_transpose", "moveaxis",
    "permute_dims", "reshape", "squeeze", "transpose", "unstack", "linalg.diagonal",
    "linalg.matrix_transpose", "asarray", "astype", "meshgrid", "real", "imag",
}  # fmt: skip


def _is_apart(bg: Any, function: Callable[..., Any], bases: list[np.ndarray]) -> None:
    """Assert that changing results leaves the operands unchanged, and the other way round."""
    arrays = [bg.asarray(x) for x in bases]
    found = [y for y in results(function(*arrays)) if isinstance(y, bg.Array)]
    values = [y.numpy() for y in found]
    for x in arrays:
        if x.size:
            x[...] = bg.zeros_like(x)
    for y, value in zip(found, values, strict=True):
        np.testing.assert_array_equal(y.numpy(), value)
    kept = [x.numpy() for x in arrays]
    for y in found:
        if y.size:
            y[...] = bg.ones_like(y)
    for x, value in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(x.numpy(), value)


@pytest.mark.parametrize("name", sorted(DRAWN.keys() - GIVE_VIEWS - READS))
def test_results_of_drawn_calls_are_apart(bg: Any, name: str) -> None:
    @settings(max_examples=2, derandomize=True)
    @given(DRAWN[name])
    def run(call: Call) -> None:
        def function(*bases: Any) -> Any:
            views = [one.seen(bg, x) for one, x in zip(call.operands, bases, strict=True)]
            return call.ours(bg, *views)

        _is_apart(bg, function, [one.base for one in call.operands])

    run()


@pytest.mark.parametrize("name", OTHERS)
def test_results_of_other_calls_are_apart(bg: Any, name: str) -> None:
    function, arrays = OTHERS[name]
    _is_apart(bg, lambda *given: function(bg, *given), [*arrays])


@pytest.mark.parametrize("pending", [False, True])
def test_a_shape_that_is_set(bg: Any, pending: bool) -> None:
    a = bg.arange(6) * (2 if pending else 1)
    before = a if pending else a[2:]
    a.shape = (2, 3)
    a[1, 0] = 50
    assert a.shape == (2, 3)
    assert before.tolist() == (a.tolist() if pending else [2, 50, 4, 5])
    if not pending:
        before[0] = 9
        assert a[0].tolist() == [0, 1, 9]
    a.shape = -1
    assert a.shape == (6,)
    with pytest.raises(ValueError, match="6 elements"):
        a.shape = (4, 2)
    turned = bg.reshape(a, (2, 3)).T
    with pytest.raises(ValueError, match="a shape that needs no copy, got 6"):
        turned.shape = 6
    with bg.capture(), pytest.raises(NotImplementedError, match=r"block of capture\(\)"):
        a.shape = (3, 2)
    weights = bg.ones(4)
    weights.requires_grad = True
    with pytest.raises(NotImplementedError, match="requires a gradient"):
        weights.shape = (2, 2)
