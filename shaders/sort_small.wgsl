// y = each row of x sorted, or the positions of the sorted elements in their row. x and y are
// [rows, length], with at most SLOTS elements in a row.
//
// A workgroup sorts as many rows as fit SLOTS positions, `span` for each, in a bitonic network
// (https://doi.org/10.1145/1468075.1468121) of pairs of key and position. All pairs differ, so the
// sort is stable. Positions past a row's end have the last key and stay at the end.

struct Params {
  rows: u32,
  length: u32,
  span: u32,    // the smallest power of two that is at least length
  flip: u32,    // 0, or all bits to sort descending
  indices: u32, // 1: y has positions instead of elements
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/order.wgsl

const THREADS = 256u;
const SLOTS = 1024u;

var<workgroup> keys: array<u32, SLOTS>;
var<workgroup> places: array<u32, SLOTS>;

// Exchanges two entries that are out of order.
fn exchange(i: u32, j: u32, rising: bool) {
  let a = keys[i];
  let b = keys[j];
  let a_place = places[i];
  let b_place = places[j];
  let is_later = a > b || (a == b && a_place > b_place);
  if (is_later == rising) {
    keys[i] = b;
    keys[j] = a;
    places[i] = b_place;
    places[j] = a_place;
  }
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let shift = countTrailingZeros(params.span);
  let first = (group.y * groups.x + group.x) * (SLOTS >> shift);
  if (first >= params.rows) {
    return;
  }
  for (var slot = thread; slot < SLOTS; slot += THREADS) {
    let row = first + (slot >> shift);
    let along = slot & (params.span - 1u);
    var key = LAST;
    if (row < params.rows && along < params.length) {
      key = order_of(x[row * params.length + along]) ^ params.flip;
    }
    keys[slot] = key;
    places[slot] = along;
  }
  for (var size = 2u; size <= params.span; size *= 2u) {
    for (var step = size / 2u; step > 0u; step /= 2u) {
      workgroupBarrier();
      for (var pair = thread; pair < SLOTS / 2u; pair += THREADS) {
        let i = 2u * pair - (pair & (step - 1u));
        exchange(i, i + step, (i & (params.span - 1u) & size) == 0u);
      }
    }
  }
  workgroupBarrier();
  for (var slot = thread; slot < SLOTS; slot += THREADS) {
    let row = first + (slot >> shift);
    let along = slot & (params.span - 1u);
    if (row < params.rows && along < params.length) {
      let at = row * params.length;
      if (params.indices != 0u) {
        y[at + along] = places[slot];
      } else {
        y[at + along] = x[at + places[slot]];
      }
    }
  }
}
