// Adds up the rows of `sums`, which hold two rows of `columns` vec4s for each of `groups`
// workgroups: of_weight[j] = sum of the first ones, of_bias[j] = sum of the second ones.
//
// A workgroup takes eight neighbouring vec4s, 128 bytes. Each thread adds up every 32nd row.

struct Params {
  groups: u32,
  columns: u32, // vec4s of a row
}

@group(0) @binding(0) var<storage, read> sums: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> of_weight: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> of_bias: array<vec4f>;
@group(1) @binding(0) var<uniform> params: Params;

const THREADS = 256u;
const ACROSS = 8u;
const LINES = THREADS / ACROSS;

var<workgroup> partial: array<vec4f, THREADS>;

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let column = (group.y * groups.x + group.x) * ACROSS + thread % ACROSS;
  let length = 2u * params.columns;
  var sum = vec4f();
  if (column < length) {
    for (var row = thread / ACROSS; row < params.groups; row += LINES) {
      sum += sums[row * length + column];
    }
  }
  partial[thread] = sum;
  for (var half = THREADS / 2u; half >= ACROSS; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      sum += partial[thread + half];
      partial[thread] = sum;
    }
  }
  if (thread < ACROSS && column < length) {
    if (column < params.columns) {
      of_weight[column] = sum;
    } else {
      of_bias[column - params.columns] = sum;
    }
  }
}
