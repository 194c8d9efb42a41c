"""Jupyter widgets: ipywidgets and anywidget below cells, in frames apart from the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage, open_notebook
from playwright.sync_api import FrameLocator, Locator, expect


@pytest.fixture(scope="module")
def shared(lab: Lab) -> Iterator[tuple[NotebookPage, list[str]]]:
    with open_notebook(lab, viewport={"width": 1200, "height": 900}) as opened:
        yield opened


def widget(output: Locator, index: int = 0) -> FrameLocator:
    """Return the content of a widget's frame."""
    return output.locator(".widget-frame iframe").nth(index).content_frame


def settle(target: Locator) -> None:
    """Wait for a frame's place. Chromium ignores clicks on frames that have just moved or grown."""
    expect(target).to_be_visible()
    target.page.wait_for_timeout(1000)


def click(target: Locator) -> None:
    """Click in a frame once it has settled."""
    settle(target)
    target.click()


def press(notebook: NotebookPage, *keys: str) -> None:
    for key in keys:
        notebook.page.keyboard.press(key)


def test_a_slider_is_dragged_and_moved_by_keys(notebook: NotebookPage) -> None:
    output = notebook.run(
        "import ipywidgets as w\nseen = []\n"
        "size = w.IntSlider(5, max=9, description='size')\n"
        "late = w.IntSlider(0, max=9, description='late', continuous_update=False)\n"
        "for one in (size, late):\n"
        "    one.observe(lambda change: seen.append(change.new), names='value')\n"
        "w.VBox([size, late])"
    )
    handle = widget(output).get_by_role("slider", name="size")
    expect(handle).to_have_attribute("aria-valuenow", "5.0")
    handle.focus()
    press(notebook, "ArrowRight", "ArrowRight")
    expect(widget(output).locator(".widget-readout").first).to_have_text("7")
    notebook.wait_idle()
    late = widget(output).get_by_role("slider", name="late")
    settle(late)
    box = late.bounding_box()
    assert box
    mouse, y = notebook.page.mouse, box["y"] + box["height"] / 2
    mouse.move(box["x"] + box["width"] / 2, y)
    mouse.down()
    for step in range(1, 5):
        mouse.move(box["x"] + 20 * step, y)
    mouse.up()
    notebook.wait_idle()
    # The late slider told Python only its last value.
    expect(notebook.run("seen[:2], len(seen), size.value, late.value > 3")).to_have_text(
        "([6, 7], 3, 7, True)"
    )


def test_a_button_runs_python_and_displays_stay_equal(notebook: NotebookPage) -> None:
    output = notebook.run(
        "from ipywidgets import Button, HBox, IntSlider\n"
        "level = IntSlider(description='level', min=2, max=8)\n"
        "more = Button(description='More')\n"
        "def up(button):\n    level.value += 3\n    print('up to', level.value)\n"
        "more.on_click(up)\n"
        "level.observe(lambda change: print(change.old, '→', change['new']), names='value')\n"
        "display(HBox([level, more]))\nlevel"
    )
    click(widget(output).get_by_role("button", name="More"))
    expect(output).to_contain_text("2 → 5")
    expect(output).to_contain_text("up to 5")
    for index in range(2):
        handle = widget(output, index).get_by_role("slider", name="level")
        expect(handle).to_have_attribute("aria-valuenow", "5.0")
    handle.focus()
    press(notebook, "ArrowLeft")
    expect(output).to_contain_text("5 → 4")
    expect(widget(output).locator(".widget-readout")).to_have_text("4")


INTERACT = """from ipywidgets import interact

@interact(n=(1, 9), scale=(0.0, 1.0, 0.25), loud=False, word=["no", "yes"])
def repeat(n=3, scale=0.5, loud=False, word="no"):
    if n == 9:
        raise ValueError("too many")
    print((word.upper() if loud else word) * n, scale)
    return f"n is {n}"
"""


