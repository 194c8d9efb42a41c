"""What the browser remembers of earlier measurements on a GPU: workgroup sizes and picks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields

from browsergpu.gpu import platform
from browsergpu.kernels.base.workgroup_sizes import WorkgroupSizes
from browsergpu.kernels.choices import Choices, Picks
from browsergpu.kernels.variants import VARIANTS

_SIZES = "workgroup-sizes"
_PICKS = "variants"


async def load_sizes(info: Mapping[str, str]) -> WorkgroupSizes | None:
    """What was saved for a GPU, or None."""
    text = await platform.read_setting(_key(_SIZES, info))
    try:
        saved = json.loads(text or "")
        return WorkgroupSizes(**{f.name: saved[f.name] for f in fields(WorkgroupSizes)})
    except (ValueError, KeyError, TypeError):  # of another version, or changed by others
        return None


async def save_sizes(info: Mapping[str, str], sizes: WorkgroupSizes | None) -> bool:
    """Remembers the sizes for a GPU, None forgets them. False where the browser keeps nothing."""
    return await platform.write_setting(
        _key(_SIZES, info), None if sizes is None else json.dumps(asdict(sizes))
    )


async def load_picks(info: Mapping[str, str]) -> Picks | None:
    """What was saved for a GPU, or None."""
    text = await platform.read_setting(_key(_PICKS, info))
    try:
        saved = json.loads(text or "")
        picks = {str(op): dict(of_op) for op, of_op in saved.items()}
    except (ValueError, AttributeError, TypeError):  # of another version, or changed by others
        return None
    return {op: of_op for op, of_op in picks.items() if op in VARIANTS}


async def save_picks(info: Mapping[str, str], picks: Picks | None) -> bool:
    """Remembers picks for a GPU, None forgets them. False where the browser keeps nothing."""
    return await platform.write_setting(
        _key(_PICKS, info), None if picks is None else json.dumps(picks)
    )


async def add_picks(info: Mapping[str, str], choices: Choices) -> bool:
    """Remembers what a device has picked by measuring, in addition to what others of its pages and
    workers have. False where the browser keeps nothing."""
    picks = await load_picks(info) or {}
    for op, of_op in choices.tuned.items():  # as they are now
        picks[op] = {**picks.get(op, {}), **of_op}
    return await save_picks(info, picks)


def _key(kind: str, info: Mapping[str, str]) -> str:
    return f"{kind} " + json.dumps([info["vendor"], info["architecture"], info["description"]])
