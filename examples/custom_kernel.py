"""Run a custom WGSL kernel on arrays in GPU memory: Conway's Game of Life."""

import numpy as np

from browsergpu import KernelExecutor, WasmBackend

LIFE = """
struct Extent { height: u32, width: u32 }

@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;
@group(0) @binding(2) var<uniform> extent: Extent;

// The cell at a row and column, wrapped at the edges: the world is a torus.
fn cell(row: u32, column: u32) -> u32 {
  return now[row % extent.height * extent.width + column % extent.width];
}

@compute @workgroup_size(8, 8)
fn life(@builtin(global_invocation_id) at: vec3u) {
  if (at.x >= extent.width || at.y >= extent.height) { return; }
  let row = at.y + extent.height;
  let column = at.x + extent.width;
  var neighbours = 0u;
  for (var i = 0u; i < 9u; i++) {
    if (i != 4u) { neighbours += cell(row + i / 3u - 1u, column + i % 3u - 1u); }
  }
  let alive = neighbours == 3u || (neighbours == 2u && cell(row, column) == 1u);
  next[at.y * extent.width + at.x] = u32(alive);
}
"""

height, width, generations = 45, 70, 20
world = (np.random.default_rng(5).random((height, width)) < 0.3).astype(np.uint32)

with WasmBackend() as backend:
    backend.init()
    gpu = KernelExecutor(backend.device)
    now, following = gpu.from_numpy(world), gpu.empty(world.shape, "u32")
    extent = np.array([height, width], np.uint32)
    workgroups = (-(-width // 8), -(-height // 8))
    for _ in range(generations):
        gpu.execute_custom_kernel(LIFE, "life", [now, following], workgroups, extent)
        now, following = following, now
    after = now.numpy()  # waits; or: await now.numpy_async()

# The same in NumPy
expected = world
for _ in range(generations):
    neighbours = sum(
        np.roll(expected, (down, right), axis=(0, 1))
        for down in (-1, 0, 1)
        for right in (-1, 0, 1)
        if (down, right) != (0, 0)
    )
    expected = ((neighbours == 3) | ((neighbours == 2) & (expected == 1))).astype(np.uint32)

np.testing.assert_array_equal(after, expected)
print(f"{world.sum()} cells are alive at first, {after.sum()} after {generations} generations")
