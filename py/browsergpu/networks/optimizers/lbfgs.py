"""L-BFGS, an optimizer that evaluates the loss several times in each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite, sqrt
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import enable_grad, no_grad
from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, evaluation, manipulation, statistics
from browsergpu.functions.linalg.linear import vecdot
from browsergpu.networks.optimizers.optimizer import Optimizer, at_least
from browsergpu.networks.optimizers.settings import Group

#: Curvature below which a pair of steps is not remembered, as in PyTorch.
_LEAST_CURVATURE = 1e-10
#: Constants of the Wolfe conditions: sufficient decrease, and curvature.
_DECREASE, _CURVATURE = 1e-4, 0.9
_MOST_SEARCHES = 25


class LBFGS(Optimizer):
    """L-BFGS: steps along an approximation of Newton's direction, from the last gradients.

    ``step(closure)`` calls the closure several times and waits for its results. The closure must
    clear the gradients, compute the loss, call ``backward()`` and return the loss.

    Parameters
    ----------
    params : iterable
        Parameters. All are in one group.
    lr : float
        Learning rate, the length of a step without line search.
    max_iter : int
        Maximum number of iterations in a step.
    max_eval : int, optional
        Maximum number of evaluations of the closure in a step, 1.25 ``max_iter`` by default.
    tolerance_grad : float
        The step ends when no element of the gradient is larger.
    tolerance_change : float
        The step ends when no element and not the loss changes by more.
    history_size : int
        Number of remembered iterations.
    line_search_fn : str, optional
        "strong_wolfe" finds step lengths that satisfy the strong Wolfe conditions.

    Notes
    -----
    Source: Liu and Nocedal, "On the limited memory BFGS method for large scale optimization", 1989.
    The line search is that of Nocedal and Wright, "Numerical optimization", with cubic
    interpolation, as in PyTorch.

    Examples
    --------
    >>> x = bg.nn.Parameter(bg.asarray([3.0, -2.0]))
    >>> optimizer = bg.optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((x - 1) ** 4).sum()
    ...     loss.backward()
    ...     return loss
    >>> loss = optimizer.step(closure)
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 1.0, max_iter: int = 20,
        max_eval: int | None = None, tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9,
        history_size: int = 100, line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        most = checks.integer("LBFGS", "max_iter", max_iter, 1)
        super().__init__(params, {
            "lr": lr, "max_iter": most, "max_eval": most * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        })  # fmt: skip
        if len(self.param_groups) != 1:
            raise InvalidArgument("LBFGS", "params", len(self.param_groups), "in one group")

    def _check(self, group: Group) -> None:
        super()._check(group)
        at_least(self._op, group, "tolerance_grad", "tolerance_change")
        for name in ("max_iter", "max_eval", "history_size"):
            checks.integer(self._op, name, group[name], 1)
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            expected = "'strong_wolfe' or None"
            raise InvalidArgument(self._op, "line_search_fn", group["line_search_fn"], expected)

    def step_unless(self, skipped: Array) -> None:
        """Raise InvalidType: a step needs a closure."""
        raise InvalidType(self._op, "closure", None, "a function (use step)")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take up to ``max_iter`` steps, and return the closure's first result.

        Raises
        ------
        InvalidType
            If there is no closure.
        """
        if not callable(closure):
            raise InvalidType(self._op, "closure", closure, "a function that returns the loss")
        with no_grad():
            return _Search(self, closure).run()

    def _loaded(self, name: str, x: Any, param: Array, copies: dict[int, Any]) -> Any:
        """Return an entry of a loaded state: vectors of all parameters, or lists of them."""
        if isinstance(x, list):
            return [self._loaded(name, one, param, copies) for one in x]
        size = sum(product(one.shape) for one in self._all())
        if isinstance(x, Array) and x.shape != (size,):
            raise InvalidArgument("load_state_dict", name, x, f"have shape {(size,)}")
        return x.detach().copy() if isinstance(x, Array) else x


def _dot(a: Array, b: Array) -> float:
    return float(vecdot(a, b))


class _Search:
    """One step: its parameters as one vector, and evaluations of the loss."""

    def __init__(self, optimizer: LBFGS, closure: Callable[[], Any]) -> None:
        self._closure = closure
        self._params: list[Array] = optimizer._all()
        self._group = optimizer.param_groups[0]
        self._state = optimizer._states.setdefault(id(self._params[0]), {})
        self._evaluations = 0

    def _evaluate(self) -> tuple[Any, float, Array]:
        """Return the closure's result, the loss as a number, and the gradient."""
        with enable_grad():
            result = self._closure()
        self._evaluations += 1
        return result, float(result), self._gradient()

    def _gradient(self) -> Array:
        parts = []
        for one in self._params:
            gradient = one.grad
            if gradient is None:
                gradient = creation.zeros(one.shape, dtype=one.dtype, device=one.device)
            wide = gradient.detach().astype("float32", copy=False)
            parts.append(manipulation.reshape(wide, (product(one.shape),)))
        return manipulation.concat(parts)

    def _values(self) -> list[Array]:
        return [one.detach().copy() for one in self._params]

    def _move(self, origin: list[Array], length: float, direction: Array) -> None:
        """Set the parameters to the origin plus a step."""
        at = 0
        for one, before in zip(self._params, origin, strict=True):
            count = product(one.shape)
            part = manipulation.reshape(direction[at : at + count], one.shape)
            one[...] = (before + part * length).astype(one.dtype, copy=False)
            at += count

    def run(self) -> Any:
        """Take the step."""
        group, state = self._group, self._state
        result, loss, gradient = self._evaluate()
        state["func_evals"] = state.get("func_evals", 0) + 1
        state.setdefault("n_iter", 0)
        iterations = 0
        largest = _largest(gradient)
        while (
            largest > group["tolerance_grad"]
            and iterations < group["max_iter"]
            and self._evaluations < group["max_eval"]
        ):
            iterations += 1
            state["n_iter"] += 1
            direction = self._direction(gradient)
            first = state["n_iter"] == 1
            length = group["lr"]
            if first:
                length *= min(1.0, 1 / float(statistics.sum(elementwise.abs(gradient))))
            state["d"], state["prev_flat_grad"], state["prev_loss"] = direction, gradient, loss
            slope = _dot(gradient, direction)
            if slope > -group["tolerance_change"]:
                state["t"] = length
                break
            before = loss
            origin = self._values()
            known = self._evaluations
            if group["line_search_fn"] is None:
                self._move(origin, length, direction)
                # The last evaluation would not be used, as in PyTorch.
                if iterations != group["max_iter"]:
                    _, loss, gradient = self._evaluate()
                    largest = _largest(gradient)
            else:
                length, loss, gradient = self._searched(
                    origin, length, direction, loss, gradient, slope
                )
                self._move(origin, length, direction)
                largest = _largest(gradient)
            state["t"] = length
            state["func_evals"] += self._evaluations - known
            if (
                _largest(direction) * abs(length) <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                break
        return result

    def _direction(self, gradient: Array) -> Array:
        """Return the direction of the next step, by the two loops of L-BFGS."""
        state = self._state
        if state["n_iter"] == 1:
            state["old_dirs"], state["old_stps"], state["ro"], state["H_diag"] = [], [], [], 1.0
            return elementwise.negative(gradient)
        changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        change = elementwise.subtract(gradient, state["prev_flat_grad"])
        step = elementwise.multiply(state["d"], state["t"])
        curvature = _dot(change, step)
        if curvature > _LEAST_CURVATURE:
            if len(changes) == self._group["history_size"]:
                for kept in (changes, steps, inverses):
                    kept.pop(0)
            changes.append(change)
            steps.append(step)
            inverses.append(1 / curvature)
            state["H_diag"] = curvature / _dot(change, change)
        found = elementwise.negative(gradient)
        evaluation.eval(found)
        shares: list[Any] = []
        for y, s, inverse in zip(changes[::-1], steps[::-1], inverses[::-1], strict=True):
            share = vecdot(s, found) * inverse  # stays on the GPU
            shares.append(share)
            found = elementwise.subtract(found, y * share)
            # Otherwise each iteration would need a new kernel with all previous operations.
            evaluation.eval(found)
        found = elementwise.multiply(found, state["H_diag"])
        for y, s, inverse, share in zip(changes, steps, inverses, shares[::-1], strict=True):
            found = elementwise.add(found, s * (share - vecdot(y, found) * inverse))
            evaluation.eval(found)
        return found

    def _searched(
        self, origin: list[Array], length: float, direction: Array, loss: float, gradient: Array,
        slope: float,
    ) -> tuple[float, float, Array]:  # fmt: skip
        """Return a length that satisfies the strong Wolfe conditions, its loss and gradient."""

        def at(length: float) -> _Point:
            self._move(origin, length, direction)
            _, own, gradient = self._evaluate()
            return _Point(length, own, gradient, _dot(gradient, direction))

        start = _Point(0.0, loss, gradient, slope)
        scale = _largest(direction)
        found = _wolfe(start, length, at, self._group["tolerance_change"], scale)
        return found.length, found.loss, found.gradient


def _largest(x: Array) -> float:
    return float(statistics.max(elementwise.abs(x))) if x.size else 0.0


class _Point:
    """A point along a direction, with the loss, the gradient and the slope there."""

    __slots__ = ("gradient", "length", "loss", "slope")

    def __init__(self, length: float, loss: float, gradient: Array, slope: float) -> None:
        self.length, self.loss, self.gradient, self.slope = length, loss, gradient, slope


def _wolfe(
    start: _Point, length: float, at: Callable[[float], _Point], least: float, scale: float
) -> _Point:
    """Search a length that satisfies the strong Wolfe conditions.

    First lengthen the step until a bracket has such a length, then narrow the bracket.
    """
    before, now = start, at(length)
    searches = 0
    bracket: list[_Point] = []
    while searches < _MOST_SEARCHES:
        is_higher = now.loss > start.loss + _DECREASE * now.length * start.slope
        if is_higher or (searches > 1 and now.loss >= before.loss):
            bracket = [before, now]
            break
        if abs(now.slope) <= -_CURVATURE * start.slope:
            return now
        if now.slope >= 0:
            bracket = [before, now]
            break
        shortest = now.length + 0.01 * (now.length - before.length)
        next_length = _cubic(before, now, (shortest, now.length * 10))
        before, now = now, at(next_length)
        searches += 1
    else:
        bracket = [start, now]
    return _zoomed(start, bracket, searches, at, least, scale)


def _zoomed(
    start: _Point, bracket: list[_Point], searches: int, at: Callable[[float], _Point],
    least: float, scale: float,
) -> _Point:  # fmt: skip
    low, high = sorted(bracket, key=lambda point: point.loss)
    has_stalled = False
    while searches < _MOST_SEARCHES:
        ends = sorted((low.length, high.length))
        if (ends[1] - ends[0]) * scale < least:
            break
        length = _cubic(low, high, (ends[0], ends[1]))
        # Move away from a boundary if the bracket hardly shrinks.
        margin = 0.1 * (ends[1] - ends[0])
        if min(ends[1] - length, length - ends[0]) < margin:
            if has_stalled or length >= ends[1] or length <= ends[0]:
                nearer_end = abs(length - ends[1]) < abs(length - ends[0])
                length = ends[1] - margin if nearer_end else ends[0] + margin
                has_stalled = False
            else:
                has_stalled = True
        else:
            has_stalled = False
        now = at(length)
        searches += 1
        if now.loss > start.loss + _DECREASE * length * start.slope or now.loss >= low.loss:
            high = now
            low, high = sorted((low, high), key=lambda point: point.loss)
            continue
        if abs(now.slope) <= -_CURVATURE * start.slope:
            return now
        if now.slope * (high.length - low.length) >= 0:
            high = low
        low = now
    return low


def _cubic(one: _Point, other: _Point, bounds: tuple[float, float]) -> float:
    """Return the minimum of the cubic through two points with their slopes, within bounds."""
    first, second = (one, other) if one.length <= other.length else (other, one)
    middle = (bounds[0] + bounds[1]) / 2
    width = second.length - first.length
    if not width or not all(isfinite(x.loss) and isfinite(x.slope) for x in (first, second)):
        return middle
    rise = first.slope + second.slope - 3 * (second.loss - first.loss) / width
    inside = rise * rise - first.slope * second.slope
    if inside < 0:
        return middle
    root = sqrt(inside)
    divisor = second.slope - first.slope + 2 * root
    if not divisor:
        return middle
    found = second.length - width * ((second.slope + root - rise) / divisor)
    return min(max(found, bounds[0]), bounds[1])
