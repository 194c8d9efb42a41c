"""The formats of quantized weights: GGUF's numbers, elements and bytes of a block.

``shaders/lib/quantized.wgsl`` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """A format of weights in memory.

    Attributes
    ----------
    name : str
        GGUF's name.
    code : int
        GGUF's number, and the shaders'.
    elements : int
        Elements of a block. Rows consist of whole blocks.
    nbytes : int
        Bytes of a block.
    """

    name: str
    code: int
    elements: int
    nbytes: int

    def row_bytes(self, columns: int) -> int:
        """Return the bytes of a row."""
        return columns // self.elements * self.nbytes


#: The formats that kernels read, by name. F16 and BF16 are read in fours.
FORMATS = {
    one.name: one
    for one in (
        Format("F16", 1, 4, 8),
        Format("Q4_0", 2, 32, 18),
        Format("Q4_1", 3, 32, 20),
        Format("Q5_0", 6, 32, 22),
        Format("Q5_1", 7, 32, 24),
        Format("Q8_0", 8, 32, 34),
        Format("Q2_K", 10, 256, 84),
        Format("Q3_K", 11, 256, 110),
        Format("Q4_K", 12, 256, 144),
        Format("Q5_K", 13, 256, 176),
        Format("Q6_K", 14, 256, 210),
        Format("IQ4_NL", 20, 32, 18),
        Format("BF16", 30, 4, 8),
    )
}

#: Formats of floats without scales.
FLOATS = ("F16", "BF16")
#: Formats of integers with scales.
INTEGERS = tuple(name for name in FORMATS if name not in FLOATS)

#: Configurations of the kernels, one for each format.
CONFIGURATIONS = {name: {"FORMAT": one.code} for name, one in FORMATS.items()}
