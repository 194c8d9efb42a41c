"""Datasets from files, as ``torchvision.datasets``. Nothing is downloaded."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from browsergpu.arrays.value import NODE
from browsergpu.engine.core.errors import InvalidArgument, UnknownName
from browsergpu.functions import creation
from browsergpu.torch.tensors.tensor import as_tensors
from browsergpu.torch.utils.data import Dataset
from browsergpu.torch.vision.transforms.functional import pillow, to_pil_image

IMG_EXTENSIONS = (
    ".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp",
)  # fmt: skip


def default_loader(path: str) -> Any:
    """Return the image of a file, as red, green and blue, by Pillow."""
    with open(path, "rb") as file:
        return pillow("ImageFolder").open(file).convert("RGB")


class VisionDataset(Dataset[Any]):
    """Base class: samples of an image and a target, with a transform for each."""

    def __init__(
        self, root: Any = None, transforms: Any = None, transform: Any = None,
        target_transform: Any = None,
    ) -> None:  # fmt: skip
        if transforms is not None and (transform is not None or target_transform is not None):
            name, expected = type(self).__name__, "None beside transform or target_transform"
            raise InvalidArgument(name, "transforms", transforms, expected)
        self.root, self.transforms = root, transforms
        self.transform, self.target_transform = transform, target_transform

    def _transformed(self, image: Any, target: Any) -> tuple[Any, Any]:
        if self.transforms is not None:
            found: tuple[Any, Any] = self.transforms(image, target)
            return found
        image = image if self.transform is None else self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)

    def __len__(self) -> int:
        raise NotImplementedError


class DatasetFolder(VisionDataset):
    """The files of a folder that has one folder for each class.

    Parameters
    ----------
    root : str or path
        The folder.
    loader : callable
        Returns the sample of a path.
    extensions : tuple of str, optional
        The ends of file names. Exactly one of ``extensions`` and ``is_valid_file`` is given.
    transform, target_transform : callable, optional
        Applied to each sample and to each class.
    is_valid_file : callable, optional
        Tells whether a path is a sample.
    allow_empty : bool, optional
        Whether classes without files are accepted.

    Raises
    ------
    FileNotFoundError
        If there are no folders, or a class has no files.
    """

    def __init__(
        self, root: Any, loader: Callable[[str], Any], extensions: Any = None,
        transform: Any = None, target_transform: Any = None, is_valid_file: Any = None,
        allow_empty: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, None, transform, target_transform)
        if (extensions is None) is (is_valid_file is None):
            expected = "given, or else is_valid_file"
            raise InvalidArgument(type(self).__name__, "extensions", extensions, expected)
        ends = None if extensions is None else tuple(
            (extensions,) if isinstance(extensions, str) else extensions
        )  # fmt: skip
        wanted = is_valid_file or (lambda path: path.lower().endswith(ends))
        self.loader, self.extensions = loader, extensions
        self.classes, self.class_to_idx = self.find_classes(root)
        self.samples: list[tuple[str, int]] = []
        for name, number in self.class_to_idx.items():
            files = sorted(one for one in Path(root, name).rglob("*") if one.is_file())
            found = [(str(one), number) for one in files if wanted(str(one))]
            if not found and not allow_empty:
                raise FileNotFoundError(f"{type(self).__name__}: no files for the class {name!r}.")
            self.samples += found
        self.targets = [target for _, target in self.samples]

    def find_classes(self, directory: Any) -> tuple[list[str], dict[str, int]]:
        """Return the names of the classes, and their numbers."""
        names = sorted(one.name for one in Path(directory).iterdir() if one.is_dir())
        if not names:
            message = f"{type(self).__name__}: {directory} has no folders, one for each class."
            raise FileNotFoundError(message)
        return names, {name: number for number, name in enumerate(names)}

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, target = self.samples[index]
        return self._transformed(self.loader(path), target)

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """The images of a folder that has one folder for each class: ``root/cat/1.png``.

    Parameters
    ----------
    root, transform, target_transform, is_valid_file, allow_empty
        As for :class:`DatasetFolder`.
    loader : callable, optional
        Returns the image of a path, by default as red, green and blue, by Pillow.
    """

    def __init__(
        self, root: Any, transform: Any = None, target_transform: Any = None,
        loader: Callable[[str], Any] = default_loader, is_valid_file: Any = None,
        allow_empty: bool = False,
    ) -> None:  # fmt: skip
        extensions = IMG_EXTENSIONS if is_valid_file is None else None
        super().__init__(
            root, loader, extensions, transform, target_transform, is_valid_file, allow_empty
        )
        self.imgs = self.samples


#: The dtypes of IDX files, by the third byte.
_IDX = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_MOST_BYTES = 2**32


def read_idx(path: Path) -> np.ndarray:
    """Return the array of an IDX file, the format of MNIST, also compressed with gzip.

    Raises
    ------
    ValueError
        If the file is no IDX file, or is incomplete.
    """
    opener: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            head = file.read(4)
            if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _IDX:
                raise ValueError(f"{path.name}: not an IDX file.")
            shape = tuple(np.frombuffer(file.read(4 * head[3]), ">i4").tolist())
            kind = np.dtype(_IDX[head[2]])
            expected = prod(shape) * kind.itemsize
            if len(shape) != head[3] or min(shape, default=0) < 0 or expected > _MOST_BYTES:
                raise ValueError(f"{path.name}: the shape {shape} is wrong.")
            data = file.read(expected + 1)  # not more, as a small file may expand without bounds
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path.name}: the file is damaged ({error}).") from error
    if len(data) != expected:
        raise ValueError(f"{path.name}: the file has not the {expected} bytes of {shape}.")
    return np.frombuffer(data, kind).reshape(shape).astype(kind.newbyteorder("="))


class MNIST(VisionDataset):
    """Handwritten digits, from the four files of MNIST.

    Parameters
    ----------
    root : str or path
        A folder with ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte`` and the files for
        tests, also compressed as ``.gz``, here or in ``MNIST/raw``.
    train : bool, optional
        Whether to take the images for training, or those for tests.
    transform, target_transform : callable, optional
        Applied to each image, an image of Pillow, and to each class.
    download : bool, optional
        Has no effect if the files are there. Otherwise it is refused.

    Raises
    ------
    FileNotFoundError
        If a file is missing.
    ValueError
        If a file is not one of MNIST's.
    """

    classes: ClassVar[list[str]] = [
        "0 - zero", "1 - one", "2 - two", "3 - three", "4 - four", "5 - five", "6 - six",
        "7 - seven", "8 - eight", "9 - nine",
    ]  # fmt: skip

    def __init__(
        self, root: Any, train: bool = True, transform: Any = None, target_transform: Any = None,
        download: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, None, transform, target_transform)
        self.train = train
        kind = "train" if train else "t10k"
        images = self._read(f"{kind}-images-idx3-ubyte", download)
        labels = self._read(f"{kind}-labels-idx1-ubyte", download)
        if images.ndim != 3 or labels.shape != images.shape[:1] or images.dtype != np.uint8:
            name = type(self).__name__
            message = f"{name}: images {images.shape} and labels {labels.shape} do not fit."
            raise ValueError(message)
        self.data, self.targets = images, labels.astype(np.int64)

    def _read(self, name: str, download: bool) -> np.ndarray:
        own = type(self).__name__
        for folder in (Path(self.root, own, "raw"), Path(self.root)):
            for path in (folder / name, folder / f"{name}.gz"):
                if path.is_file():
                    return read_idx(path)
        how = "Nothing is downloaded. " if download else ""
        message = f"{own}: {self.root} has no file {name}. {how}Put the four files of {own} there."
        raise FileNotFoundError(message)

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The numbers of the classes."""
        return {name: number for number, name in enumerate(self.classes)}

    @property
    def data(self) -> Any:
        """The images, a tensor [N, H, W] that can be replaced, and not be written to."""
        return self._data

    @data.setter
    def data(self, value: Any) -> None:
        self._images, self._data = _kept(value)

    @property
    def targets(self) -> Any:
        """The classes, a tensor [N] that can be replaced, and not be written to."""
        return self._targets

    @targets.setter
    def targets(self, value: Any) -> None:
        self._labels, self._targets = _kept(value)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self._transformed(to_pil_image(self._images[index]), int(self._labels[index]))

    def __len__(self) -> int:
        return len(self._images)


