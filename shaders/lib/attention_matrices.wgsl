// Attention with subgroup matrices of float16, for a HEAD_DIM of 32, 64 or 128, in files that enable
// f16, subgroups and subgroup matrices. Weights are rounded to float16; all sums are float32.
// Subgroups have 32 threads.
//
// Flash attention (https://arxiv.org/abs/2205.14135): each of a workgroup's SUBGROUPS computes 16
// rows of o. It reads 32 keys at a time from tiles of K and V that all subgroups share, while the
// next tiles are prefetched into registers. With a SPLIT of 2, two subgroups share the same rows,
// and a tile has 64 keys, half for each. Blocks of rows are then smaller, for problems with few
// rows. Scores go from the matrices through workgroup memory, two threads compute the softmax of a
// row, and the weights return the same way. A causal workgroup computes two blocks of rows, one from
// the end and one from the start, so that all have the same work.
//
// exp2 is computed of scores minus a row's reference. The reference follows the row's maximum only
// when that has risen by more than RISE. The sums so far are then rescaled, also through workgroup
// memory, which is rare. Weights stay below 2^RISE.
//
// attention_heads.wgsl or cached_heads.wgsl declares the parameters, the places of heads and which
// keys are seen. Of a key with a value beyond float16, queries that see it become NaN. A shader
// declares
//
//   q_eight(), k_eight(), v_eight()  eight elements as float16
//   write_four()  writes four elements of o

//#include lib/floats.wgsl

override HEAD_DIM: u32 = 64u;
override SUBGROUPS: u32 = 4u; // up to 4
override SPLIT: u32 = 1u; // 1 or 2

override STEPS = HEAD_DIM / 8u; // vec4us of a row
override PLANES = (HEAD_DIM + 63u) / 64u; // of 64 columns, each in its own tile
override THREADS_USED = 32u * SUBGROUPS;
override TILE_KEYS = KEYS * SPLIT;
override BLOCK_ROWS = SUBGROUPS / SPLIT * ROWS;
override LOADS = (TILE_KEYS * STEPS + THREADS_USED - 1u) / THREADS_USED; // up to 8
const ELEMENTS = 8u; // of a vec4u
const KEYS = 32u; // of a subgroup per step
const PITCH = 9u; // of a tile's row, in vec4u, so that neighbouring rows are in different banks
const ROWS = 16u; // queries of a subgroup
const S_PITCH = 9u; // in vec4f: 32 scores of a query
const LATER = 16u * PITCH; // the second 16 keys
const P_PITCH = 5u; // in vec4u: 32 weights of a query
const LOG2_E = 1.44269504;
const RISE = 8.0;
const LOWEST = -3.4028234e38;

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Result = subgroup_matrix_result<f32, 16, 16>;

// K and V alternate, for each plane of each subgroup that shares a row; initially, the queries.
// Matrices are at constant offsets in arrays of constant size, since all other offsets are checked.
var<workgroup> tiles: array<array<vec4u, KEYS * PITCH>, 2u * PLANES * SPLIT>;
var<workgroup> scores: array<array<vec4f, ROWS * S_PITCH>, SUBGROUPS>;
var<workgroup> weights: array<array<vec4u, ROWS * P_PITCH>, SUBGROUPS>;
var<workgroup> risen: array<u32, 2>;
var<workgroup> parts: array<vec2f, ROWS * SUBGROUPS>; // references and totals, at the end
// If SEPARATES, 1 + the first key of the last tile that has a value beyond float16, and of the last
// one that has it at this place.
var<workgroup> odd_tile: u32;
var<workgroup> odd_keys: array<u32, KEYS * SPLIT>;

// The tile of K or V that contains a vec4u of a row, and the position in the tile
fn place(row: u32, column: u32) -> vec2u {
  return vec2u(row / KEYS * PLANES + column / 8u, row % KEYS * PITCH + column % 8u);
}

