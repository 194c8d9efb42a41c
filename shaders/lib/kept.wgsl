// v, with a zero in it that no compiler can tell from a parameter (params.n is below 2^31): the
// arithmetic around it is then done as it is written, where fast math would take a + b - a for b.
// Who includes this has that parameter.
fn kept(v: vec4f) -> vec4f {
  return bitcast<vec4f>(bitcast<vec4u>(v) | vec4u(params.n >> 31u));
}
