"""Checkpoints: a model, its optimizer and the training position in one file."""

from __future__ import annotations

import json
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.engine.gpu import platform
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
    """Save the state of a training run to one safetensors file. Blocks.

    The file holds the states of the model, optimizer, scheduler and scaler, the step number, and
    the position of the layers' random numbers. Training that continues from it gives the same bits
    as without a stop, on the same GPU. Generators that were passed to layers are not saved.

    Parameters
    ----------
    file : path or file object
        A path, or a binary file open for writing.
    model : Module
        The model.
    optimizer : Optimizer, optional
        Its optimizer.
    step : int
        Number of the step, returned by :func:`load_checkpoint`.
    scheduler : LRScheduler, optional
        The learning rate scheduler.
    scaler : GradScaler, optional
        The gradient scaler.
    """
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
    """Save a checkpoint, as :func:`save_checkpoint` does, without blocking."""
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
        counts: dict[int, int] = {}  # parameters may share a count
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
    """Restore the state that :func:`save_checkpoint` saved.

    The layers' random numbers also continue from there.

    Parameters
    ----------
    file : path, bytes or file object
        The checkpoint.
    model : Module
        The model to restore.
    optimizer : Optimizer, optional
        The optimizer to restore.
    scheduler : LRScheduler, optional
        The scheduler to restore.
    scaler : GradScaler, optional
        The scaler to restore.

    Returns
    -------
    int
        Number of the step.

    Raises
    ------
    InvalidArgument
        If the file is not a checkpoint, if it lacks a requested state, or if names or shapes do not
        match.
    """
    op = "load_checkpoint"
    _check(op, model, optimizer, scheduler, scaler)
    saved = Safetensors(file)
    said = _said(op, saved)
    for what, name, asked in (
        ("optimizer", "groups", optimizer), ("scheduler", "scheduler", scheduler),
        ("scaler", "scaler", scaler),
    ):  # fmt: skip
        if asked is not None and name not in said:
            raise InvalidArgument(op, what, asked, "None, because the file has no state for it")
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
        raise InvalidArgument(op, "file", shown, f"{_FORMAT} {_VERSION}, as from save_checkpoint")
    try:
        found = shallow_json(metadata["training"])
        key, counter = found["random"]
        is_whole = isinstance(found["step"], int) and isinstance(key, int)
        if not is_whole or not isinstance(counter, int):
            raise ValueError("not integers")
    except (KeyError, TypeError, ValueError) as error:
        expected = f"a file from save_checkpoint ({error!r})"
        raise InvalidArgument(op, "file", Description("a malformed file"), expected) from None
    return found  # type: ignore[no-any-return]


def _check(op: str, model: Any, optimizer: Any, scheduler: Any, scaler: Any) -> None:
    if not isinstance(model, Module):
        raise InvalidType(op, "model", model, "a Module")
    if optimizer is not None and not isinstance(optimizer, Optimizer):
        raise InvalidType(op, "optimizer", optimizer, "an Optimizer or None")
    if scheduler is not None and not isinstance(scheduler, LRScheduler):
        raise InvalidType(op, "scheduler", scheduler, "an LRScheduler or None")
    if scaler is not None and not isinstance(scaler, GradScaler):
        raise InvalidType(op, "scaler", scaler, "a GradScaler or None")
