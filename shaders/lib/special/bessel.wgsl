// Bessel functions of orders 0 and 1. The polynomials are Chebyshev interpolations of t from -1 to 1.

//#include lib/floats.wgsl
//#include lib/special/exact.wgsl

// exp(-x) I0(x) for x = 4 + 4 t.
fn i0e_near(t: f32) -> f32 {
  return 0.207001925 + t * (-0.113004334 + t * (0.0945156291 + t * (-0.0890428871
    + t * (0.0873432159 + t * (-0.0849730521 + t * (0.0792787448 + t * (-0.0694645122
    + t * (0.0567491092 + t * (-0.0433137938 + t * (0.0302974079 + t * (-0.0188651253
    + t * (0.0116616338 + t * (-0.00800985005 + t * (0.00406265398 + t * (-0.000759696646
    + t * (0.000469624734 + t * (-0.000850852695 + t * (0.000335946184))))))))))))))))));
}

// sqrt(x) exp(-x) I0(x) for 8 / x = (t + 1) / 2.
fn i0e_far(t: f32) -> f32 {
  return 0.402176499 + t * (0.00336055201 + t * (0.000136217408 + t * (1.1141542e-05
    + t * (1.47547564e-06 + t * (3.03833104e-07 + t * (1.09102324e-07 + t * (3.36357964e-08)))))));
}

// exp(-x) I1(x) / x for x = 4 + 4 t.
fn i1e_near(t: f32) -> f32 {
  return 0.0446877107 + t * (-0.0611243397 + t * (0.0680575967 + t * (-0.0684825331
    + t * (0.063767381 + t * (-0.0552812889 + t * (0.0446750037 + t * (-0.0336614251
    + t * (0.0236825943 + t * (-0.0156138297 + t * (0.00959863048 + t * (-0.00542831467
    + t * (0.00296905893 + t * (-0.00169763039 + t * (0.000799466507 + t * (-0.000203178322
    + t * (0.000100479861 + t * (-0.000123552789 + t * (4.59830662e-05))))))))))))))))));
}

// sqrt(x) exp(-x) I1(x) for 8 / x = (t + 1) / 2.
fn i1e_far(t: f32) -> f32 {
  return 0.389398456 + t * (-0.00974957738 + t * (-0.000219237379 + t * (-1.5037047e-05
    + t * (-1.82500696e-06 + t * (-3.54819548e-07 + t * (-1.23184194e-07 + t * (-3.78560259e-08)))))));
}

// J0(x) for x² = 32 + 32 t.
fn j0_near(t: f32) -> f32 {
  return 0.0458296649 + t * (0.930301249 + t * (-0.648469269 + t * (-0.808088779
    + t * (1.03837943 + t * (-0.507468045 + t * (0.145988852 + t * (-0.0284727179
    + t * (0.00405807886 + t * (-0.000443545985 + t * (3.84731793e-05 + t * (-2.71768363e-06
    + t * (1.59573673e-07 + t * (-7.96056465e-09 + t * (3.33344963e-10))))))))))))));
}

// J1(x) / x for x² = 32 + 32 t.
fn j1_near(t: f32) -> f32 {
  return -0.0581438281 + t * (0.0810586587 + t * (0.151516646 + t * (-0.259594858
    + t * (0.15858376 + t * (-0.0547458194 + t * (0.0124568148 + t * (-0.00202903943
    + t * (0.000249494595 + t * (-2.40457466e-05 + t * (1.86844488e-06 + t * (-1.19671327e-07
    + t * (6.43726406e-09 + t * (-2.94891334e-10 + t * (9.79317408e-12))))))))))))));
}

// Y0(x) - 2/π ln(x) J0(x) for x² = 32 + 32 t.
fn y0_near(t: f32) -> f32 {
  return -0.382250667 + t * (-0.828435898 + t * (1.64709651 + t * (0.144126326
    + t * (-1.07754779 + t * (0.672177076 + t * (-0.218957469 + t * (0.0463670492
    + t * (-0.00702574104 + t * (0.0008061587 + t * (-7.27954175e-05 + t * (5.32116792e-06
    + t * (-3.21847665e-07 + t * (1.64917306e-08 + t * (-7.15832948e-10))))))))))))));
}

// (Y1(x) - 2/π (ln(x) J1(x) - 1 / x)) / x for x² = 32 + 32 t.
fn y1_near(t: f32) -> f32 {
  return 0.0707598552 + t * (-0.243377432 + t * (0.0233675726 + t * (0.235072091
    + t * (-0.196398392 + t * (0.0785478726 + t * (-0.0196287576 + t * (0.00342249079
    + t * (-0.000443817349 + t * (4.46743325e-05 + t * (-3.60099534e-06 + t * (2.38045232e-07
    + t * (-1.31568099e-08 + t * (6.1997979e-10 + t * (-2.38912883e-11))))))))))))));
}

