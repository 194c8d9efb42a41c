"""A model, its optimiser and where training is, in one file."""

from __future__ import annotations

import json
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.showing import Description
from browsergpu.gpu import platform
from browsergpu.networks import seeding
from browsergpu.networks.files.headers import shallow_json
from browsergpu.networks.files.safetensors import Safetensors, save_safetensors_async
from browsergpu.networks.module import Module
from browsergpu.networks.optimizers.lr_scheduler import LRScheduler
from browsergpu.networks.optimizers.optimizer import Optimizer
from browsergpu.networks.optimizers.scaling import GradScaler

_FORMAT = "browsergpu.checkpoint"
_VERSION = "1"


def save_checkpoint(
    file: Any, model: Module, optimizer: Optimizer | None = None, *, step: int = 0,
    scheduler: LRScheduler | None = None, scaler: GradScaler | None = None,
) -> None:  # fmt: skip
    """Writes a model's state, the optimiser's, the scheduler's and the scaler's, the number of a
    step, and where the layers' random numbers are, to one safetensors file: a path, or a binary
    file that is open for writing. Training that goes on from it has the same bits as if it had not
    stopped, on the same GPU; generators that were given to layers are no part of it. Waits."""
    platform.block_on(
        save_checkpoint_async(
            file, model, optimizer, step=step, scheduler=scheduler, scaler=scaler
        ),
        "save_checkpoint",
    )


async def save_checkpoint_async(
    file: Any, model: Module, optimizer: Optimizer | None = None, *, step: int = 0,
    scheduler: LRScheduler | None = None, scaler: GradScaler | None = None,
) -> None:  # fmt: skip
    """:func:`save_checkpoint` for callers that cannot block."""
    op = "save_checkpoint"
    _check(op, model, optimizer, scheduler, scaler)
    arrays = {f"model.{name}": x for name, x in model.state_dict().items()}
    said: dict[str, Any] = {
        "step": checks.integer(op, "step", step), "random": seeding.stream().state,
    }  # fmt: skip
    if optimizer is not None:
        found = optimizer.state_dict()
        said["groups"] = found["param_groups"]
        said["numbers"] = {}
        counts: dict[int, int] = {}  # one may be that of many parameters
        for number, kept in found["state"].items():
            own = said["numbers"][str(number)] = {}
            for name, x in kept.items():
                if name == "step" and isinstance(x, Array):
                    if id(x) not in counts:
                        counts[id(x)] = int(await x.numpy_async())
                    own[name] = counts[id(x)]
                elif isinstance(x, Array):
                    arrays[f"optimizer.{number}.{name}"] = x
                else:
                    own[name] = x
    if scheduler is not None:
        said["scheduler"] = scheduler.state_dict()
    if scaler is not None:
        said["scaler"] = {
            name: float(await x.numpy_async()) if isinstance(x, Array) else x
            for name, x in scaler.state_dict().items()
        }
    metadata = {"format": _FORMAT, "version": _VERSION, "training": json.dumps(said)}
    await save_safetensors_async(file, arrays, metadata=metadata)


def load_checkpoint(
    file: Any, model: Module, optimizer: Optimizer | None = None, *,
    scheduler: LRScheduler | None = None, scaler: GradScaler | None = None,
) -> int:  # fmt: skip
    """Gives a model, an optimiser, a scheduler and a scaler the states that :func:`save_checkpoint`
    has written to a file, a path, bytes or a binary file, has the layers' random numbers go on from
    there, and gives the number of the step. Raises InvalidArgument, a ValueError, for another file,
    one without what is asked for, and for states of other shapes or names."""
    op = "load_checkpoint"
    _check(op, model, optimizer, scheduler, scaler)
    saved = Safetensors(file)
    said = _said(op, saved)
    for what, name, asked in (
        ("optimizer", "groups", optimizer), ("scheduler", "scheduler", scheduler),
        ("scaler", "scaler", scaler),
    ):  # fmt: skip
        if asked is not None and name not in said:
            raise InvalidArgument(op, what, asked, "None, as the file has no state")
    state: dict[int, dict[str, Any]] = {}
    if optimizer is not None:
        state = {int(number): dict(kept) for number, kept in said["numbers"].items()}
        for name in saved:
            kind, _, rest = name.partition(".")
            if kind == "optimizer":
                number, _, own = rest.partition(".")
                state.setdefault(int(number), {})[own] = saved[name]
    values = {
        name.removeprefix("model."): saved.numpy(name)
        for name in saved if name.startswith("model.")
    }  # fmt: skip
    before = model.state_dict()
    model.load_state_dict(values)
    if optimizer is not None:
        groups = [
            {key: tuple(x) if key == "betas" else x for key, x in group.items()}
            for group in said["groups"]
        ]
        try:
            optimizer.load_state_dict({"state": state, "param_groups": groups})
        except InvalidArgument:
            model.load_state_dict(before)
            raise
    if scheduler is not None:
        scheduler.load_state_dict(said["scheduler"])
    if scaler is not None:
        scaler.load_state_dict(said["scaler"])
    seeding.stream().state = tuple(said["random"])
    return int(said["step"])


def _said(op: str, saved: Safetensors) -> dict[str, Any]:
    metadata = saved.metadata
    if metadata.get("format") != _FORMAT or metadata.get("version") != _VERSION:
        shown = metadata.get("format", "another file"), metadata.get("version", "")
        raise InvalidArgument(op, "file", shown, f"{_FORMAT} {_VERSION}, as save_checkpoint writes")
    try:
        found = shallow_json(metadata["training"])
        key, counter = found["random"]
        is_whole = isinstance(found["step"], int) and isinstance(key, int)
        if not is_whole or not isinstance(counter, int):
            raise ValueError("no whole numbers")
    except (KeyError, TypeError, ValueError) as error:
        expected = f"what save_checkpoint writes ({error!r})"
        raise InvalidArgument(op, "file", Description("a malformed file"), expected) from None
    return found  # type: ignore[no-any-return]


def _check(op: str, model: Any, optimizer: Any, scheduler: Any, scaler: Any) -> None:
    if not isinstance(model, Module):
        raise InvalidType(op, "model", model, "a Module")
    if optimizer is not None and not isinstance(optimizer, Optimizer):
        raise InvalidType(op, "optimizer", optimizer, "an optimiser or None")
    if scheduler is not None and not isinstance(scheduler, LRScheduler):
        raise InvalidType(op, "scheduler", scheduler, "one of lr_scheduler, or None")
    if scaler is not None and not isinstance(scaler, GradScaler):
        raise InvalidType(op, "scaler", scaler, "a GradScaler, or None")
