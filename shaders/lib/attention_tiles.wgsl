// Flash attention (https://arxiv.org/abs/2205.14135) for a HEAD_DIM of 32, 64 or 128: a workgroup
// computes QUERIES rows of o and reads keys 4 LANES at a time. A thread computes ROWS queries × 4
// keys of the scores and ROWS queries × COLUMNS vec4s of o, both as matrix products through
// workgroup memory. K and V share one tile there, and the next one is prefetched into registers. A
// causal workgroup computes two blocks of rows, one from the end and one from the start, so that all
// have the same work.
//
// exp2 is computed of scores minus a row's reference. References follow the rows' maxima only when
// one has risen by more than RISE. Such tiles are few; between them, nothing is reduced or
// rescaled. Weights stay below 2^RISE.
//
// Workgroup memory is (QUERIES (HEAD_DIM + 4 LANES) + 4 LANES HEAD_DIM) floats.
//
// attention_heads.wgsl or cached_heads.wgsl declares the parameters, the places of heads and which
// keys are seen. A shader declares q, k, v and o, and if SEPARATES, remembers whether a value of the
// tile is not finite, with note_odd(), forget_odd() and has_odd().

//#include lib/floats.wgsl
//#include lib/halves.wgsl

override HEAD_DIM: u32 = 64u;
override QUERIES: u32 = 64u; // a multiple of ROWS
override LANES: u32 = 16u; // threads that share a query: 8, or 16 if HEAD_DIM is 64
override ROWS: u32 = 4u; // queries per thread: 4 or 6; 4 if HEAD_DIM is 16 LANES
override HALVES: u32 = 0u;

override STEPS = HEAD_DIM / 4u; // vec4s of a row
override COLUMNS = STEPS / LANES; // 1, 2 or 4
override KEYS = 4u * LANES;
override TILE = KEYS * STEPS;
override THREADS_USED = LANES * QUERIES / ROWS;
override LOADS = (TILE + THREADS_USED - 1u) / THREADS_USED; // up to 12
const ELEMENTS = 4u; // of a vec4
const LOG2_E = 1.44269504;
const RISE = 16.0;
const LOWEST = -3.4028234e38;

var<workgroup> q_tile: array<vec4f, QUERIES * STEPS>;
var<workgroup> kv_tile: array<vec4f, TILE>;
var<workgroup> weights: array<vec4f, QUERIES * LANES>;

// A vec4 for each of a thread's queries; b uses at most two
struct Rows {
  a: mat4x4f,
  b: mat4x4f,
}

// A number for each of them
struct Column {
  a: vec4f,
  b: vec4f,
}

fn floats(chunk: vec4u, at: u32) -> vec4f {
  if (HALVES == 0u) {
    return bitcast<vec4f>(chunk);
  }
  let half = select(chunk.xy, chunk.zw, (at & 1u) == 1u);
  return widened(half);
}

// Index in the tile of the i-th vec4 that a thread copies
fn part(i: u32, thread: u32) -> u32 {
  return thread + i * THREADS_USED;
}

// Its position in k or v; past the end, in the last row
fn source(head: Head, first_key: u32, at: u32) -> u32 {
  return min(first_key + at / STEPS, head.keys - 1u) * kv_pitch() + at % STEPS;
}

fn k_at(head: Head, first_key: u32, at: u32) -> vec4f {
  let from_k = head.k + source(head, first_key, at);
  return floats(k[from_k >> HALVES], from_k);
}

fn v_at(head: Head, first_key: u32, at: u32) -> vec4f {
  let from_v = head.v + source(head, first_key, at);
  return floats(v[from_v >> HALVES], from_v);
}

// The thread's vec4s i to i + 3 of a tile
fn four_of_k(head: Head, first_key: u32, i: u32, thread: u32) -> mat4x4f {
  return mat4x4f(
    k_at(head, first_key, part(i, thread)), k_at(head, first_key, part(i + 1u, thread)),
    k_at(head, first_key, part(i + 2u, thread)), k_at(head, first_key, part(i + 3u, thread)),
  );
}

