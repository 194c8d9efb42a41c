"""draw: the pixels on the canvas, from the worker and from the main thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from harness import firefox
from harness.bare import BarePage
from harness.lab import Lab
from harness.patience import PATIENCE_S
from harness.pixels import Pixels, screenshot

pytestmark = pytest.mark.firefox

# The known failures of docs/browsers.md time out here: do not wait long for them.
_PATIENCE_FOR_LISTED = 10.0

_SHOW = """
import numpy as np

image = np.array({image!r}, np.float32)
pointer = backend.alloc(image.nbytes)
backend.copy_htod(pointer, image)
reads = backend.device.recorder.counters["readbacks"]
backend.draw(pointer, {height}, {width}, {channels}{canvas})
backend.synchronize()
backend.free(pointer)
backend.device.recorder.counters["readbacks"] - reads
"""


@pytest.fixture(scope="module", params=["main", "worker"])
def bare(request: pytest.FixtureRequest, lab: Lab) -> Iterator[BarePage]:
    """A page with an open backend, shared by the tests of one kernel."""
    with lab.page_with_the_package(request.param) as bare:
        bare.run("""
            from browsergpu import WasmBackend

            backend = await WasmBackend.init_from_canvas("gpu-canvas")
        """)
        yield bare


def show(bare: BarePage, image: list[float], height: int, width: int, channels: int) -> None:
    code = _SHOW.format(image=image, height=height, width=width, channels=channels, canvas="")
    assert bare.run(code) == 0, "the image was read back"


def assert_seen(
    bare: BarePage, seen: Callable[[Pixels], bool], what: str, patience: float = PATIENCE_S
) -> None:
    """Wait until the canvas shows the image. A worker's image appears with the next frame."""
    canvas = bare.page.locator("#gpu-canvas")
    deadline = time.monotonic() + patience
    while True:
        pixels = screenshot(bare.page, canvas)
        if seen(pixels):
            return
        if time.monotonic() > deadline:
            corner = [pixels.rgb(x, 0) for x in range(min(8, pixels.width))]
            raise AssertionError(
                f"the canvas does not show {what}; it is {pixels.width} × {pixels.height}, and its "
                f"first pixels are {corner}"
            )
        bare.page.wait_for_timeout(50)


def near(got: tuple[int, int, int], wanted: tuple[float, float, float]) -> bool:
    """Return whether colours differ by at most one 8-bit step, the rounding error."""
    return all(abs(g - 255 * w) <= 1.01 for g, w in zip(got, wanted, strict=True))


