"""Write down the notes of a melody: basic-pitch on the GPU.

    python notes.py nmp.onnx recording.wav

The model is in the package basic-pitch (Apache-2.0). The recording is a WAV file of one channel,
with 22,050 samples of 16 bits per second.
"""

from __future__ import annotations

import sys
import wave

import numpy as np

import browsergpu as bg

RATE, WINDOW, HOP = 22050, 43844, 256  # samples of a second, of a window, of a frame
LOWEST = 21  # MIDI's number of the first of 88 keys
NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")


def read(path: str) -> np.ndarray:
    """Return the samples of a recording, from -1 to 1."""
    with wave.open(path) as file:
        given = file.getnchannels(), file.getsampwidth(), file.getframerate()
        if given != (1, 2, RATE):
            raise SystemExit(f"The recording must have 1 channel of 16 bits and 22,050 Hz: {given}")
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    return samples.astype(np.float32) / 32768


def notes(model: bg.nn.Module, samples: np.ndarray) -> list[tuple[float, float, int]]:
    """Return the begin, the end and the key of each note, in order."""
    frames = WINDOW // HOP
    compiled = bg.jit(model)
    found = []
    for begin in range(0, len(samples), frames * HOP):
        part = samples[begin : begin + WINDOW]
        window = np.pad(part, (0, WINDOW - len(part)))[None, :, None]
        sounding = np.asarray(compiled(window)[1])[0, :frames]  # the map of notes, [frames, 88]
        for key in np.flatnonzero((sounding > 0.5).any(0)):
            edges = np.diff(np.concatenate([[0], sounding[:, key] > 0.5, [0]]).astype(int))
            for a, b in np.flatnonzero(edges).reshape(-1, 2):
                if b - a >= 8:  # 93 ms
                    seconds = [(begin + n * HOP) / RATE for n in (a, b)]
                    found.append((*seconds, int(key) + LOWEST))
    return sorted(found)


if __name__ == "__main__":
    model = bg.onnx.load(sys.argv[1])
    for begin, end, key in notes(model, read(sys.argv[2])):
        print(f"{NAMES[key % 12]}{key // 12 - 1} from {begin:.2f} to {end:.2f} s")
