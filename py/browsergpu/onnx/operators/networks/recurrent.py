"""Recurrent layers: RNN, LSTM and GRU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator

#: Activations by name, each with its two numbers.
_ACTIVATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sigmoid": lambda x, a, b: bg.nn.sigmoid(x),
    "tanh": lambda x, a, b: bg.tanh(x),
    "relu": lambda x, a, b: bg.nn.relu(x),
    "affine": lambda x, a, b: x * _or(a, 1.0) + _or(b, 0.0),
    "leakyrelu": lambda x, a, b: bg.nn.leaky_relu(x, _or(a, 0.01)),
    "thresholdedrelu": lambda x, a, b: bg.where(x >= _or(a, 1.0), x, 0),
    "scaledtanh": lambda x, a, b: bg.tanh(x * _or(b, 1.0)) * _or(a, 1.0),
    "hardsigmoid": lambda x, a, b: bg.clip(x * _or(a, 0.2) + _or(b, 0.5), 0, 1),
    "elu": lambda x, a, b: bg.nn.elu(x, _or(a, 1.0)),
    "softsign": lambda x, a, b: bg.nn.softsign(x),
    "softplus": lambda x, a, b: bg.logaddexp(x, 0),
}


def _or(x: Any, usual: float) -> float:
    return usual if x is None else float(x)


class _Layer:
    """One direction of a layer, with its activations."""

    def __init__(self, names: list[str], alphas: list[Any], betas: list[Any], clip: Any) -> None:
        self.functions = []
        for at, name in enumerate(names):
            known = _ACTIVATIONS.get(name.lower())
            if known is None:
                raise ValueError(f"activations must be among {', '.join(_ACTIVATIONS)}: {name!r}")
            self.functions.append((known, alphas[at], betas[at]))
        self.clip = clip

    def act(self, at: int, x: Any) -> Any:
        """Return an activation, of limited inputs."""
        function, alpha, beta = self.functions[at]
        if self.clip is not None:
            x = bg.clip(x, -self.clip, self.clip)
        return function(x, alpha, beta)


Step = Callable[[_Layer, Any, tuple[Any, ...], Any, Any, Any], tuple[Any, ...]]


def _run(
    op: str, inputs: tuple[Any, ...], states: list[Any], gates: int, usual: list[str], step: Step,
    given: dict[str, Any], peepholes: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """Run a layer in its directions. Returns Y and the final states."""
    options = {**_ATTRIBUTES, **given}
    x, w, r, b, lengths = inputs
    direction = options["direction"]
    if direction not in ("forward", "reverse", "bidirectional"):
        raise ValueError(f"direction must be forward, reverse or bidirectional: {direction!r}")
    ways = 2 if direction == "bidirectional" else 1
    hidden = options["hidden_size"] or r.shape[-1]
    _check_shapes(op, inputs, states, peepholes, (ways, gates, hidden), bool(options["layout"]))
    names = options["activations"] or usual * ways
    each = len(usual)
    if len(names) != each * ways:
        expected = f"{each * ways} names for direction {direction!r}"
        raise InvalidArgument(op, "activations", names, expected)
    alphas = _numbers(options["activation_alpha"], names, _HAS_ALPHA)
    betas = _numbers(options["activation_beta"], names, _HAS_BETA)
    batch_first = bool(options["layout"])
    if batch_first:
        x = bg.moveaxis(x, 0, 1)
        states = [None if one is None else bg.moveaxis(one, 0, 1) for one in states]
    batch = x.shape[1]
    results, ends = [], []
    for way in range(ways):
        chosen = slice(way * each, (way + 1) * each)
        layer = _Layer(names[chosen], alphas[chosen], betas[chosen], options["clip"])
        backwards = direction == "reverse" or way == 1
        own = x
        if backwards:
            own = bg.flip(x, 0) if lengths is None else _reversed(x, lengths)
        added = None if b is None else b[way]
        inside = bg.matmul(own, w[way].T)
        inner_bias = None
        if added is not None:
            inside = inside + added[: gates * hidden]
            inner_bias = added[gates * hidden :]
        begun = tuple(
            bg.zeros((batch, hidden), dtype=x.dtype) if one is None else one[way] for one in states
        )
        looks = None if peepholes is None else peepholes[way]
        found, end = _over_time(layer, inside, begun, r[way], inner_bias, looks, lengths, step)
        if backwards:
            found = bg.flip(found, 0) if lengths is None else _reversed(found, lengths)
        results.append(found)
        ends.append(end)
    y = bg.stack(results, 1)  # [length, directions, batch, hidden]
    last = [bg.stack(parts) for parts in zip(*ends, strict=True)]
    if batch_first:
        y = bg.transpose(y, (2, 0, 1, 3))
        last = [bg.moveaxis(one, 0, 1) for one in last]
    return (y, *last)


def _check_shapes(
    op: str, inputs: tuple[Any, ...], states: list[Any], peepholes: Any,
    sizes: tuple[int, int, int], batch_first: bool,
) -> None:  # fmt: skip
    """Raise InvalidArgument unless all inputs have the shapes of the layer's sizes."""
    x, w, r, b, lengths = inputs
    ways, gates, hidden = sizes
    if x.ndim != 3:
        raise InvalidArgument(op, "x", x, "an array with three axes")
    batch = x.shape[0 if batch_first else 1]
    state = (batch, ways, hidden) if batch_first else (ways, batch, hidden)
    expected = [
        ("w", w, (ways, gates * hidden, x.shape[2])), ("r", r, (ways, gates * hidden, hidden)),
        ("b", b, (ways, 2 * gates * hidden)), ("sequence_lens", lengths, (batch,)),
        *((f"initial_{name}", one, state) for name, one in zip("hc", states, strict=False)),
        ("p", peepholes, (ways, 3 * hidden)),
    ]  # fmt: skip
    for name, one, shape in expected:
        if one is not None and tuple(one.shape) != shape:
            raise InvalidArgument(op, name, one, f"have shape {shape} for hidden_size {hidden}")


