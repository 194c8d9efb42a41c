// The statistics of a batch norm's channel. The including file must have the four arrays,
// params.momentum and params.unbiased.

// Stores the batch's mean and biased variance, and moves the running mean and the unbiased running
// variance towards them.
fn store_statistics(c: u32, mean: f32, variance: f32) {
  let keep = 1.0 - params.momentum;
  batch_mean[c] = mean;
  batch_variance[c] = variance;
  running_mean[c] = keep * running_mean[c] + params.momentum * mean;
  running_variance[c] =
    keep * running_variance[c] + params.momentum * params.unbiased * variance;
}
