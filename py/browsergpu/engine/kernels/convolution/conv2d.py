"""Two-dimensional convolution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.grids import blocks, fits, fold, layers
from browsergpu.engine.core.remembered import remembered
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.chains import is_chain, with_chain
from browsergpu.engine.kernels.base.facts import Facts
from browsergpu.engine.kernels.base.family import Variant
from browsergpu.engine.kernels.convolution import depthwise
from browsergpu.engine.kernels.matmul.products import function_code

BIAS, SCALE, RESIDUAL = 1, 2, 4  # bits of ``added`` for the operands that exist
_ACTIVATION_BIT, _LAST_BIT = 8, 16  # lowest bits of the codes of functions in ``added``
#: Maximum filters per group for the depthwise kernel.
_FEW_FILTERS = 8
SUM_THREADS = 128  # of conv2d_sum
#: Size classes by number of outputs: this many or more.
AMOUNTS = {
    "384k": 3 << 17,
    "256k": 1 << 18,
    "128k": 1 << 17,
    "64k": 1 << 16,
    "32k": 1 << 15,
    "0": 0,
}
#: Minimum steps of the inner loop per part of a sum.
_LEAST = 4
#: Minimum parts of a sum. Fewer save less time than the dispatch that adds them takes.
_LEAST_PARTS = 4
#: Filters per tile of conv2d_window_large, and how many of them may be missing on average.
LARGE_FILTERS, _MISSING = 64, 16
WINDOW_KERNELS = ("conv2d_window", "conv2d_window_large")

Pair = tuple[int, int]
Grid = tuple[int, int, int]
#: Maximum stride and dilation.
_LARGEST_STEP = 2**16 - 1

Dispatch = tuple[Grid, tuple[int, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Convolution:
    """A validated convolution.

    Channels and filters are per group. Pairs are (vertical, horizontal). ``padding`` are the zeros
    before the image, and ``after`` those after it.
    """

    images: int
    groups: int
    channels: int
    filters: int
    image: Pair
    kernel: Pair
    out: Pair
    stride: Pair
    padding: Pair
    dilation: Pair
    after: Pair

    @property
    def kind(self) -> str:
        """Return "window" for WINDOW_KERNELS, "point" for a plain 1 × 1, else "other"."""
        if self.kernel == (3, 3) and self.stride == (1, 1) and self.dilation == (1, 1):
            return "window"
        is_bare = self.padding == self.after == (0, 0)
        return "point" if self.kernel == (1, 1) and is_bare else "other"

    def window_grid(self, variant: Variant) -> tuple[int, int]:
        """Return a window kernel's workgroups: tiles of filters and columns, and of rows."""
        traits = variant.traits
        columns = blocks(self.out[1], self.window_columns(variant))
        across = blocks(self.filters, traits["filters"]) * columns
        return across, blocks(self.out[0], traits["rows"])

    def window_columns(self, variant: Variant) -> int:
        """Return the columns of a window kernel's tile, of two widths the less wasteful."""
        columns = variant.traits["columns"]
        widths = (columns, variant.traits.get("narrow", columns))
        return min(widths, key=lambda width: blocks(self.out[1], width) * width)

    @property
    def size_class(self) -> str:
        """The kind and a class of the number of outputs.

        It is "depthwise" if each of a few filters sees only one channel.
        """
        if self.channels == 1 and self.filters <= _FEW_FILTERS:
            return "depthwise"
        outputs = self.images * self.groups * self.filters * product(self.out)
        amounts = iter(AMOUNTS.items())
        if self.kind == "window" and not self._fills_large_tiles:
            next(amounts)
        amount = next(name for name, least in amounts if outputs >= least)
        return f"{self.kind} {amount}"

    @property
    def _fills_large_tiles(self) -> bool:
        tiles = blocks(self.filters, LARGE_FILTERS)
        return LARGE_FILTERS * tiles - self.filters <= _MISSING * tiles


@dataclass(frozen=True, slots=True, eq=False)
class Conv2dPlan:
    """Required elements of each operand, output shape, problem and size class."""

    input_elements: int
    filter_elements: int
    output_elements: int
    output_shape: tuple[int, int, int, int]
    problem: Convolution
    size_class: str

    def able(self, variant: Variant) -> bool:
        """Return whether a variant supports the problem."""
        return _able(self.problem, variant)


