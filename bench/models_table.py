"""Prints a table of the peers' whole models, from lines of models.html.

    python3 bench/models_table.py lines.jsonl …

The table has the milliseconds of each library's fastest variant with correct logits.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    best: dict[str, dict[str, tuple[float, str]]] = {}
    for path in sys.argv[1:]:
        for text in Path(path).read_text("utf-8").splitlines():
            line = json.loads(text)
            if not str(line.get("row", "")).startswith("forward: ") or line["peer"] == "ours":
                continue
            here = best.setdefault(line["row"].removeprefix("forward: "), {})
            if line.get("check", {}).get("ok"):
                found = (line["ms"], line.get("way", ""))
                here[line["peer"]] = min(found, here.get(line["peer"], found))
    print("| model | onnxruntime-web | its way | jax-js |\n| --- | --- | --- | --- |")
    for name, reached in best.items():
        ms = {peer: f"{reached[peer][0]:.3g}" if peer in reached else "–" for peer in _PEERS}
        print(f"| {name} | {ms['ort']} | {reached.get('ort', (0, '–'))[1]} | {ms['jaxjs']} |")


_PEERS = ("ort", "jaxjs")

if __name__ == "__main__":
    main()
