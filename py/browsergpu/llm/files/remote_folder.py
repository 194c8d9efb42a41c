"""Folders of models at addresses, whose files are downloaded once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.files import replacing
from browsergpu.engine.gpu import platform
from browsergpu.llm.files.folder import INDEX, WEIGHTS, parts_of
from browsergpu.networks.files.headers import shallow_json
from browsergpu.networks.hub.download import download_async, is_address
from browsergpu.networks.hub.reports import Report
from browsergpu.networks.hub.store import Place, hash_of

_NEEDED = ("config.json", "tokenizer.json")
_OPTIONAL = (
    "tokenizer_config.json", "chat_template.jinja", "generation_config.json",
    "1_Pooling/config.json",
)  # fmt: skip


def is_folder(source: Any) -> bool:
    """Whether something is the address of a folder: its path ends with "/"."""
    return is_address(source) and urlsplit(source).path.endswith("/")


def downloaded_folder(address: str, report: Report) -> dict[str, Path]:
    """Return the paths of a folder's files by name, as :func:`downloaded_folder_async`. Blocks."""
    return platform.block_on(downloaded_folder_async(address, report), "llm.load")


async def downloaded_folder_async(address: str, report: Report) -> dict[str, Path]:
    """Download the files of a model's folder, and return their paths by name.

    The names are kept with the files, so that a second call requests nothing. Raises OSError if a
    file cannot be downloaded, and FileNotFoundError if one is missing that a model needs.
    """
    parts = urlsplit(address)
    if parts.query or parts.fragment:
        raise InvalidArgument("llm.load", "file", address, "a folder's address without ? and #")
    place = Place(platform.kept_folder(), address)
    found: dict[str, Path] = {}
    for name in _kept_names(place):
        found[name] = await _file(address, name, report)
    if found:
        return found
    for name in _NEEDED:
        found[name] = await _file(address, name, report)
    for name in (*_OPTIONAL, INDEX):
        try:
            found[name] = await _file(address, name, report)
        except FileNotFoundError:
            continue
    for name in parts_of(found[INDEX]) if INDEX in found else [WEIGHTS]:
        found[name] = await _file(address, name, report)
    _keep_names(place, list(found))
    return found


async def _file(address: str, name: str, report: Report) -> Path:
    return await download_async(address + quote(name), progress=report)


def _kept_names(place: Place) -> list[str]:
    """Return the names of the files that the folder had, or none before they were all there."""
    kept = place.kept()
    if kept is None:
        return []
    try:
        found = shallow_json(kept.path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    is_sound = isinstance(found, list) and all(isinstance(one, str) for one in found)
    return found if is_sound else []


def _keep_names(place: Place, names: Sequence[str]) -> None:
    with place.reserved():
        with replacing(place.path) as file:
            file.write(json.dumps(names).encode())
        about = place.about()
        about.size, about.sha256 = place.path.stat().st_size, hash_of(place.path)
        place.note(about)
