"""Run the same source in the page, in JupyterLab, or as a script with browsergpu[native] installed.

Heat spreads over a plate whose edges stay cold. Each step adds views of one array in a single
kernel. Only the final state is read.
"""

from typing import Any

import numpy as np

import browsergpu as bg

size, steps, rate = 64, 50, np.float32(0.2)
start = np.zeros((size, size), np.float32)
start[size // 4 : size // 2, size // 3 : size // 2] = 1


def spread(heat: Any) -> Any:
    """Take one step, with NumPy arrays or GPU arrays."""
    middle = heat[1:-1, 1:-1]
    around = heat[:-2, 1:-1] + heat[2:, 1:-1] + heat[1:-1, :-2] + heat[1:-1, 2:]
    heat[1:-1, 1:-1] = middle + rate * (around - 4 * middle)
    return heat


heat = bg.asarray(start)
for _ in range(steps):
    heat = spread(heat)
result = heat.numpy()  # waits; or: await heat.numpy_async()

# The same in NumPy
expected = start.copy()
for _ in range(steps):
    expected = spread(expected)

np.testing.assert_allclose(result, expected, atol=1e-5)
print(f"on {heat.device.name}: {result.sum():.3f} of {start.sum():.0f} is left")