def shows(
    height: int, width: int, colours: list[tuple[float, float, float]]
) -> Callable[[Pixels], bool]:
    """Return a check that the canvas has this size and these colours, row by row."""

    def seen(pixels: Pixels) -> bool:
        return (pixels.height, pixels.width) == (height, width) and all(
            near(pixels.rgb(i % width, i // width), colour) for i, colour in enumerate(colours)
        )

    return seen


def test_three_channels(bare: BarePage) -> None:
    # Each pixel has a different colour, so that a transposed or mirrored image is detected.
    height, width = 5, 7
    colours = [(x / 10, y / 10, (x + y) / 20) for y in range(height) for x in range(width)]
    show(bare, [c for colour in colours for c in colour], height, width, 3)
    assert_seen(bare, shows(height, width, colours), "a colour ramp of 5 × 7")


def test_one_channel(bare: BarePage) -> None:
    height, width = 3, 11
    greys = [((i * 7) % 33) / 32 for i in range(height * width)]
    show(bare, greys, height, width, 1)
    assert_seen(bare, shows(height, width, [(g, g, g) for g in greys]), "greys of 3 × 11")


def test_four_channels(bare: BarePage) -> None:
    # The image is blended over the page's grey, #777.
    back = 0x77 / 255
    height, width = 4, 4
    image: list[float] = []
    colours = []
    for i in range(height * width):
        colour, alpha = (i / 16, 1 - i / 16, 0.5), (i % 4) / 3
        image += [*colour, alpha]
        colours.append(tuple(c * alpha + back * (1 - alpha) for c in colour))
    show(bare, image, height, width, 4)

    def seen(pixels: Pixels) -> bool:
        # Premultiplication in 8 bits and blending round once each.
        return pixels.width == width and all(
            all(abs(g - 255 * w) <= 2.5 for g, w in zip(pixels.rgb(i % 4, i // 4), c, strict=True))
            for i, c in enumerate(colours)
        )

    assert_seen(bare, seen, "half-transparent colours over the page's grey")


def test_values_are_clamped(bare: BarePage) -> None:
    show(bare, [-1.0, 0.5, 2.0, 1e30, -1e30, float(2**20)], 1, 2, 3)
    assert_seen(bare, shows(1, 2, [(0.0, 0.5, 1.0), (1.0, 0.0, 1.0)]), "clamped colours")


def test_the_last_of_many_frames_is_seen(bare: BarePage) -> None:
    for frame in range(12):
        show(bare, [frame / 11, 0.25, 0.75] * 6, 2, 3, 3)
    assert_seen(bare, shows(2, 3, [(1.0, 0.25, 0.75)] * 6), "the last frame")


def test_arrays_are_drawn_as_they_are_shaped(bare: BarePage) -> None:
    height, width = 5, 7
    bare.run(f"""
        import numpy as np
        from browsergpu import KernelExecutor

        ramp = np.arange({height * width}, dtype=np.float32).reshape({width}, {height}) / 40
        array = KernelExecutor(backend).from_numpy(ramp)
        backend.draw(array.as_strided(({height}, {width}), (1, {height})))
        del array
        backend.synchronize()
    """)
    greys = [(x * height + y) / 40 for y in range(height) for x in range(width)]
    assert_seen(bare, shows(height, width, [(g, g, g) for g in greys]), "a transposed ramp")


def test_arrays_of_any_dtype_are_drawn(bare: BarePage) -> None:
    reads = bare.run("""
        import browsergpu as bg

        bg.use(backend)
        reads = backend.device.recorder.counters["readbacks"]
        x = bg.linspace(0, 1, 20).reshape(4, 5)
        bg.draw((x * 0.5 + 0.25).T[::-1])
        backend.synchronize()
        backend.device.recorder.counters["readbacks"] - reads
    """)
    assert reads == 0, "the picture was read back"
    greys = [(x * 5 + 4 - y) / 38 + 0.25 for y in range(5) for x in range(4)]
    assert_seen(bare, shows(5, 4, [(g, g, g) for g in greys]), "a turned ramp")
    bare.run("bg.draw(bg.asarray([[[0, 51, 255], [255, 102, 0]]], dtype=bg.uint8))")
    assert_seen(bare, shows(1, 2, [(0.0, 0.2, 1.0), (1.0, 0.4, 0.0)]), "colours of uint8")
    bare.run("""
        from browsergpu.engine.gpu import memory

        ceilings = memory._POOL_CEILING, memory._POOL_MOST
        memory._POOL_CEILING = memory._POOL_MOST = 0  # what is freed is destroyed
        bg.draw(x.T)
        memory._POOL_CEILING, memory._POOL_MOST = ceilings
    """)
    greys = [(column * 5 + row) / 19 for row in range(5) for column in range(4)]
    assert_seen(bare, shows(5, 4, [(g, g, g) for g in greys]), "a packed copy that nobody holds")
    bare.run("bg.draw(x[:2] > 0.2)")
    colours = [(float(i > 3),) * 3 for i in range(10)]
    assert_seen(bare, shows(2, 5, colours), "black and white")


def test_arrays_of_wrong_shapes_are_not_images(bare: BarePage) -> None:
    messages = bare.run("""
        import browsergpu as bg
        import numpy as np

        bg.use(backend)
        messages = []
        shapes = (3, (2, 2, 2), (0, 2), (1, 1, 3, 1))
        for bad in (np.ones((2, 2)), bg.ones((2, 2), dtype=bg.int32), *map(bg.ones, shapes)):
            try:
                bg.draw(bad)
            except (TypeError, ValueError) as error:
                messages.append(f"{type(error).__name__} {error}")
        messages
    """)
    assert [message.split()[0] for message in messages] == ["InvalidType"] * 2 + [
        "InvalidArgument"
    ] * 4
    assert all(message.split(" ", 1)[1].startswith("draw: x must ") for message in messages)


def test_results_of_an_op_are_drawn(bare: BarePage) -> None:
    bare.run("""
        import numpy as np

        pointer = backend.alloc(6 * 4)
        backend.copy_htod(pointer, np.array([-0.25, -1, 0, -0.5, -0.75, -0.125], np.float32))
        backend.unary("neg", pointer, pointer, 6)
        backend.draw(pointer, 1, 2, 3)
        backend.free(pointer)
        backend.synchronize()
    """)
    colours = [(0.25, 1.0, 0.0), (0.5, 0.75, 0.125)]
    assert_seen(bare, shows(1, 2, colours), "the negated values")


@pytest.mark.parametrize("bare", ["main"], indirect=True)
def test_an_element_that_is_no_canvas(bare: BarePage) -> None:
    message = bare.run("""
        from browsergpu.errors import InvalidArgument

        try:
            await WasmBackend.init_from_canvas("not-a-canvas")
            message = "nothing was raised"
        except InvalidArgument as error:
            message = str(error)
        message
    """)
    assert message.startswith("init_from_canvas: canvas_id must be ")
    assert "<canvas>" in message
    assert "got 'not-a-canvas'" in message


@pytest.mark.parametrize("bare", ["main"], indirect=True)
def test_a_canvas_of_another_kind_of_context(bare: BarePage) -> None:
    bare.page.evaluate("""() => {
      const canvas = document.createElement("canvas");
      canvas.id = "two-d";
      canvas.getContext("2d");
      document.body.append(canvas);
    }""")
    message = bare.run("""
        from browsergpu.errors import Unsupported

        pointer = backend.alloc(4)
        try:
            backend.draw(pointer, 1, 1, 1, "two-d")
            message = "nothing was raised"
        except Unsupported as error:
            message = str(error)
        backend.free(pointer)
        message
    """)
    assert "'two-d'" in message
    assert "2d" in message


def test_two_backends_draw_on_separate_canvases(bare: BarePage) -> None:
    # A second device takes the canvas over.
    bare.run("""
        import numpy as np

        other = await WasmBackend.init_from_canvas("gpu-canvas")
        pointer = other.alloc(12)
        other.copy_htod(pointer, np.array([0.0, 1.0, 0.5], np.float32))
        other.draw(pointer, 1, 1, 3)
        other.synchronize()
    """)
    try:
        assert_seen(bare, shows(1, 1, [(0.0, 1.0, 0.5)]), "the second backend's colour")
    finally:
        bare.run("other.close()")
    show(bare, [1.0, 0.5, 0.0], 1, 1, 3)
    assert_seen(bare, shows(1, 1, [(1.0, 0.5, 0.0)]), "the first backend's colour again")


@pytest.mark.parametrize("pause", [0, 0.2])
def test_an_image_stays_after_its_backend_is_dropped(bare: BarePage, pause: float) -> None:
    bare.run(f"""
        import asyncio
        import numpy as np

        async def paint():
            painter = await WasmBackend.init_from_canvas("gpu-canvas")
            pointer = painter.alloc(12)
            painter.copy_htod(pointer, np.array([0.0, {pause}, 1.0], np.float32))
            painter.draw(pointer, 1, 1, 3)
            await asyncio.sleep({pause})

        await paint()
    """)
    patience = _PATIENCE_FOR_LISTED if firefox.CHOSEN else PATIENCE_S
    assert_seen(bare, shows(1, 1, [(0.0, pause, 1.0)]), "what was painted", patience)
