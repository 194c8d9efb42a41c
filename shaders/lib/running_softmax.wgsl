// The denominator of a softmax, for rows held in registers, or incrementally.

//#include lib/floats.wgsl
//#include lib/rows.wgsl

var<workgroup> partial_runs: array<vec2f, THREADS>;

// Finite or -infinity. NaN and +infinity make the whole row NaN, since WGSL does not define max and
// exp for them.
fn is_good(v: vec4f) -> vec4<bool> {
  let bits = bitcast<vec4u>(v);
  return ((bits & vec4u(0x7fffffffu)) < vec4u(0x7f800000u)) | (bits == vec4u(0xff800000u));
}

// A softmax denominator: the largest value, and the sum of exp(value - largest). The sum is
// negative after NaN or +infinity.
struct Running {
  largest: f32,
  sum: f32,
}

const SPOILED = -1e30; // larger than any sum of others could compensate

// A row of only -infinity has no softmax either.
fn is_undefined(running: Running) -> bool {
  return running.sum < 0.0 || is_minus_infinity(running.largest);
}

fn factor(running: Running) -> f32 {
  return select(1.0 / running.sum, quiet_nan(), is_undefined(running));
}

// The largest of `lanes` threads' values, for all of them. Each step leaves a quarter.
fn largest_of_lanes(value: f32, thread: u32) -> f32 {
  let first = thread & ~(params.lanes - 1u);
  var largest = value;
  partial[thread] = value;
  for (var rest = params.lanes; rest > 1u;) {
    let step = (rest + 3u) / 4u;
    workgroupBarrier();
    if (thread - first < step) {
      for (var other = step; other < rest; other += step) {
        largest = max(largest, partial[thread + other]);
      }
      partial[thread] = largest;
    }
    rest = step;
  }
  workgroupBarrier();
  largest = partial[first];
  workgroupBarrier();
  return largest;
}

// Replaces a row's values by exp(value - largest). -infinity represents a missing value.
fn weigh(held: ptr<function, array<vec4f, MOST>>, thread: u32) -> Running {
  var good = vec4<bool>(true);
  var top = vec4f(minus_infinity());
  for (var k = 0u; k < HELD; k++) {
    let value = (*held)[k];
    let is_value_good = is_good(value);
    good = good & is_value_good;
    top = max(top, select(vec4f(minus_infinity()), value, is_value_good));
  }
  let largest = largest_of_lanes(largest_of_four(top), thread);
  var sum = vec4f();
  for (var k = 0u; k < HELD; k++) {
    let weight = exp((*held)[k] - largest);
    (*held)[k] = weight;
    sum += weight;
  }
  return Running(largest, sum_of_lanes(select(SPOILED, sum_of_four(sum), all(good)), thread));
}

// Each sum is scaled to the larger maximum. Equal maxima (including -infinity) need no factor.
fn merge(p: Running, q: Running) -> Running {
  if (p.sum < 0.0 || q.sum < 0.0) {
    return Running(0.0, SPOILED);
  }
  let largest = max(p.largest, q.largest);
  let p_sum = select(p.sum * exp(p.largest - largest), p.sum, p.largest == largest);
  let q_sum = select(q.sum * exp(q.largest - largest), q.sum, q.largest == largest);
  return Running(largest, p_sum + q_sum);
}
