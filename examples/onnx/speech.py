"""Find speech in a recording: silero-vad on the GPU.

    python speech.py silero_vad.onnx recording.wav

The model is in the package silero-vad (MIT). The recording is a WAV file of one channel, with
16,000 samples of 16 bits per second.
"""

from __future__ import annotations

import sys
import wave

import numpy as np

import browsergpu as bg

RATE, STEP, BEFORE = 16000, 512, 64  # samples of a step, and of the step before that it sees


def read(path: str) -> np.ndarray:
    """Return the samples of a recording, from -1 to 1."""
    with wave.open(path) as file:
        given = file.getnchannels(), file.getsampwidth(), file.getframerate()
        if given != (1, 2, RATE):
            raise SystemExit(f"The recording must have 1 channel of 16 bits and 16 kHz: {given}")
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    return samples.astype(np.float32) / 32768


def probabilities(model: bg.nn.Module, samples: np.ndarray) -> np.ndarray:
    """Return the probability of speech in each step."""
    compiled = bg.jit(model)
    padded = np.pad(samples, (BEFORE, -len(samples) % STEP))
    sound, state = bg.asarray(padded), bg.zeros((2, 1, 128))
    found = []
    for begin in range(0, len(padded) - BEFORE, STEP):
        part = sound[None, begin : begin + BEFORE + STEP]
        probability, state = compiled(part, state, RATE)
        found.append(probability[0, 0])
    return np.asarray(bg.stack(found))  # one read for all steps


def spans(speech: np.ndarray) -> list[tuple[float, float]]:
    """Return the begins and ends of runs of True, in seconds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], speech, [False]]).astype(int)))
    return [(a * STEP / RATE, b * STEP / RATE) for a, b in edges.reshape(-1, 2).tolist()]


if __name__ == "__main__":
    model = bg.onnx.load(sys.argv[1])
    for begin, end in spans(probabilities(model, read(sys.argv[2])) > 0.5):
        print(f"speech from {begin:.2f} to {end:.2f} s")
