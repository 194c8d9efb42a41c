// The bits of the largest magnitude in each row of a float32 matrix, or in each column. Bits are
// compared as integers, so an infinity is larger than all finite numbers, and NaN is the largest.
//
// The matrix is row-major and contiguous from element `first` on. A workgroup processes one row, or
// 16 adjacent columns. Reads every element once, so it is limited by memory bandwidth.

struct Params {
  rows: u32,
  columns: u32,
  first: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> largest: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

override ACROSS: u32 = 1u; // lines per workgroup: 1 row, or 16 columns
const THREADS = 256u;

var<workgroup> found: array<u32, THREADS>;

fn magnitude(i: u32) -> u32 {
  return x[i] & 0x7fffffffu;
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let by_row = ACROSS == 1u;
  let lines = select(params.columns, params.rows, by_row);
  let length = select(params.rows, params.columns, by_row);
  let first_line = (group.y * groups.x + group.x) * ACROSS;
  if (first_line >= lines) {
    return;
  }
  let line = min(first_line + thread % ACROSS, lines - 1u);
  let at = params.first + line * select(1u, params.columns, by_row);
  let step = select(params.columns, 1u, by_row); // distance between elements of the line
  let apart = THREADS / ACROSS;
  let last = length - 1u; // elements past the end are replaced by it, which changes no maximum
  var value = 0u;
  for (var i = thread / ACROSS; i < length; i += 4u * apart) { // four reads in flight at a time
    let x0 = magnitude(at + i * step);
    let x1 = magnitude(at + min(i + apart, last) * step);
    let x2 = magnitude(at + min(i + 2u * apart, last) * step);
    let x3 = magnitude(at + min(i + 3u * apart, last) * step);
    value = max(value, max(max(x0, x1), max(x2, x3)));
  }
  found[thread] = value;
  workgroupBarrier();
  for (var half = THREADS / 2u; half >= ACROSS; half /= 2u) {
    if (thread < half) {
      found[thread] = max(found[thread], found[thread + half]);
    }
    workgroupBarrier();
  }
  if (thread < ACROSS && first_line + thread < lines) {
    largest[line] = found[thread];
  }
}
