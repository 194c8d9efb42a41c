"""Filter an image on the GPU with TensorBackend and show it on a canvas with draw.

The notebook's canvas has the id "gpu-canvas". In your own page, pass the id of your canvas.
"""

import numpy as np

from browsergpu import TensorBackend, WasmBackend

height, width = 48, 64
y, x = np.mgrid[:height, :width].astype(np.float32)
rings = 0.5 + 0.5 * np.sin(np.hypot(y - height / 2, x - width / 2) / 2)
picture = np.stack([rings, x / width, y / height], axis=-1, dtype=np.float32)  # RGB in 0..1
sigma, factor = 1.5, 1.6

with WasmBackend() as backend:
    backend.init()
    tensors = TensorBackend(backend)
    source = tensors.alloc_tensor(picture.shape, "f32")
    target = tensors.alloc_tensor(picture.shape, "f32")
    tensors.write_tensor(source, picture)
    tensors.gaussian_blur(source, target, sigma)
    tensors.contrast(target, target, factor)
    filtered = tensors.read_numpy(target)  # waits; or: await tensors.read_numpy_async(target)

    shown = backend.alloc(filtered.nbytes)
    backend.copy_htod(shown, filtered)
    backend.draw(shown, height, width, 3, "gpu-canvas")
    backend.synchronize()

# The same in NumPy: a Gaussian down the columns, then along the rows; border pixels repeat.
radius = int(np.ceil(3 * sigma))
bell = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
bell /= bell.sum()
padded = np.pad(picture, [(radius, radius), (radius, radius), (0, 0)], mode="edge")
blurred = sum(weight * padded[i : i + height] for i, weight in enumerate(bell))
blurred = sum(weight * blurred[:, i : i + width] for i, weight in enumerate(bell))
expected = np.clip((blurred - 0.5) * factor + 0.5, 0, 1)

np.testing.assert_allclose(filtered, expected, atol=1e-4)
print(f"{height} × {width} pixels, blurred and with more contrast")
