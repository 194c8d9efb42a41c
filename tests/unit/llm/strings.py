"""The tokens of 10,000 strings by the package tokenizers, in another environment.

``python strings.py KIND FILE OUT`` writes the strings, the tokens, and for trained kinds the
tokenizer.json.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

COUNT = 10_000
#: Characters of many scripts, up to Unicode 8: later ones have other classes in the reference.
RANGES = [
    *[(0x20, 0x7F)] * 6, (0xA0, 0x250), (0x391, 0x3A2), (0x3B1, 0x3CA), (0x400, 0x500),
    (0x5D0, 0x5EB), (0x621, 0x64B), (0x905, 0x93A), (0xE01, 0xE31), (0x1100, 0x1160),
    (0x3041, 0x3097), (0x4E00, 0x9FA6), (0xAC00, 0xD7A4), (0x1F300, 0x1F580), (0x2010, 0x2028),
    (0x300, 0x36F), (0x09, 0x0E), (0x20000, 0x20050), (0x1D400, 0x1D455),
]  # fmt: skip
WORDS = [
    "The", "quick", "brown", "fox", "jumps", "over", "1234", "lazy", "dogs'", "don't", "I'll",
    "we've", "x+1", "def", "foo(x):", "naïve", "façade", "Straße", "Привет", "мир", "你好", "世界",
    "こんにちは", "안녕", "١٢٣", "²", "½", "don’T", "it'S", "<|im_start|>", "\n\n\t", "  ",
    "a\u0301", "e\u0301\u0323", "ﬁ", "İ",
]  # fmt: skip


def strings(count: int, seed: int) -> list[str]:
    drawn = random.Random(seed)
    found = []
    for _ in range(count):
        text = ""
        for _ in range(drawn.randint(0, 12)):
            if drawn.random() < 0.5:
                text += drawn.choice(["", " ", "  ", "\n"]) + drawn.choice(WORDS)
            else:
                first, end = drawn.choice(RANGES)
                size = drawn.randint(1, 6)
                text += "".join(chr(drawn.randrange(first, end)) for _ in range(size))
                text += " " * drawn.choice([0, 0, 1, 3])
        found.append(text)
    return found


def main() -> None:
    from tokenizers import (
        AddedToken,
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        trainers,
    )  # fmt: skip

    kind, file, out = sys.argv[1:]
    corpus = strings(3000, 1)
    if kind == "json":
        own = Tokenizer.from_file(file)
        own.no_padding()
        own.no_truncation()
    elif kind == "smollm2":
        about = json.loads(Path(file).read_text())
        vocabulary = {token: id for id, token in enumerate(about["tokens"])}
        own = Tokenizer(models.BPE(vocabulary, [tuple(one.split(" ")) for one in about["merges"]]))
        own.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
        own.add_special_tokens([AddedToken(one, special=True) for one in about["special"]])
    elif kind == "unigram":
        own = Tokenizer(models.Unigram())
        own.normalizer = normalizers.NFKC()
        own.pre_tokenizer = pre_tokenizers.Metaspace()
        own.decoder = decoders.Metaspace()
        own.train_from_iterator(
            corpus,
            trainers.UnigramTrainer(
                vocab_size=9000, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False
            ),
        )
    elif kind == "fallback":
        own = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
        own.normalizer = normalizers.Sequence(
            [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        )
        special = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
        own.train_from_iterator(
            corpus,
            trainers.BpeTrainer(
                vocab_size=1500, special_tokens=special, limit_alphabet=300, show_progress=False
            ),
        )
    else:  # a pattern of words, as Llama 3's and Qwen's
        own = Tokenizer(models.BPE(ignore_merges=True))
        own.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(Path(file).read_text()), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        own.decoder = decoders.ByteLevel()
        own.train_from_iterator(
            corpus,
            trainers.BpeTrainer(
                vocab_size=2000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                show_progress=False,
            ),
        )  # fmt: skip
    texts = strings(COUNT, 2)
    ids = [one.ids for one in own.encode_batch(texts, add_special_tokens=True)]
    decoded = [own.decode(one) for one in ids[:1000]] if own.decoder else None
    found = {"texts": texts, "ids": ids, "json": own.to_str(), "decoded": decoded}
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
