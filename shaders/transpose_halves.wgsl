// y[z, j, i] = x[z, i, j] for a batch of row-major matrices of rows × columns halves, two in a
// word. y's rows have `pitch` halves, an even number, padded with zeros.
//
// A workgroup moves a tile of 64 × 64 through workgroup memory. A thread transposes blocks of 2 ×
// 2, two words into two, so that neighbouring threads read and write neighbouring words. Reads 2
// and writes 2 bytes per half. The tile's rows are padded by a word, which spreads its columns over
// the banks. Tiles have one index over a folded grid; z is the batch.

struct Params {
  rows: u32, // of x
  columns: u32,
  pitch: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

const THREADS = 256u;
const SIDE = 64u; // of the tile, in halves
const WORDS = SIDE / 2u;
const PITCH = WORDS + 1u;
const STEPS = WORDS * WORDS / THREADS;

var<workgroup> tile: array<u32, SIDE * PITCH>; // [column of x][row of x / 2]

// Two halves of x, of which the first may be the upper one of a word.
fn pair_at(i: u32) -> u32 {
  let word = x[i / 2u];
  if (i % 2u == 0u) {
    return word;
  }
  return (word >> 16u) | (x[i / 2u + 1u] << 16u);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile_columns = (params.columns + SIDE - 1u) / SIDE;
  let tile_rows = (params.pitch + SIDE - 1u) / SIDE;
  let which = workgroup.y * workgroups.x + workgroup.x;
  if (which >= tile_rows * tile_columns) {
    return;
  }
  let row0 = which / tile_columns * SIDE;
  let column0 = which % tile_columns * SIDE;
  let along = params.pitch / 2u;
  let x_first = workgroup.z * params.rows * params.columns;
  let y_first = workgroup.z * params.columns * along;
  for (var step = 0u; step < STEPS; step++) {
    let pair = thread / WORDS + step * (THREADS / WORDS); // of rows
    let word = thread % WORDS;
    let row = row0 + 2u * pair;
    let column = column0 + 2u * word;
    var upper = 0u;
    var lower = 0u;
    if (column < params.columns) {
      if (row < params.rows) {
        upper = pair_at(x_first + row * params.columns + column);
      }
      if (row + 1u < params.rows) {
        lower = pair_at(x_first + (row + 1u) * params.columns + column);
      }
    }
    tile[2u * word * PITCH + pair] = (upper & 0xffffu) | (lower << 16u);
    tile[(2u * word + 1u) * PITCH + pair] = (upper >> 16u) | (lower & 0xffff0000u);
  }
  workgroupBarrier();
  for (var step = 0u; step < 2u * STEPS; step++) {
    let line = thread / WORDS + step * (THREADS / WORDS);
    let word = thread % WORDS;
    let column = column0 + line;
    let row = row0 / 2u + word;
    if (row < along && column < params.columns) {
      y[y_first + column * along + row] = tile[line * PITCH + word];
    }
  }
}