def test_interact_is_saved_with_its_controls_and_output(notebook: NotebookPage) -> None:
    output = notebook.run(INTERACT)
    expect(output).to_contain_text("nonono 0.5")
    expect(output).to_contain_text("'n is 3'")
    controls = widget(output)
    slider = controls.get_by_role("slider", name="n", exact=True)
    slider.focus()
    press(notebook, "ArrowRight")
    expect(output).to_contain_text("nononono 0.5")
    expect(output).not_to_contain_text("n is 3")
    click(controls.get_by_label("loud"))
    controls.get_by_label("word").select_option("yes")
    expect(output).to_contain_text("YESYESYESYES 0.5")
    # An error of the function replaces its output until the next call.
    slider.focus()
    press(notebook, "End")
    expect(output.locator(".output-traceback").first).to_contain_text("ValueError: too many")
    press(notebook, "Home")
    expect(output).to_contain_text("YES 0.5")
    expect(output.locator(".output-traceback")).to_have_count(0)
    # The saved notebook shows the controls and the output, which act once the cell has run.
    notebook.wait_kept()
    notebook.page.reload()
    reopened = notebook.output(0)
    expect(slider).to_have_attribute("aria-valuenow", "1.0")
    expect(controls.get_by_label("loud")).to_be_checked()
    expect(reopened.locator(".widget-outputs")).to_contain_text("YES 0.5")
    slider.focus()
    press(notebook, "ArrowRight")
    expect(reopened).to_contain_text("Run its cell to use it.")
    expect(reopened).to_contain_text("YES 0.5")
    # The file has text for programs that show no widgets.
    saved = notebook.save_file()[1]
    told = saved["cells"][0]["outputs"][0]["data"]["text/plain"]
    assert "n = 1, scale = 0.5, loud = true, word = yes" in "".join(told)
    notebook.wait_idle()


def part(name: str, module: str = "controls", **state: object) -> dict[str, object]:
    """Return a widget's state, as JupyterLab saves it."""
    return {
        "model_module": f"@jupyter-widgets/{module}",
        "model_module_version": "2.0.0",
        "model_name": f"{name}Model",
        "state": {"layout": "IPY_MODEL_layout", **state} if module == "controls" else state,
    }


STATES = {
    "layout": part("Layout", "base"),
    "style": part("SliderStyle", description_width=""),
    "slider": part(
        "FloatSlider",
        description="angle $\\alpha$",
        value=2.5,
        step=0.5,
        max=9.0,
        style="IPY_MODEL_style",
    ),
    "html": part("HTML", value="<b onclick='alert(1)'>bold</b> costs $5"),
    "image": part("Image", format="svg+xml")
    | {"buffers": [{"path": ["value"], "encoding": "base64", "data": "PHN2Zy8+"}]},
    "box": part("VBox", children=[f"IPY_MODEL_{one}" for one in ("slider", "html", "image")]),
    "other": {**part("Map"), "model_module": "jupyter-leaflet"},
}
WIDGETS = "application/vnd.jupyter.widget-state+json"


