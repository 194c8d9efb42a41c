// Cholesky factorization A = L L^H of [n, n], one block of columns at a time. Columns `first` to
// `end` of the lower triangle of a become columns of L; matrix_update.wgsl updates the rest. Only
// the lower triangle is read. From the first column where A is not positive definite, all results
// are NaN.

struct Params {
  matrices: u32,
  n: u32,
  first: u32,
  end: u32,
}

@group(0) @binding(0) var<storage, read_write> a: array<Number>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/floats.wgsl
//#include lib/numbers.wgsl

const THREADS = 256u;

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let matrix = group.y * groups.x + group.x;
  if (matrix >= params.matrices) {
    return;
  }
  let n = params.n;
  let begin = matrix * n * n;
  for (var k = params.first; k < params.end; k++) {
    let square_of_root = real_part(a[begin + k * n + k]);
    var root = quiet_nan();
    if (square_of_root > 0.0) {
      root = sqrt(square_of_root);
    }
    storageBarrier();
    for (var i = k + 1u + thread; i < n; i += THREADS) {
      a[begin + i * n + k] = a[begin + i * n + k] / root;
    }
    if (thread == 0u) {
      a[begin + k * n + k] = number(root);
    }
    storageBarrier();
    let width = params.end - k - 1u;
    for (var at = thread; at < width * (n - k - 1u); at += THREADS) {
      let i = k + 1u + at / width;
      let j = k + 1u + at % width;
      if (i >= j) {
        a[begin + i * n + j] -= times(a[begin + i * n + k], conjugate(a[begin + j * n + k]));
      }
    }
    storageBarrier();
  }
}