def _able(problem: Convolution, variant: Variant) -> bool:
    if variant.kernel == "conv2d_stream":
        return problem.kind == "point" and problem.channels % 4 == 0
    if variant.kernel in WINDOW_KERNELS:
        return problem.kind == "window" and fits(*problem.window_grid(variant))
    if variant.kernel == depthwise.KERNEL:
        return problem.channels == 1
    return True


@dataclass(frozen=True, slots=True)
class Steps:
    """The dispatches of a kernel.

    If the kernel leaves more than one of ``parts`` per output, conv2d_sum follows.
    """

    kernel: str
    configuration: str
    dispatches: tuple[Dispatch, ...]
    parts: int = 1
    sum: Dispatch | None = None
    sum_configuration: str = ""


def packed(pair: Pair) -> int:
    """Return a stride or dilation in one word, as kernels take it."""
    return pair[0] | pair[1] << 16


def _within_16_bits(op: str, name: str, pair: Pair, counts: Pair) -> Pair:
    """Return a stride or dilation that fits in 16 bits.

    Along an axis with a single window or kernel element, it is only multiplied by 0, so any number
    within 16 bits gives the same result.
    """
    found = tuple(
        min(one, _LARGEST_STEP) if count == 1 else one
        for one, count in zip(pair, counts, strict=True)
    )
    if max(found) > _LARGEST_STEP:
        raise InvalidArgument(op, name, pair, f"at most {_LARGEST_STEP:,}")
    return found[0], found[1]


def output_extent(size: int, kernel: int, stride: int, zeros: int, dilation: int = 1) -> int:
    """Return the height or width of the output, less than 1 if the kernel does not fit.

    It is floor((size + zeros - dilation (kernel - 1) - 1) / stride) + 1. ``zeros`` are the elements
    of the padding at both ends.
    """
    return (size + zeros - dilation * (kernel - 1) - 1) // stride + 1


@remembered
def plan_conv2d(
    op: str,
    input_shape: Any,
    filter_shape: Any,
    output_shape: Any,
    stride: Any,
    padding: Any,
    dilation: Any = 1,
    groups: Any = 1,
    after: Any = None,
) -> Conv2dPlan:
    """Validate the arguments of ``WasmBackend.conv2d_forward`` except the buffers.

    With groups, a filter sees only the channels of its group. ``output_shape`` is computed if it is
    None. ``after`` is the padding below and to the right of the images, if it differs.
    """
    images, channels, height, width = checks.dimensions(op, "input_shape", input_shape, 4)
    filters, depth, kernel_h, kernel_w = checks.dimensions(op, "filter_shape", filter_shape, 4)
    given = None if output_shape is None else checks.dimensions(op, "output_shape", output_shape, 4)
    stride_h, stride_w = checks.pair(op, "stride", stride, 1)
    pad_h, pad_w = checks.pair(op, "padding", padding)
    below, right = (pad_h, pad_w) if after is None else checks.pair(op, "padding", after)
    dilation_h, dilation_w = checks.pair(op, "dilation", dilation, 1)
    groups = checks.integer(op, "groups", groups, 1)
    if channels % groups or filters % groups:
        raise InvalidArgument(
            op, "groups", groups, f"a divisor of {channels} channels and of {filters} filters"
        )
    if depth != channels // groups:
        of_group = "as input_shape has" if groups == 1 else f"as one of {groups} groups has"
        raise InvalidArgument(
            op, "filter_shape", filter_shape, f"have {channels // groups} channels, {of_group}"
        )
    if kernel_h < 1 or kernel_w < 1:
        raise InvalidArgument(op, "filter_shape", filter_shape, "a kernel of at least 1 × 1")
    out_h = output_extent(height, kernel_h, stride_h, pad_h + below, dilation_h)
    out_w = output_extent(width, kernel_w, stride_w, pad_w + right, dilation_w)
    if out_h < 1 or out_w < 1:
        padded = f"{height + pad_h + below} × {width + pad_w + right}"
        raise InvalidArgument(
            op, "filter_shape", filter_shape, f"a kernel that fits the padded input of {padded}"
        )
    expected = (images, filters, out_h, out_w)
    if given is not None and given != expected:
        raise InvalidArgument(op, "output_shape", output_shape, str(expected))
    stride = _within_16_bits(op, "stride", (stride_h, stride_w), (out_h, out_w))
    dilation = _within_16_bits(op, "dilation", (dilation_h, dilation_w), (kernel_h, kernel_w))
    problem = Convolution(
        images, groups, depth, filters // groups, (height, width), (kernel_h, kernel_w),
        (out_h, out_w), stride, (pad_h, pad_w), dilation, (below, right),
    )  # fmt: skip
    return Conv2dPlan(
        images * channels * height * width,
        filters * depth * kernel_h * kernel_w,
        images * filters * out_h * out_w,
        expected,
        problem,
        problem.size_class,
    )