def test_widgets_of_a_jupyterlab_notebook_are_shown_and_kept(notebook: NotebookPage) -> None:
    view = "application/vnd.jupyter.widget-view+json"
    outputs = [
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {
                "text/plain": [name],
                view: {"model_id": name, "version_major": 2, "version_minor": 0},
            },
        }
        for name in ("box", "other", "gone")
    ]
    cell = {
        "cell_type": "code",
        "id": "one",
        "metadata": {},
        "execution_count": 1,
        "source": ["1"],
        "outputs": outputs,
    }
    states = {"state": STATES, "version_major": 2, "version_minor": 0}
    file = {
        "cells": [cell],
        "metadata": {"widgets": {WIDGETS: states}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    notebook.drop([{"name": "lab.ipynb", "type": "", "bytes": list(json.dumps(file).encode())}])
    shown = notebook.output(0)
    handle = widget(shown).get_by_role("slider")
    expect(handle).to_have_attribute("aria-valuenow", "2.5")
    expect(widget(shown).locator("label .katex")).to_contain_text("α")
    bold = widget(shown).locator("b")
    expect(bold).not_to_have_attribute("onclick", re.compile(""))
    expect(bold.locator("..")).to_have_text("bold costs $5")
    expect(widget(shown).locator("img")).to_have_attribute("src", re.compile("^blob:"))
    # What has no script or state here remains text.
    expect(shown.locator(".output-text")).to_have_text(["other", "gone"])
    notebook.close_messages()
    kept = notebook.save_file()[1]
    assert kept["metadata"]["widgets"] == file["metadata"]["widgets"]
    assert kept["cells"][0]["outputs"] == outputs
    # A run replaces the widgets, and their states go.
    notebook.cell(0).get_by_role("button", name="Run this cell").click()
    expect(shown).to_have_text("1")
    assert "widgets" not in notebook.save_file()[1]["metadata"]


CONTROLS = """import ipywidgets
from ipywidgets import *
told = Label()
def tell(change):
    told.value = f"{type(change.owner).__name__} {change.name} {change.new!r}"
between = IntRangeSlider(description="between", max=8)
lines = Textarea("one", continuous_update=False, description="lines")
size = RadioButtons(options=["small", "large"], description="size")
kind = ToggleButtons(options={"round": 1, "square": 2}, description="kind")
loud = ToggleButton(description="loud")
steps = Play(max=3, interval=10)
tabs = Tab([VBox([between, lines]), VBox([size, kind, loud, steps])],
           titles=["numbers", "choices"])
more = Accordion([Label("first"), Label("second")], titles=["A", "B"])
for one in (between, lines, size, kind, loud, steps):
    one.observe(tell, names="value")
for one in (tabs, more):
    one.observe(tell, names="selected_index")
VBox([told, tabs, more])"""


def test_tabs_sections_and_choices(notebook: NotebookPage) -> None:
    output = notebook.run(CONTROLS)
    shown = widget(output)
    told = shown.locator(".widget-label.widget-html-content, .widget-label").first
    shown.get_by_role("slider", name="between to").focus()
    press(notebook, "ArrowLeft")
    expect(told).to_have_text("IntRangeSlider value (2, 5)")
    shown.get_by_label("lines").fill("one\ntwo")
    press(notebook, "Tab")
    expect(told).to_have_text("Textarea value 'one\\ntwo'")
    click(shown.get_by_text("choices", exact=True))
    expect(told).to_have_text("Tab selected_index 1")
    expect(shown.get_by_role("slider")).to_have_count(0)  # in the other tab
    click(shown.get_by_label("large"))
    expect(told).to_have_text("RadioButtons value 'large'")
    click(shown.get_by_role("button", name="square"))
    expect(told).to_have_text("ToggleButtons value 2")
    click(shown.get_by_role("button", name="loud"))
    expect(told).to_have_text("ToggleButton value True")
    click(shown.locator(".widget-play button").first)
    expect(told).to_have_text("Play value 3")
    click(shown.get_by_text("B", exact=True))
    expect(shown.get_by_text("second", exact=True)).to_be_visible()
    expect(told).to_have_text("Accordion selected_index 1")
    notebook.run("more.selected_index = 0\ntabs.set_title(0, 'sliders')\nmore.set_title(1, 'Z')")
    expect(shown.get_by_text("first", exact=True)).to_be_visible()
    expect(shown.get_by_text("second", exact=True)).to_be_hidden()
    expect(shown.get_by_text("sliders", exact=True)).to_be_visible()
    expect(shown.get_by_text("Z", exact=True)).to_be_visible()
    said = notebook.run("ipywidgets.Nonsense").locator(".output-traceback").first
    expect(said).to_contain_text("no attribute 'Nonsense'")


def test_an_output_widget_captures_what_is_printed_and_drawn(notebook: NotebookPage) -> None:
    output = notebook.run(
        "import browsergpu as bg\nfrom ipywidgets import HTML, Label, Output, Tab, VBox\n"
        "out = Output()\nprint('before')\n"
        "with out:\n    print('inside')\n    bg.draw(bg.ones((8, 8)))\n    1 / 0\n"
        "print('after' + 'wards')\n"
        "VBox([Tab([out, Label('other')], titles=['a', 'b']), HTML('<i>end</i>')])"
    )
    captured = output.locator(".widget-outputs")
    expect(captured).to_contain_text("inside")
    expect(captured).to_contain_text("ZeroDivisionError")
    expect(captured.locator("canvas.picture")).to_be_visible()
    expect(captured).not_to_contain_text("afterwards")
    expect(output).to_contain_text("before\nafterwards")
    # What the widget contains lies between what is above and below it, once the page has its size.
    shown = widget(output)
    end = shown.locator("i")
    for _ in range(100):
        inner, below = captured.bounding_box(), end.bounding_box()
        if inner and below and inner["y"] + inner["height"] <= below["y"] + 1:
            break
        notebook.page.wait_for_timeout(200)
    else:
        pytest.fail(f"the outputs at {inner} cover what is below them, at {below}")
    click(shown.get_by_text("b", exact=True))
    expect(shown.get_by_text("other")).to_be_visible()
    expect(captured).to_have_count(0)
    click(shown.get_by_text("a", exact=True))
    expect(captured).to_contain_text("inside")
    # Python knows the outputs, adds to them and removes them.
    notebook.wait_idle()
    result = notebook.run("[one['output_type'] for one in out.outputs], out.outputs[0]['text']")
    expect(result).to_have_text("(['stream', 'display_data', 'error'], 'inside\\n')")
    notebook.run("out.append_stdout('appended')")
    expect(captured).to_contain_text(re.compile("inside.*appended", re.DOTALL))
    notebook.run("out.outputs = ()")
    expect(captured).to_be_empty()


def test_formulas_in_labels_are_set(notebook: NotebookPage) -> None:
    output = notebook.run(
        "from ipywidgets import HTMLMath, Label, VBox\n"
        "told = Label(r'at \\$5 the area is $\\pi r^2$')\n"
        "VBox([told, HTMLMath(r'<i>so</i> $$x = 1$$ <code>$y$</code>')])"
    )
    shown = widget(output)
    expect(shown.locator(".widget-label .katex")).to_contain_text("π")
    expect(shown.locator(".katex-display")).to_contain_text("x")
    expect(shown.locator("code")).to_have_text("$y$")
    notebook.run("told.value = 'plain'")
    expect(shown.locator(".widget-label").first).to_have_text("plain")


COUNTER = '''import anywidget
import traitlets

class Counter(anywidget.AnyWidget):
    _esm = """
    function render({ model, el }) {
      const button = document.createElement("button");
      const told = document.createElement("p");
      const show = () => { button.textContent = `count is ${model.get("value")}`; };
      button.className = "counter";
      button.addEventListener("click", () => {
        model.set("value", model.get("value") + 1);
        model.save_changes();
        model.send({ kind: "clicked" }, undefined, [new Uint8Array([1, 2, 3]).buffer]);
      });
      model.on("change:value", show);
      model.on("msg:custom", ({ kind }, buffers) => {
        told.textContent = kind + " " + new TextDecoder().decode(buffers[0]);
      });
      show();
      el.append(button, told);
    }
    export default { render };
    """
    _css = ".counter { color: rgb(1, 2, 3); }"
    value = traitlets.Int(7).tag(sync=True)

got = []
def answer(counter, content, buffers):
    got.append((content["kind"], [bytes(one) for one in buffers]))
    counter.send({"kind": "answer"}, buffers=[b"in bytes"])

counter = Counter()
counter.on_msg(answer)
counter'''


def test_an_anywidget_has_its_script_style_and_messages(notebook: NotebookPage) -> None:
    output = notebook.run(COUNTER)
    button = widget(output).get_by_role("button")
    expect(button).to_have_text("count is 7")
    expect(button).to_have_css("color", "rgb(1, 2, 3)")
    click(button)
    expect(button).to_have_text("count is 8")
    expect(widget(output).locator("p")).to_have_text("answer in bytes")
    result = notebook.run("counter.value, got")
    expect(result).to_have_text("(8, [('clicked', [b'\\x01\\x02\\x03'])])")
    notebook.run("counter.value = 20")
    expect(button).to_have_text("count is 20")
    notebook.run("counter.close()")
    expect(button).to_have_count(0)


# Makes a frame get its messages later than others.
SLOW = """() => {
  const late = new WeakSet();
  addEventListener("message", (event) => {
    if (late.has(event)) return;
    event.stopImmediatePropagation();
    const { source, data } = event;
    const again = new MessageEvent("message", { source, data });
    late.add(again);
    setTimeout(() => dispatchEvent(again), 300);
  }, true);
}"""


@pytest.mark.parametrize("slow", [None, 0, 1])
def test_links_hold_between_cells(notebook: NotebookPage, slow: int | None) -> None:
    first = notebook.run(
        "from ipywidgets import FloatSlider, dlink, jslink\n"
        "a, b, c = (FloatSlider(max=10, step=0.5, description=one) for one in 'abc')\n"
        "both = jslink((a, 'value'), (b, 'value'))\n"
        "one_way = dlink((b, 'value'), (c, 'value'), lambda value: value * 2)\na"
    )
    second = notebook.run("b")
    third = notebook.run("c")
    readouts = [widget(one).locator(".widget-readout") for one in (first, second, third)]

    def expect_everywhere(*texts: str) -> None:
        for readout, text in zip(readouts, texts, strict=True):
            expect(readout).to_have_text(text)
        notebook.wait_idle()
        expected = f"({', '.join(str(float(text)) for text in texts)})"
        expect(notebook.run("a.value, b.value, c.value")).to_have_text(expected)

    expect(readouts[2]).to_have_text("0.00")
    if slow is not None:
        widget([first, second][slow]).locator("body").evaluate(SLOW)
    widget(first).get_by_role("slider").focus()
    press(notebook, "ArrowRight", "ArrowRight")
    expect(readouts[1]).to_have_text("1.00")
    expect(readouts[2]).to_have_text("2.00")
    widget(second).get_by_role("slider").focus()
    press(notebook, "ArrowRight")
    expect_everywhere("1.50", "1.50", "3.00")
    notebook.run("a.value = 4")
    expect_everywhere("4.00", "4.00", "8.00")


def test_binary_values_arrive(notebook: NotebookPage) -> None:
    output = notebook.run(
        "import io\nimport PIL.Image\nfrom ipywidgets import FileUpload, HBox, Image\n"
        "def png(width):\n    file = io.BytesIO()\n"
        "    PIL.Image.new('RGB', (width, 8), 'red').save(file, 'png')\n"
        "    return file.getvalue()\n"
        "picture, upload = Image(value=png(30)), FileUpload()\nHBox([picture, upload])"
    )
    image = widget(output).locator("img")
    expect(image).to_have_js_property("naturalWidth", 30)
    notebook.run("picture.value = png(50)")
    expect(image).to_have_js_property("naturalWidth", 50)
    file = {"name": "kept.txt", "mimeType": "text/plain", "buffer": b"uploaded"}
    with notebook.page.expect_file_chooser() as chooser:
        click(widget(output).get_by_role("button"))
    chooser.value.set_files([file])
    expect(widget(output).locator("body")).to_contain_text("(1)")
    notebook.wait_idle()
    result = notebook.run("[(one.name, bytes(one.content)) for one in upload.value]")
    expect(result).to_have_text("[('kept.txt', b'uploaded')]")


def test_many_moves_while_python_is_busy_run_it_once_more(notebook: NotebookPage) -> None:
    output = notebook.run(
        "from ipywidgets import IntSlider, interact\nseen = []\n"
        "interact(lambda x: seen.append(x), x=(0, 50))"
    )
    handle = widget(output).get_by_role("slider")
    expect(handle).to_be_visible()
    notebook.start("import asyncio\ngate = asyncio.Event()\nawait gate.wait()")
    notebook.wait_state("busy")
    handle.focus()
    press(notebook, *["ArrowRight"] * 5)
    expect(widget(output).locator(".widget-readout")).to_have_text("30")
    notebook.press("Interrupt")
    notebook.wait_finished()
    # Messages wait for the cell, and of those that wait the first and the last are kept.
    expect(notebook.run("seen")).to_have_text("[25, 26, 30]")


def test_a_handler_is_interrupted_and_a_restart_ends_widgets(notebook: NotebookPage) -> None:
    output = notebook.run(
        "from ipywidgets import Button, HBox, IntSlider\n"
        "stuck, size = Button(description='Stuck'), IntSlider(3)\n"
        "@stuck.on_click\ndef _(button):\n    print('begun')\n    while True: pass\n"
        "HBox([stuck, size])"
    )
    click(widget(output).get_by_role("button", name="Stuck"))
    expect(output).to_contain_text("begun")
    notebook.press("Interrupt")
    expect(output.locator(".output-traceback").first).to_contain_text("KeyboardInterrupt")
    notebook.wait_idle()
    handle = widget(output).get_by_role("slider")
    handle.focus()
    press(notebook, "ArrowRight")
    notebook.wait_idle()
    expect(notebook.run("size.value")).to_have_text("4")
    notebook.restart()
    expect(widget(output).locator("html.ended")).to_have_count(1)
    assert widget(output).locator("body").evaluate("(body) => body.inert")
    notebook.wait_idle()


REACHING = """<img src="data:," onerror='
  const { dataset } = document.body;
  const tell = (text) => { dataset.told = (dataset.told ?? "") + text + "; "; };
  for (const reach of ["parent.document", "top.location.href", "localStorage",
                       "parent.browsergpu", "frameElement.ownerDocument"]) {
    try { eval(reach); tell("reached " + reach); } catch (error) { tell(error.name); }
  }'>"""


def test_markup_in_a_widget_reaches_nothing_of_the_page(notebook: NotebookPage) -> None:
    output = notebook.run(f"from ipywidgets import HTML\nHTML({REACHING!r})")
    told = re.compile("^((Security|Type)Error; ){5}$")
    expect(widget(output).locator("body")).to_have_attribute("data-told", told)
    # A frame without widgets cannot send messages to those of other frames.
    notebook.run("from ipywidgets import IntSlider\nslider = IntSlider(3)\nslider")
    notebook.run(
        'from IPython.display import HTML\nHTML(\'<script>parent.postMessage({type: "send", '
        'kind: "comm_msg", message: "x", buffers: [], comm: "\' + slider.model_id + \'", '
        'data: {method: "update", state: {value: 9}, buffer_paths: []}}, "*"); '
        'document.write("sent")</script>\')'
    )
    frame = notebook.page.frame_locator(".active-output iframe")
    expect(frame.locator("body")).to_contain_text("sent")
    expect(notebook.run("slider.value")).to_have_text("3")
