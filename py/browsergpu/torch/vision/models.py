"""Residual networks, as ``torchvision.models``.

The parameters have torchvision's names and shapes, so its files of weights can be loaded:
``model.load_state_dict(torch.load("resnet18.pth"))``.
"""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.errors import InvalidArgument, UnknownName
from browsergpu.torch import nn as _nn

nn: Any = _nn  # its layers are made at import


def _conv3x3(before: int, after: int, stride: int = 1, groups: int = 1, dilation: int = 1) -> Any:
    return nn.Conv2d(
        before, after, 3, stride, padding=dilation, dilation=dilation, groups=groups, bias=False
    )


def _conv1x1(before: int, after: int, stride: int = 1) -> Any:
    return nn.Conv2d(before, after, 1, stride, bias=False)


class BasicBlock(_nn.Module):
    """Two convolutions, and the input added to their result."""

    expansion = 1

    def __init__(
        self, inplanes: int, planes: int, stride: int = 1, downsample: Any = None, groups: int = 1,
        base_width: int = 64, dilation: int = 1, norm_layer: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        norm = nn.BatchNorm2d if norm_layer is None else norm_layer
        if groups != 1 or base_width != 64 or dilation != 1:
            expected = "1 group, a width of 64 and a dilation of 1"
            given = (groups, base_width, dilation)
            raise InvalidArgument("BasicBlock", "groups", given, expected, "Use Bottleneck.")
        self.conv1, self.bn1 = _conv3x3(inplanes, planes, stride), norm(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2, self.bn2 = _conv3x3(planes, planes), norm(planes)
        self.downsample, self.stride = downsample, stride

    def forward(self, x: Any) -> Any:
        """Return the block's result."""
        found = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(found + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(_nn.Module):
    """Convolutions of size 1, 3 and 1, and the input added to their result."""

    expansion = 4

    def __init__(
        self, inplanes: int, planes: int, stride: int = 1, downsample: Any = None, groups: int = 1,
        base_width: int = 64, dilation: int = 1, norm_layer: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        norm = nn.BatchNorm2d if norm_layer is None else norm_layer
        width = int(planes * (base_width / 64)) * groups
        self.conv1, self.bn1 = _conv1x1(inplanes, width), norm(width)
        self.conv2, self.bn2 = _conv3x3(width, width, stride, groups, dilation), norm(width)
        self.conv3 = _conv1x1(width, planes * self.expansion)
        self.bn3 = norm(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample, self.stride = downsample, stride

    def forward(self, x: Any) -> Any:
        """Return the block's result."""
        found = self.relu(self.bn1(self.conv1(x)))
        found = self.bn3(self.conv3(self.relu(self.bn2(self.conv2(found)))))
        return self.relu(found + (x if self.downsample is None else self.downsample(x)))


class ResNet(_nn.Module):
    """A residual network for images [N, 3, H, W].

    Parameters
    ----------
    block : type
        BasicBlock or Bottleneck.
    layers : list of int
        The numbers of blocks of the four stages.
    num_classes : int, optional
        Length of the result, [N, num_classes].
    zero_init_residual : bool, optional
        Whether the last norm of each block begins with a weight of 0.
    groups, width_per_group : int, optional
        Groups of the 3x3 convolutions, and their width.
    replace_stride_with_dilation : list of bool, optional
        For the last three stages, whether to dilate instead of taking every second pixel.
    norm_layer : callable, optional
        BatchNorm2d by default.
    """

    def __init__(
        self, block: Any, layers: Any, num_classes: int = 1000, zero_init_residual: bool = False,
        groups: int = 1, width_per_group: int = 64, replace_stride_with_dilation: Any = None,
        norm_layer: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        norm = nn.BatchNorm2d if norm_layer is None else norm_layer
        dilated = replace_stride_with_dilation or [False] * 3
        if len(dilated) != 3:
            argument = "replace_stride_with_dilation"
            raise InvalidArgument("ResNet", argument, dilated, "None or three bools")
        self._norm, self.inplanes, self.dilation = norm, 64, 1
        self.groups, self.base_width = groups, width_per_group
        self.conv1 = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False)
        self.bn1, self.relu = norm(64), nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        self.layer1 = self._stage(block, 64, layers[0])
        self.layer2 = self._stage(block, 128, layers[1], 2, dilated[0])
        self.layer3 = self._stage(block, 256, layers[2], 2, dilated[1])
        self.layer4 = self._stage(block, 512, layers[3], 2, dilated[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif zero_init_residual and isinstance(module, Bottleneck | BasicBlock):
                last = module.bn3 if isinstance(module, Bottleneck) else module.bn2
                nn.init.constant_(last.weight, 0)

    def _stage(
        self, block: Any, planes: int, blocks: int, stride: int = 1, dilate: bool = False
    ) -> Any:
        before = self.dilation
        if dilate:
            self.dilation *= stride
            stride = 1
        downsample = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(
                _conv1x1(self.inplanes, planes * block.expansion, stride),
                self._norm(planes * block.expansion),
            )
        more = (self.groups, self.base_width)
        found = [block(self.inplanes, planes, stride, downsample, *more, before, self._norm)]
        self.inplanes = planes * block.expansion
        for _ in range(1, blocks):
            found.append(block(self.inplanes, planes, 1, None, *more, self.dilation, self._norm))
        return nn.Sequential(*found)

    def forward(self, x: Any) -> Any:
        """Return the logits of the classes."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def _resnet(name: str, block: Any, layers: list[int]) -> Any:
    def make(*, weights: Any = None, progress: bool = True, **options: Any) -> ResNet:
        del progress  # nothing is downloaded
        if weights is not None:
            advice = "Load a file of weights with model.load_state_dict(torch.load(file))."
            raise InvalidArgument(name, "weights", weights, "None", advice)
        return ResNet(block, layers, **options)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"Return a new {name.replace('resnet', 'ResNet-')}. Options are ResNet's."
    return make


resnet18 = _resnet("resnet18", BasicBlock, [2, 2, 2, 2])
resnet34 = _resnet("resnet34", BasicBlock, [3, 4, 6, 3])
resnet50 = _resnet("resnet50", Bottleneck, [3, 4, 6, 3])
resnet101 = _resnet("resnet101", Bottleneck, [3, 4, 23, 3])
resnet152 = _resnet("resnet152", Bottleneck, [3, 8, 36, 3])

__all__ = ["ResNet", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152"]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torchvision.models.{name}", "it is not available. ResNets are.")
