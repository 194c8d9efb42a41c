// One pass of the discrete Fourier transform along the middle axis of complex x [outer, n, inner].
//
// A line of n is transformed by passes of `points` each, whose product is n, in Stockham's
// self-sorting order (https://doi.org/10.1109/SC.2008.5213922). Let s = n / points, and `before`
// the product of the earlier passes. The j-th transform of the line, j < s, reads v[r] = x[j + r s]
// exp(sign 2πi (j % before) r / (before points)) and writes its k-th result to y[j / before ×
// before points + j % before + k before].
//
// A workgroup does `together` neighbouring transforms in its memory, in steps of radix 2, 3, 4, 5,
// 7 or 8 of the same form. Transforms of whole rows are stored there one after the other. Others
// are interleaved, and a thread stays with one of them, so that neighbouring threads access
// neighbouring elements. A pass reads x and writes y once.

struct Params {
  outer: u32,
  n: u32,
  inner: u32,
  points: u32, // of a transform, at most ROOM
  before: u32,
  radices: u32, // of the steps, four bits each, the first one lowest
  together: u32, // a power of two, at most THREADS; × points at most ROOM
  sign: f32, // -1 forward, 1 backward
  scale: f32, // factor of the results
}

@group(0) @binding(0) var<storage, read> x: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> y: array<vec2f>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/turns.wgsl

const THREADS = 256u;
const ROOM = 1024u;

var<workgroup> work: array<vec2f, 2u * ROOM>; // a step reads one half and writes the other

// Positions in `work` that a step reads and writes: the first value, and the distance to the next.
struct Place {
  read: u32,
  read_step: u32,
  write: u32,
  write_step: u32,
}

fn load(place: Place, i: u32) -> vec2f {
  return work[place.read + i * place.read_step];
}

fn store(place: Place, i: u32, value: vec2f) {
  work[place.write + i * place.write_step] = value;
}

// × exp(sign πi / 2)
fn rotated(v: vec2f) -> vec2f {
  return params.sign * vec2f(-v.y, v.x);
}

fn of_two(place: Place, w: vec2f) {
  let a = load(place, 0u);
  let b = times(load(place, 1u), w);
  store(place, 0u, a + b);
  store(place, 1u, a - b);
}

fn of_three(place: Place, w: vec2f) {
  let a = load(place, 0u);
  let b = times(load(place, 1u), w);
  let c = times(load(place, 2u), times(w, w));
  let middle = a - 0.5 * (b + c);
  let aside = rotated(0.8660254 * (b - c));
  store(place, 0u, a + (b + c));
  store(place, 1u, middle + aside);
  store(place, 2u, middle - aside);
}

fn four(a: vec2f, b: vec2f, c: vec2f, d: vec2f) -> array<vec2f, 4> {
  let aside = rotated(b - d);
  return array<vec2f, 4>(
    (a + c) + (b + d), (a - c) + aside, (a + c) - (b + d), (a - c) - aside);
}

fn of_four(place: Place, w: vec2f) {
  let w2 = times(w, w);
  let found = four(
    load(place, 0u), times(load(place, 1u), w), times(load(place, 2u), w2),
    times(load(place, 3u), times(w, w2)));
  store(place, 0u, found[0]);
  store(place, 1u, found[1]);
  store(place, 2u, found[2]);
  store(place, 3u, found[3]);
}

fn of_five(place: Place, w: vec2f) {
  let w2 = times(w, w);
  let a = load(place, 0u);
  let b = times(load(place, 1u), w);
  let c = times(load(place, 2u), w2);
  let d = times(load(place, 3u), times(w, w2));
  let e = times(load(place, 4u), times(w2, w2));
  let first = a + 0.309017 * (b + e) - 0.809017 * (c + d);
  let second = a - 0.809017 * (b + e) + 0.309017 * (c + d);
  let aside = rotated(0.95105654 * (b - e) + 0.58778524 * (c - d));
  let aside2 = rotated(0.58778524 * (b - e) - 0.95105654 * (c - d));
  store(place, 0u, a + ((b + e) + (c + d)));
  store(place, 1u, first + aside);
  store(place, 2u, second + aside2);
  store(place, 3u, second - aside2);
  store(place, 4u, first - aside);
}

fn of_seven(place: Place, w: vec2f) {
  let w2 = times(w, w);
  let w3 = times(w, w2);
  let a = load(place, 0u);
  let b = times(load(place, 1u), w);
  let c = times(load(place, 2u), w2);
  let d = times(load(place, 3u), w3);
  let e = times(load(place, 4u), times(w2, w2));
  let f = times(load(place, 5u), times(w2, w3));
  let g = times(load(place, 6u), times(w3, w3));
  let cosines = vec3f(0.6234898, -0.22252093, -0.90096887);
  let sines = vec3f(0.7818315, 0.9749279, 0.43388374);
  let first = a + cosines.x * (b + g) + cosines.y * (c + f) + cosines.z * (d + e);
  let second = a + cosines.y * (b + g) + cosines.z * (c + f) + cosines.x * (d + e);
  let third = a + cosines.z * (b + g) + cosines.x * (c + f) + cosines.y * (d + e);
  let aside = rotated(sines.x * (b - g) + sines.y * (c - f) + sines.z * (d - e));
  let aside2 = rotated(sines.y * (b - g) - sines.z * (c - f) - sines.x * (d - e));
  let aside3 = rotated(sines.z * (b - g) - sines.x * (c - f) + sines.y * (d - e));
  store(place, 0u, a + (((b + g) + (c + f)) + (d + e)));
  store(place, 1u, first + aside);
  store(place, 2u, second + aside2);
  store(place, 3u, third + aside3);
  store(place, 4u, third - aside3);
  store(place, 5u, second - aside2);
  store(place, 6u, first - aside);
}

