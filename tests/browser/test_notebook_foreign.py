"""Notebooks from elsewhere cannot act without the user, and look as their authors intended."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

from harness.notebook import NotebookPage, hold_kernels
from playwright.sync_api import FrameLocator, Locator, Page, expect


def code(source: str, *outputs: dict[str, str]) -> dict[str, Any]:
    """Return a code cell with displayed outputs."""
    return {
        "cell_type": "code",
        "id": "code",
        "metadata": {},
        "execution_count": 1,
        "source": source,
        "outputs": [
            {"output_type": "display_data", "data": data, "metadata": {}} for data in outputs
        ],
    }


def markdown(source: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": "text", "metadata": {}, "source": source, **more}


_NUMBERS = count(1)


def open_cells(notebook: NotebookPage, *cells: dict[str, Any]) -> None:
    """Drop a notebook of the given cells on the page."""
    content = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    data = list(json.dumps(content).encode())
    name = f"foreign-{next(_NUMBERS)}"  # the page gives a taken name a number
    notebook.drop([{"name": f"{name}.ipynb", "type": "", "bytes": data}])
    expect(notebook.page.get_by_label("Notebook name")).to_have_value(name)
    notebook.close_messages()


# An invisible layer over the whole page, with the attributes of the page's own controls.
TRAP = (
    '<div id="toasts" class="drop-veil" data-cell-action="run" data-action="run-all" '
    'style="position: fixed; inset: 0; z-index: 99; opacity: 0; background: url(/trap.png)">'
    '<p data-action="run-all" data-cell-action="run" data-ref="count" '
    'style="color: rgb(1, 2, 3)">trap</p>'
    '<button data-action="run-all">Run</button><a href="/" accesskey="s">leave</a>'
    '<svg width="9" height="9"><a href="/"><text y="9">x</text></a></svg></div>'
    "<style>@import '/trap.css'; .toolbar, p { display: none; background: url(/trap.png) } "
    "div { position: fixed; inset: 0; margin: 1px } @font-face { font-family: x; src: url(/trap) }"
    "</style>"
)
ATTRIBUTES = """(box) => [...box.querySelectorAll("*")].flatMap((one) => [...one.attributes])
  .map(({ name }) => name)"""


def test_outputs_and_text_cannot_act_or_cover_the_page(notebook: NotebookPage) -> None:
    asked: list[str] = []
    notebook.page.on("request", lambda request: asked.append(request.url))
    open_cells(
        notebook,
        code("ran = True", {"text/html": TRAP}, {"text/markdown": TRAP}),
        markdown(TRAP),
    )
    traps: list[Locator] = notebook.page.get_by_text("trap", exact=True).all()
    assert len(traps) == 3
    for trap in traps:
        # The stylesheet hides the trap in its own box. Show it to click it where handlers listen.
        trap.evaluate("(one) => { one.style.display = 'block'; one.click(); }")
        expect(trap).to_have_css("color", "rgb(1, 2, 3)")
        box = trap.locator("xpath=../..")
        kept = set(box.evaluate(ATTRIBUTES))
        assert not {name for name in kept if name.startswith(("data-", "on"))}
        assert not kept & {"id", "accesskey", "popover", "name"}
        expect(box.locator("button")).to_have_count(0)
        # A link inside a drawing also opens in a new tab.
        expect(box.locator("a[target=_blank][rel='noopener noreferrer']")).to_have_count(2)
        frame = trap.evaluate(
            """(one) => {
              const outside = one.getRootNode().host.parentElement.getBoundingClientRect();
              const inside = one.parentElement.getBoundingClientRect();
              return inside.bottom <= outside.bottom + 1 && inside.right <= outside.right + 1;
            }"""
        )
        assert frame
    # The page's own controls still receive clicks.
    expect(notebook.page.locator(".toolbar")).to_be_visible()
    notebook.press("Keys")
    notebook.page.get_by_role("dialog").get_by_role("button", name="Close").click()
    notebook.wait_idle()
    expect(notebook.cell(0).locator(".cell-count")).to_have_text("[1]")
    assert notebook.page.evaluate("browsergpu.run('\"ran\" in globals()')") == "False"
    assert not [url for url in asked if "trap" in url]


def test_a_table_keeps_its_own_styles(notebook: NotebookPage) -> None:
    output = notebook.run(
        "class Styled:\n"
        "    def _repr_html_(self):\n"
        "        return '<style>#T_1 td.hot { color: rgb(200, 0, 0); font-weight: bold }"
        ' </style><table id="T_1"><tr><td class="hot">9</td></tr></table>\''
        "'<p style=\"text-align: right; position: fixed\">beside</p>'\n"
        "Styled()"
    )
    expect(output.locator("td")).to_have_css("color", "rgb(200, 0, 0)")
    expect(output.locator("p")).to_have_css("text-align", "right")
    expect(output.locator("p")).to_have_css("position", "static")
    expect(notebook.page.locator("header")).to_be_visible()


PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_links_within_a_notebook_lead_to_its_headings(notebook: NotebookPage) -> None:
    open_cells(
        notebook,
        markdown("[go](#Far-below,-at-last) [back](#top)\n\n<p id='top'>start</p>" + "\n\nx" * 60),
        markdown("## Far below, at last" + "\n\ny" * 60),
    )
    target = notebook.page.get_by_role("heading", name="Far below, at last")
    expect(target).not_to_be_in_viewport()
    notebook.page.get_by_role("link", name="go").click()
    expect(target).to_be_in_viewport()
    assert len(notebook.page.context.pages) == 1


def test_formulas_tasks_and_attachments_of_text_cells(notebook: NotebookPage) -> None:
    source = (
        "An angle $\\theta_1 < 2$ costs $5 or $6, and `$x$` is code.\n\n"
        "$$\n\\int_0^1 x^2 \\, dx = \\frac{1}{3}\n$$\n\n"
        "\\begin{align}\na &= b \\\\\n&= c\n\\end{align}\n\n"
        "- [x] measured\n- [ ] written\n\n"
        "![a dot](attachment:my%20dot.png) ![none](attachment:%E0%A4%A.png) [no](#%E0%A4%A)\n"
    )
    attachments = {"my dot.png": {"image/png": PIXEL}}
    open_cells(notebook, markdown(source, attachments=attachments))
    text = notebook.cell(0).locator(".cell-rendered")
    expect(text.locator(".katex")).to_have_count(3)
    expect(text.locator(".katex-display")).to_have_count(2)
    # Screen readers read MathML.
    expect(text.locator("math mfrac")).to_have_count(1)
    expect(text).to_contain_text("costs $5 or $6, and $x$ is code.")
    expect(text.get_by_role("checkbox", name="Done")).to_be_checked()
    expect(text.get_by_role("checkbox", name="To do")).not_to_be_checked()
    dot = text.get_by_role("img", name="a dot")
    assert dot.evaluate("async (image) => (await image.decode(), image.naturalWidth)") == 1
    # LaTeX that KaTeX cannot parse is shown as source.
    notebook.page.locator(".add-row").get_by_role("button", name="Code").click()
    output = notebook.run(
        "class Formula:\n"
        "    def __init__(self, text):\n        self.text = text\n"
        "    def _repr_latex_(self):\n        return self.text\n"
        "display(Formula(r'$\\displaystyle \\sqrt{2}$'), Formula(r'$\\frac{1$'))"
    )
    expect(output.locator("math msqrt")).to_have_count(1)
    expect(output.locator(".katex-error")).to_have_text("\\frac{1")


# Plotly, Bokeh, Altair and Folium output HTML like this.
DRAWING = (
    "<div>before</div><div id='cells'></div><script>"
    "document.getElementById('cells').textContent = 'drawn by a script';"
    "document.body.style.height = '432px';</script>"
)
# Each attempt uses the page's own rights and reports its result.
REACHING = """<pre id="told"></pre><script>
const tries = {
  page: () => parent.document.title,
  kernel: () => parent.browsergpu.run("1"),
  button: () => parent.document.querySelector("[data-action=run-all]").click(),
  storage: () => localStorage.length,
  databases: () => indexedDB.open("browsergpu-notebooks"),
  cookies: () => document.cookie,
  sharing: () => { if (!crossOriginIsolated) throw new DOMException("", "SecurityError"); },
};
document.getElementById("told").textContent = Object.entries(tries).map(([name, reach]) => {
  try { reach(); return name + ": reached"; } catch (error) { return name + ": " + error.name; }
}).join("\\n");
parent.postMessage({ height: 1e9 }, "*");
parent.postMessage({ type: "run", height: "high" }, "*");
</script>"""


def shown(html: str) -> str:
    """Return code that shows HTML."""
    return f"from IPython.display import HTML\nHTML({html!r})"


def frame(output: Locator) -> FrameLocator:
    """Return the content of an output's frame."""
    return output.frame_locator("iframe[sandbox=allow-scripts]")


