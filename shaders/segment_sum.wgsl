// Sums of rows with the same place, for sorted places: for runs of r with places[r] = p, y[p, j] +=
// the sum of values[r, j].
//
// Long runs take several dispatches. Each adds, for every run's first row and for rows at multiples
// of `outer`, the rows at multiples of `inner` up to the next such row, in place. The last
// dispatch, with `outer` 0, adds all remaining ones. One element of a row per thread.

struct Params {
  n: u32,     // rows of values
  width: u32, // elements of a row
  inner: u32,
  outer: u32,
}

@group(0) @binding(0) var<storage, read> places: array<u32>;
@group(0) @binding(1) var<storage, read_write> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

override THREADS: u32 = 256u; // in a workgroup

fn begins(row: u32) -> bool {
  return row == 0u || places[row] != places[row - 1u];
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.n * params.width) {
    return;
  }
  let row = i / params.width;
  let is_last = params.outer == 0u;
  var end = params.n;
  if (!is_last) {
    end = min(end, (row / params.outer + 1u) * params.outer);
  }
  if (!begins(row) && (is_last || row % params.outer != 0u)) {
    return;
  }
  let place = places[row];
  var sum = values[i];
  for (var r = (row / params.inner + 1u) * params.inner; r < end; r += params.inner) {
    if (places[r] != place) {
      break;
    }
    sum += values[r * params.width + i % params.width];
  }
  if (place == 0xffffffffu) { // the index was out of range
    return;
  }
  if (is_last) {
    y[place * params.width + i % params.width] += sum;
  } else {
    values[i] = sum;
  }
}
