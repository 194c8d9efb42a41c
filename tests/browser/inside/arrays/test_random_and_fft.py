"""Random arrays and Fourier transforms through their public names, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, sample
from inside.spies import dispatched

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def test_random_numbers(bg: Any) -> None:
    one, other = bg.random.default_rng(7), bg.random.default_rng(7)
    for draw in (
        lambda rng: rng.random((3, 5)), lambda rng: rng.uniform(-2, 3, 40),
        lambda rng: rng.normal(1, 2, (4, 4)), lambda rng: rng.integers(-5, 6, 50, dtype="int8"),
        lambda rng: rng.permutation(20), lambda rng: rng.standard_normal(9, dtype="float16"),
        lambda rng: rng.exponential(2.0, 30), lambda rng: rng.choice(10, 6, replace=False),
    ):  # fmt: skip
        np.testing.assert_array_equal(draw(one).numpy(), draw(other).numpy())
    assert (one.random(9).numpy() != one.random(9).numpy()).any()
    assert (
        bg.random.default_rng().random(9).numpy() != bg.random.default_rng().random(9).numpy()
    ).any()
    many = one.normal(size=20_000).numpy()
    assert abs(many.mean()) < 0.04
    assert abs(many.std() - 1) < 0.04
    whole = one.integers(3, 9, 6000).numpy()
    assert set(whole.tolist()) == set(range(3, 9))
    assert one.random().shape == ()
    np.testing.assert_array_equal(np.sort(one.permutation(1000).numpy()), np.arange(1000))
    x = sample("float32", (6, 3))
    a = bg.asarray(x)
    b, view = a.copy(), a[:]
    one.shuffle(a)
    np.testing.assert_array_equal(np.sort(a.numpy(), 0), np.sort(x, 0))
    assert_same(b, x)
    assert_same(view, a.numpy())
    one.shuffle(a[1:])
    assert_same(view, a.numpy())
    np.testing.assert_array_equal(np.sort(a.numpy(), 0), np.sort(x, 0))
    assert one.choice(a, (2, 2)).shape == (2, 2, 3)


def test_choices_by_probabilities(bg: Any) -> None:
    shares = [0.0, 0.5, 0.125, 0.0, 0.375, 0.0]
    rng = bg.random.default_rng(11)
    counts = np.bincount(rng.choice(6, 8000, p=shares).numpy(), minlength=6) / 8000
    # Five standard errors of the most frequent number; the seed is fixed.
    np.testing.assert_allclose(counts, shares, atol=5 * 0.5 / np.sqrt(8000))
    firsts = np.zeros(6)
    for _ in range(400):
        drawn = rng.choice(6, 3, replace=False, p=shares).numpy()
        assert sorted(drawn) == [1, 2, 4]
        firsts[drawn[0]] += 1 / 400
    np.testing.assert_allclose(firsts, shares, atol=5 * 0.5 / np.sqrt(400))
    x = bg.asarray([10, 20, 30])
    assert rng.choice(x, 4, p=np.array([0, 0, 1.0])).tolist() == [30] * 4
    for wrong in (
        lambda: rng.choice(3, p=[0.5, 0.5]), lambda: rng.choice(2, p=[0.5, 0.6]),
        lambda: rng.choice(2, p=[-1.0, 2.0]), lambda: rng.choice(2, p=x),
        lambda: rng.choice(6, 4, replace=False, p=shares), lambda: rng.choice(2, p="ab"),
        lambda: rng.choice(2, p=[np.nan, 1.0]), lambda: rng.choice(2, shuffle=None),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="choice: "):
            wrong()


def test_names_that_are_not_there(bg: Any) -> None:
    rng = bg.random.default_rng(1)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        rng.nonsense()
    for name in ("MT19937", "PCG64", "SFC64"):
        with pytest.raises(bg.errors.UnknownName, match="Philox"):
            getattr(bg.random, name)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        bg.random.nonsense()


def test_random_numbers_that_are_refused(bg: Any) -> None:
    from browsergpu.errors import InvalidArgument

    rng = bg.random.default_rng(1)
    for call in (
        lambda: rng.uniform(2, 1), lambda: rng.integers(5, 5), lambda: rng.normal(0, -1, 3),
        lambda: rng.integers(0, 300, dtype="uint8"), lambda: rng.random((-1,)),
        lambda: rng.choice(3, 5, replace=False), lambda: bg.random.default_rng(-1),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument):
            call()


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_transforms(bg: Any, norm: str) -> None:
    z, x = sample("complex64", (3, 12, 5)), sample("float32", (3, 12, 5), 1)
    c, a = bg.asarray(z), bg.asarray(x)
    for axis in (0, 1, -1):
        for n in (None, 7, 16):
            for name, array, data in (
                ("fft", c, z), ("ifft", c, z), ("fft", a, x), ("rfft", a, x), ("irfft", c, z),
                ("hfft", c, z), ("ihfft", a, x),
            ):  # fmt: skip
                expected = getattr(np.fft, name)(
                    data.astype(complex) if data is z else data.astype(float), n, axis, norm
                )
                got = getattr(bg.fft, name)(array, n=n, axis=axis, norm=norm)
                assert_same(got, expected, f"{name} {axis} {n}", rtol=1e-5)
    for name, array, data in (("fftn", c, z), ("ifftn", c, z), ("rfftn", a, x), ("irfftn", c, z)):
        for axes in (None, (0, 2), (1,)):
            expected = getattr(np.fft, name)(data, None, axes, norm)
            assert_same(
                getattr(bg.fft, name)(array, axes=axes, norm=norm), expected, name, rtol=1e-5
            )
    assert_same(
        bg.fft.fftn(c, s=(4, 6), axes=(0, 1), norm=norm),
        np.fft.fftn(z, (4, 6), (0, 1), norm),
        rtol=1e-5,
    )


@pytest.mark.parametrize("name", ["fftn", "ifftn"])
def test_transforms_of_several_axes_copy_only_where_there_is_no_axis(
    bg: Any, backend: Any, name: str
) -> None:
    z = sample("complex64", (8, 16))
    array = bg.asarray(z)
    with dispatched(backend.device) as kernels:
        getattr(bg.fft, name)(array)
    assert set(kernels) == {"fft"}
    same = getattr(bg.fft, name)(array, axes=())
    same[0] = 0
    assert_same(array, z)


def test_frequencies(bg: Any) -> None:
    for n in (1, 8, 9):
        assert_same(bg.fft.fftfreq(n, d=0.5), np.fft.fftfreq(n, 0.5), rtol=1e-6)
        assert_same(bg.fft.rfftfreq(n), np.fft.rfftfreq(n), rtol=1e-6)
    x = sample("float32", (4, 5))
    assert_same(bg.fft.fftshift(bg.asarray(x)), np.fft.fftshift(x))
    assert_same(bg.fft.ifftshift(bg.asarray(x), axes=1), np.fft.ifftshift(x, 1))


@pytest.mark.parametrize("name", ["rfftn", "irfftn"])
def test_transforms_of_real_numbers_need_an_axis(bg: Any, name: str) -> None:
    from browsergpu.errors import InvalidArgument

    for x, axes in ((bg.asarray(3.0), None), (bg.ones((2, 3)), ())):
        with pytest.raises(InvalidArgument, match=f"{name}: axes must be at least one axis"):
            getattr(bg.fft, name)(x, axes=axes)
