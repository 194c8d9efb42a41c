"""Layouts: what a recorded call does with its arguments, by their number and classes.

A function is called with few combinations of classes, such as a tracked array, a Parameter and
None. Its rules keep a Layout for each, so a call looks nothing up by the names of parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from browsergpu.arrays.autograd.batched import BATCHED
from browsergpu.arrays.autograd.families import TRACKED, UNTRACKED_OF

#: The name of a saved value, the argument that it comes from, and whether only the argument's
#: shape, dtype and device are saved. The results and their metadata come from no argument.
Saving = tuple[str, str, bool]

SEQUENCES = (list, tuple)
#: Classes of arguments that are saved as they are.
NUMBERS = frozenset({bool, int, float, str, type(None)})


class Layout(NamedTuple):
    """What a call does with its arguments. Those passed by name must not be intercepted arrays.

    Attributes
    ----------
    tracked
        The tracked arrays: the position, and the class of the untracked value.
    sequences
        The positions of lists and tuples. These must contain no intercepted array.
    unruled
        The tracked arrays without a gradient rule: the name and the position.
    operands
        The tracked arrays with a rule.
    kept
        The saved values that are tracked arrays: the name and the position.
    numbers
        Saved numbers, strings and None.
    others
        Other saved arguments.
    likes
        Arguments of which only shape, dtype and device are saved.
    by_name
        Saved arguments that are passed by name: the name, the parameter, and whether only shape,
        dtype and device are saved.
    defaults
        Saved defaults of parameters.
    further
        Saved values that the function's ``keeping`` form returns, as in ``by_name``.
    of_result
        The saved results: the name, and whether only shape, dtype and device are saved.
    """

    tracked: tuple[tuple[int, type], ...]
    sequences: tuple[int, ...]
    unruled: tuple[tuple[str, int], ...]
    operands: tuple[tuple[str, int], ...]
    kept: tuple[tuple[str, int], ...]
    numbers: tuple[tuple[str, int], ...]
    others: tuple[tuple[str, int], ...]
    likes: tuple[tuple[str, int], ...]
    by_name: tuple[Saving, ...]
    defaults: Mapping[str, Any]
    further: tuple[Saving, ...]
    of_result: tuple[tuple[str, bool], ...]


def layout(
    kinds: Sequence[type], names: Sequence[str], parameters: Sequence[str], most: int,
    defaults: Mapping[str, Any], operands: Sequence[tuple[str, int]], savings: Sequence[Saving],
) -> Layout | None:  # fmt: skip
    """Return the layout of a call, or None if arguments are batched or do not fit.

    Parameters
    ----------
    kinds
        The classes of the arguments that are passed by position.
    names
        The parameters of the arguments that are passed by name.
    parameters, defaults
        The names of the function's parameters, and the defaults of the optional ones.
    most
        The number of parameters whose arguments can be passed by position.
    operands
        Names and positions of the arguments with a rule.
    savings
        The values that the rules of these operands need.
    """
    missing = [name for name in parameters[len(kinds) :] if name not in names]
    is_whole = len(kinds) <= most and all(name in defaults for name in missing)
    if not is_whole or any(kind in BATCHED for kind in kinds):
        return None
    places = dict(zip(parameters, range(len(kinds)), strict=False))
    tracked = [(at, UNTRACKED_OF[kind]) for at, kind in enumerate(kinds) if kind in TRACKED]
    ruled = {at for _, at in operands}
    own = [(name, places[one]) for name, one, is_like in savings if one in places and not is_like]
    are_tracked = {at for at, _ in tracked}
    numbers = {at for at, kind in enumerate(kinds) if kind in NUMBERS}
    return Layout(
        tuple(tracked),
        tuple([at for at, kind in enumerate(kinds) if kind in SEQUENCES]),
        tuple([(parameters[at], at) for at, _ in tracked if at not in ruled]),
        tuple(operands),
        tuple([one for one in own if one[1] in are_tracked]),
        tuple([one for one in own if one[1] in numbers]),
        tuple([one for one in own if one[1] not in are_tracked | numbers]),
        tuple([(name, places[one]) for name, one, is_like in savings if one in places and is_like]),
        tuple([saving for saving in savings if saving[1] in names]),
        {name: defaults[one] for name, one, _ in savings if one in missing},
        tuple([saving for saving in savings if saving[1] not in {*parameters, "y"}]),
        tuple([(name, is_like) for name, one, is_like in savings if one == "y"]),
    )  # fmt: skip