def test_scripts_of_own_outputs_draw_in_a_frame(notebook: NotebookPage) -> None:
    output = notebook.run(shown(DRAWING))
    expect(frame(output).locator("#cells")).to_have_text("drawn by a script")
    expect(output.locator("iframe")).to_have_css("height", "432px")
    expect(output.get_by_role("button")).to_have_count(0)
    # An updated display has the new frame.
    output = notebook.run(
        "from IPython.display import HTML\n"
        f"changing = display(HTML({DRAWING!r}), display_id=True)\n"
        f"changing.update(HTML({DRAWING.replace('drawn', 'drawn again')!r}))"
    )
    expect(frame(output).locator("#cells")).to_have_text("drawn again by a script")
    # An iframe counts as active output; other HTML does not.
    output = notebook.run(shown("<iframe srcdoc='<b>inner</b>'></iframe>"))
    expect(frame(output).frame_locator("iframe").locator("b")).to_have_text("inner")
    output = notebook.run(shown("<table><tr><td>plain</td></tr></table>"))
    expect(output.locator("td")).to_have_text("plain")
    expect(output.locator("iframe")).to_have_count(0)
    # The file contains Python's output unchanged.
    with notebook.page.expect_download() as download:
        notebook.share("Download notebook")
    saved = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert "".join(saved["cells"][0]["outputs"][0]["data"]["text/html"]) == DRAWING