def _over_time(
    layer: _Layer, inside: Any, state: tuple[Any, ...], weight: Any, bias: Any, looks: Any,
    lengths: Any, step: Step,
) -> tuple[Any, tuple[Any, ...]]:  # fmt: skip
    turned = weight.T
    outputs = []
    for at in range(inside.shape[0]):
        new = step(layer, inside[at], state, turned, bias, looks)
        if lengths is None:
            outputs.append(new[0])
            state = new
        else:  # a sequence that has ended keeps its state
            goes_on = (lengths > at).reshape((-1, 1))
            outputs.append(bg.where(goes_on, new[0], 0))
            pairs = zip(new, state, strict=True)
            state = tuple(bg.where(goes_on, one, before) for one, before in pairs)
    return bg.stack(outputs), state


def _reversed(x: Any, lengths: Any) -> Any:
    """Reverse the first elements of each sequence along the first axis."""
    at = bg.arange(x.shape[0]).reshape((-1, 1))
    own = lengths.astype("int64", copy=False).reshape((1, -1))
    index = bg.where(at < own, own - 1 - at, at)
    return bg.take_along_axis(x, bg.broadcast_to(index[..., None], x.shape), 0)


_HAS_ALPHA = frozenset(
    ("affine", "leakyrelu", "thresholdedrelu", "scaledtanh", "hardsigmoid", "elu")
)
_HAS_BETA = frozenset(("affine", "scaledtanh", "hardsigmoid"))


def _numbers(given: Any, names: list[str], takers: frozenset[str]) -> list[Any]:
    """Return a number for each activation: those that have one get the given ones in order."""
    if given and len(given) == len(names):
        return list(given)
    left = iter(given or ())
    return [next(left, None) if name.lower() in takers else None for name in names]


def _linear(x: Any, turned: Any, bias: Any) -> Any:
    found = bg.matmul(x, turned)
    return found if bias is None else found + bias


def _rnn_step(
    layer: _Layer, inside: Any, state: tuple[Any, ...], turned: Any, bias: Any, looks: Any
) -> tuple[Any, ...]:
    return (layer.act(0, inside + _linear(state[0], turned, bias)),)


