"""Functions of the platform: a web page in Pyodide, the machine itself elsewhere.

They list and open GPUs, wait for coroutines, store settings, and find canvases.
"""

import sys

if sys.platform == "emscripten":
    from browsergpu.engine.gpu.browser.adapters import (
        engine_name,
        is_available,
        list_adapters,
        why_no_adapter,
    )
    from browsergpu.engine.gpu.browser.interop import (
        IN_PYODIDE,
        Content,
        JsError,
        find_canvas,
        global_text,
        hand_over,
        is_canvas,
        kept_folder,
        load_naga,
        open_address,
        paint_frame,
        read_setting,
        why_no_gpu,
        write_setting,
    )
    from browsergpu.engine.gpu.browser.opening import find_gpu
    from browsergpu.engine.gpu.browser.pointer import (
        mark_plot,
        pointer_owner,
        send_pointer,
        waiting_pointer,
    )
    from browsergpu.engine.gpu.browser.waiting import (
        are_waiting,
        block_on,
        can_block,
        load_package,
    )
else:
    from browsergpu.engine.gpu.native.adapters import (
        is_available,
        list_adapters,
    )
    from browsergpu.engine.gpu.native.engine import engine_name
    from browsergpu.engine.gpu.native.engine import why_none as why_no_adapter
    from browsergpu.engine.gpu.native.opening import find_gpu
    from browsergpu.engine.gpu.native.page import (
        IN_PYODIDE,
        Content,
        JsError,
        find_canvas,
        global_text,
        hand_over,
        is_canvas,
        load_naga,
        load_package,
        mark_plot,
        open_address,
        paint_frame,
        pointer_owner,
        send_pointer,
        waiting_pointer,
        why_no_gpu,
    )
    from browsergpu.engine.gpu.native.settings import kept_folder, read_setting, write_setting
    from browsergpu.engine.gpu.native.waiting import are_waiting, block_on, can_block

__all__ = [
    "IN_PYODIDE",
    "Content",
    "JsError",
    "are_waiting",
    "block_on",
    "can_block",
    "engine_name",
    "find_canvas",
    "find_gpu",
    "global_text",
    "hand_over",
    "is_available",
    "is_canvas",
    "kept_folder",
    "list_adapters",
    "load_naga",
    "load_package",
    "mark_plot",
    "open_address",
    "paint_frame",
    "pointer_owner",
    "read_setting",
    "send_pointer",
    "waiting_pointer",
    "why_no_adapter",
    "why_no_gpu",
    "write_setting",
]
