"""Functions that resample and rearrange the elements of signals, images and volumes."""
