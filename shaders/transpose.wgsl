// y[z, j, i] = x[z, i, j] for a batch of row-major matrices of rows × columns words.
//
// A workgroup of 32 × 8 threads moves a tile of 32 × 32 through workgroup memory, so that both the
// reads and the writes of neighbouring threads are neighbours: reads 4 and writes 4 bytes a word.
// The tile's rows are padded by a word, which spreads the column reads over the banks. Tiles are
// numbered along one index over a folded grid; z is the batch.

struct Params {
  rows: u32,    // of x
  columns: u32, // of x
  first_z: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

const TILE = 32u;
const LINES = 8u; // of the tile, that the workgroup moves at once
const STEPS = TILE / LINES;
const PITCH = TILE + 1u;

var<workgroup> tile: array<u32, TILE * PITCH>;

@compute @workgroup_size(TILE, LINES)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let tile_columns = (params.columns + TILE - 1u) / TILE;
  let tile_rows = (params.rows + TILE - 1u) / TILE;
  let which = workgroup.y * workgroups.x + workgroup.x;
  if (which >= tile_rows * tile_columns) {
    return;
  }
  let row0 = which / tile_columns * TILE;
  let column0 = which % tile_columns * TILE;
  let base = (params.first_z + workgroup.z) * params.rows * params.columns;
  var words: array<u32, STEPS>; // loaded before the first is needed
  for (var step = 0u; step < STEPS; step++) {
    let row = row0 + local.y + step * LINES;
    let column = column0 + local.x;
    if (row < params.rows && column < params.columns) {
      words[step] = x[base + row * params.columns + column];
    }
  }
  for (var step = 0u; step < STEPS; step++) {
    tile[(local.y + step * LINES) * PITCH + local.x] = words[step];
  }
  workgroupBarrier();
  for (var step = 0u; step < STEPS; step++) {
    let row = row0 + local.x;
    let column = column0 + local.y + step * LINES;
    if (row < params.rows && column < params.columns) {
      y[base + column * params.rows + row] = tile[local.x * PITCH + local.y + step * LINES];
    }
  }
}
