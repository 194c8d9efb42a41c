"""Notebooks from elsewhere cannot act for their reader, and look as their authors meant."""

from __future__ import annotations

import json
from typing import Any

from harness.notebook import NotebookPage
from playwright.sync_api import Locator, expect


def code(source: str, *outputs: dict[str, str]) -> dict[str, Any]:
    """A code cell with displayed outputs."""
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


def open_cells(notebook: NotebookPage, *cells: dict[str, Any]) -> None:
    """Drop a notebook of these cells on the page."""
    content = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    data = list(json.dumps(content).encode())
    notebook.drop([{"name": "foreign.ipynb", "type": "", "bytes": data}])
    expect(notebook.page.get_by_label("Notebook name")).to_have_value("foreign")
    notebook.close_messages()


# Over the whole page, unseen, and of each kind that the page's own controls are of.
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


def test_outputs_and_text_obey_nobody_and_lie_over_nothing(notebook: NotebookPage) -> None:
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
        # The sheet hides it in its own box: what it was clicked for shows where handlers listen.
        trap.evaluate("(one) => { one.style.display = 'block'; one.click(); }")
        expect(trap).to_have_css("color", "rgb(1, 2, 3)")
        box = trap.locator("xpath=../..")
        kept = set(box.evaluate(ATTRIBUTES))
        assert not {name for name in kept if name.startswith(("data-", "on"))}
        assert not kept & {"id", "accesskey", "popover", "name"}
        expect(box.locator("button")).to_have_count(0)
        # A link inside a drawing, too, leaves the notebook open.
        expect(box.locator("a[target=_blank][rel='noopener noreferrer']")).to_have_count(2)
        frame = trap.evaluate(
            """(one) => {
              const outside = one.getRootNode().host.parentElement.getBoundingClientRect();
              const inside = one.parentElement.getBoundingClientRect();
              return inside.bottom <= outside.bottom + 1 && inside.right <= outside.right + 1;
            }"""
        )
        assert frame
    # The page's own controls are where they were: a click reaches them.
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
    # What assistive technology reads is MathML.
    expect(text.locator("math mfrac")).to_have_count(1)
    expect(text).to_contain_text("costs $5 or $6, and $x$ is code.")
    expect(text.get_by_role("checkbox", name="Done")).to_be_checked()
    expect(text.get_by_role("checkbox", name="To do")).not_to_be_checked()
    dot = text.get_by_role("img", name="a dot")
    assert dot.evaluate("async (image) => (await image.decode(), image.naturalWidth)") == 1
    # An output in LaTeX, and one that KaTeX cannot read: it is shown as it is written.
    notebook.page.locator(".add-row").get_by_role("button", name="Code").click()
    output = notebook.run(
        "class Formula:\n"
        "    def __init__(self, text):\n        self.text = text\n"
        "    def _repr_latex_(self):\n        return self.text\n"
        "display(Formula(r'$\\displaystyle \\sqrt{2}$'), Formula(r'$\\frac{1$'))"
    )
    expect(output.locator("math msqrt")).to_have_count(1)
    expect(output.locator(".katex-error")).to_have_text("\\frac{1")
