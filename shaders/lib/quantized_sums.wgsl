// The sums of products of few vectors and a quantized matrix. LANES adjacent threads of a workgroup
// have sums of the same ROWS rows. The shader declares params, residual and y.

//#include lib/activation_of_one.wgsl

override VECTORS: u32 = 1u; // 1, 2, 4 or 8
override ROWS: u32 = 1u;    // VECTORS * ROWS is at most MOST
override LANES: u32 = 32u;

const THREADS = 256u;
const MOST = 8u; // sums of a thread
const PART = 4u; // sums that are added up at once

var<workgroup> parts: array<f32, PART * THREADS>;
var<workgroup> square_parts: array<f32, THREADS>;

fn first_row_of(group: u32, thread: u32) -> u32 {
  return (group * (THREADS / LANES) + thread / LANES) * ROWS;
}

// Row r of a thread. With a gate, half of a thread's rows are gates, and the others follow half a
// matrix later.
fn row_of(first_row: u32, r: u32) -> u32 {
  if (params.gate == 0u) {
    return first_row + r;
  }
  let gates = max(ROWS / 2u, 1u);
  return first_row / 2u + r % gates + select(0u, params.rows / 2u, r >= gates);
}

// Adds up the sums of all lanes, and the squares of the vector if it is normalized, and writes
// them.
fn finish(sums: array<f32, MOST>, squares: f32, first_row: u32, thread: u32) {
  var own = sums;
  let lane = thread % LANES;
  let begin = thread - lane;
  let count = ROWS * VECTORS;
  for (var first = 0u; first < count; first += PART) {
    workgroupBarrier();
    for (var i = 0u; i < PART; i++) {
      parts[i * THREADS + thread] = own[first + i];
    }
    if (params.normed != 0u) {
      square_parts[thread] = squares;
    }
    workgroupBarrier();
    for (var half = LANES / 2u; half >= 1u; half /= 2u) {
      if (lane < half) {
        for (var i = 0u; i < PART; i++) {
          parts[i * THREADS + thread] += parts[i * THREADS + thread + half];
        }
        if (params.normed != 0u) {
          square_parts[thread] += square_parts[thread + half];
        }
      }
      workgroupBarrier();
    }
    let place_of_sum = first + lane;
    let row = row_of(first_row, place_of_sum / VECTORS);
    let v = place_of_sum % VECTORS;
    if (lane < PART && place_of_sum < count && row < params.rows && v < params.vectors) {
      var sum = parts[lane * THREADS + begin];
      var root = 1.0;
      if (params.normed != 0u) {
        root = sqrt(square_parts[begin] / f32(params.columns) + params.eps);
        sum /= root;
      }
      if (params.gate == 0u) {
        let place = v * params.rows + row;
        if (params.added != 0u) {
          sum += residual[select(place, row, params.added == 2u)];
        }
        y[place] = sum;
      } else if (2u * lane < ROWS && 2u * row < params.rows) {
        let function: u32 = params.gate; // f: 0 none, 1 relu, 2 gelu, 3 silu, 4 gelu_erf
        y[row] = apply(sum, function) * (parts[(lane + ROWS / 2u) * THREADS + begin] / root);
      }
    }
  }
}
