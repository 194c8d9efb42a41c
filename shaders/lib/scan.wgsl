// A tile of words in workgroup memory, ITEMS neighbouring ones per thread, and the scan over its
// threads. The including file defines the type Part of each thread's contribution, and how two of
// them combine.

const THREADS = 256u;
const ITEMS = 8u;
const TILE = 2048u; // THREADS × ITEMS

var<workgroup> tile: array<u32, 2112>; // TILE, with a gap after every 32
var<workgroup> parts: array<Part, 512>; // two per thread

// Position of word i of the tile. The gaps let threads that each read every ITEMS-th word use
// different banks.
fn within(i: u32) -> u32 {
  return i + i / 32u;
}

// The inclusive scan of the threads' values in groups of `lanes`, a power of two and the same for
// all threads. Returns the position in `parts` of the results, one per thread. Each step reaches
// four times as far as the previous one. It writes one half of `parts` and reads it, so that one
// barrier per step is enough. Before a second call, wait at a barrier.
fn scan_threads(value: Part, thread: u32, lanes: u32) -> u32 {
  let lane = thread & (lanes - 1u);
  var sum = value;
  var begin = 0u;
  for (var reach = 1u; reach < lanes; reach *= 4u) {
    parts[begin + thread] = sum;
    workgroupBarrier();
    for (var k = 1u; k < 4u && k * reach <= lane; k++) {
      sum = combine(parts[begin + thread - k * reach], sum);
    }
    begin = THREADS - begin;
  }
  parts[begin + thread] = sum;
  workgroupBarrier();
  return begin;
}
