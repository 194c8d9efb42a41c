"""The Python side of the notebook page: runs cells, shows values, completes names.

Modules, each importing only those above it:

    channel           sends messages to the page
    outputs           what one run prints and displays, within sane limits
    display           values to MIME bundles, and the `display` function
    tracebacks        exceptions as text, trimmed to the user's own frames
    waiting           blocking waits that the Interrupt button can end
    completion        names, attributes, keys and modules for the editor
    graphics_memory   how much GPU memory the user's arrays and backends hold
    runner            one queue-free entry point for cells and `browsergpu.run`
    widgets           sliders, buttons and boxes by ipywidgets' names; imported by user code alone
    interact          controls for the arguments of a function
    matplotlib_backend   loaded by Matplotlib alone, shows figures below the cell
"""
