// The tile of C, ROWS by COLUMNS elements, of a workgroup. Neighbouring workgroups compute tiles
// that share their columns of B in the cache.

const TALL = 8u; // tiles per group

struct Tile {
  row: u32, // of its first element
  column: u32,
  is_outside: bool, // the grid has more workgroups than there are tiles
}

fn tile_of(group: vec3u, groups: vec3u) -> Tile {
  let across = (params.n + COLUMNS - 1u) / COLUMNS;
  let down = (params.m + ROWS - 1u) / ROWS;
  let which = group.y * groups.x + group.x;
  let first = which / (TALL * across) * TALL; // first row of tiles of the group
  let tall = min(down - first, TALL);
  let in_group = which % (TALL * across);
  return Tile(
    (first + in_group % tall) * ROWS, in_group / tall * COLUMNS, which >= across * down);
}
