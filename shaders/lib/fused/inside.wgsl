// Whether indices are within the bounds of an axis.

fn is_inside_signed(index: vec4i, extent: vec4i) -> vec4<bool> {
  return (index >= -extent) & (index < extent);
}
