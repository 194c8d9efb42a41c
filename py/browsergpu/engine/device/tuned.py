"""Storage of earlier measurements on a GPU: workgroup sizes and picked variants."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields

from browsergpu.engine.gpu import platform
from browsergpu.engine.kernels.base.workgroup_sizes import WorkgroupSizes
from browsergpu.engine.kernels.choices import Choices, Picks
from browsergpu.engine.kernels.variants import VARIANTS

_SIZES = "workgroup-sizes"
_PICKS = "variants"


async def load_sizes(info: Mapping[str, str]) -> WorkgroupSizes | None:
    """Return the saved sizes for a GPU, or None."""
    text = await platform.read_setting(_key(_SIZES, info))
    try:
        saved = json.loads(text or "")
        return WorkgroupSizes(**{f.name: saved[f.name] for f in fields(WorkgroupSizes)})
    except (ValueError, KeyError, TypeError):  # from another version, or modified
        return None


async def save_sizes(info: Mapping[str, str], sizes: WorkgroupSizes | None) -> bool:
    """Save the sizes for a GPU, or delete them if None. Return False without storage."""
    return await platform.write_setting(
        _key(_SIZES, info), None if sizes is None else json.dumps(asdict(sizes))
    )


async def load_picks(info: Mapping[str, str]) -> Picks | None:
    """Return the saved picks for a GPU, or None."""
    text = await platform.read_setting(_key(_PICKS, info))
    try:
        saved = json.loads(text or "")
        picks = {str(op): dict(of_op) for op, of_op in saved.items()}
    except (ValueError, AttributeError, TypeError):  # from another version, or modified
        return None
    return {op: of_op for op, of_op in picks.items() if op in VARIANTS}


async def save_picks(info: Mapping[str, str], picks: Picks | None) -> bool:
    """Save picks for a GPU, or delete them if None. Return False without storage."""
    return await platform.write_setting(
        _key(_PICKS, info), None if picks is None else json.dumps(picks)
    )


async def add_picks(info: Mapping[str, str], choices: Choices) -> bool:
    """Add a device's measured picks to the saved ones of other pages and workers.

    Returns False without storage.
    """
    picks = await load_picks(info) or {}
    for op, of_op in choices.tuned.items():  # current values
        picks[op] = {**picks.get(op, {}), **of_op}
    return await save_picks(info, picks)


def _key(kind: str, info: Mapping[str, str]) -> str:
    return f"{kind} " + json.dumps([info["vendor"], info["architecture"], info["description"]])
