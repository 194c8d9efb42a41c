// A tile of words in workgroup memory, ITEMS neighbouring ones a thread, and the scan over its
// threads. Who includes this has the type Part of what each thread adds to the scan, and how two of
// them are combined.

const THREADS = 256u;
const ITEMS = 8u;
const TILE = 2048u; // THREADS × ITEMS

var<workgroup> tile: array<u32, 2112>; // TILE, and a gap after each 32
var<workgroup> parts: array<Part, 512>; // two for each thread

// Where word i of the tile is. The gaps let threads that each read every ITEMS-th word read
// different banks of memory.
fn within(i: u32) -> u32 {
  return i + i / 32u;
}

// The inclusive scan of the threads' values in groups of `lanes`, a power of two and the same for
// all threads. Returns where in `parts` the results begin, one for each thread. Each step reaches
// four times as far as the one before; it writes one half of `parts` and reads it, so that one
// barrier a step is enough. A second call must wait at a barrier first.
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
