"""The Python side of the notebook page: runs cells, shows values, completes names.

Modules, each importing only those above it:

    bytecode          cache of compiled modules for the next boot
    without_terminal  imports IPython without the part that reads from terminals
    channel           sends messages to the page
    outputs           printed and displayed outputs of a run, within limits
    tracebacks        exceptions as text, trimmed to the user's own frames
    waiting           blocking waits that the Interrupt button can end
    screen            density and theme of the page's screen
    after_import      calls after the import of libraries
    figures           figures of Matplotlib, Plotly, Altair and Bokeh as outputs
    dark_figures      Matplotlib's figures on dark paper; loaded on first use
    dark_templates    figures of Plotly, Altair and Bokeh on dark paper; loaded on first use
    asking            input() and getpass(): a field in the cell
    comms             messages of Jupyter widgets; their package is loaded by user code
    page_comm         the comms of that package on this page
    packages          loads imported packages of the site; awaits installations
    display           IPython's displays and results, sent to the page
    processes         errors of `!command`, since a browser starts no programs
    installing        %pip, by micropip
    gpu_work          recorded arrays, unfinished dispatches, waits for the GPU
    timing            %time and %timeit that wait for arrays, %%time of code that awaits, %%gpu
    shell             IPython's shell: magics, `Out`, `?`, top-level await
    completion        names, attributes, keys, modules and magics for the editor
    documentation     signatures and docstrings for the editor
    analysis          both by jedi, for names without a value; loaded on first use
    outline           summary of the variables, for completion while the kernel is busy
    graphics_memory   GPU memory of the user's arrays and backends
    gpu_arrays        the user's arrays on the GPU with their lines; loaded on first use
    runner            one entry point for cells and `browsergpu.run`
"""
