"""Operations on strided tensors in GPU memory, for arrays and for the older interfaces."""
