"""The Python side of the notebook page: runs cells, shows values, completes names.

Modules, each importing only those above it:

    bytecode          the shell's compiled modules, kept for the next boot
    without_terminal  imports IPython without the part that reads from terminals
    channel           sends messages to the page
    outputs           what one run prints and displays, within sane limits
    tracebacks        exceptions as text, trimmed to the user's own frames
    waiting           blocking waits that the Interrupt button can end
    asking            input() and getpass(): a field in the cell
    packages          imports load what the site has; installations are never lost
    display           IPython's displays and results, sent to the page
    processes         what `!command` says: a browser starts no programs
    installing        %pip, by micropip
    timing            %time and %%time of code that awaits
    shell             IPython's shell: magics, `Out`, `?`, top-level await
    completion        names, attributes, keys, modules and magics for the editor
    documentation     signatures and docstrings for the editor
    analysis          both by jedi, for what has no value yet; loaded when first needed
    outline           what the variables are, for completion while the kernel is busy
    graphics_memory   how much GPU memory the user's arrays and backends hold
    runner            one queue-free entry point for cells and `browsergpu.run`
    widget            what controls have, by ipywidgets' names; it and these by user code alone:
    number_widgets    sliders, fields and bars for numbers
    range_widgets     sliders for a lower and a higher number
    text_widgets      text: fields for it, lines of it, and markup
    choice_widgets    choices of one among some
    button_widgets    what is pressed, and what is on or off
    box_widgets       widgets together, and places for output
    widget_links      widgets that follow each other
    interact          controls for the arguments of a function
"""