// P of order 0 for (8 / x)² = (t + 1) / 2: J = sqrt(2 / (π x)) (P cos a - Q sin a).
fn p0_far(t: f32) -> f32 {
  return 0.9994573 + t * (-0.000536367297 + t * (6.13732482e-06 + t * (-2.05259553e-07
    + t * (1.30448203e-08 + t * (-1.25136823e-09)))));
}

// x / 8 times Q of order 0.
fn q0_far(t: f32) -> f32 {
  return -0.0155551136 + t * (6.83314938e-05 + t * (-1.47708238e-06 + t * (7.10517725e-08
    + t * (-5.8173053e-09 + t * (6.70446976e-10)))));
}

// P of order 1.
fn p1_far(t: f32) -> f32 {
  return 1.00090706 + t * (0.000898804923 + t * (-7.95959386e-06 + t * (2.45351345e-07
    + t * (-1.49747557e-08 + t * (1.40318868e-09)))));
}

// x / 8 times Q of order 1.
fn q1_far(t: f32) -> f32 {
  return 0.0467768759 + t * (-9.62145859e-05 + t * (1.82114002e-06 + t * (-8.29083433e-08
    + t * (6.58306831e-09 + t * (-7.44608875e-10)))));
}

fn special_i0e(x: f32) -> f32 {
  let size = abs(x);
  if (is_nan(x)) {
    return x;
  }
  if (size <= 8.0) {
    return i0e_near(0.25 * size - 1.0);
  }
  return i0e_far(16.0 / size - 1.0) / sqrt(size);
}

fn special_i0(x: f32) -> f32 {
  return special_i0e(x) * exact_exp(abs(x));
}

fn special_i1e(x: f32) -> f32 {
  let size = abs(x);
  if (is_nan(x)) {
    return x;
  }
  if (size <= 8.0) {
    return x * i1e_near(0.25 * size - 1.0);
  }
  return sign(x) * i1e_far(16.0 / size - 1.0) / sqrt(size);
}

fn special_i1(x: f32) -> f32 {
  return special_i1e(x) * exact_exp(abs(x));
}

// (J, Y) of order 0 or 1 for x > 8.
fn bessel_far(x: f32, is_first: bool) -> vec2f {
  let q = 8.0 / x;
  let t = 2.0 * q * q - 1.0;
  // The sine and cosine of x - π/4 from those of x, since a difference of large numbers has few
  // digits.
  let s = exact_sin(x);
  let c = exact_cos(x);
  let cosine = 0.70710678 * (c + s);
  let sine = 0.70710678 * (s - c);
  let width = sqrt(0.63661977 / x);
  if (!is_first) {
    let p = p0_far(t);
    let r = q * q0_far(t);
    return width * vec2f(p * cosine - r * sine, p * sine + r * cosine);
  }
  // x - 3π/4 is a quarter turn less.
  let p = p1_far(t);
  let r = q * q1_far(t);
  return width * vec2f(p * sine + r * cosine, -p * cosine + r * sine);
}

fn special_j0(x: f32) -> f32 {
  if (is_nan(x)) {
    return x;
  }
  if (abs(x) <= 8.0) {
    return j0_near(x * x / 32.0 - 1.0);
  }
  return bessel_far(abs(x), false).x;
}

fn special_j1(x: f32) -> f32 {
  if (is_nan(x)) {
    return x;
  }
  if (abs(x) <= 8.0) {
    return x * j1_near(x * x / 32.0 - 1.0);
  }
  return sign(x) * bessel_far(abs(x), true).x;
}

fn special_y0(x: f32) -> f32 {
  if (is_nan(x) || x < 0.0) {
    return quiet_nan();
  }
  if (x == 0.0) {
    return -infinity();
  }
  if (x <= 8.0) {
    return y0_near(x * x / 32.0 - 1.0) + 0.63661977 * exact_log(x) * special_j0(x);
  }
  return bessel_far(x, false).y;
}

fn special_y1(x: f32) -> f32 {
  if (is_nan(x) || x < 0.0) {
    return quiet_nan();
  }
  if (x == 0.0) {
    return -infinity();
  }
  if (x <= 8.0) {
    return x * y1_near(x * x / 32.0 - 1.0)
      + 0.63661977 * (exact_log(x) * special_j1(x) - 1.0 / x);
  }
  return bessel_far(x, true).y;
}
