// Elementwise operations of an epilogue. The function's line is replaced by a generated one, for the
// configurations of a kernel that have a chain (kernels/fused/chain.py).

const CHAIN = 5u; // the code of the function

fn chained(v: vec4f) -> vec4f { return v; }
