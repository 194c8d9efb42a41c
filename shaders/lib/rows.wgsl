// Rows held in registers: `lanes` (params.lanes, a power of two, at most THREADS) neighbouring
// threads of a workgroup hold one, four values HELD times each.

const THREADS = 256u;
const MOST = 16u;
override HELD: u32 = 4u; // at most MOST

var<workgroup> partial: array<f32, THREADS>;

struct Place {
  row: u32,
  lane: u32, // of the row's threads
}

fn place(group: vec3u, groups: vec3u, thread: u32) -> Place {
  let rows = THREADS / params.lanes;
  let row = (group.y * groups.x + group.x) * rows + thread / params.lanes;
  return Place(row, thread & (params.lanes - 1u));
}

// The sum of `lanes` threads' values, for all of them. Each step leaves a quarter. Before `partial`
// is used again, wait at a barrier.
fn sum_of_lanes(value: f32, thread: u32) -> f32 {
  let first = thread & ~(params.lanes - 1u);
  var sum = value;
  partial[thread] = value;
  for (var rest = params.lanes; rest > 1u;) {
    let step = (rest + 3u) / 4u;
    workgroupBarrier();
    if (thread - first < step) {
      for (var other = step; other < rest; other += step) {
        sum += partial[thread + other];
      }
      partial[thread] = sum;
    }
    rest = step;
  }
  workgroupBarrier();
  return partial[first];
}