fn four_of_v(head: Head, first_key: u32, i: u32, thread: u32) -> mat4x4f {
  return mat4x4f(
    v_at(head, first_key, part(i, thread)), v_at(head, first_key, part(i + 1u, thread)),
    v_at(head, first_key, part(i + 2u, thread)), v_at(head, first_key, part(i + 3u, thread)),
  );
}

// Key 4 n + j of the tile is in row j × LANES + n. The order of its vec4s lets lanes read the same
// vec4 of neighbouring rows from different banks.
fn put_k(at: u32, x: vec4f) {
  let key = at / STEPS;
  let n = key >> 2u;
  if (at < TILE) {
    kv_tile[((key & 3u) * LANES + n) * STEPS + ((at % STEPS) ^ (n & 7u))] = x;
  }
}

// Values past the end become 0: a weight of 0 would not cancel a NaN.
fn put_v(head: Head, first_key: u32, at: u32, x: vec4f) {
  if (at < TILE) {
    let own = select(vec4f(), x, first_key + at / STEPS < head.keys);
    kv_tile[at] = own;
    if (SEPARATES && any((bitcast<vec4u>(own) & vec4u(0x7fffffffu)) >= vec4u(0x7f800000u))) {
      note_odd();
    }
  }
}

fn put_four_of_k(i: u32, thread: u32, x: mat4x4f) {
  put_k(part(i, thread), x[0]);
  put_k(part(i + 1u, thread), x[1]);
  put_k(part(i + 2u, thread), x[2]);
  put_k(part(i + 3u, thread), x[3]);
}

fn put_four_of_v(head: Head, first_key: u32, i: u32, thread: u32, x: mat4x4f) {
  put_v(head, first_key, part(i, thread), x[0]);
  put_v(head, first_key, part(i + 1u, thread), x[1]);
  put_v(head, first_key, part(i + 2u, thread), x[2]);
  put_v(head, first_key, part(i + 3u, thread), x[3]);
}

// sum + products of a query's 4 elements and the elements of 4 keys
fn scored(sum: vec4f, a: vec4f, b: mat4x4f) -> vec4f {
  return vec4f(
    fma(a.w, b[0].w, fma(a.z, b[0].z, fma(a.y, b[0].y, fma(a.x, b[0].x, sum.x)))),
    fma(a.w, b[1].w, fma(a.z, b[1].z, fma(a.y, b[1].y, fma(a.x, b[1].x, sum.y)))),
    fma(a.w, b[2].w, fma(a.z, b[2].z, fma(a.y, b[2].y, fma(a.x, b[2].x, sum.z)))),
    fma(a.w, b[3].w, fma(a.z, b[3].z, fma(a.y, b[3].y, fma(a.x, b[3].x, sum.w)))),
  );
}

// The same for each of the thread's queries
fn all_scored(sums: Rows, x: Rows, b: mat4x4f) -> Rows {
  var result = sums;
  result.a = mat4x4f(
    scored(sums.a[0], x.a[0], b), scored(sums.a[1], x.a[1], b), scored(sums.a[2], x.a[2], b),
    scored(sums.a[3], x.a[3], b),
  );
  if (ROWS > 4u) {
    result.b = mat4x4f(
      scored(sums.b[0], x.b[0], b), scored(sums.b[1], x.b[1], b), vec4f(), vec4f()
    );
  }
  return result;
}

// sum + 4 keys' values times a query's weights
fn weighed(sum: vec4f, a: vec4f, b: mat4x4f) -> vec4f {
  let half = fma(vec4f(a.y), b[1], fma(vec4f(a.x), b[0], sum));
  return fma(vec4f(a.w), b[3], fma(vec4f(a.z), b[2], half));
}

