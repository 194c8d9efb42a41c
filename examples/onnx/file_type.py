"""Tell the type of files by their bytes: magika on the GPU.

    python file_type.py magika/models/standard_v3_3 FILES

The folder of the model is in the package magika (Apache-2.0).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import browsergpu as bg


def features(content: bytes, settings: dict[str, int]) -> np.ndarray:
    """Return the first and the last bytes, padded with a number that is no byte."""
    block = settings["block_size"]
    begin = content[:block].lstrip()[: settings["beg_size"]]
    end = content[-block:].rstrip()[-settings["end_size"] :]
    found = np.full(
        settings["beg_size"] + settings["end_size"], settings["padding_token"], np.int32
    )
    found[: len(begin)] = np.frombuffer(begin, np.uint8)
    if end:
        found[-len(end) :] = np.frombuffer(end, np.uint8)
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    settings = json.loads((folder / "config.min.json").read_text(encoding="utf-8"))
    model = bg.onnx.load(folder / "model.onnx")
    paths = sys.argv[2:]
    shares = model(np.stack([features(Path(path).read_bytes(), settings) for path in paths]))
    for path, row in zip(paths, np.asarray(shares), strict=True):
        kind = settings["target_labels_space"][int(row.argmax())]
        print(f"{path}: {kind} ({row.max():.1%})")
