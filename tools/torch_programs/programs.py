"""The programs: where they are, how they are called, and the lines that are changed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Program:
    """A program of a checkout.

    Attributes
    ----------
    name
        Its name in the table.
    checkout
        The repository, by the last part of its name.
    script
        The file to run, in the checkout.
    args
        Its arguments.
    page_args
        Further arguments in the page, which shorten what SwiftShader would compute for minutes.
    changes
        Lines to replace, with their replacements.
    prepare
        Makes data in the program's folder.
    seconds
        The time after which it is stopped.
    """

    name: str
    checkout: str
    script: str
    args: str = ""
    changes: dict[str, str] = field(default_factory=dict)
    prepare: Callable[[Path], None] = lambda _: None
    seconds: int = 150
    page_args: str = ""

    def arguments(self, *, in_page: bool) -> str:
        """Return all arguments."""
        return f"{self.args} {self.page_args}" if in_page and self.page_args else self.args


_WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "the",
    "mat",
    "and",
    "the",
    "dog",
    "ran",
    "to",
    "the",
    "cat",
    "while",
    "a",
    "bird",
    "sang",
    "of",
    "the",
    "sea",
]


def _sentences(folder: Path) -> None:
    draw = np.random.RandomState(0)
    (folder / "data" / "small").mkdir(parents=True, exist_ok=True)
    for name in ("train", "valid", "test"):
        lines = [" ".join(draw.choice(_WORDS, 12)) for _ in range(60)]
        (folder / "data" / "small" / f"{name}.txt").write_text("\n".join(lines) + "\n")


def _characters(folder: Path) -> None:
    there = folder / "data" / "shakespeare_char"
    draw = np.random.RandomState(0)
    text = "\n".join(" ".join(draw.choice(_WORDS, 10)) for _ in range(400))
    letters = sorted(set(text))
    numbers = {letter: at for at, letter in enumerate(letters)}
    codes = np.array([numbers[letter] for letter in text], np.uint16)
    codes[: len(codes) * 9 // 10].tofile(there / "train.bin")
    codes[len(codes) * 9 // 10 :].tofile(there / "val.bin")
    meta = {"vocab_size": len(letters), "stoi": numbers, "itos": dict(enumerate(letters))}
    (there / "meta.pkl").write_bytes(pickle.dumps(meta))


def _waves(folder: Path) -> None:
    begin = np.random.RandomState(2).randint(-80, 80, (8, 1))
    np.save(folder / "waves.npy", np.sin((np.arange(40) + begin) / 20))


def _pictures(folder: Path) -> None:
    """Write gray pictures of smooth waves as PNG files."""
    from PIL import Image

    draw = np.random.RandomState(3)
    rows, columns = np.mgrid[:256, :256] / 40
    for name in ("train", "test"):
        there = folder / "dataset" / "BSDS300" / "images" / name
        there.mkdir(parents=True, exist_ok=True)
        for number in range(8 if name == "train" else 2):
            a, b, c = draw.uniform(0.3, 3, 3)
            waves = np.sin(a * rows + b * columns) * np.cos(c * columns)
            Image.fromarray((127 * waves + 128).astype(np.uint8)).save(there / f"{number}.png")


_GPT = (
    "config/train_shakespeare_char.py --device=cpu --compile=False --n_layer=2 --n_head=2 "
    "--n_embd=32 --block_size=32 --batch_size=8 --dropout=0.0 --eval_iters=2 --eval_interval=20 "
    "--log_interval=5 --max_iters=40 --warmup_iters=5 --always_save_checkpoint=True"
)
_TEXT = "--data ./data/small --emsize 16 --nhid 16 --epochs 1 --batch_size 8 --bptt 10 --dropout 0 "

_DIGITS = "--epochs 1 --log-interval 1 --batch-size 16 --test-batch-size 64"

PROGRAMS = (
    Program("mnist", "examples", "mnist/main.py", _DIGITS),
    Program("mnist_rnn", "examples", "mnist_rnn/main.py", _DIGITS),
    Program("vae", "examples", "vae/main.py", "--epochs 2 --log-interval 1"),
    Program(
        "dcgan", "examples", "dcgan/main.py",
        "--dataset fake --batchSize 4 --ngf 4 --ndf 4 --niter 1 --workers 0",
    ),
    Program(
        "word_language_model", "examples", "word_language_model/main.py",
        _TEXT + "--log-interval 2", prepare=_sentences,
    ),
    Program(
        "word_language_model (Transformer)", "examples", "word_language_model/main.py",
        _TEXT + "--model Transformer --lr 1 --log-interval 2",
        {
            "torch.save(model, f)": "torch.save(model.state_dict(), f)",
            "model = torch.load(f)": "model.load_state_dict(torch.load(f))",
        },
        _sentences,
    ),
    Program(
        "time_sequence_prediction", "examples", "time_sequence_prediction/train.py", "--steps 1",
        {
            "data = torch.load('traindata.pt')": "data = np.load('waves.npy')",
            "future = 1000": "future = 10",
        },
        _waves,
    ),
    Program(
        "super_resolution", "examples", "super_resolution/main.py",
        "--upscale_factor 8 --batchSize 2 --testBatchSize 2 --nEpochs 3 --threads 0 --lr 0.001",
        {"torch.save(model, model_out_path)": "torch.save(model.state_dict(), model_out_path)"},
        _pictures,
    ),
    Program("regression", "examples", "regression/main.py"),
    Program("reinforce", "examples", "reinforcement_learning/reinforce.py", "--log-interval 1"),
    Program(
        "actor_critic", "examples", "reinforcement_learning/actor_critic.py", "--log-interval 1"
    ),
    Program(
        "mnist_forward_forward", "examples", "mnist_forward_forward/main.py",
        "--epochs 2 --train_size 64 --test_size 64 --log-interval 1",
    ),
    Program(
        "minGPT", "minGPT", "projects/adder/adder.py",
        "--trainer.max_iters=30 --model.model_type=gpt-nano --trainer.batch_size=8 "
        "--trainer.num_workers=0",
        seconds=400,
        page_args="--data.ndigit=1",  # its evaluation takes all sums: 100 for one digit, not 10,000
    ),
    Program("nanoGPT", "nanoGPT", "train.py", _GPT, prepare=_characters),
    Program(
        "nanoGPT sample.py", "nanoGPT", "sample.py",
        "--out_dir=out-shakespeare-char --device=cpu --num_samples=1 --max_new_tokens=40",
    ),
    Program(
        "micrograd", "micrograd", "test/test_engine.py", "",
        {"tol = 1e-6": "tol = 1e-4  # floats have 32 bits"},
    ),
)  # fmt: skip
