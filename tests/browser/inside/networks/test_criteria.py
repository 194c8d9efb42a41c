"""CTC's target forms, loss layers, and refused losses. test_functions has the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.networks.known.losses import CLASSES, SEVERAL, SHARES, SIGNS, WEIGHT, X, Y, Z, paths

pytestmark = pytest.mark.native


def _logs(steps: int, count: int, classes: int, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).dirichlet(np.ones(classes), (steps, count))
    return np.log(drawn).astype(np.float32)


def test_forms_of_ctc_targets(bg: Any) -> None:
    """Padded, concatenated, with lengths on the host or the GPU, and for a single sample."""
    logs, labels, numbers = _logs(6, 3, 4), np.int64([[1, 1, 3], [2, 0, 0], [3, 2, 0]]), [3, 1, 2]
    x, steps = bg.asarray(logs), [6, 5, 4]
    expected = [paths(logs[:t, n].astype(float), labels[n, :count], 0)
                for n, (t, count) in enumerate(zip(steps, numbers, strict=True))]  # fmt: skip
    flat = np.concatenate([row[:n] for row, n in zip(labels, numbers, strict=True)])
    lists = bg.asarray(np.int32(steps)), bg.asarray(np.int64(numbers))
    for targets in (labels, flat):
        for given in ((steps, numbers), (tuple(steps), np.int64(numbers)), lists):
            found = bg.nn.ctc_loss(x, bg.asarray(targets), *given, reduction="none")
            np.testing.assert_allclose(found.tolist(), expected, rtol=1e-5)
    alone = bg.nn.ctc_loss(x[:, 0], bg.asarray(labels[0]), 6, 3, reduction="sum")
    np.testing.assert_allclose(alone.tolist(), expected[0], rtol=1e-5)
    mean = bg.nn.CTCLoss()(x, bg.asarray(labels), steps, numbers).item()
    np.testing.assert_allclose(mean, np.mean(np.array(expected) / numbers), rtol=1e-5)
    other = bg.nn.CTCLoss(blank=3, reduction="none")(x[:, :1], bg.asarray([[0, 1]]), [6], [2])
    np.testing.assert_allclose(other.item(), paths(logs[:, 0].astype(float), [0, 1], 3), rtol=1e-5)


def test_impossible_alignments(bg: Any) -> None:
    """Two equal labels need at least three steps."""
    logs, labels = bg.asarray(_logs(2, 2, 3)), bg.asarray([[1, 1], [1, 2]])

    def losses(x: Any, zero_infinity: bool) -> Any:
        options = {"reduction": "none", "zero_infinity": zero_infinity}
        return bg.nn.ctc_loss(x, labels, [2, 2], [2, 2], **options)

    assert losses(logs, False).tolist()[0] == np.inf
    assert losses(logs, True).tolist()[0] == 0
    slope = bg.grad(lambda x: losses(x, True).sum())(logs).numpy()
    assert (slope[:, 0] == 0).all()
    np.testing.assert_allclose(slope[:, 1], [[0, -1, 0], [0, 0, -1]], atol=1e-6)
    assert np.isnan(bg.grad(lambda x: losses(x, False).sum())(logs).numpy()[:, 0]).any()


def test_long_sequences_do_not_underflow(bg: Any) -> None:
    """float32 cannot hold the probability. The gradients of each step sum to -1."""
    logs = _logs(150, 2, 5)
    labels = np.random.default_rng(1).integers(1, 5, (2, 40))
    x = bg.asarray(logs)
    loss = bg.nn.ctc_loss(x, bg.asarray(labels), [150, 120], [40, 20], reduction="none")
    assert (np.array(loss.tolist()) > 100).all()
    slope = bg.grad(
        lambda v: bg.nn.ctc_loss(v, bg.asarray(labels), [150, 120], [40, 20], reduction="sum")
    )(x).numpy()
    np.testing.assert_allclose(slope[:120].sum(-1), -1, atol=1e-3)
    assert (slope[120:, 1] == 0).all()


def test_probabilities_at_the_ends(bg: Any) -> None:
    """Logarithms are clamped to -100, and gradients are finite."""
    x = bg.asarray(np.float32([0, 1, 1, 0, 0.5]))
    t = bg.asarray(np.float32([0, 1, 0, 1, 1]))
    found = bg.nn.binary_cross_entropy(x, t, reduction="none").tolist()
    np.testing.assert_allclose(found, [0, 0, 100, 100, np.log(2)], rtol=1e-6)
    slope = bg.grad(lambda v: bg.nn.binary_cross_entropy(v, t, reduction="sum"))(x).tolist()
    np.testing.assert_allclose(slope, [0, 0, 1e12, -1e12, -2], rtol=1e-5)


def test_least_variance(bg: Any) -> None:
    """The least variance replaces the given one, which keeps its gradient."""
    x, t, v = (bg.asarray(np.float32([n])) for n in (1, 3, 0.1))
    found = bg.nn.gaussian_nll_loss(x, t, v, eps=0.5)
    np.testing.assert_allclose(found.item(), (np.log(0.5) + 4 / 0.5) / 2, rtol=1e-6)
    slope = bg.grad(lambda u: bg.nn.gaussian_nll_loss(x, t, u, eps=0.5))(v).item()
    np.testing.assert_allclose(slope, (1 / 0.5 - 4 / 0.25) / 2, rtol=1e-6)


#: Layers, their arguments, inputs, and equivalent function calls.
LAYERS: list[tuple[str, dict[str, Any], tuple[Any, ...], Any]] = [
    (
        "BCELoss",
        {"weight": WEIGHT},
        (SHARES[0], SHARES[1]),
        lambda nn, w, *v: nn.binary_cross_entropy(*v, w),
    ),
    (
        "KLDivLoss",
        {"log_target": True},
        (X, -SHARES[0]),
        lambda nn, *v: nn.kl_div(*v, log_target=True),
    ),
    (
        "KLDivLoss",
        {"reduction": "batchmean"},
        (X, SHARES[0]),
        lambda nn, *v: nn.kl_div(*v, reduction="batchmean"),
    ),
    (
        "PoissonNLLLoss",
        {"log_input": False, "full": True, "eps": 0.1},
        (SHARES[0], SHARES[1]),
        lambda nn, *v: nn.poisson_nll_loss(*v, False, True, 0.1),
    ),
    (
        "GaussianNLLLoss",
        {"full": True, "eps": 0.5},
        (X, Y, SHARES[0]),
        lambda nn, *v: nn.gaussian_nll_loss(*v, True, 0.5),
    ),
    (
        "HingeEmbeddingLoss",
        {"margin": 0.5},
        (X, SIGNS),
        lambda nn, *v: nn.hinge_embedding_loss(*v, 0.5),
    ),
    ("HingeEmbeddingLoss", {}, (X, SIGNS), lambda nn, *v: nn.hinge_embedding_loss(*v)),
    (
        "MarginRankingLoss",
        {"margin": 0.5, "reduction": "sum"},
        (X, Y, SIGNS),
        lambda nn, *v: nn.margin_ranking_loss(*v, 0.5, reduction="sum"),
    ),
    (
        "CosineEmbeddingLoss",
        {"margin": 0.2},
        (X, Y, SIGNS[:, 0]),
        lambda nn, *v: nn.cosine_embedding_loss(*v, 0.2),
    ),
    (
        "TripletMarginLoss",
        {"margin": 2.0, "p": 1, "eps": 0.1, "swap": True},
        (X, Y, Z),
        lambda nn, *v: nn.triplet_margin_loss(*v, 2.0, 1, 0.1, True),
    ),
    (
        "TripletMarginWithDistanceLoss",
        {"margin": 2.0, "swap": True},
        (X, Y, Z),
        lambda nn, *v: nn.triplet_margin_loss(*v, 2.0, swap=True),
    ),
    ("SoftMarginLoss", {}, (X, SIGNS), lambda nn, *v: nn.soft_margin_loss(*v)),
    ("MultiLabelMarginLoss", {}, (X, SEVERAL), lambda nn, *v: nn.multilabel_margin_loss(*v)),
    (
        "MultiLabelSoftMarginLoss",
        {"weight": WEIGHT},
        (X, SHARES[0]),
        lambda nn, w, *v: nn.multilabel_soft_margin_loss(*v, w),
    ),
    (
        "MultiMarginLoss",
        {"p": 2, "margin": 0.5, "weight": WEIGHT},
        (X, CLASSES),
        lambda nn, w, *v: nn.multi_margin_loss(*v, 2, 0.5, w),
    ),
    (
        "CosineSimilarity",
        {"dim": 0, "eps": 9.0},
        (X, Y),
        lambda nn, *v: nn.cosine_similarity(*v, 0, 9.0),
    ),
    (
        "PairwiseDistance",
        {"p": 1, "eps": 0.1, "keepdim": True},
        (X, Y),
        lambda nn, *v: nn.pairwise_distance(*v, 1, 0.1, True),
    ),
]


@pytest.mark.parametrize("at", range(len(LAYERS)), ids=[f"{n}-{row[0]}" for n, row in
                                                      enumerate(LAYERS)])  # fmt: skip
def test_layers(bg: Any, at: int) -> None:
    name, options, given, call = LAYERS[at]
    own = {k: bg.asarray(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    layer, arrays = getattr(bg.nn, name)(**own), [bg.asarray(x) for x in given]
    before = [own["weight"]] if "weight" in own else []
    found = layer(*arrays).numpy()
    np.testing.assert_array_equal(found, call(bg.nn, *before, *arrays).numpy())
    assert name in repr(layer)


def test_a_custom_distance(bg: Any) -> None:
    a, b, c = map(bg.asarray, (X, Y, Z))
    layer = bg.nn.TripletMarginWithDistanceLoss(
        distance_function=lambda x, y: bg.abs(x - y).sum(axis=-1), reduction="none"
    )
    near, far = np.abs(X - Y).sum(-1), np.abs(X - Z).sum(-1)
    np.testing.assert_allclose(layer(a, b, c).tolist(), np.maximum(near - far + 1, 0), atol=1e-5)


def test_half_precision_within_autocast(bg: Any) -> None:
    x, t = (bg.asarray(v.astype(np.float16)) for v in SHARES[:2])
    with bg.autocast():
        for call in (lambda: bg.nn.binary_cross_entropy(x, t), lambda: bg.nn.kl_div(x, t),
                     lambda: bg.nn.cosine_similarity(x, t)):  # fmt: skip
            assert call().dtype == np.float32


def test_invalid_arguments_are_refused(bg: Any) -> None:
    nn, x, y = bg.nn, bg.asarray(X), bg.asarray(Y)
    whole, logs = bg.asarray(CLASSES), bg.asarray(_logs(3, 2, 3))
    for call, name in (
        (lambda: nn.kl_div(x, y, reduction="all"), "reduction"),
        (lambda: nn.kl_div(x, y[0]), "target"),
        (lambda: nn.binary_cross_entropy(x, y, bg.ones(3)), "weight"),
        (lambda: nn.gaussian_nll_loss(x, y, bg.ones((2, 4))), "var"),
        (lambda: nn.gaussian_nll_loss(x, y, 1.0, eps=0), "eps"),
        (lambda: nn.triplet_margin_loss(x, y, y, margin=0), "margin"),
        (lambda: nn.multi_margin_loss(x, whole, 3), "p"),
        (lambda: nn.multi_margin_loss(x, whole[:2]), "target"),
        (lambda: nn.cosine_embedding_loss(x, y[:, :2], whole), "input2"),
        (lambda: nn.ctc_loss(logs, bg.asarray([[1]]), [3, 3], [1, 1]), "targets"),
        (lambda: nn.ctc_loss(logs, bg.asarray([1, 2, 1]), [3, 3], [1, 1]), "target_lengths"),
        (lambda: nn.ctc_loss(logs, bg.asarray([[1], [2]]), [3], [1, 1]), "input_lengths"),
        (lambda: nn.ctc_loss(logs, bg.asarray([[1], [2]]), [3, 3], [1, 1], blank=3), "blank"),
        (lambda: nn.CTCLoss(reduction="all"), "reduction"),
        (lambda: nn.TripletMarginLoss(margin=-1), "margin"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=name):
            call()
    with pytest.raises(TypeError, match="target"):
        nn.multi_margin_loss(x, bg.ones(3))
    with pytest.raises(TypeError, match="distance_function"):
        nn.TripletMarginWithDistanceLoss(distance_function=3)
