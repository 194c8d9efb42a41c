// The sums of products of few vectors and a quantized matrix. LANES adjacent threads of a workgroup
// have sums of the same ROWS rows. The shader declares params, residual and y.

override VECTORS: u32 = 1u; // 1, 2, 4 or 8
override ROWS: u32 = 1u;    // VECTORS * ROWS is at most MOST
override LANES: u32 = 32u;

const THREADS = 256u;
const MOST = 8u; // sums of a thread
const PART = 4u; // sums that are added up at once

var<workgroup> parts: array<f32, PART * THREADS>;

fn first_row_of(group: u32, thread: u32) -> u32 {
  return (group * (THREADS / LANES) + thread / LANES) * ROWS;
}

// Adds up the sums of all lanes, and writes them.
fn finish(sums: array<f32, MOST>, first_row: u32, thread: u32) {
  var own = sums;
  let lane = thread % LANES;
  let count = ROWS * VECTORS;
  for (var first = 0u; first < count; first += PART) {
    workgroupBarrier();
    for (var i = 0u; i < PART; i++) {
      parts[i * THREADS + thread] = own[first + i];
    }
    workgroupBarrier();
    for (var half = LANES / 2u; half >= 1u; half /= 2u) {
      if (lane < half) {
        for (var i = 0u; i < PART; i++) {
          parts[i * THREADS + thread] += parts[i * THREADS + thread + half];
        }
      }
      workgroupBarrier();
    }
    let place_of_sum = first + lane;
    let row = first_row + place_of_sum / VECTORS;
    let v = place_of_sum % VECTORS;
    if (lane < PART && place_of_sum < count && row < params.rows && v < params.vectors) {
      let place = v * params.rows + row;
      var sum = parts[lane * THREADS + thread - lane];
      if (params.added != 0u) {
        sum += residual[select(place, row, params.added == 2u)];
      }
      y[place] = sum;
    }
  }
}