// A value times its weight, or nothing without a weight.
fn part_of(weight: f32, value: vec4f) -> vec4f {
  return select(vec4f(), weight * value, weight > 0.0);
}

// weighed() of values of which some are not finite
fn weighed_apart(sum: vec4f, a: vec4f, b: mat4x4f) -> vec4f {
  return sum + part_of(a.x, b[0]) + part_of(a.y, b[1]) + part_of(a.z, b[2]) + part_of(a.w, b[3]);
}

// The same for each of the thread's queries
fn all_weighed(sums: Rows, x: Rows, b: mat4x4f, apart: bool) -> Rows {
  var result = sums;
  if (apart) {
    //#repeat I 4
    result.a[I] = weighed_apart(sums.a[I], x.a[I], b);
    //#end
    if (ROWS > 4u) {
      result.b[0] = weighed_apart(sums.b[0], x.b[0], b);
      result.b[1] = weighed_apart(sums.b[1], x.b[1], b);
    }
    return result;
  }
  result.a = mat4x4f(
    weighed(sums.a[0], x.a[0], b), weighed(sums.a[1], x.a[1], b), weighed(sums.a[2], x.a[2], b),
    weighed(sums.a[3], x.a[3], b),
  );
  if (ROWS > 4u) {
    result.b = mat4x4f(
      weighed(sums.b[0], x.b[0], b), weighed(sums.b[1], x.b[1], b), vec4f(), vec4f()
    );
  }
  return result;
}

fn scaled(x: mat4x4f, by: vec4f) -> mat4x4f {
  return mat4x4f(x[0] * by.x, x[1] * by.y, x[2] * by.z, x[3] * by.w);
}

fn all_scaled(x: Rows, by: Column) -> Rows {
  return Rows(scaled(x.a, by.a), scaled(x.b, by.b));
}

fn all_capped(x: mat4x4f) -> mat4x4f {
  return mat4x4f(capped(x[0]), capped(x[1]), capped(x[2]), capped(x[3]));
}

// Masks keys that queries do not see. `limits` are the first keys after those that each may see.
fn masked(x: mat4x4f, key: vec4u, limits: vec4u) -> mat4x4f {
  let hidden = vec4f(minus_infinity());
  return mat4x4f(
    select(x[0], hidden, is_hidden(key, limits.x)), select(x[1], hidden, is_hidden(key, limits.y)),
    select(x[2], hidden, is_hidden(key, limits.z)), select(x[3], hidden, is_hidden(key, limits.w)),
  );
}

fn weighted(x: mat4x4f, references: vec4f, factor: f32) -> mat4x4f {
  return mat4x4f(
    exp2((x[0] - references.x) * factor), exp2((x[1] - references.y) * factor),
    exp2((x[2] - references.z) * factor), exp2((x[3] - references.w) * factor),
  );
}

fn tops(x: mat4x4f) -> vec4f {
  return vec4f(
    largest_of_four(x[0]), largest_of_four(x[1]), largest_of_four(x[2]), largest_of_four(x[3]));
}

fn totals_of(x: mat4x4f) -> vec4f {
  return vec4f(1.0) * x;
}

// Writes a thread's vec4 for each of its queries to the weights.
fn put(row: u32, lane: u32, x: Rows) {
  let at = row * LANES + lane;
  weights[at] = x.a[0];
  weights[at + LANES] = x.a[1];
  weights[at + 2u * LANES] = x.a[2];
  weights[at + 3u * LANES] = x.a[3];
  if (ROWS > 4u) {
    weights[at + 4u * LANES] = x.b[0];
    weights[at + 5u * LANES] = x.b[1];
  }
}

fn spread(x: vec4f) -> mat4x4f {
  return mat4x4f(vec4f(x.x), vec4f(x.y), vec4f(x.z), vec4f(x.w));
}

