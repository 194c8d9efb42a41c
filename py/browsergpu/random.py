"""Random arrays, with the names of ``numpy.random``: ``default_rng(seed)`` and legacy functions.

A seed gives the same numbers on every device, but not those of NumPy. The legacy functions share
one generator, which ``seed()`` seeds, and draw on the current device. Results are float32 or the
default integer dtype.

Parameters may be numbers, lists, NumPy arrays and arrays on the GPU, and they broadcast. Arrays on
the GPU are not checked. For an invalid element, a float result is NaN, and an integer result is the
smallest int32.
"""

from typing import Any

from numpy import random as _of_numpy
from numpy.random import SeedSequence

from browsergpu.engine.core.errors import UnknownName
from browsergpu.functions.random.bits import BitGenerator, Philox
from browsergpu.functions.random.generator import Generator, default_rng
from browsergpu.functions.random.legacy import SHARED as _SHARED
from browsergpu.functions.random.legacy import RandomState, get_bit_generator, set_bit_generator

beta = _SHARED.beta
binomial = _SHARED.binomial
bytes = _SHARED.bytes
chisquare = _SHARED.chisquare
choice = _SHARED.choice
dirichlet = _SHARED.dirichlet
exponential = _SHARED.exponential
f = _SHARED.f
gamma = _SHARED.gamma
geometric = _SHARED.geometric
get_state = _SHARED.get_state
gumbel = _SHARED.gumbel
hypergeometric = _SHARED.hypergeometric
laplace = _SHARED.laplace
logistic = _SHARED.logistic
lognormal = _SHARED.lognormal
logseries = _SHARED.logseries
multinomial = _SHARED.multinomial
multivariate_normal = _SHARED.multivariate_normal
negative_binomial = _SHARED.negative_binomial
noncentral_chisquare = _SHARED.noncentral_chisquare
noncentral_f = _SHARED.noncentral_f
normal = _SHARED.normal
pareto = _SHARED.pareto
permutation = _SHARED.permutation
poisson = _SHARED.poisson
power = _SHARED.power
rand = _SHARED.rand
randint = _SHARED.randint
randn = _SHARED.randn
random = _SHARED.random
random_integers = _SHARED.random_integers
random_sample = _SHARED.random_sample
rayleigh = _SHARED.rayleigh
seed = _SHARED.seed
set_state = _SHARED.set_state
shuffle = _SHARED.shuffle
standard_cauchy = _SHARED.standard_cauchy
standard_exponential = _SHARED.standard_exponential
standard_gamma = _SHARED.standard_gamma
standard_normal = _SHARED.standard_normal
standard_t = _SHARED.standard_t
triangular = _SHARED.triangular
uniform = _SHARED.uniform
vonmises = _SHARED.vonmises
wald = _SHARED.wald
weibull = _SHARED.weibull
zipf = _SHARED.zipf
ranf = _SHARED.random_sample
sample = _SHARED.random_sample

__all__ = [
    "BitGenerator",
    "Generator",
    "Philox",
    "RandomState",
    "SeedSequence",
    "beta",
    "binomial",
    "bytes",
    "chisquare",
    "choice",
    "default_rng",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "get_bit_generator",
    "get_state",
    "gumbel",
    "hypergeometric",
    "laplace",
    "logistic",
    "lognormal",
    "logseries",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "random_integers",
    "random_sample",
    "ranf",
    "rayleigh",
    "sample",
    "seed",
    "set_bit_generator",
    "set_state",
    "shuffle",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
    "zipf",
]


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not hasattr(_of_numpy, name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    message = "the GPU has only the generator Philox. Use browsergpu.random.Philox(seed)."
    raise UnknownName(f"browsergpu.random.{name}", message)