fn of_eight(place: Place, w: vec2f) {
  let w2 = times(w, w);
  let w3 = times(w, w2);
  let w4 = times(w2, w2);
  let even = four(
    load(place, 0u), times(load(place, 2u), w2), times(load(place, 4u), w4),
    times(load(place, 6u), times(w3, w3)));
  let odd = four(
    times(load(place, 1u), w), times(load(place, 3u), w3),
    times(load(place, 5u), times(w2, w3)), times(load(place, 7u), times(w3, w4)));
  let eighth = 0.70710677 * (odd[1] + rotated(odd[1]));
  let quarter = rotated(odd[2]);
  let other = 0.70710677 * (rotated(odd[3]) - odd[3]);
  store(place, 0u, even[0] + odd[0]);
  store(place, 1u, even[1] + eighth);
  store(place, 2u, even[2] + quarter);
  store(place, 3u, even[3] + other);
  store(place, 4u, even[0] - odd[0]);
  store(place, 5u, even[1] - eighth);
  store(place, 6u, even[2] - quarter);
  store(place, 7u, even[3] - other);
}

fn step_of(radix: u32, place: Place, w: vec2f) {
  if (radix == 8u) {
    of_eight(place, w);
  } else if (radix == 4u) {
    of_four(place, w);
  } else if (radix == 2u) {
    of_two(place, w);
  } else if (radix == 3u) {
    of_three(place, w);
  } else if (radix == 5u) {
    of_five(place, w);
  } else {
    of_seven(place, w);
  }
}

// Positions of a transform's numbers.
struct Line {
  is_there: bool,
  j: u32,
  begin: u32, // in the line of n, with steps of `inner`
}

fn line_of(transform: u32) -> Line {
  let transforms = params.n / params.points; // per line
  let rest = transform / params.inner;
  return Line(
    transform < params.outer * transforms * params.inner, rest % transforms,
    rest / transforms * params.n * params.inner + transform % params.inner);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let points = params.points;
  let together = params.together;
  let before = params.before;
  let inner = params.inner;
  let held = together * points;
  let first = (group.y * groups.x + group.x) * together;
  let size = params.outer * params.n * inner;
  let are_rows = points == params.n && inner == 1u;
  // For interleaved transforms: the thread's own one, and its first point.
  let shift = firstTrailingBit(together);
  let own = thread & (together - 1u);
  let start = thread >> shift;
  let ahead = THREADS >> shift; // from a thread's point to its next
  let line = line_of(first + own);
  if (are_rows) {
    for (var i = thread; i < held; i += THREADS) {
      if (first * points + i < size) {
        work[i] = x[first * points + i];
      }
    }
  } else if (line.is_there) {
    let transforms = params.n / points;
    let k = line.j % before;
    for (var point = start; point < points; point += ahead) {
      var value = x[line.begin + (line.j + point * transforms) * inner];
      if (before > 1u) {
        value = times(value, turn(k * point, before * points, params.sign));
      }
      work[point * together + own] = value;
    }
  }
  var half = 0u;
  var done = 1u; // the product of the radices so far
  for (var rest = params.radices; rest != 0u; rest >>= 4u) {
    workgroupBarrier();
    let radix = rest & 15u;
    let count = points / radix;
    let along = select(together, 1u, are_rows);
    for (var i = thread; i < together * count; i += THREADS) {
      let j = select(i >> shift, i % count, are_rows);
      let begin = select(own, i / count * points, are_rows);
      let k = j % done;
      let place = Place(
        half + begin + j * along, count * along,
        ROOM - half + begin + ((j - k) * radix + k) * along, done * along);
      step_of(radix, place, turn(k, done * radix, params.sign));
    }
    half = ROOM - half;
    done *= radix;
  }
  workgroupBarrier();
  if (before == 1u && inner == 1u) { // results of consecutive transforms are neighbours
    for (var i = thread; i < held; i += THREADS) {
      if (first * points + i < size) {
        let at = select(i % points * together + i / points, i, are_rows);
        y[first * points + i] = params.scale * work[half + at];
      }
    }
  } else if (line.is_there) {
    let begin = line.j / before * before * points + line.j % before;
    for (var point = start; point < points; point += ahead) {
      let value = work[half + point * together + own];
      y[line.begin + (begin + point * before) * inner] = params.scale * value;
    }
  }
}