def with_after(configuration: str) -> str:
    """Return the configuration that computes more than a bias."""
    return f"{configuration} after".lstrip()


def _steps(plan: Conv2dPlan, variant: Variant, added: int) -> Steps:
    p = plan.problem
    is_after = added > BIAS
    if variant.kernel == depthwise.KERNEL:
        return _by_channel(p, added)
    if variant.kernel == "conv2d_stream":
        return _streamed(p, variant, added)
    traits, configuration = variant.traits, variant.configuration
    fields: tuple[int, ...]
    if variant.kernel in WINDOW_KERNELS:
        if p.window_columns(variant) != traits["columns"]:
            configuration = f"{configuration}_narrow"
        across = p.window_grid(variant)
        tiles = product(across)
        terms = p.channels
        fields = (p.channels, *p.image, p.filters, *p.out, *p.padding, p.groups, added)
    else:
        if p.kind == "point":
            configuration = f"{configuration}_pointwise"
        tiles = blocks(p.filters, traits["filters"]) * blocks(product(p.out), traits["pixels"])
        across = fold(tiles)[:2]
        terms = p.channels * product(p.kernel)
        fields = (
            p.channels, *p.image, p.filters, *p.kernel, *p.out, packed(p.stride), *p.padding,
            packed(p.dilation), p.groups, added,
        )  # fmt: skip
    count = p.images * p.groups
    chunk = _chunk(terms, tiles * count, traits)
    parts = blocks(terms, chunk)  # none without channels: conv2d_sum writes zeros
    if parts > 1:
        fields = (*fields[:-1], 0)  # conv2d_sum adds the bias and residual
    elif is_after:
        configuration = with_after(configuration)
    dispatches = tuple(
        ((*across, some), (*fields, chunk, first)) for first, some in layers(count * parts)
    )
    if parts == 1:
        return Steps(variant.kernel, configuration, dispatches)
    n, pixels = plan.output_elements, product(p.out)
    summed = (n, p.filters * pixels, parts, pixels, p.groups * p.filters, added)
    last = (fold(blocks(n, SUM_THREADS)), summed)
    sums = with_after("") if is_after else ""
    return Steps(variant.kernel, configuration, dispatches, parts, last, sums)


def _by_channel(p: Convolution, added: int) -> Steps:
    made = depthwise.dispatch(
        p.image, p.images * p.groups * p.filters, p.filters, p.groups, p.kernel, p.out, p.stride,
        p.padding, p.dilation, added,
    )  # fmt: skip
    configuration = "after" if added > BIAS else "bias" if added else ""
    return Steps(depthwise.KERNEL, configuration, (made,))


def _streamed(p: Convolution, variant: Variant, added: int) -> Steps:
    pixels = product(p.out)
    tiles = blocks(p.filters, variant.traits["filters"]) * blocks(pixels, variant.traits["pixels"])
    x, y, _ = fold(tiles)
    fields = (p.channels, *p.image, p.filters, *p.out, *p.stride, p.groups, added)
    made = tuple(((x, y, some), (*fields, first)) for first, some in layers(p.images * p.groups))
    vector = p.stride == (1, 1) and pixels % 4 == 0
    configuration = "vector" if vector else ""
    return Steps(variant.kernel, with_after(configuration) if added > BIAS else configuration, made)


