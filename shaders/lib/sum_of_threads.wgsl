// The sum of the numbers of a workgroup's threads, THREADS many. The shader declares THREADS, a
// power of two.

var<workgroup> shares: array<f32, THREADS>;

// Before `shares` is used again, wait at a barrier.
fn sum_of_threads(value: f32, thread: u32) -> f32 {
  shares[thread] = value;
  workgroupBarrier();
  for (var half = THREADS / 2u; half >= 1u; half /= 2u) {
    if (thread < half) {
      shares[thread] += shares[thread + half];
    }
    workgroupBarrier();
  }
  return shares[0];
}
