// erfc(z) = t exp(P(t) - z²) for t = 1 / (1 + z / 2) and z >= 0: W. J. Cody's form with the
// Chebyshev fit of Numerical Recipes (3rd edition, 6.2.2), with a relative error of 1.2e-7.

// P(t)
fn erfc_exponents(t: vec4f) -> vec4f {
  return -1.26551223 + t * (1.00002368 + t * (0.37409196 + t * (0.09678418 + t * (-0.18628806
    + t * (0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223
    + t * 0.17087277))))))));
}

// For one number. Compilers compute only one of the four equal components.
fn erfc_exponent(t: f32) -> f32 {
  return erfc_exponents(vec4f(t)).x;
}
