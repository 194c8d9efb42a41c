"""Losses as layers, for which ``torch.nn.functional`` has the function."""

from __future__ import annotations

from inspect import signature
from typing import Any

from browsergpu.torch.nn import functional
from browsergpu.torch.nn.module import Module

#: The layers, by name.
LOSSES: dict[str, type] = {}


def _loss(name: str, function: Any, inputs: int = 2) -> None:
    settings = list(signature(function).parameters.values())[inputs:]

    def __init__(self: Any, *args: Any, **options: Any) -> None:
        Module.__init__(self)
        names = [one.name for one in settings]
        given = {one.name: one.default for one in settings}
        given.update(zip(names, args, strict=False))
        unknown = options.keys() - given.keys()
        if unknown or len(args) > len(names):
            raise TypeError(f"{name}() got unexpected arguments {sorted(unknown)}")
        given.update(options)
        self.__dict__["settings"] = given
        for key, value in given.items():
            setattr(self, key, value)

    def forward(self: Any, *args: Any) -> Any:
        return function(*args, **{key: getattr(self, key) for key in self.settings})

    LOSSES[name] = type(
        name, (Module,), {"__init__": __init__, "forward": forward, "__doc__": function.__doc__}
    )


for _name, _function, _inputs in (
    ("KLDivLoss", functional.kl_div, 2),
    ("CosineSimilarity", functional.cosine_similarity, 2),
    ("PairwiseDistance", functional.pairwise_distance, 2),
    ("TripletMarginLoss", functional.triplet_margin_loss, 3),
    ("MarginRankingLoss", functional.margin_ranking_loss, 3),
    ("CosineEmbeddingLoss", functional.cosine_embedding_loss, 3),
    ("SoftMarginLoss", functional.soft_margin_loss, 2),
    ("HingeEmbeddingLoss", functional.hinge_embedding_loss, 2),
    ("GaussianNLLLoss", functional.gaussian_nll_loss, 3),
    ("PoissonNLLLoss", functional.poisson_nll_loss, 2),
):
    _loss(_name, _function, _inputs)
