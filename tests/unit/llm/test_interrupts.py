"""Ctrl-C within a text ends it, and leaves the model and its cache usable."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runner.vulkan import software_gpu

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="software GPUs are Linux's here")

_PROGRAM = f"""
import faulthandler, random, signal, sys, threading, time, os
faulthandler.dump_traceback_later(240, exit=True)
sys.path[:0] = [{str(ROOT / "py")!r}, {str(ROOT / "tests" / "browser")!r}]
import browsergpu as bg
from inside.llm import tiny

signal.signal(signal.SIGINT, signal.default_int_handler)
bg.init()
data = tiny.file_of(bg, tiny.weights("llama"), tiny.metadata("llama"))
llm = bg.llm.load(data, context=64)
prompts = ["hello the world", "hello the", "other words in there"]
plain = {{"max_tokens": 24}}
drawn = {{"max_tokens": 24, "temperature": 1.0, "seed": 3, "repetition_penalty": 1.2}}
cases = [(prompt, options) for prompt in prompts for options in (plain, drawn)]
expected = [llm.generate(prompt, **options).tokens for prompt, options in cases]
begin = time.perf_counter()
for prompt, options in cases:
    llm.generate(prompt, **options)
each = (time.perf_counter() - begin) / len(cases)

wanted = threading.Semaphore(0)
random.seed(4)

def interrupt():
    while True:
        wanted.acquire()
        time.sleep(random.random() * each)
        os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
within = 0
for n in range(24):
    prompt, options = cases[n % len(cases)]
    if n % 10 == 0:  # so that the work is captured anew
        llm._steps.close()
    pieces = 0
    try:
        wanted.release()
        for piece in llm.stream(prompt, **options):
            pieces += 1
        while True:
            time.sleep(0.01)
    except KeyboardInterrupt:
        within += pieces < 20
    again, more = cases[(n + n // 6 + 1) % len(cases)]
    found = llm.generate(again, **more).tokens
    assert found == expected[cases.index((again, more))], (n, again, more, found)
assert within > 4, within
llm.close()
print("ok", within)
"""


def test_interrupts_within_a_text() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], env=os.environ | software_gpu("wgpu"),
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.stdout.startswith("ok"), done.stderr
