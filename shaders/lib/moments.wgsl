// Count, mean and squared deviations of values minus a pivot, which is one of them, since in
// float32 a mean far from 0 has too few digits. The including file must have params.lanes, which is
// below 2^31.

struct Moments {
  count: f32,
  mean: f32, // of the differences from the pivot
  deviations: f32, // sum of squared differences from the mean
}

// Chan's parallel form of Welford's method (https://doi.org/10.1080/00031305.1983.10483115).
fn merge(p: Moments, q: Moments) -> Moments {
  if (q.count == 0.0) {
    return p;
  }
  if (p.count == 0.0) { // otherwise delta² may overflow, and times 0 be NaN
    return q;
  }
  let count = p.count + q.count;
  let delta = q.mean - p.mean;
  let share = q.count / count;
  return Moments(
    count, p.mean + delta * share, p.deviations + q.deviations + delta * delta * p.count * share);
}

// The difference, plus a zero that compilers cannot know. Otherwise fast math could subtract the
// pivot from a sum that has lost its last digits, or the pivot and the mean at once.
fn less(v: vec4f, pivot: vec4f) -> vec4f {
  return bitcast<vec4f>(bitcast<vec4u>(v - pivot) | vec4u(params.lanes >> 31u));
}