fn halves(x: vec4f) -> vec2u {
  return bitcast<vec2u>(vec4h(x));
}

// Whether one of eight halves is not finite
fn is_odd(x: vec4u) -> bool {
  return any((x & vec4u(0x7c00u)) == vec4u(0x7c00u))
    || any((x & vec4u(0x7c000000u)) == vec4u(0x7c000000u));
}

// Whether one of four keys has an odd value and a weight.
fn sees_odd(weights_of: vec4f, key: u32, mark: u32) -> bool {
  let marks = vec4u(odd_keys[key], odd_keys[key + 1u], odd_keys[key + 2u], odd_keys[key + 3u]);
  return any((marks == vec4u(mark)) & (weights_of > vec4f()));
}

// Writes half of 32 columns of a row of o.
fn write(to: u32, subgroup: u32, from_sums: u32, by: vec2f) {
  for (var i = 0u; i < 4u; i++) {
    var sums = scores[subgroup][from_sums + i] * by.x;
    if (SPLIT == 2u) {
      sums += scores[subgroup + 1u][from_sums + i] * by.y;
    }
    write_four(to + i, sums);
  }
}

fn make_block(block: u32, z: u32, thread: u32, subgroup: u32, lane: u32) {
  let first_row = block * BLOCK_ROWS;
  let head = head_of(z);
  let row = lane % ROWS; // in the softmax, this thread's query and half of the keys
  let half = lane / ROWS;
  let query = first_row + subgroup / SPLIT * ROWS + row;
  let own_keys = select(0u, subgroup % 2u * KEYS, SPLIT == 2u); // its first position in a tile
  let k_tile = own_keys / KEYS * 2u * PLANES;
  let v_tile = k_tile + 1u;
  let factor = params.scale * LOG2_E;

  // Rows past the end are read from the last one.
  for (var i = thread; i < BLOCK_ROWS * STEPS; i += THREADS_USED) {
    let source = min(first_row + i / STEPS, queries() - 1u);
    let at = place(i / STEPS, i % STEPS);
    tiles[at.x][at.y] = q_eight(head.q + source * q_pitch() + i % STEPS);
  }
  if (thread < 2u) {
    risen[thread] = 0u;
  }
  workgroupBarrier();
  let q_tile = subgroup / SPLIT / 2u * PLANES;
  let q_at = subgroup / SPLIT % 2u * ROWS * PITCH;
  var q0 = Left();
  var q1 = Left();
  var q2 = Left();
  var q3 = Left();
  var q4 = Left();
  var q5 = Left();
  var q6 = Left();
  var q7 = Left();
  q0 = subgroupMatrixLoad<Left, row_major>(&tiles[q_tile], q_at, PITCH);
  q1 = subgroupMatrixLoad<Left, row_major>(&tiles[q_tile], q_at + 2u, PITCH);
  if (HEAD_DIM > 32u) {
    q2 = subgroupMatrixLoad<Left, row_major>(&tiles[q_tile], q_at + 4u, PITCH);
    q3 = subgroupMatrixLoad<Left, row_major>(&tiles[q_tile], q_at + 6u, PITCH);
  }
  if (HEAD_DIM > 64u) {
    q4 = subgroupMatrixLoad<Left, row_major>(&tiles[q_tile + 1u], q_at, PITCH);
    q5 = subgroupMatrixLoad<Left, row_major>(&tiles[q_tile + 1u], q_at + 2u, PITCH);
    q6 = subgroupMatrixLoad<Left, row_major>(&tiles[q_tile + 1u], q_at + 4u, PITCH);
    q7 = subgroupMatrixLoad<Left, row_major>(&tiles[q_tile + 1u], q_at + 6u, PITCH);
  }
  workgroupBarrier();
  var sum0 = Result();
  var sum1 = Result();
  var sum2 = Result();
  var sum3 = Result();
  var sum4 = Result();
  var sum5 = Result();
  var sum6 = Result();
  var sum7 = Result();

  var reference = LOWEST;
  var total = 0.0; // of this thread's weights
  var turn = 0u;
  var next_k = array<vec4u, 8>();
  var next_v = array<vec4u, 8>();
  let begin = first_seen(min(head.before + first_row + 1u, head.keys)) / TILE_KEYS * TILE_KEYS;
  var keys = head.keys;
  if (is_causal()) {
    keys = min(keys, head.before + first_row + BLOCK_ROWS); // later keys are masked for every query of the tile
  }
  for (var i = 0u; i < LOADS; i++) {
    let at = thread + i * THREADS_USED;
    let key = begin + at / STEPS;
    let offset = min(key, head.keys - 1u) * kv_pitch() + at % STEPS;
    next_k[i] = k_eight(head.k + offset);
    next_v[i] = v_eight(head.v + offset);
  }
  for (var first_key = begin; first_key < keys; first_key += TILE_KEYS) {
    for (var i = 0u; i < LOADS; i++) {
      let at = thread + i * THREADS_USED;
      let to = place(at / STEPS, at % STEPS);
      if (at < TILE_KEYS * STEPS) {
        let inside = first_key + at / STEPS < head.keys;
        tiles[2u * to.x][to.y] = next_k[i];
        // Values past the end must be 0: a weight of 0 does not cancel a NaN.
        var own_v = select(vec4u(), next_v[i], inside);
        if (SEPARATES && is_odd(own_v)) {
          own_v = vec4u();
          odd_tile = first_key + 1u;
          odd_keys[at / STEPS] = first_key + 1u;
        }
        tiles[2u * to.x + 1u][to.y] = own_v;
      }
    }
    workgroupBarrier();
    for (var i = 0u; i < LOADS; i++) {
      let at = thread + i * THREADS_USED;
      let key = first_key + TILE_KEYS + at / STEPS;
      let offset = min(key, head.keys - 1u) * kv_pitch() + at % STEPS;
      next_k[i] = k_eight(head.k + offset);
      next_v[i] = v_eight(head.v + offset);
    }

    var scores0 = Result();
    var scores1 = Result();
    scores0 = subgroupMatrixMultiplyAccumulate(
      q0, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile], 0u, PITCH), scores0
    );
    scores1 = subgroupMatrixMultiplyAccumulate(
      q0, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile], LATER, PITCH), scores1
    );
    scores0 = subgroupMatrixMultiplyAccumulate(
      q1, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile], 2u, PITCH), scores0
    );
    scores1 = subgroupMatrixMultiplyAccumulate(
      q1, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile], LATER + 2u, PITCH), scores1
    );
    if (HEAD_DIM > 32u) {
      scores0 = subgroupMatrixMultiplyAccumulate(
        q2, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile], 4u, PITCH), scores0
      );
      scores1 = subgroupMatrixMultiplyAccumulate(
        q2, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile], LATER + 4u, PITCH), scores1
      );
      scores0 = subgroupMatrixMultiplyAccumulate(
        q3, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile], 6u, PITCH), scores0
      );
      scores1 = subgroupMatrixMultiplyAccumulate(
        q3, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile], LATER + 6u, PITCH), scores1
      );
    }
    if (HEAD_DIM > 64u) {
      scores0 = subgroupMatrixMultiplyAccumulate(
        q4, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile + 2u], 0u, PITCH), scores0
      );
      scores1 = subgroupMatrixMultiplyAccumulate(
        q4, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile + 2u], LATER, PITCH), scores1
      );
      scores0 = subgroupMatrixMultiplyAccumulate(
        q5, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile + 2u], 2u, PITCH), scores0
      );
      scores1 = subgroupMatrixMultiplyAccumulate(
        q5, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile + 2u], LATER + 2u, PITCH), scores1
      );
      scores0 = subgroupMatrixMultiplyAccumulate(
        q6, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile + 2u], 4u, PITCH), scores0
      );
      scores1 = subgroupMatrixMultiplyAccumulate(
        q6, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile + 2u], LATER + 4u, PITCH), scores1
      );
      scores0 = subgroupMatrixMultiplyAccumulate(
        q7, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile + 2u], 6u, PITCH), scores0
      );
      scores1 = subgroupMatrixMultiplyAccumulate(
        q7, subgroupMatrixLoad<Right, col_major>(&tiles[k_tile + 2u], LATER + 6u, PITCH), scores1
      );
    }
    subgroupMatrixStore<row_major>(&scores[subgroup], 0u, scores0, S_PITCH);
    subgroupMatrixStore<row_major>(&scores[subgroup], 4u, scores1, S_PITCH);
    workgroupBarrier();

    let from_scores = row * S_PITCH + 4u * half;
    var a = scores[subgroup][from_scores];
    var b = scores[subgroup][from_scores + 1u];
    var c = scores[subgroup][from_scores + 2u];
    var d = scores[subgroup][from_scores + 3u];
    a = capped(a);
    b = capped(b);
    c = capped(c);
    d = capped(d);
    let end = first_key + TILE_KEYS;
    let is_partly_seen = (is_causal() && end > head.before + first_row) || is_windowed();
    if (end > head.keys || is_partly_seen) {
      let limit = select(head.keys, min(head.keys, head.before + query + 1u), is_causal());
      let key = first_key + own_keys + 16u * half + vec4u(0u, 1u, 2u, 3u);
      let masked = vec4f(minus_infinity());
      a = select(a, masked, is_hidden(key, limit));
      b = select(b, masked, is_hidden(key + 4u, limit));
      c = select(c, masked, is_hidden(key + 8u, limit));
      d = select(d, masked, is_hidden(key + 12u, limit));
    }
    let mine = largest_of_four(max(max(a, b), max(c, d)));
    let top = max(mine, subgroupShuffleXor(mine, ROWS));
    var shrink = 1.0;
    if ((top - reference) * factor > RISE) {
      shrink = exp2((reference - top) * factor);
      reference = top;
      risen[turn] = 1u;
    }
    a = exp2((a - reference) * factor);
    b = exp2((b - reference) * factor);
    c = exp2((c - reference) * factor);
    d = exp2((d - reference) * factor);
    let added = (a + b) + (c + d);
    total = total * shrink + (added.x + added.y) + (added.z + added.w);
    if (SEPARATES && odd_tile == first_key + 1u) {
      let at = own_keys + 16u * half;
      let mark = first_key + 1u;
      if (sees_odd(a, at, mark) || sees_odd(b, at + 4u, mark) || sees_odd(c, at + 8u, mark)
        || sees_odd(d, at + 12u, mark)) {
        total = quiet_nan();
      }
    }
    let to_weights = row * P_PITCH + 2u * half;
    weights[subgroup][to_weights] = vec4u(halves(a), halves(b));
    weights[subgroup][to_weights + 1u] = vec4u(halves(c), halves(d));
    let rescale = workgroupUniformLoad(&risen[turn]) != 0u; // also a barrier
    if (thread == 0u) {
      risen[1u - turn] = 0u;
    }
    turn = 1u - turn;
    if (rescale && first_key > begin) {
      let at = row * S_PITCH + 4u * half;
      subgroupMatrixStore<row_major>(&scores[subgroup], 0u, sum0, S_PITCH);
      subgroupMatrixStore<row_major>(&scores[subgroup], 4u, sum1, S_PITCH);
      workgroupBarrier();
      for (var i = 0u; i < 4u; i++) {
        scores[subgroup][at + i] *= shrink;
      }
      workgroupBarrier();
      sum0 = subgroupMatrixLoad<Result, row_major>(&scores[subgroup], 0u, S_PITCH);
      sum1 = subgroupMatrixLoad<Result, row_major>(&scores[subgroup], 4u, S_PITCH);
      workgroupBarrier();
      if (HEAD_DIM > 32u) {
        subgroupMatrixStore<row_major>(&scores[subgroup], 0u, sum2, S_PITCH);
        subgroupMatrixStore<row_major>(&scores[subgroup], 4u, sum3, S_PITCH);
        workgroupBarrier();
        for (var i = 0u; i < 4u; i++) {
          scores[subgroup][at + i] *= shrink;
        }
        workgroupBarrier();
        sum2 = subgroupMatrixLoad<Result, row_major>(&scores[subgroup], 0u, S_PITCH);
        sum3 = subgroupMatrixLoad<Result, row_major>(&scores[subgroup], 4u, S_PITCH);
        workgroupBarrier();
      }
      if (HEAD_DIM > 64u) {
        subgroupMatrixStore<row_major>(&scores[subgroup], 0u, sum4, S_PITCH);
        subgroupMatrixStore<row_major>(&scores[subgroup], 4u, sum5, S_PITCH);
        workgroupBarrier();
        for (var i = 0u; i < 4u; i++) {
          scores[subgroup][at + i] *= shrink;
        }
        workgroupBarrier();
        sum4 = subgroupMatrixLoad<Result, row_major>(&scores[subgroup], 0u, S_PITCH);
        sum5 = subgroupMatrixLoad<Result, row_major>(&scores[subgroup], 4u, S_PITCH);
        workgroupBarrier();
        subgroupMatrixStore<row_major>(&scores[subgroup], 0u, sum6, S_PITCH);
        subgroupMatrixStore<row_major>(&scores[subgroup], 4u, sum7, S_PITCH);
        workgroupBarrier();
        for (var i = 0u; i < 4u; i++) {
          scores[subgroup][at + i] *= shrink;
        }
        workgroupBarrier();
        sum6 = subgroupMatrixLoad<Result, row_major>(&scores[subgroup], 0u, S_PITCH);
        sum7 = subgroupMatrixLoad<Result, row_major>(&scores[subgroup], 4u, S_PITCH);
        workgroupBarrier();
      }
    }
    let weights0 = subgroupMatrixLoad<Left, row_major>(&weights[subgroup], 0u, P_PITCH);
    let weights1 = subgroupMatrixLoad<Left, row_major>(&weights[subgroup], 2u, P_PITCH);
    sum0 = subgroupMatrixMultiplyAccumulate(
      weights0, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile], 0u, PITCH), sum0
    );
    sum0 = subgroupMatrixMultiplyAccumulate(
      weights1, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile], LATER, PITCH), sum0
    );
    sum1 = subgroupMatrixMultiplyAccumulate(
      weights0, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile], 2u, PITCH), sum1
    );
    sum1 = subgroupMatrixMultiplyAccumulate(
      weights1, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile], LATER + 2u, PITCH), sum1
    );
    if (HEAD_DIM > 32u) {
      sum2 = subgroupMatrixMultiplyAccumulate(
        weights0, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile], 4u, PITCH), sum2
      );
      sum2 = subgroupMatrixMultiplyAccumulate(
        weights1, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile], LATER + 4u, PITCH), sum2
      );
      sum3 = subgroupMatrixMultiplyAccumulate(
        weights0, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile], 6u, PITCH), sum3
      );
      sum3 = subgroupMatrixMultiplyAccumulate(
        weights1, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile], LATER + 6u, PITCH), sum3
      );
    }
    if (HEAD_DIM > 64u) {
      sum4 = subgroupMatrixMultiplyAccumulate(
        weights0, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile + 2u], 0u, PITCH), sum4
      );
      sum4 = subgroupMatrixMultiplyAccumulate(
        weights1, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile + 2u], LATER, PITCH), sum4
      );
      sum5 = subgroupMatrixMultiplyAccumulate(
        weights0, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile + 2u], 2u, PITCH), sum5
      );
      sum5 = subgroupMatrixMultiplyAccumulate(
        weights1, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile + 2u], LATER + 2u, PITCH), sum5
      );
      sum6 = subgroupMatrixMultiplyAccumulate(
        weights0, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile + 2u], 4u, PITCH), sum6
      );
      sum6 = subgroupMatrixMultiplyAccumulate(
        weights1, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile + 2u], LATER + 4u, PITCH), sum6
      );
      sum7 = subgroupMatrixMultiplyAccumulate(
        weights0, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile + 2u], 6u, PITCH), sum7
      );
      sum7 = subgroupMatrixMultiplyAccumulate(
        weights1, subgroupMatrixLoad<Right, row_major>(&tiles[v_tile + 2u], LATER + 6u, PITCH), sum7
      );
    }
    workgroupBarrier();
  }

  let whole = total + subgroupShuffleXor(total, ROWS);
  var by = vec2f(1.0, 0.0) / whole; // factors of the sums of this subgroup and of the next one
  if (SPLIT == 2u) {
    if (half == 0u) {
      parts[subgroup * ROWS + row] = vec2f(reference, whole);
    }
    workgroupBarrier();
    let first = parts[subgroup / SPLIT * SPLIT * ROWS + row];
    let second = parts[(subgroup / SPLIT * SPLIT + 1u) * ROWS + row];
    let larger = max(first.x, second.x);
    by = exp2((vec2f(first.x, second.x) - larger) * factor);
    by /= dot(by, vec2f(first.y, second.y));
  }
  let from_sums = row * S_PITCH + 4u * half;
  // A thread has 4 of 32 columns.
  let to = 2u * (head.o + query * params.heads * STEPS) + 4u * half;
  let writes = own_keys == 0u && query < queries();
  subgroupMatrixStore<row_major>(&scores[subgroup], 0u, sum0, S_PITCH);
  subgroupMatrixStore<row_major>(&scores[subgroup], 4u, sum1, S_PITCH);
  workgroupBarrier();
  if (writes) {
    write(to + 0u, subgroup, from_sums, by);
  }
  workgroupBarrier();
  if (HEAD_DIM > 32u) {
    subgroupMatrixStore<row_major>(&scores[subgroup], 0u, sum2, S_PITCH);
    subgroupMatrixStore<row_major>(&scores[subgroup], 4u, sum3, S_PITCH);
    workgroupBarrier();
    if (writes) {
      write(to + 8u, subgroup, from_sums, by);
    }
    workgroupBarrier();
  }
  if (HEAD_DIM > 64u) {
    subgroupMatrixStore<row_major>(&scores[subgroup], 0u, sum4, S_PITCH);
    subgroupMatrixStore<row_major>(&scores[subgroup], 4u, sum5, S_PITCH);
    workgroupBarrier();
    if (writes) {
      write(to + 16u, subgroup, from_sums, by);
    }
    workgroupBarrier();
    subgroupMatrixStore<row_major>(&scores[subgroup], 0u, sum6, S_PITCH);
    subgroupMatrixStore<row_major>(&scores[subgroup], 4u, sum7, S_PITCH);
    workgroupBarrier();
    if (writes) {
      write(to + 24u, subgroup, from_sums, by);
    }
    workgroupBarrier();
  }
}

// Computes the blocks of a workgroup of THREADS_USED threads.
fn attend(group: vec3u, groups: vec3u, thread: u32, subgroup: u32, lane: u32) {
  let row_blocks = (queries() + BLOCK_ROWS - 1u) / BLOCK_ROWS;
  let z = params.first_z + group.z;
  let own = group.y * groups.x + group.x;
  var turns = 1u;
  var block = own;
  if (is_causal()) {
    turns = 2u;
    block = row_blocks - 1u - own; // wraps around for surplus workgroups, which have no block
  }
  for (var turn = 0u; turn < turns && turns * own + turn < row_blocks; turn++) {
    make_block(block, z, thread, subgroup, lane);
    block = own;
    workgroupBarrier();
  }
}
