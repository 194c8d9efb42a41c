"""``browsergpu.torch.vision``: transforms, networks and datasets by torchvision's names.

The expected values of resized images are those of torchvision 0.29 for the same pixels.
"""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

import browsergpu.torch as torch
import browsergpu.torch.vision as torchvision
from browsergpu.torch.vision import datasets, models, transforms
from browsergpu.torch.vision.transforms import functional as F

pytestmark = pytest.mark.native
PIXELS = (np.arange(3 * 6 * 8).reshape(3, 6, 8) * 37 % 256).astype(np.uint8)
#: torchvision's results of resizing the first channel, with values from 0 to 1.
SMALL = np.array([
    [0.3564499616622925, 0.5844071507453918, 0.36449944972991943],
    [0.639628529548645, 0.39691880345344543, 0.44953566789627075],
])  # fmt: skip
LARGE = [
    0.3884419798851013, 0.5100283622741699, 0.6375023722648621, 0.8520321846008301,
    0.7196078300476074, 0.2784125506877899, 0.06500715017318726, 0.2896396815776825,
    0.40763646364212036,
]  # fmt: skip


def test_conversions() -> None:
    image = pytest.importorskip("PIL.Image").fromarray(np.moveaxis(PIXELS, 0, -1))
    for given in (image, np.moveaxis(PIXELS, 0, -1)):
        x = transforms.ToTensor()(given)
        np.testing.assert_allclose(x, PIXELS / np.float32(255), rtol=1e-6)
    assert F.pil_to_tensor(image).tolist() == PIXELS.tolist()
    back = transforms.ToPILImage()(transforms.ToTensor()(image))
    np.testing.assert_array_equal(np.array(back), np.array(image))
    assert F.to_tensor(np.ones((2, 2), np.float32)).shape == (1, 2, 2)
    half = F.convert_image_dtype(torch.tensor(PIXELS), torch.float32)
    np.testing.assert_allclose(half, PIXELS / np.float32(255), rtol=1e-6)
    assert F.convert_image_dtype(half, torch.uint8).tolist() == PIXELS.tolist()


def test_normalize() -> None:
    x = torch.tensor(PIXELS / np.float32(255))
    mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    expected = (x.numpy() - np.float32(mean)[:, None, None]) / np.float32(std)[:, None, None]
    np.testing.assert_allclose(transforms.Normalize(mean, std)(x), expected, rtol=1e-5)
    F.normalize(x, mean, std, inplace=True)
    np.testing.assert_allclose(x, expected, rtol=1e-5)
    assert repr(transforms.Normalize([0.5], [0.5])) == "Normalize(mean=[0.5], std=[0.5])"


def test_sizes_and_crops() -> None:
    x = torch.tensor(PIXELS)
    assert F.resize(x, 3).shape == (3, 3, 4)
    assert F.resize(x, [3, 5]).shape == (3, 3, 5)
    assert F.resize(x, 12, max_size=14).shape == (3, 10, 14)
    assert F.center_crop(x, 4).tolist() == PIXELS[:, 1:5, 2:6].tolist()
    wide = F.center_crop(x, (2, 10))
    assert wide.tolist() == np.pad(PIXELS[:, 2:4], ((0, 0), (0, 0), (1, 1))).tolist()
    assert F.crop(x, -1, 6, 3, 4).tolist() == (
        np.pad(PIXELS, ((0, 0), (1, 0), (0, 2)))[:, :3, 6:10].tolist()
    )
    assert F.hflip(x).tolist() == PIXELS[..., ::-1].tolist()
    assert F.vflip(x).tolist() == PIXELS[:, ::-1].tolist()
    for mode in ("edge", "reflect", "symmetric"):
        expected = np.pad(PIXELS, ((0, 0), (2, 4), (1, 3)), mode=mode)  # type: ignore[arg-type]
        assert F.pad(x, (1, 2, 3, 4), padding_mode=mode).tolist() == expected.tolist()
    assert F.pad(x, 1, fill=7)[0, 0].tolist() == [7] * 10


def test_resized_values() -> None:
    x = torch.tensor(PIXELS[:1] / np.float32(255))
    small = F.resize(x, [2, 3]).numpy()[0]
    np.testing.assert_allclose(small, SMALL, atol=2e-6)
    large = F.resize(x, [7, 9], F.InterpolationMode.BICUBIC).numpy()[0, 3]
    np.testing.assert_allclose(large, LARGE, atol=2e-6)
    whole = F.resize(torch.tensor(PIXELS[:1]), [2, 3]).numpy()[0]
    assert np.abs(whole - SMALL * 255).max() <= 1
    nearest = F.resize(torch.tensor(PIXELS[:1]), [3, 4], F.InterpolationMode.NEAREST)
    assert nearest.tolist() == PIXELS[:1, ::2, ::2].tolist()


def test_gray() -> None:
    x = torch.tensor(PIXELS / np.float32(255))
    expected = np.tensordot(np.float32([0.2989, 0.587, 0.114]), x.numpy(), 1)
    np.testing.assert_allclose(F.rgb_to_grayscale(x)[0], expected, rtol=1e-5)
    three = transforms.Grayscale(3)(x)
    np.testing.assert_allclose(three, np.stack([expected] * 3), rtol=1e-5)


def test_random_transforms() -> None:
    torch.manual_seed(3)
    x = torch.tensor(PIXELS)
    crops = transforms.RandomCrop(4, padding=1)
    places = {crops(x).numpy().tobytes() for _ in range(20)}
    assert len(places) > 5
    torch.manual_seed(3)
    assert crops(x).numpy().tobytes() in places
    flips = [transforms.RandomHorizontalFlip(p)(x).numpy() for p in (0.0, 1.0)]
    np.testing.assert_array_equal(flips, [PIXELS, PIXELS[..., ::-1]])
    several = transforms.Compose([
        transforms.RandomResizedCrop(5), transforms.RandomVerticalFlip(),
        transforms.RandomApply([transforms.Grayscale(3)], p=1.0),
    ])  # fmt: skip
    assert several(x).shape == (3, 5, 5)


