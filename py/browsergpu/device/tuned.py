"""What the browser remembers of earlier measurements on a GPU: workgroup sizes and picks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields

from browsergpu.gpu import platform
from browsergpu.kernels.choices import Picks
from browsergpu.kernels.variants import VARIANTS
from browsergpu.kernels.workgroup_sizes import WorkgroupSizes


async def load_sizes(info: Mapping[str, str]) -> WorkgroupSizes | None:
    """What was saved for a GPU, or None."""
    text = await platform.read_setting(_sizes_key(info))
    try:
        saved = json.loads(text or "")
        return WorkgroupSizes(**{f.name: saved[f.name] for f in fields(WorkgroupSizes)})
    except (ValueError, KeyError, TypeError):  # of another version, or changed by others
        return None


async def save_sizes(info: Mapping[str, str], sizes: WorkgroupSizes | None) -> bool:
    """Remembers the sizes for a GPU, None forgets them. False where the browser keeps nothing."""
    return await platform.write_setting(
        _sizes_key(info), None if sizes is None else json.dumps(asdict(sizes))
    )


def _sizes_key(info: Mapping[str, str]) -> str:
    return "workgroup-sizes " + json.dumps(
        [info["vendor"], info["architecture"], info["description"]]
    )


async def load_picks(info: Mapping[str, str]) -> Picks | None:
    """What was saved for a GPU, or None."""
    text = await platform.read_setting(_picks_key(info))
    try:
        saved = json.loads(text or "")
        picks = {str(op): dict(of_op) for op, of_op in saved.items()}
    except (ValueError, AttributeError, TypeError):  # of another version, or changed by others
        return None
    return {op: of_op for op, of_op in picks.items() if op in VARIANTS}


async def save_picks(info: Mapping[str, str], picks: Picks | None) -> bool:
    """Remembers picks for a GPU, None forgets them. False where the browser keeps nothing."""
    return await platform.write_setting(
        _picks_key(info), None if picks is None else json.dumps(picks)
    )


def _picks_key(info: Mapping[str, str]) -> str:
    return "variants " + json.dumps([info["vendor"], info["architecture"], info["description"]])
