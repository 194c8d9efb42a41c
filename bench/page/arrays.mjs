// The section "arrays" with the library that the address names: ?library=tfjs. Each has a module of
// its own, whose work() measures the rows; the programs are those of programs.py.

import { main, query } from "./common.mjs";

const library = query.get("library") ?? "";
await main(library, async () => {
  const { work } = await import(`./arrays-${library}.mjs`);
  await work();
});
