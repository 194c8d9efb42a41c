// The section "arrays" with the library in the address: ?library=tfjs. Each library has a module
// whose work() measures the rows. The programs are those of programs.py.

import { main, query } from "./common.mjs";

const library = query.get("library") ?? "";
await main(library, async () => {
  const { work } = await import(`./arrays-${library}.mjs`);
  await work();
});