def _chunk(terms: int, workgroups: int, traits: Mapping[str, int]) -> int:
    """Return the number of terms of each sum that a workgroup adds.

    This is fewer than all of them if the variant asks for more workgroups than there are tiles.
    """
    depth = traits["depth"]
    if traits["workgroups"] > workgroups:
        parts = min(blocks(traits["workgroups"], workgroups), terms // (_LEAST * depth))
        if parts >= _LEAST_PARTS:
            return blocks(blocks(terms, parts), depth) * depth
    return max(1, terms)


def conv2d(
    build: Build,
    x: Slot,
    w: Slot,
    y: Slot,
    plan: Conv2dPlan,
    bias: Slot | None = None,
    scale: Slot | None = None,
    residual: Slot | None = None,
    activation: str | None = None,
    last: str | None = None,
    totals: Slot | None = None,
) -> None:
    """Add y = last(activation(scale * cross-correlation of x with w + bias) + residual).

    ``scale`` and ``bias`` have one number per filter, and ``residual`` has the shape of y.
    ``activation`` and ``last`` are names of ``products.ACTIVATIONS`` or of one chain. ``totals``
    gets :func:`totals_of_planes` sums of each plane of y. y and ``totals`` must be different
    buffers from all others.
    """
    if not plan.output_elements:
        return
    variant = build.facts.variants.choose("conv2d", plan.size_class, plan.able)
    given = (bias, scale, residual)
    added = _added(given, activation, last)
    chain = last if is_chain(last) else activation
    ends = [w if slot is None else slot for slot in given]  # every binding needs a buffer
    if totals is not None:
        p = plan.problem
        steps = _by_channel(p, added)
        planes = p.images * p.groups * p.filters
        grid, fields = depthwise.with_totals(steps.dispatches[0], planes, p.out)
        configuration = with_chain(steps.configuration, chain)
        slots = (x, w, *ends, y, totals)
        build.dispatch(depthwise.WITH_TOTALS, configuration, grid, slots, *fields)
        return
    steps = _steps(plan, variant, added)
    # conv2d_stream binds the input twice, as elements and as vec4s.
    read = (x, x, w, *ends) if steps.kernel == "conv2d_stream" else (x, w, *ends)
    size = 4 * steps.parts * plan.output_elements
    made = y if steps.sum is None else build.temporary(size)
    configuration = steps.configuration
    if steps.sum is None:
        configuration = with_chain(configuration, chain)
    for grid, fields in steps.dispatches:
        build.dispatch(steps.kernel, configuration, grid, (*read, made), *fields)
    if steps.sum is not None:
        grid, fields = steps.sum
        configuration = with_chain(steps.sum_configuration, chain)
        build.dispatch("conv2d_sum", configuration, grid, (made, *ends, y), *fields)
        build.release(made)


def _added(given: Sequence[Slot | None], activation: str | None, last: str | None) -> int:
    """Return the bits of the operands that exist, bias, scale and residual, and of functions."""
    bits = (BIAS, SCALE, RESIDUAL)
    added = sum(bit for bit, slot in zip(bits, given, strict=True) if slot is not None)
    return added + (function_code(activation) << _ACTIVATION_BIT | function_code(last) << _LAST_BIT)


def is_depthwise(facts: Facts, plan: Conv2dPlan) -> bool:
    """Return whether the depthwise kernel computes a convolution."""
    if plan.size_class != "depthwise" or not plan.output_elements:
        return False
    return facts.variants.choose("conv2d", plan.size_class, plan.able).kernel == depthwise.KERNEL


def totals_of_planes(facts: Facts, plan: Conv2dPlan) -> int:
    """Return how many sums of each plane of y a kernel can write beside a convolution, or 0."""
    return depthwise.totals_of(plan.problem.out) if is_depthwise(facts, plan) else 0


def depthwise_of_halves(
    build: Build,
    x: Slot,
    w: Slot,
    y: Slot,
    plan: Conv2dPlan,
    bias: Slot | None = None,
    scale: Slot | None = None,
    residual: Slot | None = None,
    activation: str | None = None,
    last: str | None = None,
) -> None:
    """Add the convolution of :func:`conv2d` for float16 x, w, y and ``residual``.

    ``scale`` and ``bias`` are float32. It needs :func:`is_depthwise`.
    """
    p = plan.problem
    given = (bias, scale, residual)
    ends = [w if slot is None else slot for slot in given]  # every binding needs a buffer
    depthwise.add_halves(
        build, (x, w, *ends, y), p.images * p.groups * p.filters, p.filters, p.groups, p.image,
        p.kernel, p.out, p.stride, p.padding, p.dilation, _added(given, activation, last),
        last if is_chain(last) else activation,
    )  # fmt: skip