def _kept(values: Any) -> tuple[np.ndarray, Any]:
    """Return values on the host, and a tensor of them that refuses writes."""
    own = np.asarray(values)
    shown = as_tensors(creation.asarray(own))
    NODE.__get__(shown).is_read_only = True
    return own, shown


class FashionMNIST(MNIST):
    """Images of clothes, in files like those of :class:`MNIST`."""

    classes: ClassVar[list[str]] = [
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
        "Ankle boot",
    ]  # fmt: skip


class FakeData(VisionDataset):
    """Random images and classes, to try a program.

    Parameters
    ----------
    size : int, optional
        Number of images.
    image_size : tuple of int, optional
        Shape of an image, [C, H, W], with 1 or 3 channels.
    num_classes : int, optional
        Number of classes.
    transform, target_transform : callable, optional
        Applied to each image, an image of Pillow, and to each class.
    random_offset : int, optional
        Added to the seed of each image.
    """

    def __init__(
        self, size: int = 1000, image_size: tuple[int, int, int] = (3, 224, 224),
        num_classes: int = 10, transform: Any = None, target_transform: Any = None,
        random_offset: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(None, None, transform, target_transform)
        self.size, self.image_size, self.num_classes = size, tuple(image_size), num_classes
        self.random_offset = random_offset

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if not 0 <= index < self.size:
            raise IndexError(f"FakeData: index must be from 0 to {self.size - 1}, got {index}.")
        rng = np.random.default_rng(index + self.random_offset)
        channels, height, width = self.image_size
        pixels = rng.integers(0, 256, (height, width, channels), np.uint8)
        return self._transformed(to_pil_image(pixels), int(rng.integers(self.num_classes)))

    def __len__(self) -> int:
        return self.size


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torchvision.datasets.{name}", "it is not available. ImageFolder is.")
