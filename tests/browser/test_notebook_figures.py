"""Figures and tables of other libraries are shown without set-up."""

from __future__ import annotations

import base64
import io
import struct
import zipfile
from collections.abc import Iterator

import pytest
from harness.lab import Lab
from harness.notebook import NotebookPage, open_notebook
from harness.pixels import screenshot
from harness.problems import assert_none
from playwright.sync_api import FrameLocator, Locator, expect

PAPER, INK = (0x1E, 0x21, 0x23), (0xE6, 0xE7, 0xE5)
WHITE = (255, 255, 255)
LINE = "import matplotlib.pyplot as plt\n"


def drawing(output: Locator) -> FrameLocator:
    """Return the content of an output's frame, which may not load anything."""
    return output.frame_locator("iframe[sandbox=allow-scripts]")


def test_plotly_draws(notebook: NotebookPage) -> None:
    notebook.page.route("https://**", lambda route: route.abort())
    for show in ("figure", "figure.show()", "figure.show('jupyterlab')"):
        output = notebook.run(
            "import plotly.express as px\n"
            f"figure = px.line(x=[1, 2, 3], y=[1, 4, 2], title='Sales')\n{show}"
        )
        expect(drawing(output).get_by_text("Sales")).to_be_visible()
        expect(drawing(output).locator(".scatterlayer .js-line")).to_have_count(1)
    notebook.page.unroute("https://**")


def test_altair_draws(notebook: NotebookPage) -> None:
    notebook.page.route("https://**", lambda route: route.abort())
    output = notebook.run(
        "import altair as alt, pandas as pd\n"
        "table = pd.DataFrame({'a': [1, 2, 3], 'b': ['x', 'y', 'z']})\n"
        "alt.Chart(table).mark_bar().encode(x='b', y='a').properties(title='Bars')"
    )
    expect(drawing(output).get_by_text("Bars")).to_be_visible()
    expect(drawing(output).locator("[aria-roledescription=bar]")).to_have_count(3)
    notebook.page.unroute("https://**")


def test_bokeh_draws(notebook: NotebookPage) -> None:
    notebook.page.route("https://**", lambda route: route.abort())
    output = notebook.run(
        "from bokeh.plotting import figure, show\n"
        "plot = figure(height=250, title='Waves')\nplot.line([1, 2, 3], [3, 1, 2])\nshow(plot)"
    )
    expect(drawing(output).locator("canvas").first).to_be_visible()
    box = output.locator("iframe").bounding_box()
    assert box is not None
    assert box["height"] < 320, "no more than the figure"
    # As notebooks for Jupyter begin.
    output = notebook.run("from bokeh.io import output_notebook\noutput_notebook()\nshow(plot)")
    expect(drawing(output).locator("canvas").first).to_be_visible()
    output = notebook.run("show(plot, notebook_handle=True)")
    expect(output).to_contain_text("Show the figure again")
    notebook.page.unroute("https://**")


def test_a_table_of_pandas_looks_as_in_jupyterlab(notebook: NotebookPage) -> None:
    output = notebook.run(
        "import pandas as pd\ndf = pd.DataFrame({'n': [1.5, 2, 3], 'name': ['x', 'y', 'z']})\ndf"
    )
    cells = output.locator("tbody td")
    expect(cells.first).to_have_css("text-align", "right")
    rows = output.locator("tbody tr")
    striped = rows.nth(0).evaluate("row => getComputedStyle(row).backgroundColor")
    expect(rows.nth(2)).to_have_css("background-color", striped)
    expect(rows.nth(1)).not_to_have_css("background-color", striped)
    rows.nth(1).hover()
    expect(rows.nth(1)).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")
    # A style of the user's is stronger than the stripes.
    output = notebook.run(
        "df.style.background_gradient(subset=['n'], cmap='Reds')"
        ".set_table_styles([{'selector': 'td', 'props': 'text-align: center'}])"
    )
    expect(output.locator("tbody td").nth(0)).to_have_css("background-color", "rgb(255, 245, 240)")
    expect(output.locator("tbody td").nth(1)).to_have_css("text-align", "center")


def test_pandas_plots_without_an_import_of_matplotlib(notebook: NotebookPage) -> None:
    output = notebook.run("import pandas as pd\npd.Series([1, 3, 2]).plot();")
    expect(output.locator("img[src^='data:image/png']")).to_have_count(1)


