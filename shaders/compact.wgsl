// indices = all i < n with mask[i] != 0, in ascending order; count = their number.
//
// A workgroup processes a tile of the mask. main_counts counts the nonzero elements of each tile,
// and the caller scans the counts exclusively. main then writes each tile's indices after those of
// earlier tiles. It gathers them in workgroup memory first, so that writes are contiguous.

struct Params {
  n: u32,
  tiles: u32,
}

@group(0) @binding(0) var<storage, read> mask: array<u32>;
@group(0) @binding(1) var<storage, read> before: array<u32>; // the scanned counts
@group(0) @binding(2) var<storage, read_write> indices: array<u32>; // in main_counts: the counts
@group(0) @binding(3) var<storage, read_write> count: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/scan.wgsl

alias Part = u32;

fn combine(p: u32, q: u32) -> u32 {
  return p + q;
}

@compute @workgroup_size(THREADS)
fn main_counts(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let which = group.y * groups.x + group.x;
  if (which >= params.tiles) {
    return;
  }
  var own = 0u;
  for (var k = 0u; k < ITEMS; k++) {
    let i = which * TILE + k * THREADS + thread;
    if (i < params.n) {
      own += u32(mask[i] != 0u);
    }
  }
  let begin = scan_threads(own, thread, THREADS);
  if (thread == THREADS - 1u) {
    indices[which] = parts[begin + thread];
  }
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let which = group.y * groups.x + group.x;
  if (which >= params.tiles) {
    return;
  }
  for (var slot = thread; slot < TILE; slot += THREADS) {
    let i = which * TILE + slot;
    var word = 0u;
    if (i < params.n) {
      word = mask[i];
    }
    tile[within(slot)] = word;
  }
  workgroupBarrier();
  var found = 0u; // a bit for each of the thread's words
  for (var k = 0u; k < ITEMS; k++) {
    found |= u32(tile[within(ITEMS * thread + k)] != 0u) << k;
  }
  let begin = scan_threads(countOneBits(found), thread, THREADS);
  let total = parts[begin + THREADS - 1u];
  var to = parts[begin + thread] - countOneBits(found);
  for (var k = 0u; k < ITEMS; k++) {
    if (((found >> k) & 1u) != 0u) {
      tile[within(to)] = which * TILE + ITEMS * thread + k;
      to++;
    }
  }
  workgroupBarrier();
  let first = before[which];
  for (var p = thread; p < total; p += THREADS) {
    indices[first + p] = tile[within(p)];
  }
  if (which == params.tiles - 1u && thread == 0u) {
    count[0] = first + total;
  }
}
