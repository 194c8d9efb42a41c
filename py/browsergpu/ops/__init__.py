"""One module per family of kernels, in two steps.

``plan…`` checks the arguments that are not buffers, and returns what the kernels need: a pure
function, remembered by its arguments, so that a repeated call costs one look-up. The step named
after the operation dispatches a plan on buffers. Nothing here waits for the GPU.
"""