def test_a_wheel_among_the_files_is_installed(notebook: NotebookPage) -> None:
    name, info = "tinywheel-1.0-py3-none-any.whl", "tinywheel-1.0.dist-info"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as wheel:
        wheel.writestr("tinywheel.py", "text = 'from a file'")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinywheel\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    notebook.drop([{"name": name, "type": "", "bytes": list(content.getvalue())}])
    expect(notebook.page.get_by_role("list", name="Files in the kernel")).to_contain_text(name)
    output = notebook.run(f"%pip install ./{name}\nimport tinywheel\ntinywheel.text")
    expect(output).to_contain_text("'from a file'")
    expect(notebook.run("%pip install ./not-there.whl")).to_contain_text("no file ./not-there.whl")


# A package with ipympl's name and backend, since ipympl's wheel is not among the tests' files.
BACKEND = """from pathlib import Path
package, info = Path("ipympl"), Path("ipympl-1.0.dist-info")
package.mkdir(), info.mkdir()
_ = (package / "__init__.py").write_text("")
_ = (package / "backend_nbagg.py").write_text("from matplotlib.backends.backend_agg import *")
_ = (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: ipympl\\nVersion: 1.0\\n")
_ = (info / "entry_points.txt").write_text(
    "[matplotlib.backend]\\nwidget = ipympl.backend_nbagg\\nipympl = ipympl.backend_nbagg\\n")"""


def test_figures_as_widgets_need_ipympl_at_any_time(notebook: NotebookPage) -> None:
    output = notebook.run(f"{LINE}%matplotlib widget")
    expect(output).to_contain_text("UsageError: %matplotlib widget needs ipympl. Run %pip install")
    # Matplotlib has looked for the backends of packages by now.
    notebook.run(BACKEND)
    output = notebook.run(f"{LINE}%matplotlib widget\nplt.get_backend()")
    expect(output).to_have_text("'widget'")
    notebook.run("%matplotlib inline\nimport shutil\nshutil.rmtree(package)\nshutil.rmtree(info)")


# -- the screen of Matplotlib's figures ------------------------------------------------------------


@pytest.fixture(scope="module")
def dark(lab: Lab) -> Iterator[NotebookPage]:
    """A page in the dark theme on a dense screen."""
    with open_notebook(lab, color_scheme="dark", device_scale_factor=2) as (notebook, problems):
        notebook.new()
        yield notebook
        assert_none(problems)


def figure(output: Locator) -> tuple[int, int, float]:
    """Return the pixels of a figure's PNG and its width on the page."""
    image = output.locator("img[src^='data:image/png']")
    expect(image).to_be_visible()
    png = base64.b64decode((image.get_attribute("src") or "").partition(",")[2])
    width, height = struct.unpack(">II", png[16:24])
    box = image.bounding_box()
    assert box is not None
    return width, height, box["width"]


def paper(notebook: NotebookPage, code: str) -> tuple[int, int, int]:
    """Return the colour near the corner of the figure that `code` draws."""
    output = notebook.run(LINE + code)
    image = output.locator("img[src^='data:image/png']")
    expect(image).to_be_visible()
    return screenshot(notebook.page, image).rgb(9, 9)


SIZED = LINE + "plt.rcParams['savefig.bbox'] = None\nplt.plot([1, 3, 2]);"


def test_figures_have_the_pixels_of_the_screen(notebook: NotebookPage, dark: NotebookPage) -> None:
    width, height, shown = figure(notebook.run(SIZED))
    dense_width, dense_height, dense_shown = figure(dark.run(SIZED))
    assert abs(dense_width - 2 * width) <= 2
    assert abs(dense_height - 2 * height) <= 2
    assert abs(dense_shown - shown) <= 1
    assert abs(shown - width) <= 1
    # A format that the user chose stays.
    svg = dark.run("%config InlineBackend.figure_formats = ['svg']\nplt.plot([1, 2]);")
    expect(svg.locator("img[src^='data:image/svg']")).to_have_count(1)
    dark.run("%config InlineBackend.figure_formats = ['png']")


