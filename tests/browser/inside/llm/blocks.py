"""Quantized matrices of pseudorandom bytes, and digests of their values from the package gguf.

``python tests/browser/inside/llm/blocks.py`` prints the digests where gguf is installed.
"""

from __future__ import annotations

import hashlib

import numpy as np

ROWS, COLUMNS = 5, 512

#: Elements and bytes of a block, and the places of its float16 scales.
FORMATS: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "F16": (1, 2, (0,)),
    "BF16": (1, 2, ()),
    "Q4_0": (32, 18, (0,)),
    "Q4_1": (32, 20, (0, 2)),
    "Q5_0": (32, 22, (0,)),
    "Q5_1": (32, 24, (0, 2)),
    "Q8_0": (32, 34, (0,)),
    "Q2_K": (256, 84, (80, 82)),
    "Q3_K": (256, 110, (108,)),
    "Q4_K": (256, 144, (0, 2)),
    "Q5_K": (256, 176, (0, 2)),
    "Q6_K": (256, 210, (208,)),
    "IQ4_NL": (32, 18, (0,)),
}

#: SHA-256 of the values as float32.
DIGESTS = {
    "F16": "683a5ab5e1a2d9ba66ac0ea5abdd4c791a9af4af113470e367c7325bc9c456d5",
    "BF16": "14a3184df9b3174f51fba53fb6ec013c2175b98594d984d840be78f86af1f367",
    "Q4_0": "2cd964d40133bfa93437b9746793bd3c0cf22fb85a7c6a600c7d60397ae50e36",
    "Q4_1": "efbe5ed1250259f704ca904748e731b813c169d734202c2581462bc58b2daad6",
    "Q5_0": "20f52626fc3e5cc3f7d1192335f4aac7a54c0f1ba1f271a69343c3ab972eb82e",
    "Q5_1": "5c5cb53525dc0c55652ff5cd0ac58a281808e1cb10a4831516cfb9294e6405f5",
    "Q8_0": "e120a1fdcf6fd3fcf6c88e8516dde6988cc74ca688ceb09b610aba16a852ba23",
    "Q2_K": "5f2a98d106edf59b50746c294a5974340223103c635d09ca6ec623815c914d76",
    "Q3_K": "7e7ce92aa32eb1fa2796cc12ea503fe63f995fa8a30e817559b1d6fa8704c501",
    "Q4_K": "c69110bf79f08ae297b69998b28b2ede22e685f84b32a0bfb0d405101be6054b",
    "Q5_K": "01ee1e50b69291183ce0a72138c025848bd646dddf30a76a2a096ca82cc24ba2",
    "Q6_K": "ce33e91953bca47857faca20c22d7e45b19f4affbacf8d13d722a3f81d5bcfa7",
    "IQ4_NL": "a22c1a4c2494fa3ddc5eac817ec935224b344e5af22b69dfc057ee00417b47c6",
}


def blocks(name: str, rows: int = ROWS, columns: int = COLUMNS) -> bytes:
    """The bytes of a matrix. Scales are finite, and some are subnormal."""
    elements, nbytes, scales = FORMATS[name]
    count = rows * columns // elements
    drawn = hashlib.shake_256(name.encode()).digest(count * nbytes)
    data = np.frombuffer(drawn, np.uint8).reshape(count, nbytes).copy()
    for at in scales:
        scale = data[:, at : at + 2].copy().view("<u2")
        scale[(scale & 0x7C00) == 0x7C00] &= 0x0FFF
        scale[:3] &= 0x83FF
        data[:, at : at + 2] = scale.view(np.uint8)
    if name == "BF16":  # numbers of ordinary size
        data[:, 1] = data[:, 1] & 0x80 | 0x3F
    return data.tobytes()


def sane(name: str, rows: int, columns: int) -> bytes:
    """The bytes of a matrix with scales near 0.01."""
    _, nbytes, scales = FORMATS[name]
    data = np.frombuffer(blocks(name, rows, columns), np.uint8).reshape(-1, nbytes).copy()
    for at in scales:
        data[:, at + 1] = data[:, at + 1] & 0x80 | 0x21
    return data.tobytes()


def _printed() -> None:
    import gguf

    for name in FORMATS:
        kind = gguf.GGMLQuantizationType[name]
        data = np.frombuffer(blocks(name), np.uint8).reshape(ROWS, -1)
        values = np.ascontiguousarray(gguf.quants.dequantize(data, kind), np.float32)
        print(f'    "{name}": "{hashlib.sha256(values.tobytes()).hexdigest()}",')


if __name__ == "__main__":
    _printed()