def _lstm_step(is_coupled: bool) -> Step:
    """Return the step of an LSTM. Coupled, its forget gate is 1 minus the input gate."""

    def step(
        layer: _Layer, inside: Any, state: tuple[Any, ...], turned: Any, bias: Any, looks: Any
    ) -> tuple[Any, ...]:
        h, c = state
        n = h.shape[-1]
        whole = inside + _linear(h, turned, bias)
        i, o, f, g = (whole[:, at * n : (at + 1) * n] for at in range(4))
        if looks is not None:  # of i, o and f
            i, f = i + looks[:n] * c, f + looks[2 * n :] * c
        i = layer.act(0, i)
        f = 1 - i if is_coupled else layer.act(0, f)
        c = f * c + i * layer.act(1, g)
        if looks is not None:
            o = o + looks[n : 2 * n] * c
        # The limit of clip holds for gates, not for the cell's output.
        function, alpha, beta = layer.functions[2]
        return layer.act(0, o) * function(c, alpha, beta), c

    return step


def _gru_step(linear_before_reset: bool) -> Step:
    def step(
        layer: _Layer, inside: Any, state: tuple[Any, ...], turned: Any, bias: Any, looks: Any
    ) -> tuple[Any, ...]:
        h = state[0]
        n = h.shape[-1]
        added = bias[: 2 * n] if bias is not None else None
        if linear_before_reset:
            inner = _linear(h, turned, bias)
            z, r = (layer.act(0, inside[:, at * n : (at + 1) * n] + inner[:, at * n : (at + 1) * n])
                    for at in range(2))  # fmt: skip
            new = r * inner[:, 2 * n :]
        else:
            inner = _linear(h, turned[:, : 2 * n], added)
            z, r = (layer.act(0, inside[:, at * n : (at + 1) * n] + inner[:, at * n : (at + 1) * n])
                    for at in range(2))  # fmt: skip
            last = bias[2 * n :] if bias is not None else None
            new = _linear(r * h, turned[:, 2 * n :], last)
        new = layer.act(1, inside[:, 2 * n :] + new)
        return ((1 - z) * new + z * h,)

    return step


#: The attributes that all three have, with their defaults.
_ATTRIBUTES: dict[str, Any] = {
    "activation_alpha": None, "activation_beta": None, "activations": None, "clip": None,
    "direction": "forward", "hidden_size": 0, "layout": 0,
}  # fmt: skip


@operator("RNN", since=7, attributes=_ATTRIBUTES)
def rnn(
    x: Any, w: Any, r: Any, b: Any = None, sequence_lens: Any = None, initial_h: Any = None,
    **options: Any,
) -> Any:  # fmt: skip
    """Run a simple recurrent layer."""
    given = x, w, r, b, sequence_lens
    return _run("RNN", given, [initial_h], 1, ["Tanh"], _rnn_step, options)


@operator("GRU", since=7, attributes=_ATTRIBUTES)
def gru(
    x: Any, w: Any, r: Any, b: Any = None, sequence_lens: Any = None, initial_h: Any = None, *,
    linear_before_reset: int = 0, **options: Any,
) -> Any:  # fmt: skip
    """Run a layer of gated recurrent units."""
    given = x, w, r, b, sequence_lens
    step = _gru_step(bool(linear_before_reset))
    return _run("GRU", given, [initial_h], 3, ["Sigmoid", "Tanh"], step, options)


@operator("LSTM", since=7, attributes=_ATTRIBUTES)
def lstm(
    x: Any, w: Any, r: Any, b: Any = None, sequence_lens: Any = None, initial_h: Any = None,
    initial_c: Any = None, p: Any = None, *, input_forget: int = 0, **options: Any,
) -> Any:  # fmt: skip
    """Run a layer of long short-term memory."""
    given = x, w, r, b, sequence_lens
    step, names = _lstm_step(bool(input_forget)), ["Sigmoid", "Tanh", "Tanh"]
    return _run("LSTM", given, [initial_h, initial_c], 4, names, step, options, p)
