"""The characters that stand for bytes in byte-level vocabularies, as GPT-2 has them."""

from __future__ import annotations


def _characters() -> dict[int, str]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    found = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        if byte not in found:
            found[byte] = chr(256 + len(found) - len(printable))
    return found


#: The character of each byte, and the reverse.
CHARACTERS = _characters()
BYTES = {character: byte for byte, character in CHARACTERS.items()}


def to_characters(text: str) -> str:
    """Return the characters of a text's bytes in UTF-8."""
    return "".join([CHARACTERS[byte] for byte in text.encode("utf-8", "surrogatepass")])


def to_bytes(token: str) -> bytes:
    """Return the bytes of a token. Other characters stand for themselves."""
    own = [BYTES.get(one) for one in token]
    if None in own:
        return token.encode("utf-8", "surrogateescape")
    return bytes([byte for byte in own if byte is not None])
