// Notes in `faults` the first matrix with a failed pivot: the number of the check and of the
// matrix. Pivots are on the diagonal of the result of Gaussian elimination (0 means failure) or of
// the Cholesky factorization (NaN means failure) of matrices a [n, columns].

struct Params {
  matrices: u32,
  n: u32,
  columns: u32,
  of_cholesky: u32,
  check: u32,
}

@group(0) @binding(0) var<storage, read> a: array<Number>;
@group(0) @binding(1) var<storage, read_write> faults: array<atomic<u32>>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/faults.wgsl
//#include lib/floats.wgsl
//#include lib/numbers.wgsl

const THREADS = 256u;

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let which = (group.y * groups.x + group.x) * THREADS + thread;
  let matrix = which / params.n;
  if (matrix >= params.matrices) {
    return;
  }
  let k = which % params.n;
  let pivot = a[(matrix * params.n + k) * params.columns + k];
  let is_wrong =
    select(largest_part(pivot) == 0.0, is_nan(real_part(pivot)), params.of_cholesky == 1u);
  if (is_wrong) {
    note_fault(params.check, vec2u(matrix, 0u));
  }
}
