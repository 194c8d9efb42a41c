// Four neighbouring columns of x, which is bound as vec4s (`x`) and as `words`.

// 1: inner is a multiple of 4, so groups of columns are vec4s
override ALIGNED: u32 = 0u;

// Words i to i + 3; undefined past the end of x.
fn load_columns(i: u32) -> vec4f {
  if (ALIGNED != 0u) {
    return x[i / 4u];
  }
  return vec4f(words[i], words[i + 1u], words[i + 2u], words[i + 3u]);
}
