// v plus a zero that compilers cannot know, from a parameter (params.n is below 2^31). Arithmetic
// with it is computed as written, whereas fast math would replace a + b - a by b. The including
// file must have that parameter.
fn kept(v: vec4f) -> vec4f {
  return bitcast<vec4f>(bitcast<vec4u>(v) | vec4u(params.n >> 31u));
}