class Library(http.server.BaseHTTPRequestHandler):
    """A host of scripts that allows all origins, as CDNs do."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.wfile.write(b"document.body.append('the library is here')")

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def test_a_frame_loads_libraries_of_other_sites(notebook: NotebookPage) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Library) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            address = f"http://localhost:{server.server_port}/library.js"
            output = notebook.run(shown(f"<script src='{address}'></script>"))
            expect(frame(output).locator("body")).to_contain_text("the library is here")
            # Folium puts its document into an attribute of an iframe.
            within = f"&lt;body&gt;&lt;script src='{address}'&gt;&lt;/script&gt;"
            output = notebook.run(shown(f'<iframe srcdoc="{within}"></iframe>'))
            expect(frame(output).frame_locator("iframe").locator("body")).to_contain_text(
                "the library is here"
            )
        finally:
            server.shutdown()


def test_a_frame_reaches_nothing_of_the_page(notebook: NotebookPage) -> None:
    output = notebook.run(shown(REACHING))
    told = frame(output).locator("#told")
    expect(told).to_contain_text("sharing")
    lines = told.inner_text().splitlines()
    assert [line.partition(": ")[2] for line in lines] == ["SecurityError"] * 7, lines
    # The frame does not cover the page.
    box = output.locator("iframe").bounding_box()
    assert box is not None
    assert box["height"] <= 10_000


def test_a_tall_output_has_no_scroll_bar_of_its_own(notebook: NotebookPage) -> None:
    output = notebook.run(shown("<p style='margin: 0; height: 2900px'>tall</p><script></script>"))
    expect(output.locator("iframe")).to_have_css("height", "2900px")
    assert frame(output).locator("html").evaluate("(one) => one.scrollHeight - innerHeight") == 0
    # Content higher than its window would grow forever.
    growing = "<p style='margin: 0; height: calc(100vh + 9px)'>grows</p><script></script>"
    output = notebook.run(shown(growing))
    expect(output.locator("iframe")).to_have_css("height", "1200px")
    expect(frame(output).locator("html")).to_have_js_property("scrollHeight", 1209)
    notebook.page.wait_for_timeout(1000)
    expect(output.locator("iframe")).to_have_css("height", "1200px")


def test_hidden_outputs_have_no_frames(notebook: NotebookPage) -> None:
    output = notebook.run(shown(DRAWING))
    expect(output.locator("iframe")).to_have_count(1)
    notebook.cell(0).focus()
    notebook.page.keyboard.press("o")
    expect(output.locator("iframe")).to_have_count(0)
    notebook.page.keyboard.press("Control+Enter")
    notebook.wait_finished()
    expect(output.locator(".active-output")).to_have_count(1)
    expect(output.locator("iframe")).to_have_count(0)
    notebook.cell(0).get_by_role("button", name="Show the output").click()
    expect(frame(output).locator("#cells")).to_have_text("drawn by a script")


def test_javascript_says_that_it_is_not_run(notebook: NotebookPage) -> None:
    output = notebook.run("from IPython.display import Javascript\nJavascript('window.ran = 1')")
    expect(output).to_have_text(
        "This output is JavaScript for the page around it, which is not run here."
    )
    assert notebook.page.evaluate("window.ran === undefined")


def test_a_files_active_outputs_wait_for_trust_which_is_kept(
    new_page: Callable[..., Page], site_url: str
) -> None:
    page = new_page()
    hold_kernels(page)
    page.goto(f"{site_url}/")
    notebook = NotebookPage(page, site_url)
    expect(notebook.cells).not_to_have_count(0)
    open_cells(notebook, code("draw()", {"text/html": DRAWING}, {"text/html": DRAWING}))
    output = notebook.output(0)
    asking = output.get_by_role("button", name="Show active output")
    expect(asking).to_have_count(2)
    expect(output).to_contain_text("scripts or frames")
    expect(output.get_by_text("before")).to_have_count(2)
    assert len(page.frames) == 1
    notebook.wait_kept()
    page.reload()
    expect(asking).to_have_count(2)
    asking.first.click()
    expect(asking).to_have_count(0)
    expect(notebook.cell(0)).to_be_focused()
    for index in range(2):
        drawn = output.locator("iframe").nth(index).content_frame.locator("#cells")
        expect(drawn).to_have_text("drawn by a script")
    notebook.wait_kept()
    page.reload()
    expect(frame(output.locator(".output").first).locator("#cells")).to_have_text(
        "drawn by a script"
    )
    # Trust belongs to one notebook: the same file, opened again, needs trust of its own.
    open_cells(notebook, code("draw()", {"text/html": DRAWING}))
    expect(asking).to_have_count(1)


def test_running_a_files_cell_makes_its_output_active(notebook: NotebookPage) -> None:
    open_cells(notebook, code(shown(DRAWING), {"text/html": DRAWING}))
    output = notebook.output(0)
    expect(output.get_by_role("button", name="Show active output")).to_be_visible()
    notebook.cell(0).get_by_role("button", name="Run this cell").click()
    expect(frame(output).locator("#cells")).to_have_text("drawn by a script")
    expect(output.get_by_role("button")).to_have_count(0)
    # Output made here stays active when its cell is split or copied.
    notebook.cell(0).focus()
    notebook.page.keyboard.press("c")
    notebook.page.keyboard.press("v")
    expect(frame(notebook.output(1)).locator("#cells")).to_have_text("drawn by a script")
    # It also stays active after a reload.
    notebook.wait_kept()
    notebook.page.reload()
    for index in range(2):
        expect(frame(notebook.output(index)).locator("#cells")).to_have_text("drawn by a script")
    notebook.wait_idle()
