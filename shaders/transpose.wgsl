// y[z, j, i] = x[z, i, j] for a batch of row-major matrices of rows × columns words.
//
// A workgroup moves a tile of 64 rows × 32 columns through workgroup memory, so that neighbouring
// threads read and write neighbouring words: reads 4 and writes 4 bytes per word. Writes have the
// longer side, since an unaligned write leaves parts of memory sectors. The tile's rows are padded
// by a word, which spreads column reads over the banks. Tiles have one index over a folded grid; z
// is the batch.

struct Params {
  rows: u32,    // of x
  columns: u32, // of x
  first_z: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

const THREADS = 256u;
const ROWS = 64u; // of the tile
const COLUMNS = 32u;
const STEPS = ROWS * COLUMNS / THREADS;
const PITCH = COLUMNS + 1u;

var<workgroup> tile: array<u32, ROWS * PITCH>;

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile_columns = (params.columns + COLUMNS - 1u) / COLUMNS;
  let tile_rows = (params.rows + ROWS - 1u) / ROWS;
  let which = workgroup.y * workgroups.x + workgroup.x;
  if (which >= tile_rows * tile_columns) {
    return;
  }
  let row0 = which / tile_columns * ROWS;
  let column0 = which % tile_columns * COLUMNS;
  let base = (params.first_z + workgroup.z) * params.rows * params.columns;
  var words: array<u32, STEPS>; // loaded before the first is used
  for (var step = 0u; step < STEPS; step++) {
    let row = row0 + thread / COLUMNS + step * (THREADS / COLUMNS);
    let column = column0 + thread % COLUMNS;
    if (row < params.rows && column < params.columns) {
      words[step] = x[base + row * params.columns + column];
    }
  }
  for (var step = 0u; step < STEPS; step++) {
    let row = thread / COLUMNS + step * (THREADS / COLUMNS);
    tile[row * PITCH + thread % COLUMNS] = words[step];
  }
  workgroupBarrier();
  for (var step = 0u; step < STEPS; step++) {
    let line = thread / ROWS + step * (THREADS / ROWS);
    let row = row0 + thread % ROWS;
    let column = column0 + line;
    if (row < params.rows && column < params.columns) {
      y[base + column * params.rows + row] = tile[thread % ROWS * PITCH + line];
    }
  }
}
