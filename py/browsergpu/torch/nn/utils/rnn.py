"""Sequences of different lengths, as ``torch.nn.utils.rnn``."""

from browsergpu.networks.sequences import packing as _own
from browsergpu.networks.sequences.packing import PackedSequence
from browsergpu.torch.tensors.public import returning_tensors

pack_padded_sequence = returning_tensors(_own.pack_padded_sequence)
pad_packed_sequence = returning_tensors(_own.pad_packed_sequence)
pad_sequence = returning_tensors(_own.pad_sequence)
pack_sequence = returning_tensors(_own.pack_sequence)
unpad_sequence = returning_tensors(_own.unpad_sequence)
unpack_sequence = returning_tensors(_own.unpack_sequence)

__all__ = [
    "PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip
