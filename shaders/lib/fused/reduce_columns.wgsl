// The columns of a generated reduction (kernels/fused/reduction.py). A thread reduces WIDTH
// neighbouring columns, a workgroup `lanes` × WIDTH columns of one chunk. Each group of `lanes`
// threads starts on another row.

fn part(at: u32) -> Four {
  let four = elements(at >> 2u);
  if (WIDTH == 4u) {
    return four;
  }
  return lane_of(four, at & 3u);
}

fn reduce_columns(group: vec3u, groups: vec3u, thread: u32) {
  let lanes = params.lanes;
  let blocks = (params.inner + WIDTH * lanes - 1u) / (WIDTH * lanes);
  let which = group.y * groups.x + group.x; // (outer × chunks + chunk) × blocks + block
  if (which >= params.outer * params.chunks * blocks) {
    return;
  }
  let column = WIDTH * (which % blocks * lanes + (thread & (lanes - 1u)));
  let output = which / blocks;
  let start = output % params.chunks * params.chunk;
  let end = min(start + params.chunk, params.length);
  let lines = THREADS / lanes;
  let step = lines * params.inner;
  var value = nothing();
  if (column < params.inner) {
    var v1 = nothing();
    var v2 = nothing();
    var v3 = nothing();
    var j = start + thread / lanes;
    var at = (output / params.chunks * params.length + j) * params.inner + column;
    for (; j + 7u * lines < end; j += 8u * lines) { // eight loads in flight
      let w0 = part(at);
      let w1 = part(at + step);
      let w2 = part(at + 2u * step);
      let w3 = part(at + 3u * step);
      let w4 = part(at + 4u * step);
      let w5 = part(at + 5u * step);
      let w6 = part(at + 6u * step);
      let w7 = part(at + 7u * step);
      value = combine(combine(value, w0), w4);
      v1 = combine(combine(v1, w1), w5);
      v2 = combine(combine(v2, w2), w6);
      v3 = combine(combine(v3, w3), w7);
      at += 8u * step;
    }
    for (; j < end; j += lines) {
      value = combine(value, part(at));
      at += step;
    }
    value = combine(combine(value, v1), combine(v2, v3));
  }
  partial[thread] = one_of(value);
  for (var half = THREADS / 2u; half >= lanes; half >>= 1u) {
    workgroupBarrier();
    if (thread < half) {
      value = combine(value, four_of(partial[thread + half]));
      partial[thread] = one_of(value);
    }
  }
  if (thread < lanes && column < params.inner) {
    value = scaled(value);
    for (var k = 0u; k < WIDTH; k++) {
      write(output * params.inner + column + k, lane_of(value, k));
    }
  }
}