def test_wrong_arguments() -> None:
    x = torch.tensor(PIXELS)
    for wrong, error in (
        (lambda: F.resize(x, [1, 2, 3]), ValueError), (lambda: F.resize(PIXELS, 3), TypeError),
        (lambda: F.resize(x, 4, max_size=3), ValueError),
        (lambda: F.resize(x, 4, "no"), ValueError),
        (lambda: F.normalize(x, [0.5], [0.5]), TypeError),
        (lambda: F.normalize(x / 255, [0.5], [0.0]), ValueError),
        (lambda: transforms.RandomCrop(9)(x), ValueError), (lambda: F.pad(x, -1), ValueError),
        (lambda: transforms.RandomHorizontalFlip(2), ValueError),
        (lambda: torchvision.models.resnet18(weights="DEFAULT"), ValueError),
        (lambda: torchvision.models.vgg16, AttributeError),
        (lambda: torchvision.transforms.AutoAugment, AttributeError),
    ):  # fmt: skip
        with pytest.raises(error):
            wrong()


def test_residual_networks() -> None:
    torch.manual_seed(0)
    net = models.resnet18(num_classes=5)
    names = net.state_dict().keys()
    assert {"conv1.weight", "layer2.0.downsample.1.running_mean", "fc.bias"} <= names
    assert len(names) == 122
    assert sum(p.numel() for p in models.resnet50().parameters()) == 25_557_032
    net.eval()
    found = net(torch.zeros(1, 3, 32, 32))
    assert found.shape == (1, 5)
    grouped = models.ResNet(models.Bottleneck, [1, 1, 1, 1], groups=2, width_per_group=32,
                            replace_stride_with_dilation=[False, False, True])  # fmt: skip
    assert grouped.layer4[0].conv2.stride == (1, 1)


def _idx(data: np.ndarray) -> bytes:
    return struct.pack(f">BBBB{data.ndim}i", 0, 0, 8, data.ndim, *data.shape) + data.tobytes()


def test_mnist_from_files(tmp_path: Path) -> None:
    pytest.importorskip("PIL.Image")
    images = np.arange(2 * 28 * 28).reshape(2, 28, 28).astype(np.uint8)
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(_idx(images)))
    labels = tmp_path / "train-labels-idx1-ubyte"
    labels.write_bytes(_idx(np.uint8([7, 3])))
    found = datasets.MNIST(tmp_path, transform=transforms.ToTensor(), download=True)
    image, label = found[1]
    np.testing.assert_allclose(image[0], images[1] / np.float32(255), rtol=1e-6)
    assert (label, len(found), found.targets.tolist()) == (3, 2, [7, 3])
    batch = next(iter(torch.utils.data.DataLoader(found, batch_size=2)))
    assert batch[0].shape == (2, 1, 28, 28)
    with pytest.raises(FileNotFoundError, match="Nothing is downloaded"):
        datasets.MNIST(tmp_path, train=False, download=True)
    with pytest.raises(ValueError, match="read-only"):
        found.targets[0] = 0
    keep = found.targets == 3
    found.data, found.targets = found.data[keep], found.targets[keep]
    assert (len(found), found[0][1]) == (1, 3)
    for wrong in (b"", b"PK\x03\x04", _idx(np.uint8([7, 3]))[:-1], _idx(np.uint8([7]))):
        labels.write_bytes(wrong)
        with pytest.raises(ValueError, match=r"labels|MNIST"):
            datasets.MNIST(tmp_path)
    labels.unlink()
    for wrong in (b"no gzip", gzip.compress(_idx(np.uint8([7, 3])))[:-9]):
        (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(wrong)
        with pytest.raises(ValueError, match="damaged"):
            datasets.MNIST(tmp_path)


def test_folders_of_images(tmp_path: Path) -> None:
    module = pytest.importorskip("PIL.Image")
    for name, value in (("cat", 10), ("dog", 200)):
        (tmp_path / name).mkdir()
        module.fromarray(np.full((4, 4, 3), value, np.uint8)).save(tmp_path / name / "1.png")
    found = datasets.ImageFolder(tmp_path, transform=transforms.ToTensor())
    assert found.class_to_idx == {"cat": 0, "dog": 1}
    assert [(round(x.max().item() * 255), y) for x, y in (found[0], found[1])] == [
        (10, 0),
        (200, 1),
    ]
    (tmp_path / "emu").mkdir()
    with pytest.raises(FileNotFoundError, match="'emu'"):
        datasets.ImageFolder(tmp_path)


def test_grids(tmp_path: Path) -> None:
    images = torch.arange(5.0).reshape(5, 1, 1, 1).expand(5, 3, 2, 2)
    grid = torchvision.utils.make_grid(images, nrow=3, padding=1, pad_value=9)
    assert grid.shape == (3, 7, 10)
    assert grid[0, 1].tolist() == [9, 0, 0, 9, 1, 1, 9, 2, 2, 9]
    assert grid[0, 4, 7:].tolist() == [9, 9, 9]
    scaled = torchvision.utils.make_grid(images, normalize=True)
    assert (scaled.min().item(), scaled.max().item()) == (0, 1)
    module = pytest.importorskip("PIL.Image")
    torchvision.utils.save_image(images / 4, tmp_path / "grid.png", nrow=3)
    assert module.open(tmp_path / "grid.png").size == (14, 10)
