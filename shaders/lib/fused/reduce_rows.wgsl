// The rows of a generated reduction (kernels/fused/reduction.py) with an inner extent of 1. Each
// chunk of a row has `lanes` neighbouring threads, and each thread takes every `lanes`-th group of
// four. The first and the last group of a chunk may contain other elements, unless ALIGNED.

fn part(i: u32, begin: u32, end: u32) -> Four {
  if (ALIGNED) {
    return elements(i);
  }
  let at = 4u * i + vec4u(0u, 1u, 2u, 3u);
  let inside = (at >= vec4u(begin)) & (at < vec4u(end));
  return chosen(nothing(), elements(i), inside);
}

fn reduce_rows(group: vec3u, groups: vec3u, thread: u32) {
  let lanes = params.lanes;
  let lane = thread & (lanes - 1u);
  let to = (group.y * groups.x + group.x) * (THREADS / lanes) + thread / lanes; // row × chunks + chunk
  let live = to < params.outer * params.chunks;
  var value = nothing();
  if (live) {
    let row = to / params.chunks * params.length;
    let start = to % params.chunks * params.chunk;
    let begin = row + start;
    let end = row + min(start + params.chunk, params.length);
    let stop = (end + 3u) / 4u;
    var v1 = nothing();
    var v2 = nothing();
    var v3 = nothing();
    var i = begin / 4u + lane;
    for (; i + 3u * lanes < stop; i += 4u * lanes) {
      let w0 = part(i, begin, end);
      let w1 = part(i + lanes, begin, end);
      let w2 = part(i + 2u * lanes, begin, end);
      let w3 = part(i + 3u * lanes, begin, end);
      value = combine(value, w0);
      v1 = combine(v1, w1);
      v2 = combine(v2, w2);
      v3 = combine(v3, w3);
    }
    for (; i < stop; i += lanes) {
      value = combine(value, part(i, begin, end));
    }
    value = combine(combine(value, v1), combine(v2, v3));
    value = combine(value, turned_by_two(value));
    value = combine(value, turned_by_one(value));
  }
  partial[thread] = one_of(value);
  for (var rest = lanes; rest > 1u;) { // each step leaves a quarter of the values
    let step = (rest + 3u) / 4u;
    workgroupBarrier();
    if (lane < step) {
      for (var other = step; other < rest; other += step) {
        value = combine(value, four_of(partial[thread + other]));
      }
      partial[thread] = one_of(value);
    }
    rest = step;
  }
  if (live && lane == 0u) {
    write(to, scaled(value));
  }
}