fn put_numbers(row: u32, lane: u32, x: Column) {
  put(row, lane, Rows(spread(x.a), spread(x.b)));
}

// The largest, or the sum, of the values that a query's threads wrote.
fn largest_of(row: u32) -> f32 {
  var result = LOWEST;
  for (var i = 0u; i < LANES; i++) {
    result = max(result, weights[row * LANES + i].x);
  }
  return result;
}

fn sum_of(row: u32) -> f32 {
  var result = 0.0;
  for (var i = 0u; i < LANES; i++) {
    result += weights[row * LANES + i].x;
  }
  return result;
}

fn write(at: u32, x: vec4f) {
  if (HALVES == 0u) {
    let bits = bitcast<vec4u>(x);
    o[2u * at] = bits.xy;
    o[2u * at + 1u] = bits.zw;
  } else {
    o[at] = vec2u(pack2x16float(x.xy), pack2x16float(x.zw));
  }
}

fn finish(at: u32, row: u32, sum0: vec4f, sum1: vec4f, sum2: vec4f, sum3: vec4f) {
  let total = sum_of(row);
  write(at, sum0 / total);
  if (COLUMNS > 1u) {
    write(at + LANES, sum1 / total);
  }
  if (COLUMNS > 2u) {
    write(at + 2u * LANES, sum2 / total);
    write(at + 3u * LANES, sum3 / total);
  }
}

