enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

// Attention of float16 with subgroup matrices, for a HEAD_DIM of 32, 64 or 128. attention.wgsl
// describes the computation and the layout of q, k, v and o. Weights are rounded to float16; all
// sums are float32. Subgroups have 32 threads.
//
// Flash attention (https://arxiv.org/abs/2205.14135): each of a workgroup's SUBGROUPS computes 16
// rows of o. It reads 32 keys at a time from tiles of K and V that all subgroups share, while the
// next tiles are prefetched into registers. With a SPLIT of 2, two subgroups share the same rows,
// and a tile has 64 keys, half for each. Blocks of rows are then smaller, for problems with few
// rows. Scores go from the matrices through workgroup memory, two threads compute the softmax of a
// row, and the weights return the same way. Cost: 4 z seq_q seq_kv head_dim operations, half as
// many if causal. A causal workgroup computes two blocks of rows, one from the end and one from the
// start, so that all have the same work.
//
// exp2 is computed of scores minus a row's reference. The reference follows the row's maximum only
// when that has risen by more than RISE. The sums so far are then rescaled, also through workgroup
// memory, which is rare. Weights stay below 2^RISE.

struct Params {
  seq_q: u32,
  seq_kv: u32,
  head_dim: u32,
  heads: u32,
  q_row: u32,
  kv_row: u32,
  k_first: u32,
  v_first: u32,
  first_z: u32,
  causal: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<vec4u>;
@group(0) @binding(1) var<storage, read> k: array<vec4u>;
@group(0) @binding(2) var<storage, read> v: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> o: array<vec2u>;
@group(1) @binding(0) var<uniform> params: Params;

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

// The tile of K or V that contains a vec4u of a row, and the position in the tile
fn place(row: u32, column: u32) -> vec2u {
  return vec2u(row / KEYS * PLANES + column / 8u, row % KEYS * PITCH + column % 8u);
}

fn halves(x: vec4f) -> vec2u {
  return bitcast<vec2u>(vec4h(x));
}

// Writes half of 32 columns of a row of o.
fn write(to: u32, subgroup: u32, from_sums: u32, by: vec2f) {
  for (var i = 0u; i < 4u; i++) {
    var sums = scores[subgroup][from_sums + i] * by.x;
    if (SPLIT == 2u) {
      sums += scores[subgroup + 1u][from_sums + i] * by.y;
    }
    o[to + i] = halves(sums);
  }
}

fn make_block(block: u32, z: u32, thread: u32, subgroup: u32, lane: u32) {
  let first_row = block * BLOCK_ROWS;
  let outer = z / params.heads;
  let within = z % params.heads * STEPS;
  let q_row = params.q_row / 8u;
  let q_base = outer * params.seq_q * q_row + within;
  let kv_row = params.kv_row / 8u;
  let k_base = params.k_first / 8u + outer * params.seq_kv * kv_row + within;
  let v_base = params.v_first / 8u + outer * params.seq_kv * kv_row + within;
  let row = lane % ROWS; // in the softmax, this thread's query and half of the keys
  let half = lane / ROWS;
  let query = first_row + subgroup / SPLIT * ROWS + row;
  let own_keys = select(0u, subgroup % 2u * KEYS, SPLIT == 2u); // its first position in a tile
  let k_tile = own_keys / KEYS * 2u * PLANES;
  let v_tile = k_tile + 1u;
  let factor = params.scale * LOG2_E;

  // Rows past the end are read from the last one.
  for (var i = thread; i < BLOCK_ROWS * STEPS; i += THREADS_USED) {
    let source = min(first_row + i / STEPS, params.seq_q - 1u);
    let at = place(i / STEPS, i % STEPS);
    tiles[at.x][at.y] = q[q_base + source * q_row + i % STEPS];
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
  var keys = params.seq_kv;
  if (params.causal != 0u) {
    keys = min(keys, first_row + BLOCK_ROWS); // later keys are masked for every query of the tile
  }
  for (var i = 0u; i < LOADS; i++) {
    let at = thread + i * THREADS_USED;
    let key = at / STEPS;
    let offset = min(key, params.seq_kv - 1u) * kv_row + at % STEPS;
    next_k[i] = k[k_base + offset];
    next_v[i] = v[v_base + offset];
  }
  for (var first_key = 0u; first_key < keys; first_key += TILE_KEYS) {
    for (var i = 0u; i < LOADS; i++) {
      let at = thread + i * THREADS_USED;
      let to = place(at / STEPS, at % STEPS);
      if (at < TILE_KEYS * STEPS) {
        let inside = first_key + at / STEPS < params.seq_kv;
        tiles[2u * to.x][to.y] = next_k[i];
        // Values past the end must be 0: a weight of 0 does not cancel a NaN.
        tiles[2u * to.x + 1u][to.y] = select(vec4u(), next_v[i], inside);
      }
    }
    workgroupBarrier();
    for (var i = 0u; i < LOADS; i++) {
      let at = thread + i * THREADS_USED;
      let key = first_key + TILE_KEYS + at / STEPS;
      let offset = min(key, params.seq_kv - 1u) * kv_row + at % STEPS;
      next_k[i] = k[k_base + offset];
      next_v[i] = v[v_base + offset];
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
    let end = first_key + TILE_KEYS;
    if (end > params.seq_kv || (params.causal != 0u && end > first_row)) {
      let limit = vec4u(select(params.seq_kv, min(params.seq_kv, query + 1u), params.causal != 0u));
      let key = first_key + own_keys + 16u * half + vec4u(0u, 1u, 2u, 3u);
      let masked = vec4f(minus_infinity());
      a = select(a, masked, key >= limit);
      b = select(b, masked, key + 4u >= limit);
      c = select(c, masked, key + 8u >= limit);
      d = select(d, masked, key + 12u >= limit);
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
    let to_weights = row * P_PITCH + 2u * half;
    weights[subgroup][to_weights] = vec4u(halves(a), halves(b));
    weights[subgroup][to_weights + 1u] = vec4u(halves(c), halves(d));
    let rescale = workgroupUniformLoad(&risen[turn]) != 0u; // also a barrier
    if (thread == 0u) {
      risen[1u - turn] = 0u;
    }
    turn = 1u - turn;
    if (rescale && first_key > 0u) {
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
  let o_row = params.heads * STEPS * 2u; // in vec2us; a thread has 4 of 32 columns
  let to = outer * params.seq_q * o_row + query * o_row + 2u * within + 4u * half;
  let writes = own_keys == 0u && query < params.seq_q;
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

@compute @workgroup_size(THREADS_USED)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let row_blocks = (params.seq_q + BLOCK_ROWS - 1u) / BLOCK_ROWS;
  let z = params.first_z + group.z;
  let own = group.y * groups.x + group.x;
  var turns = 1u;
  var block = own;
  if (params.causal != 0u) {
    turns = 2u;
    block = row_blocks - 1u - own; // wraps around for surplus workgroups, which have no block
  }
  for (var turn = 0u; turn < turns && turns * own + turn < row_blocks; turn++) {
    make_block(block, z, thread, subgroup, lane);
    block = own;
    workgroupBarrier();
  }
}