def test_figures_without_a_style_are_dark_in_the_dark_theme(dark: NotebookPage) -> None:
    assert paper(dark, "plt.plot([1, 3, 2]); plt.title('dark'); plt.legend(['a']);") == PAPER
    assert paper(dark, "plt.imshow([[1, 2], [3, 4]]); plt.colorbar();") == PAPER
    assert paper(dark, "plt.figure(facecolor='lightyellow'); plt.plot([1]);") == (255, 255, 224)
    assert paper(dark, "plt.plot([1, 3, 2], 'navy');") == WHITE, "its curve needs white paper"
    assert paper(dark, "plt.plot([1, 3], 'k'); plt.plot([3, 1], 'w');") == WHITE
    assert paper(dark, "with plt.style.context('ggplot'): plt.plot([1, 2]);") == WHITE
    # The figure itself keeps Matplotlib's colours: a saved file is white.
    output = dark.run(
        LINE + "fig, ax = plt.subplots()\nax.plot([1, 2]); ax.set_title('t')\ndisplay(fig)\n"
        "fig.savefig('saved.png')\nprint(plt.imread('saved.png')[5, 5, :3], ax.title.get_color())\n"
        "print(fig.get_facecolor(), ax.spines['left'].get_edgecolor())\nplt.close(fig)"
    )
    expect(output).to_contain_text("[1. 1. 1.] black")
    expect(output).to_contain_text("(1.0, 1.0, 1.0, 1.0) (0.0, 0.0, 0.0, 1.0)")


def test_black_data_are_light_in_the_dark_theme(dark: NotebookPage) -> None:
    assert paper(dark, "plt.boxplot([1, 2, 3]);") == PAPER
    output = dark.run(
        LINE + "fig, ax = plt.subplots()\nax.plot([1, 3, 2], 'k', lw=9); ax.set_axis_off()\n"
        "display(fig)\nprint(ax.lines[0].get_color())\nplt.close(fig)"
    )
    image = output.locator("img")
    expect(output).to_contain_text("(0.0, 0.0, 0.0, 1)")
    seen = screenshot(dark.page, image)
    assert INK in {seen.rgb(x, y) for x in range(0, 400, 2) for y in range(0, 300, 2)}


PLOTTED = {
    "plotly": "import plotly.express as px\npx.line(x=[1, 2], y=[1, 4], height=300{})",
    "altair": "import altair as alt, pandas as pd\n"
    "alt.Chart(pd.DataFrame({{'a': [1, 2]}})).mark_bar().encode(y='a')"
    ".properties(height=300{})",
    "bokeh": "from bokeh.plotting import figure, show\n"
    "plot = figure(height=250{})\nplot.line([1, 2], [3, 1])\nshow(plot)",
}
STYLED = {
    "plotly": ", template='plotly_white'",
    "altair": ", background='white'",
    "bokeh": ", border_fill_color='white'",
}


@pytest.mark.parametrize("library", PLOTTED)
def test_figures_of_other_libraries_are_dark_in_the_dark_theme(
    dark: NotebookPage, library: str
) -> None:
    for style, paper in (("", PAPER), (STYLED[library], WHITE)):
        output = dark.run(PLOTTED[library].format(style))
        frame = output.locator("iframe")
        expect(frame.content_frame.locator("svg, canvas").first).to_be_visible()
        expect(frame).to_have_css("color-scheme", "dark" if paper == PAPER else "light")
        assert screenshot(dark.page, frame).rgb(3, 200) == paper


def test_dark_figures_can_be_switched_off_and_drawn_again(dark: NotebookPage) -> None:
    dark.new()
    assert paper(dark, "plt.plot([1, 3, 2]);") == PAPER
    dark.run("1 + 1")
    dark.choose("Settings")
    dialog = dark.page.get_by_role("dialog", name="Settings")
    dialog.get_by_label("Draw figures dark in the dark theme").uncheck()
    dialog.get_by_role("button", name="Close").click()
    expect(dark.messages).to_contain_text("a cell keep the other theme’s colours")
    dark.messages.get_by_role("button", name="Run the cell").click()
    dark.wait_finished()
    image = dark.output(0).locator("img[src^='data:image/png']")
    assert screenshot(dark.page, image).rgb(9, 9) == WHITE


def test_figures_are_white_in_the_light_theme(notebook: NotebookPage) -> None:
    assert paper(notebook, "plt.plot([1, 3, 2]);") == WHITE