// Computes the blocks of a workgroup of THREADS_USED threads.
fn attend(group: vec3u, groups: vec3u, thread: u32) {
  let row_blocks = (queries() + QUERIES - 1u) / QUERIES;
  let z = params.first_z + group.z;
  let own = group.y * groups.x + group.x;
  // Indices of workgroup memory in the loops below are computed in this function, so that the
  // compiler sees that they are in bounds and does not clamp them.
  let lane = thread % LANES;
  // The first of the thread's queries in the tile (the remainder changes nothing but sets a bound)
  let row = thread / LANES % (QUERIES / ROWS) * ROWS;
  var turns = 1u;
  var block = own;
  if (is_causal()) {
    turns = 2u;
    block = row_blocks - 1u - own; // wraps around for surplus workgroups, which have no block
  }
  for (var turn = 0u; turn < turns && turns * own + turn < row_blocks; turn++) {
    let first_row = block * QUERIES;
    let head = head_of(z);
    let factor = params.scale * LOG2_E;

    for (var i = thread; i < QUERIES * STEPS; i += THREADS_USED) {
      let from_q = head.q + min(first_row + i / STEPS, queries() - 1u) * q_pitch() + i % STEPS;
      q_tile[i] = floats(q[from_q >> HALVES], from_q);
    }

    var references = Column(vec4f(LOWEST), vec4f(LOWEST));
    var totals = Column(vec4f(), vec4f()); // of this thread's weights
    var sums0 = Rows(mat4x4f(), mat4x4f()); // for the thread's first column, and so on
    var sums1 = Rows(mat4x4f(), mat4x4f());
    var sums2 = Rows(mat4x4f(), mat4x4f());
    var sums3 = Rows(mat4x4f(), mat4x4f());
    let begin = first_seen(min(head.before + first_row + 1u, head.keys)) / KEYS * KEYS;
    var next0 = four_of_k(head, begin, 0u, thread);
    var next1 = mat4x4f();
    var next2 = mat4x4f();
    if (LOADS > 4u) {
      next1 = four_of_k(head, begin, 4u, thread);
    }
    if (LOADS > 8u) {
      next2 = four_of_k(head, begin, 8u, thread);
    }

    var keys = head.keys;
    if (is_causal()) {
      keys = min(keys, head.before + first_row + QUERIES); // later keys are masked for every query of the tile
    }
    for (var first_key = begin; first_key < keys; first_key += KEYS) {
      put_four_of_k(0u, thread, next0);
      if (LOADS > 4u) {
        put_four_of_k(4u, thread, next1);
      }
      if (LOADS > 8u) {
        put_four_of_k(8u, thread, next2);
      }
      if (thread == 0u) {
        weights[0] = vec4f(); // set to 1 if references must follow
        forget_odd();
      }
      workgroupBarrier();
      next0 = four_of_v(head, first_key, 0u, thread);
      if (LOADS > 4u) {
        next1 = four_of_v(head, first_key, 4u, thread);
      }
      if (LOADS > 8u) {
        next2 = four_of_v(head, first_key, 8u, thread);
      }

      var scores = Rows(mat4x4f(), mat4x4f());
      for (var step = 0u; step < STEPS; step++) {
        let at = lane * STEPS + (step ^ (lane & 7u)) % STEPS;
        let b = mat4x4f(
          kv_tile[at], kv_tile[at + LANES * STEPS], kv_tile[at + 2u * LANES * STEPS],
          kv_tile[at + 3u * LANES * STEPS],
        );
        let q_at = row * STEPS + step;
        var x = Rows(
          mat4x4f(
            q_tile[q_at], q_tile[q_at + STEPS], q_tile[q_at + 2u * STEPS], q_tile[q_at + 3u * STEPS]
          ),
          mat4x4f(),
        );
        if (ROWS > 4u) {
          x.b[0] = q_tile[q_at + 4u * STEPS];
          x.b[1] = q_tile[q_at + 5u * STEPS];
        }
        scores = all_scored(scores, x, b);
      }
      scores = Rows(all_capped(scores.a), all_capped(scores.b));
      let end = first_key + KEYS;
      let is_partly_seen = (is_causal() && end > head.before + first_row) || is_windowed();
      if (end > head.keys || is_partly_seen) {
        let key = first_key + 4u * lane + vec4u(0u, 1u, 2u, 3u);
        var limits = vec4u(head.keys);
        var later_limits = limits;
        if (is_causal()) {
          let first_limit = head.before + first_row + row;
          limits = min(limits, first_limit + vec4u(1u, 2u, 3u, 4u));
          later_limits = min(later_limits, first_limit + vec4u(5u, 6u, 7u, 8u));
        }
        scores = Rows(masked(scores.a, key, limits), masked(scores.b, key, later_limits));
      }

      let top = Column(tops(scores.a), tops(scores.b));
      var rises = any((top.a - references.a) * factor > vec4f(RISE));
      if (ROWS > 4u) {
        rises |= any((top.b.xy - references.b.xy) * factor > vec2f(RISE));
      }
      if (rises) {
        weights[0] = vec4f(1.0);
      }
      if (workgroupUniformLoad(&weights[0]).x != 0.0) {
        put_numbers(row, lane, top);
        workgroupBarrier();
        var raised = references;
        raised.a = max(raised.a, vec4f(
          largest_of(row), largest_of(row + 1u), largest_of(row + 2u), largest_of(row + 3u)
        ));
        if (ROWS > 4u) {
          raised.b = max(raised.b, vec4f(
            largest_of(row + 4u), largest_of(row + 5u), LOWEST, LOWEST
          ));
        }
        workgroupBarrier();
        let shrink = Column(
          exp2((references.a - raised.a) * factor), exp2((references.b - raised.b) * factor)
        );
        references = raised;
        totals = Column(totals.a * shrink.a, totals.b * shrink.b);
        sums0 = all_scaled(sums0, shrink);
        if (COLUMNS > 1u) {
          sums1 = all_scaled(sums1, shrink);
        }
        if (COLUMNS > 2u) {
          sums2 = all_scaled(sums2, shrink);
          sums3 = all_scaled(sums3, shrink);
        }
      }
      scores = Rows(
        weighted(scores.a, references.a, factor), weighted(scores.b, references.b, factor)
      );
      totals = Column(totals.a + totals_of(scores.a), totals.b + totals_of(scores.b));
      put(row, lane, scores);
      put_four_of_v(head, first_key, 0u, thread, next0);
      if (LOADS > 4u) {
        put_four_of_v(head, first_key, 4u, thread, next1);
      }
      if (LOADS > 8u) {
        put_four_of_v(head, first_key, 8u, thread, next2);
      }
      workgroupBarrier();

      var is_apart = false;
      if (SEPARATES && is_partly_seen) {
        is_apart = has_odd();
      }
      next0 = four_of_k(head, first_key + KEYS, 0u, thread);
      if (LOADS > 4u) {
        next1 = four_of_k(head, first_key + KEYS, 4u, thread);
      }
      if (LOADS > 8u) {
        next2 = four_of_k(head, first_key + KEYS, 8u, thread);
      }
      for (var n = 0u; n < LANES; n++) {
        let w_at = row * LANES + n;
        var x = Rows(
          mat4x4f(
            weights[w_at], weights[w_at + LANES], weights[w_at + 2u * LANES],
            weights[w_at + 3u * LANES],
          ),
          mat4x4f(),
        );
        if (ROWS > 4u) {
          x.b[0] = weights[w_at + 4u * LANES];
          x.b[1] = weights[w_at + 5u * LANES];
        }
        let at0 = 4u * n * STEPS + lane;
        sums0 = all_weighed(sums0, x, mat4x4f(
          kv_tile[at0], kv_tile[at0 + STEPS], kv_tile[at0 + 2u * STEPS], kv_tile[at0 + 3u * STEPS]
        ), is_apart);
        if (COLUMNS > 1u) {
          let at1 = at0 + LANES;
          sums1 = all_weighed(sums1, x, mat4x4f(
            kv_tile[at1], kv_tile[at1 + STEPS], kv_tile[at1 + 2u * STEPS], kv_tile[at1 + 3u * STEPS]
          ), is_apart);
        }
        if (COLUMNS > 2u) {
          let at2 = at0 + 2u * LANES;
          sums2 = all_weighed(sums2, x, mat4x4f(
            kv_tile[at2], kv_tile[at2 + STEPS], kv_tile[at2 + 2u * STEPS], kv_tile[at2 + 3u * STEPS]
          ), is_apart);
          let at3 = at0 + 3u * LANES;
          sums3 = all_weighed(sums3, x, mat4x4f(
            kv_tile[at3], kv_tile[at3 + STEPS], kv_tile[at3 + 2u * STEPS], kv_tile[at3 + 3u * STEPS]
          ), is_apart);
        }
      }
      workgroupBarrier();
    }

    put_numbers(row, lane, totals);
    workgroupBarrier();
    let o_row = params.heads * STEPS;
    let at = head.o + (first_row + row) * o_row + lane;
    let rows = queries() - min(queries(), first_row + row); // remaining from the first on
    if (rows > 0u) {
      finish(at, row, sums0.a[0], sums1.a[0], sums2.a[0], sums3.a[0]);
    }
    if (rows > 1u) {
      finish(at + o_row, row + 1u, sums0.a[1], sums1.a[1], sums2.a[1], sums3.a[1]);
    }
    if (rows > 2u) {
      finish(at + 2u * o_row, row + 2u, sums0.a[2], sums1.a[2], sums2.a[2], sums3.a[2]);
    }
    if (rows > 3u) {
      finish(at + 3u * o_row, row + 3u, sums0.a[3], sums1.a[3], sums2.a[3], sums3.a[3]);
    }
    if (ROWS > 4u) {
      if (rows > 4u) {
        finish(at + 4u * o_row, row + 4u, sums0.b[0], sums1.b[0], sums2.b[0], sums3.b[0]);
      }
      if (rows > 5u) {
        finish(at + 5u * o_row, row + 5u, sums0.b[1], sums1.b[1], sums2.b[1], sums3.b[1]);
      }
    }
    block = own;
    workgroupBarrier();
  }
}
